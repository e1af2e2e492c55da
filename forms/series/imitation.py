"""As which client the session of a series spoke, or what today's Windows would have done in its place."""

from collections.abc import Iterator

from forms import report
from forms.tuning.fact_names import SIGNING_PRICE, SIGNING_PRICE_MEASURED_AT
from forms.tuning.imitated_clients import TODAYS_WINDOWS, imitated_client
from storage.records import ClientFacts, Series

_DATE_CHARACTERS = 10
"""Of a moment: ``2026-11-29``."""


def imitation_fields(series: Series) -> Iterator[report.Field]:
    """One field at most; none for a session that is protected anyway, or for one that is not SMB."""
    if not series.target.abilities.has_dialect or not series.client.dialect:
        return

    like = series.plan.settings.like if series.plan else None
    if like is not None:
        client = imitated_client(like)
        text = f"{client.name}: {_protection_text(series.client)}; not imitated: {client.not_imitated}"
        yield report.Field(name="As", text=text, facts=(("like", like.value), ("source", client.source)))
        return

    if not (series.client.is_signed or series.client.is_encrypted):
        windows = imitated_client(TODAYS_WINDOWS)
        advice = f"--like {TODAYS_WINDOWS.value} measures that"
        text = f"none; {windows.name} signs every session{_price_text(series)}: {advice}"
        yield report.Field(name="Signing", text=text)


def _price_text(series: Series) -> str:
    """What that costs on this server, where a diagnosis has measured it."""
    facts = series.environment.get("path", {})
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
