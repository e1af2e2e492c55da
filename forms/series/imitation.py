"""As which client the session of a series spoke, or what today's Windows would have done in its place."""

from collections.abc import Iterator

from forms import report
from forms.tuning.fact_names import SIGNING_PRICE, SIGNING_PRICE_MEASURED_AT
from forms.tuning.imitated_clients import TODAYS_WINDOWS, imitated_client
from storage.plan import Imitated
from storage.records import ClientFacts, Facts, Series

_DATE_CHARACTERS = 10
"""Of a moment: ``2026-11-29``."""


def imitation_fields(like: Imitated | None, session: ClientFacts | None) -> Iterator[report.Field]:
    """The client that was imitated, if one was, and how its ``session`` was protected, or would be without one."""
    if like is None:
        return
    client = imitated_client(like)
    if session is not None:
        protection_text = _protection_text(session)
    elif client.requires_signing:
        protection_text = "requires signing"
    else:
        protection_text = "signs where the server requires it"
    text = f"{client.name}: {protection_text}; not imitated: {client.not_imitated}"
    yield report.Field(name="As", text=text, facts=(("like", like.value), ("source", client.source)))


def unsigned_hint(series: Series) -> str:
    """As :func:`unsigned_session_hint`, for a series."""
    like = series.plan.settings.like if series.plan else None
    return unsigned_session_hint(series.client, like, series.environment.get("path", {}))


def unsigned_session_hint(client: ClientFacts, like: Imitated | None, path_facts: Facts) -> str:
    """What today's Windows would do in place of an unsigned session, and its price; empty for any other session."""
    is_unprotected = bool(client.dialect) and not (client.is_signed or client.is_encrypted)
    if like is not None or not is_unprotected:
        return ""
    windows = imitated_client(TODAYS_WINDOWS)
    return f"{windows.name} signs{_price_text(path_facts)}: --like {TODAYS_WINDOWS.value}"


def _price_text(facts: Facts) -> str:
    """What that costs on this server, where a diagnosis has measured it."""
    percent = facts.get(SIGNING_PRICE)
    if not isinstance(percent, int | float):
        return ""
    day = str(facts.get(SIGNING_PRICE_MEASURED_AT, ""))[:_DATE_CHARACTERS]
    return f", which cost {max(0, percent):.0f} % here on {day}"


def _protection_text(client: ClientFacts) -> str:
    if client.is_encrypted:
        return f"encrypted by {client.encryption}"
    if client.is_signed:
        return f"signed by {client.signing}"
    return "not signed"
