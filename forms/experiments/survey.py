"""The survey: one server measured from every side, with findings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from forms import wording
from forms.comparison.matrix import ProtocolMatrix, protocol_matrix, protocol_name
from forms.findings.finding import Finding, is_loopback, is_loopback_address
from forms.findings.rules import findings, first_to_look_at
from forms.findings.rules_session import BUSY
from forms.series.summary import run_form
from storage.protocols import protocol_of
from storage.records import Command, Series, SeriesStatus

WIRE_FULL_PERCENT = 90.0


class StationPlace(StrEnum):
    """Where traffic to a host goes."""

    LOOPBACK = "loopback"
    OWN_ADDRESS = "own address"
    NETWORK = "network"


class StationState(StrEnum):
    """The progress of a station."""

    WAITING = "waiting"
    INTERRUPTED = "interrupted"
    DONE = "done"
    FAILED = "failed"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """One series of the survey: a command by a protocol to a host."""

    place: StationPlace
    host: str
    protocol: str
    command: Command
    state: StationState = StationState.WAITING
    series: Series | None = None
    why: str = ""

    @property
    def name(self) -> str:
        return f"{self.side} {self.command}"

    @property
    def side(self) -> str:
        return f"{self.place} {protocol_of(self.protocol).label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The filled survey."""

    name: str
    stations: tuple[Station, ...]
    table: ProtocolMatrix
    findings: tuple[Finding, ...]
    first: Finding | None

    @property
    def complete(self) -> bool:
        return all(station.state in {StationState.DONE, StationState.LEFT_OUT} for station in self.stations)

    @property
    def next_step(self) -> str:
        if not any(station.state is StationState.DONE for station in self.stations):
            return "Nothing is measured yet."
        if self.first is not None:
            full = f"{self._healthy()} " if self.first.key == BUSY and self._wire_is_full else ""
            return f"{full}{self.first.title}. {self.first.what_to_do}"
        if not self.complete:
            return "Nothing is amiss so far: run the same survey again to complete it."
        return f"{self._healthy()} Keep the best series as a baseline, to see when that changes."

    def _healthy(self) -> str:
        if self._against_wire is None:
            return "Nothing is amiss."
        share, label = self._against_wire
        said = "the wire is full, nothing is wrong here" if self._wire_is_full else "nothing is amiss"
        return f"{label} is {wording.percent(share)} of bare TCP: {said}."

    @property
    def _wire_is_full(self) -> bool:
        return self._against_wire is not None and self._against_wire[0] >= WIRE_FULL_PERCENT

    @property
    def _against_wire(self) -> tuple[float, str] | None:
        rates = {
            (station.host, station.command, station.protocol): run_form(station.series).average_rate
            for station in self.stations
            if station.state is StationState.DONE and station.series is not None
        }
        bare_tcp = {
            (host, command): rate
            for (host, command, protocol), rate in rates.items()
            if not protocol_of(protocol).moves_files
        }
        shares = (
            (100 * rate / bare, protocol_of(protocol).label)
            for (host, command, protocol), rate in rates.items()
            if protocol_of(protocol).moves_files and rate and (bare := bare_tcp.get((host, command)))
        )
        return min(shares, default=None)


def survey(name: str, stations: Sequence[Station]) -> Survey:
    """The survey of these stations; only complete series count."""
    done = [station.series for station in stations if station.state is StationState.DONE and station.series is not None]
    found = findings(done)
    return Survey(
        name=name,
        stations=tuple(stations),
        table=protocol_matrix(done, protocol_name),
        findings=tuple(found),
        first=first_to_look_at(found),
    )


def survey_of(name: str, series: Sequence[Series]) -> Survey:
    """The survey from a notebook's series, without the stations that were left out."""
    return survey(name, [_station_of(one) for one in series])


def _station_of(series: Series) -> Station:
    host = series.target.host
    place = StationPlace.LOOPBACK if is_loopback_address(host) else StationPlace.NETWORK
    if place is StationPlace.NETWORK and is_loopback(series):
        place = StationPlace.OWN_ADDRESS
    return with_series(Station(place=place, host=host, protocol=series.target.protocol, command=series.command), series)


def with_series(station: Station, series: Series) -> Station:
    """The station with its stored series."""
    states = {SeriesStatus.COMPLETE: StationState.DONE, SeriesStatus.FAILED: StationState.FAILED}
    state = states.get(series.status, StationState.INTERRUPTED)
    return replace(station, state=state, series=series, why=wording.plain(series.error or ""))
