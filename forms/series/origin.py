"""When something was measured, from which machine, and by whom: on every form, for whoever reads it elsewhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from forms import wording
from forms.report import Field
from storage.records import Facts, Series

_WHO = ("measured.by", "measured.ticket")


def when_field(moments: Iterable[str], environments: Iterable[Mapping[str, Facts]]) -> Field:
    """The first and the last moment, and the machines, as the facts of the clients name them."""
    known = sorted({moment[:16].replace("T", " ") for moment in moments})
    first, last = known[0], known[-1]
    same_day = last[11:] if first[:10] == last[:10] else last
    until = "" if first == last else f" to {same_day}"
    return Field(name="When", text=f"{first}{until} UTC{from_machines(environments)}")


def from_machines(environments: Iterable[Mapping[str, Facts]]) -> str:
    """``" from alpha and beta"``; empty where no machine is known."""
    clients = (environment.get("client", {}) for environment in environments)
    names = dict.fromkeys(wording.plain(str(client["host.name"])) for client in clients if client.get("host.name"))
    return f" from {wording.listed(list(names))}" if names else ""


def who_fields(environments: Iterable[Mapping[str, Facts]]) -> Iterator[Field]:
    """Who measured, and for which ticket; nothing where nobody said so."""
    clients = [environment.get("client", {}) for environment in environments]
    said = dict.fromkeys(", ".join(str(client[name]) for name in _WHO if name in client) for client in clients)
    named = [each for each in said if each]
    if named:
        yield Field(name="Measured by", text="; ".join(named))


def origin_fields(series: Sequence[Series]) -> Iterator[Field]:
    """Both, of several series."""
    if series:
        environments = [one.environment for one in series]
        yield when_field((one.created_at for one in series), environments)
        yield from who_fields(environments)
