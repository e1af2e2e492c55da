"""The checks of ``sharebench check`` that ask the server: its address, the login and the share."""

from collections.abc import Iterator, Mapping

from app.base import errors
from app.check.checked import Checked, CheckState
from app.clients import refusals
from app.clients.base import Client
from forms import wording
from forms.audit import share_access
from forms.tuning import fact_names
from storage import records


def check_refusal(target: records.Target, error: errors.MeasurementError, server: records.Facts) -> Iterator[Checked]:
    """Where connecting ended with an error: what was reached before it, what failed, and what is known of why.

    ``server`` are the facts of the server, as far as they could be read.
    """
    if isinstance(error, errors.UnreachableError):
        yield Checked("reach", str(error), CheckState.FAILED)
        settings = share_access.settings_against_listening(server)
        if settings:
            yield Checked("cause", share_access.possible_text(settings), CheckState.ATTENTION)
        return

    yield Checked("reach", f"{target.host} answers on port {target.port}")
    yield Checked(_failed_step(error), str(error), CheckState.FAILED)
    yield from _known_causes(target, error, server)


def _failed_step(error: errors.MeasurementError) -> str:
    """The name of the check that an error fails."""
    is_of_share = errors.NoSuchShareError | errors.ShareDeniedError | errors.GuestDeniedError | errors.ElsewhereError
    if isinstance(error, is_of_share):
        return "share"
    return "log in" if isinstance(error, errors.LoginError) else "connect"


def _known_causes(target: records.Target, error: errors.MeasurementError, server: records.Facts) -> Iterator[Checked]:
    """What the server's settings say of what it refused: what is certain, else what may be."""
    if not refusals.may_be_of_settings(error) and not isinstance(error, errors.LoginError):
        return

    is_login = isinstance(error, errors.LoginError) and not isinstance(error, errors.GuestDeniedError)
    reasons = [] if is_login else share_access.reasons_not_opened(server)
    if reasons:
        yield Checked("cause", "; ".join(reasons), CheckState.FAILED)
        return

    settings = refusals.settings_that_may_refuse(error, server)
    is_of_share = isinstance(error, errors.ShareDeniedError | errors.GuestDeniedError)
    if settings:
        yield Checked("cause", share_access.possible_text(settings), CheckState.ATTENTION)
    elif is_of_share and any(name.startswith(fact_names.PARAMETER_PREFIX) for name in server):
        text = "no setting of smb.conf refuses it: look at the rights of the folder and at the share's own permissions"
        yield Checked("cause", f"{text} (sharesec {target.share} --view)", CheckState.UNKNOWN)


def check_login(
    target: records.Target, facts: records.ClientFacts, path_facts: Mapping[str, str | int | float]
) -> Iterator[Checked]:
    """Where the client is connected: how far away the server is, and as whom and how it was logged in."""
    protocol = target.abilities
    if protocol.is_local:
        return

    round_trip = path_facts.get("tcp.least_round_trip_seconds")
    away = f", {wording.milliseconds(round_trip)} away" if isinstance(round_trip, int | float) else ""
    yield Checked("reach", f"{target.host} answers on port {target.port}{away}")

    user = target.user or protocol.guest
    became_guest = bool(target.user) and path_facts.get("smb.guest") == "yes"
    words = [f"as {user}"] if protocol.has_login else [f"{protocol.name} has no login"]
    if became_guest:
        words = [f"as guest, not as {user}"]
    if facts.dialect:
        words.append(f"SMB {facts.dialect}")
    if facts.signing:
        words.append("not signed" if facts.signing == "none" else f"signed ({facts.signing})")
    if facts.encryption:
        words.append("not encrypted" if facts.encryption == "none" else f"encrypted ({facts.encryption})")
    if became_guest:
        words[-1] += ": the server does not know the user, or not with this password (Samba: map to guest); check both"
    yield Checked("log in", ", ".join(words), CheckState.ATTENTION if became_guest else CheckState.FINE)

    if path_facts.get("ftp.size") == "no":
        text = "the server has none: no file can be got, and nobody can compare what it stores; look at its log"
        yield Checked("SIZE", text, CheckState.UNKNOWN)


def check_share(target: records.Target, client: Client) -> Iterator[Checked]:
    """The share, or where none is named those that the server offers."""
    if not target.abilities.has_share:
        return
    if target.share:
        yield Checked("share", target.share)
        return

    names = client.shares()
    text = f"name one of {', '.join(names)}" if names else "the server lists none; ask its admin for a name"
    yield Checked("share", f"{text}: {records.format_target(target)}/SHARE/PATH", CheckState.ATTENTION)
