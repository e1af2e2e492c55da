"""The survey of a server: its protocols, both ways, by each of its addresses; and what that says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter

from forms import wording
from forms.comparison.matrix import ProtocolMatrix, protocol_matrix, protocol_name
from forms.comparison.rules import findings
from forms.findings.finding import Finding, first_to_look_at
from forms.findings.path import is_loopback, is_loopback_address
from forms.stats.summary import mean
from storage.protocols import protocol_of
from storage.records import Command, Series, SeriesStatus

WIRE_FULL_PERCENT = 90.0
"""Of what bare TCP moves, from which the network is the limit."""


class StationPlace(StrEnum):
    """Which way to the server a station takes."""

    LOOPBACK = "loopback"
    OWN_ADDRESS = "own address"
    NETWORK = "network"


class StationState(StrEnum):
    """How far a station has come."""

    WAITING = "waiting"
    INTERRUPTED = "interrupted"
    DONE = "done"
    FAILED = "failed"
    LEFT_OUT = "left out"
    """Not measured, and nothing is missing without it: the survey counts as complete."""


_STATE_OF_STATUS = {SeriesStatus.COMPLETE: StationState.DONE, SeriesStatus.FAILED: StationState.FAILED}
_ENDED_STATES = {StationState.DONE, StationState.LEFT_OUT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One thing that a survey measures: a protocol, one way, by one address of the server."""

    place: StationPlace
    host: str
    protocol: str
    command: Command
    state: StationState = StationState.WAITING
    series: Series | None = None
    """What was measured there, complete or not; None while it waits, or where it was left out."""
    why: str = ""
    """For people: why it failed or was left out; empty where nothing went wrong."""

    @property
    def name(self) -> str:
        return f"{self.side} {self.command}"

    @property
    def side(self) -> str:
        """Where and by which protocol, without the direction."""
        return f"{self.place} {protocol_of(self.protocol).label}"

    @property
    def measured(self) -> Series | None:
        """The series of a station that is done."""
        return self.series if self.state is StationState.DONE else None


@dataclass(frozen=True, slots=True)
class WireShare:
    """What a protocol moves, in percent of bare TCP to the same host in the same direction."""

    percent: float
    protocol: str

    @property
    def label(self) -> str:
        return protocol_of(self.protocol).label

    @property
    def is_full(self) -> bool:
        """Whether the protocol fills the wire, so that the network is the limit."""
        return self.percent >= WIRE_FULL_PERCENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was measured of a server, and what that says."""

    name: str
    stations: tuple[Station, ...]
    table: ProtocolMatrix
    findings: tuple[Finding, ...]
    """The gravest first."""
    first: Finding | None
    """The finding to act on first; None where none asks for anything."""

    @property
    def complete(self) -> bool:
        """Whether every station is done, but for those that were left out."""
        return all(station.state in _ENDED_STATES for station in self.stations)

    @property
    def least_wire_share(self) -> WireShare | None:
        """Of the protocol that falls furthest behind bare TCP; None where that was not measured."""
        rates: dict[tuple[str, Command, str], float] = {}
        for station in self.stations:
            average = mean(station.measured.rates()) if station.measured else None
            if average is not None:
                rates[station.host, station.command, station.protocol] = average
        bare_tcp = {
            (host, command): rate
            for (host, command, protocol), rate in rates.items()
            if not protocol_of(protocol).moves_files
        }

        shares = []
        for (host, command, protocol), rate in rates.items():
            bare_rate = bare_tcp.get((host, command))
            if protocol_of(protocol).moves_files and rate and bare_rate:
                shares.append(WireShare(100 * rate / bare_rate, protocol))
        return min(shares, key=attrgetter("percent", "label"), default=None)


def survey(name: str, stations: Sequence[Station]) -> Survey:
    measured = [station.measured for station in stations if station.measured is not None]
    all_findings = findings(measured)
    return Survey(
        name=name,
        stations=tuple(stations),
        table=protocol_matrix(measured, protocol_name),
        findings=tuple(all_findings),
        first=first_to_look_at(all_findings),
    )


def survey_of(name: str, series: Sequence[Series]) -> Survey:
    """The survey from a notebook's series, without the stations that were left out."""
    return survey(name, [_station_of(one_series) for one_series in series])


def _station_of(series: Series) -> Station:
    host = series.target.host
    place = StationPlace.NETWORK
    if is_loopback_address(host):
        place = StationPlace.LOOPBACK
    elif is_loopback(series):
        place = StationPlace.OWN_ADDRESS
    station = Station(place=place, host=host, protocol=series.target.protocol, command=series.command)
    return with_series(station, series)


def with_series(station: Station, series: Series) -> Station:
    """The station with what was measured there."""
    state = _STATE_OF_STATUS.get(series.status, StationState.INTERRUPTED)
    return replace(station, state=state, series=series, why=wording.plain(series.error or ""))
