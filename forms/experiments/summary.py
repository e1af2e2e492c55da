"""An experiment's steps and total gain; self-tests and repeats: how far equal series differ; the survey of a server."""

import math
import statistics as basic
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import dropwhile

from forms import wording
from forms.comparison.comparison import Comparison
from forms.comparison.rules import findings
from forms.comparison.summary import ProtocolMatrix, protocol_matrix, protocol_name
from forms.comparison.verdict import Sides, compare, compare_steps, paired_rates, unseen_between
from forms.findings.finding import Finding, first_to_look_at
from forms.findings.path import is_loopback, is_loopback_address
from forms.findings.rules_series import BUSY
from forms.series.summary import run_form
from forms.stats.decision import LEAST_RUNS, Limits, Verdict
from forms.stats.readings import read_series
from forms.stats.settle import run_variation, shown_by_series, smallest_promised_percent
from forms.stats.summary import drift, mean
from forms.stats.variation import pooled_run_variance
from forms.tuning.change_evidence import SettingState, standing
from forms.tuning.differences import is_repeat
from storage.protocols import protocol_of
from storage.records import Change, Command, Decision, Evidence, Series, SeriesStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStep:
    number: int
    series: Series
    base_number: int | None
    average_bytes_per_second: float | None
    comparison: Comparison | None
    on_kept_path: bool

    @property
    def change(self) -> Change | None:
        return self.series.change

    @property
    def standing(self) -> SettingState | None:
        return standing(self.change) if self.change else None

    @property
    def contradicted(self) -> bool:
        return self.standing is SettingState.NOT_AS_CLAIMED

    @property
    def mark(self) -> str:
        return "!" if self.contradicted else "?" if self.doubts else " "

    @property
    def decision(self) -> Decision | None:
        return self.series.decision

    @property
    def proof(self) -> str | None:
        return self.change.remark if self.change and self.standing is SettingState.PROVEN else None

    @property
    def doubts(self) -> tuple[str, ...]:
        change = self.change
        said: list[str] = []
        if change is not None:
            if self.standing is not SettingState.PROVEN and change.remark:
                said.append(change.remark)
            if change.also_changed:
                said.append(f"Also changed: {'; '.join(change.also_changed)}.")
        elif self.base_number is not None and self.comparison and self.comparison.differences:
            said.append(f"No change is claimed, but: {'; '.join(map(str, self.comparison.differences))}.")
        return tuple(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The total gain of the kept steps of one direction."""

    path: tuple[ExperimentStep, ...]
    comparison: Comparison | None

    @property
    def counted(self) -> tuple[ExperimentStep, ...]:
        return tuple(step for step in self.path if step.change is not None and not step.contradicted)

    @property
    def command(self) -> Command:
        return self.path[0].series.command


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSummary:
    name: str
    steps: tuple[ExperimentStep, ...]
    gains: tuple[Gain, ...]

    def step_of(self, series_id: str) -> ExperimentStep | None:
        return next((step for step in self.steps if step.series.id == series_id), None)


def experiment_summary(name: str, series: Sequence[Series]) -> ExperimentSummary:
    """Build an experiment from its series in order; one without a change repeats its base."""
    bases = _bases(series)
    by_id = {one.id: one for one in series}
    numbers = {one.id: number for number, one in enumerate(series)}
    commands = dict.fromkeys(one.command for one in reversed(series))
    heads = [head for command in reversed(commands) if (head := next_base(series, command))]
    ways = [_way_down(head.id, bases) for head in heads]
    kept = {series_id for way in ways for series_id in way}
    paths = [_without_contradicted_end([by_id[series_id] for series_id in way]) for way in ways]
    ended = [one for one in series if one.running_by is None]
    pairs = [(by_id[base], one) for one in ended if (base := bases[one.id]) in by_id and base]
    groups = _repeats(series, bases)
    sides = {one.id: _sides(base, one, groups) for base, one in pairs}
    whole: dict[str, Sides] = {}
    for path in paths:
        if len(path) > 1:
            way = [by_id[series_id] for series_id in path]
            whole[path[0]] = replace(_sides(way[-1], way[0], groups), unseen=unseen_between(path[-1], way))
    by_step: dict[str, Comparison] = {}
    by_span: dict[str, Comparison] = {}
    for command in commands:  # each direction is an experiment of its own
        own = [key for key in sides if by_id[key].command is command]
        all_in = [key for key in whole if by_id[key].command is command]
        found = compare_steps([*(sides[key] for key in own), *(whole[key] for key in all_in)], Limits())
        by_step.update(zip(own, found, strict=False))
        by_span.update(zip(all_in, found[len(own) :], strict=True))
    steps = tuple(
        ExperimentStep(
            number=numbers[one.id],
            series=one,
            base_number=numbers.get(bases[one.id] or ""),
            average_bytes_per_second=mean(one.rates()),
            comparison=by_step.get(one.id),
            on_kept_path=one.id in kept,
        )
        for one in series
    )
    gains = tuple(
        Gain(path=tuple(steps[numbers[series_id]] for series_id in reversed(path)), comparison=by_span.get(path[0]))
        for path in paths
    )
    return ExperimentSummary(name=name, steps=steps, gains=gains)


def _without_contradicted_end(way: Sequence[Series]) -> tuple[str, ...]:
    claimed = [one for one in way if one.change is not None and one.change.evidence is Evidence.CONTRADICTED]
    return tuple(one.id for one in dropwhile(lambda one: one in claimed, way)) or (way[-1].id,)


def _repeats(series: Sequence[Series], bases: Mapping[str, str | None]) -> list[tuple[Series, ...]]:
    by_id = {one.id: one for one in series}
    first: dict[str, str] = {}
    groups: dict[str, list[Series]] = {}
    for one in series:
        base = bases[one.id]
        again = one.change is None and base in by_id and is_repeat(by_id[base], one)
        first[one.id] = first.get(base, base) if again and base else one.id
        if one.measured() and one.running_by is None:
            groups.setdefault(first[one.id], []).append(one)
    return [tuple(group) for group in groups.values()]


def _sides(base: Series, other: Series, groups: Sequence[tuple[Series, ...]]) -> Sides:
    mine = next((group for group in groups if base in group), (base,))
    theirs = next((group for group in groups if other in group), (other,))
    if mine == theirs:
        return Sides(base=(base,), other=(other,), equal=True)
    return Sides(
        base=(base, *(one for one in mine if one is not base)),
        other=(other, *(one for one in theirs if one is not other)),
    )


def next_base(series: Sequence[Series], command: Command | None = None) -> Series | None:
    """The series whose settings are in force; None where all changes were restored."""
    usable = [one for one in series if one.status is SeriesStatus.COMPLETE and command in {None, one.command}]
    bases = _bases(usable)
    by_id = {one.id: one for one in usable}
    moved = [one for one in usable if one.change is not None or bases[one.id] is None]
    at = (moved or usable)[-1] if usable else None
    if at is not None and at.decision is not Decision.REVERTED:
        again = [one for one in usable if one.change is None and bases[one.id] == at.id]
        at = again[-1] if again else at
    seen: set[str] = set()
    while at is not None and at.decision is Decision.REVERTED and at.id not in seen:
        seen.add(at.id)
        at = by_id.get(bases[at.id] or "")
    return None if at is None or at.id in seen else at


def _bases(series: Sequence[Series]) -> Mapping[str, str | None]:
    bases: dict[str, str | None] = {}
    reverted: set[str] = set()
    last: dict[Command, str | None] = {}
    for one in series:
        before = last.get(one.command)
        seen: set[str | None] = set()
        while before in reverted and before not in seen:
            seen.add(before)
            before = bases[before] if before is not None else None
        bases[one.id] = one.base_id if one.base_id is not None and one.base_id != one.id else before
        if one.decision is Decision.REVERTED:
            reverted.add(one.id)
        if one.status is SeriesStatus.COMPLETE:
            last[one.command] = one.id
    return bases


def _way_down(series_id: str, bases: Mapping[str, str | None]) -> tuple[str, ...]:
    way: list[str] = []
    at: str | None = series_id
    while at is not None and at in bases and at not in way:
        way.append(at)
        at = bases[at]
    return tuple(way)


COARSE_PERCENT = 5.0
_RUNS_TO_SHOW = (5, 10, 20, 30, 50)


@dataclass(frozen=True, slots=True)
class Selftest:
    """What two interleaved series of the same thing say about the set-up."""

    series: tuple[Series, Series]
    comparison: Comparison
    runs: int
    smallest_percent: float | None
    by_runs: tuple[tuple[int, float], ...]
    """(runs a side, smallest change in percent) at this variation, this test's own number included."""

    @property
    def differs(self) -> bool:
        return self.comparison.verdict in {Verdict.FASTER, Verdict.SLOWER}


def selftest(first: Series, second: Series) -> Selftest:
    comparison = compare(first, second)
    pairs = paired_rates(first, second)
    variation = run_variation(*(pairs or (first.rates(), second.rates())), paired=pairs is not None)
    runs = variation.runs if variation else min(comparison.base_runs, comparison.other_runs)
    counts = sorted({*_RUNS_TO_SHOW, runs}) if variation else []
    by_runs = tuple(
        (count, smallest_promised_percent(variation, count, Limits()))
        for count in counts
        if variation is not None and count >= LEAST_RUNS
    )
    return Selftest((first, second), comparison, runs, dict(by_runs).get(runs), by_runs)


def sentences(test: Selftest) -> list[str]:
    """The answer first, then what explains it."""
    said = []
    if test.differs:
        said.append(
            f"Trust no comparison yet: the same thing, measured twice, came out {test.comparison.verdict}"
            f" ({test.comparison.figures}), which chance does at most once in 20 times. Measure again with more"
            " warm-up runs and at a quiet time."
        )
    runs = f"{wording.count(test.runs, 'run')} a side"
    if test.smallest_percent is None:
        said.append(f"{runs} can show no change at all: measure at least {LEAST_RUNS}, better ten.")
    else:
        shown = wording.percent(test.smallest_percent)
        said.append(f"With {runs} this setup finds a change of {shown} nine times in ten.")
        if test.smallest_percent > COARSE_PERCENT:
            said.append("More runs help little here: use a larger file, so that each run is longer, and a quiet time.")
    if not test.differs and test.comparison.change_percent is not None:
        said.append(f"The same thing, measured twice, came out no different: {test.comparison.figures}.")
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How far series of the same thing, measured at different times, differ."""

    series: tuple[Series, ...]
    averages_bytes_per_second: tuple[float, ...]
    within_percent: float
    between_percent: float | None
    by_chance_percent: float
    trend_percent: float | None
    smallest_percent: float | None


def repeats(series: Sequence[Series]) -> Repeats:
    measured = [one for one in series if one.rates()]
    rates = [one.rates() for one in measured]
    averages = [basic.fmean(of_series) for of_series in rates]
    trend = drift(averages)

    within = pooled_run_variance(rates)
    runs_each = basic.fmean(map(len, rates)) if rates else 0.0
    between = basic.stdev(read_series(of_series).log_average for of_series in rates) if len(rates) > 1 else None
    smallest = None
    if between is not None and within.freedom > 2:
        smallest = shown_by_series(within, repeats=len(rates) - 1, spread=between)
    return Repeats(
        series=tuple(measured),
        averages_bytes_per_second=tuple(averages),
        within_percent=100 * math.sqrt(within.variance),
        between_percent=None if between is None else 100 * between,
        by_chance_percent=100 * math.sqrt(within.variance / runs_each) if runs_each else 0.0,
        trend_percent=trend.percent if trend is not None and trend.significant else None,
        smallest_percent=smallest,
    )


def repeats_sentences(found: Repeats) -> list[str]:
    if found.between_percent is None or found.smallest_percent is None:
        return ["One series says nothing about the next: measure at least three, over hours if you can."]
    apart, smallest = wording.percent(found.between_percent), wording.percent(found.smallest_percent)
    within, by_chance = wording.percent(found.within_percent), wording.percent(found.by_chance_percent)
    said = [
        f"Equal series vary by {apart} here: between two of them changes of {smallest} or more show (9 times in 10).",
        f"Their runs vary by {within}, which alone would make the averages vary by {by_chance}.",
        "`compare` uses these repeats for series of the same path, measured no further apart than these.",
    ]
    if found.trend_percent is not None:
        way = "rose" if found.trend_percent > 0 else "fell"
        said.append(
            f"The averages {way} by {wording.percent(abs(found.trend_percent))} from the first series to the last: what"
            " is measured later comes out different by itself. Interleave with `sharebench try` or `sharebench run"
            " --versus` where you can; where you cannot, restore the base and measure it once more at the end."
        )
    return said


WIRE_FULL_PERCENT = 90.0


class StationPlace(StrEnum):
    LOOPBACK = "loopback"
    OWN_ADDRESS = "own address"
    NETWORK = "network"


class StationState(StrEnum):
    WAITING = "waiting"
    INTERRUPTED = "interrupted"
    DONE = "done"
    FAILED = "failed"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
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
            return "Nothing measured yet."
        if self.first is not None:
            full = f"{self._healthy()} " if self.first.key == BUSY and self._wire_is_full else ""
            return f"{full}{self.first.title}. {self.first.what_to_do}"
        if not self.complete:
            return "No problems found so far: run the same survey again to complete it."
        return f"{self._healthy()} Keep the best series as a baseline, to see when that changes."

    def _healthy(self) -> str:
        if self._against_wire is None:
            return "No problems found."
        share, label = self._against_wire
        said = "the network is the limit, no problems found" if self._wire_is_full else "no problems found"
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
    done = [station.series for station in stations if station.state is StationState.DONE and station.series is not None]
    found, table = findings(done), protocol_matrix(done, protocol_name)
    first = first_to_look_at(found)
    return Survey(name=name, stations=tuple(stations), table=table, findings=tuple(found), first=first)


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
    states = {SeriesStatus.COMPLETE: StationState.DONE, SeriesStatus.FAILED: StationState.FAILED}
    state = states.get(series.status, StationState.INTERRUPTED)
    return replace(station, state=state, series=series, why=wording.plain(series.error or ""))
