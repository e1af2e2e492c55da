"""The fields that say when and where something was measured, by whom, and with which harmful settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from forms import wording
from forms.findings.rules_server import harmful_in
from forms.layout import Tone
from forms.report import Field
from forms.series.put_end import put_end_fields_of_several
from storage.records import Facts, Series, with_zone

if TYPE_CHECKING:
    from storage.load.records import Load

_WHO = ("measured.by", "measured.ticket")
"""The facts of who measured, and for which ticket."""

# The parts of a moment such as ``2026-03-04 16:10 CET``.

_DAY = slice(10)
_MINUTE = slice(16)
"""The day and the minute."""

_ZONE = slice(16, None)
_TIME = slice(11, None)
"""The minute and the zone."""


def when_field(moments: Iterable[str], environments: Iterable[Mapping[str, Facts]]) -> Field:
    """The time or span of time; day and zone are said once where they are the same."""
    in_order = sorted(moments)
    first = with_zone(in_order[0])
    last = with_zone(in_order[-1])
    text = first
    if first != last:
        begin = first if first[_ZONE] != last[_ZONE] else first[_MINUTE]
        end = last[_TIME] if first[_DAY] == last[_DAY] else last
        text = f"{begin} to {end}"
    return Field(name="When", text=f"{text}{from_machines(environments)}")


def from_machines(environments: Iterable[Mapping[str, Facts]]) -> str:
    """``" from alpha and beta"``; empty where no machine is known."""
    clients = [environment.get("client", {}) for environment in environments]
    names = dict.fromkeys(wording.plain(str(client["host.name"])) for client in clients if client.get("host.name"))
    return f" from {wording.listed(list(names))}" if names else ""


def who_fields(environments: Iterable[Mapping[str, Facts]]) -> Iterator[Field]:
    clients = [environment.get("client", {}) for environment in environments]
    people = list(map(_person_and_ticket, clients))
    distinct_people = dict.fromkeys(person for person in people if person)
    if distinct_people:
        yield Field(name="Measured by", text="; ".join(distinct_people))


def _person_and_ticket(client: Facts) -> str:
    return ", ".join(str(client[name]) for name in _WHO if name in client)


def harmful_fields(environments: Iterable[Mapping[str, Facts]]) -> Iterator[Field]:
    findings = chain.from_iterable(map(harmful_in, environments))
    # Series of one server have the same settings, which are named once.
    settings = dict.fromkeys(f"{finding.setting} = {finding.value}" for finding in findings)
    if settings:
        text = f"harmful: {wording.plain('; '.join(settings))}. sharebench audit says why and what to write instead."
        yield Field(name="Settings", text=text, tone=Tone.BAD)


def origin_fields(measured: "Sequence[Series | Load]", *, with_findings: bool = False) -> Iterator[Field]:
    """When, who, what the time of puts includes, and harmful settings (not those where ``with_findings`` says them)."""
    if not measured:
        return
    environments = [recording.environment for recording in measured]
    yield when_field((recording.created_at for recording in measured), environments)
    yield from who_fields(environments)
    yield from put_end_fields_of_several(recording for recording in measured if isinstance(recording, Series))
    if not with_findings:
        yield from harmful_fields(environments)
