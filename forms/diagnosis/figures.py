"""The figures of a diagnosis, stage by stage: each a number with a name, a unit and an interval, for tables and
JSON.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from forms import wording
from forms.diagnosis import summary
from forms.diagnosis.summary import Interval, median_with_interval
from forms.stats.summary import median
from storage.looks import Diagnosis, Stage, StageName

_COMMANDS = ("put", "get")
_DOING = {"put": "Saving a small file", "get": "Reading a small file"}
_STEPS = {
    "put": {"open": "Saving: its create step", "data": "Saving: its write step", "close": "Saving: its close step"},
    "get": {"open": "Reading: its open step", "data": "Reading: its read step", "close": "Reading: its close step"},
}
"""The steps of one small file, in order: by the names of their samples, the names for people."""

_DOING_SEVERAL = {"put": "Saving {streams:.0f} files at once", "get": "Reading {streams:.0f} files at once"}


ROUND_TRIP = "round_trip"
"""The key of how long an empty request takes."""

WHOLE_RUN = "whole"
"""The key of the rate of a long run from its first byte to its last."""

FLUSH = "flush"
"""The key of how long it takes to have a long run written to the disk."""


class Unit(StrEnum):
    """How a figure is written; the value is the end of its name in documents."""

    SECONDS = "seconds"
    RATE = "bytes_per_second"
    BYTES = "bytes"
    PERCENT = "percent"
    TIMES = "factor"
    PER_SECOND = "per_second"
    EXPONENT = "exponent"


_UNITS_THAT_VARY = frozenset({Unit.SECONDS, Unit.RATE, Unit.PER_SECOND, Unit.TIMES})
"""Others are about 0, or about 1 by themselves."""

VARIES_TIMES = 2.0
"""Runs of one figure that differ by as many times are more than one figure: it is said."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its unit and, where it was measured several times, its 95 % interval.

    Most functions of ``summary`` return both as a pair (value, interval), which stands with a star at the end here.
    """

    stage: StageName
    key: str
    """Its name in documents, without the unit."""
    name: str
    """Its name for people."""
    unit: Unit
    value: float
    interval: Interval | None = None
    rounds: Interval | None = None
    """The lowest and the highest of its rounds, where the interval is not made of these."""

    is_told_as_rate_too: bool = False
    """Whether the seconds of one are told with how many that is in a second, as the answer tells them."""

    @property
    def text(self) -> str:
        """The value with its unit, as in ``1.2 ms``, or ``1.2 ms (833/s)``."""
        return self.text_of(self.value)

    def text_of(self, value: float) -> str:
        text = value_text(value, self.unit)
        if not self.is_told_as_rate_too or value <= 0:
            return text
        return f"{text} ({value_text(1 / value, Unit.PER_SECOND)})"

    @property
    def range_text(self) -> str:
        """The interval, as in ``1.1 ms to 1.4 ms``; empty without one."""
        if self.interval is None or self.interval[0] == self.interval[1]:
            return ""
        return self.interval_text(self.interval)

    def interval_text(self, interval: Interval) -> str:
        low, high = interval
        return f"{value_text(low, self.unit)} to {value_text(high, self.unit)}"

    @property
    def variation(self) -> Interval | None:
        """The lowest and the highest of its runs, where they differ so much that one number does not tell them."""
        ends = self.rounds or self.interval
        if ends is None or self.unit not in _UNITS_THAT_VARY:
            return None
        low, high = ends
        return ends if high > 0 and high >= VARIES_TIMES * low else None

    def to_json(self) -> dict[str, object]:
        low, high = self.interval or (None, None)
        return {
            "stage": self.stage.value,
            "key": f"{self.key}_{self.unit.value}",
            "name": self.name,
            "value": self.value,
            "low": low,
            "high": high,
        }


def value_text(value: float, unit: Unit) -> str:
    match unit:
        case Unit.SECONDS:
            return wording.seconds(value) if value >= 1 else wording.milliseconds(value)
        case Unit.RATE:
            return wording.rate(value)
        case Unit.BYTES:
            return wording.binary_size(int(value))
        case Unit.PERCENT:
            return wording.percent(value)
        case Unit.TIMES:
            return f"{value:.1f} times"
        case Unit.PER_SECOND:
            return f"{value:,.0f}/s"
        case Unit.EXPONENT:
            return f"{value:.2f}"


def figures(diagnosis: Diagnosis) -> list[Figure]:
    """The figures of all stages that were measured to their end."""
    measured: list[Figure] = []
    for name, figures_of in _FIGURES.items():
        stage = diagnosis.stage(name)
        if stage:
            measured += figures_of(stage)
    return measured


def _connect_figures(stage: Stage) -> Iterator[Figure]:
    totals = stage.of("total_seconds")
    if totals:
        yield Figure(stage.name, "first_connect", "First connect", Unit.SECONDS, totals[0])
    if len(totals) > 1:
        yield Figure(stage.name, "later_connect", "Later connects", Unit.SECONDS, *median_with_interval(totals[1:]))


def _distance_figures(stage: Stage) -> Iterator[Figure]:
    echoes = stage.of("echo_seconds")
    yield Figure(stage.name, ROUND_TRIP, "Round trip of a request", Unit.SECONDS, *median_with_interval(echoes))
    percentile_95 = sorted(echoes)[int(0.95 * (len(echoes) - 1))]
    jitter = percentile_95 - (median(echoes) or 0.0)
    yield Figure(stage.name, "jitter", "Jitter (95 % of requests are no later)", Unit.SECONDS, jitter)

    rates = summary.rates_in_flight(stage)
    for key, size in (("least_in_flight", min(rates)), ("most_in_flight", max(rates))):
        interval = summary.ends_of(stage.of(f"in_flight_{size}_bytes_per_second"))
        name = f"Reading with {wording.binary_size(size)} asked for ahead, at best"
        yield Figure(stage.name, key, name, Unit.RATE, rates[size], interval)

    granted_bytes = stage.number("granted_bytes_in_flight")
    if granted_bytes:
        yield Figure(stage.name, "granted", "Asked for ahead at most, as the server allows", Unit.BYTES, granted_bytes)
    segment_bytes = stage.number("mtu.segment_bytes")
    if segment_bytes:
        yield Figure(stage.name, "segment", "Largest TCP segment", Unit.BYTES, segment_bytes)


def _small_files_figures(stage: Stage) -> Iterator[Figure]:
    streams = stage.number("streams") or 0
    for command in _COMMANDS:
        times = summary.file_seconds(stage, command)
        if times:
            name = _DOING[command]
            rounds = summary.ends_of(summary.median_file_seconds_by_round(stage, command))
            seconds, interval = median_with_interval(times)
            key = f"{command}_file"
            yield Figure(
                stage.name, key, name, Unit.SECONDS, seconds, interval, rounds=rounds, is_told_as_rate_too=True
            )
            yield from _step_figures(stage, command)

        factor = summary.side_by_side_factor(stage, command)
        if factor:
            name = f"{_DOING_SEVERAL[command].format(streams=streams)}, against one by one"
            ends = summary.side_by_side_interval(stage, command)
            yield Figure(stage.name, f"{command}_streams", name, Unit.TIMES, factor, ends)

    for pattern in summary.patterns():
        for command in _COMMANDS:
            rate = summary.copied_per_second(stage, pattern, command)
            if rate:
                name = f"Small files copied as by {pattern.name}, {command}"
                ends = summary.ends_of(summary.copied_per_second_by_round(stage, pattern, command))
                yield Figure(stage.name, f"{pattern.key}_{command}", name, Unit.PER_SECOND, rate, ends)


def step_key(command: str, step: str) -> str:
    """The key of the figure of one step of a small file: ``put_data``."""
    return f"{command}_{step}"


def _step_figures(stage: Stage, command: str) -> Iterator[Figure]:
    """What the time of a small file is made of."""
    for step, name in _STEPS[command].items():
        times = stage.of(f"{command}_{step}_seconds")
        if times:
            seconds, interval = median_with_interval(times)
            rounds = summary.ends_of(summary.median_file_seconds_by_round(stage, command, (step,)))
            yield Figure(stage.name, step_key(command, step), name, Unit.SECONDS, seconds, interval, rounds=rounds)


WINDOW_QUESTIONS = {
    "free_space": "Asking for the free space",
    "quota": "Asking for the quota",
    "streams": "Asking which streams a folder has",
    "notify": "Watching a folder for changes",
}
"""What Explorer asks with every window: the key of the figure, and its name."""


def _window_figures(stage: Stage) -> Iterator[Figure]:
    for key, name in WINDOW_QUESTIONS.items():
        times = stage.of(f"{key}_seconds")
        if times:
            yield Figure(stage.name, key, name, Unit.SECONDS, *median_with_interval(times))


def _folder_figures(stage: Stage) -> Iterator[Figure]:
    """The figures of the largest folder."""
    counts = summary.sizes_of(stage, "list")
    if counts:
        count = counts[-1]
        seconds, (low, high) = median_with_interval(stage.of(f"list_{count}_seconds"))
        if low > 0:
            rates = (count / high, count / low)
            name = f"Listing {count:,} entries"
            yield Figure(stage.name, "entries", name, Unit.PER_SECOND, count / seconds, rates)

        for kind, name in (("ask", "Asking about one entry"), ("missing", "Asking for a missing name")):
            times = stage.of(f"{kind}_{count}_seconds")
            if times:
                yield Figure(stage.name, kind, name, Unit.SECONDS, *median_with_interval(times))

    growth = summary.growth(stage)
    if growth:
        yield Figure(stage.name, "growth", "Growth of a listing (1: in proportion)", Unit.EXPONENT, *growth)


def _protection_figures(stage: Stage) -> Iterator[Figure]:
    base = stage.of("plain_bytes_per_second")
    if base:
        yield Figure(
            stage.name,
            "as_it_is",
            "Reading, protected as the server asks for it",
            Unit.RATE,
            *median_with_interval(base),
        )

    share = summary.protection_share(stage)
    if share:
        yield Figure(stage.name, "protection", "This client's part of signing or encrypting", Unit.PERCENT, *share)

    for mode, name in (("signed", "Cost of signing"), ("encrypted", "Cost of encryption")):
        price = summary.price(base, stage.of(f"{mode}_bytes_per_second"))
        if price:
            yield Figure(stage.name, mode, name, Unit.PERCENT, *price)


def _long_run_figures(stage: Stage) -> Iterator[Figure]:
    moments = stage.of("at_seconds")
    moved = stage.of("moved_bytes")
    if moments and moments[-1]:
        rate = moved[-1] / moments[-1]
        yield Figure(stage.name, WHOLE_RUN, f"Long run of {wording.seconds(moments[-1])}", Unit.RATE, rate)

    change = summary.break_of(stage)
    if change:
        moment = wording.seconds(change.at_seconds)
        yield Figure(stage.name, "before", f"Run until {moment}", Unit.RATE, change.before)
        yield Figure(stage.name, "after", "Run after that", Unit.RATE, change.after)

    flush_seconds = stage.number("flush_seconds")
    if flush_seconds is not None:
        yield Figure(stage.name, FLUSH, "Writing a long run to the disk afterwards", Unit.SECONDS, flush_seconds)


def _card_figures(stage: Stage) -> Iterator[Figure]:
    factor = summary.connections_factor(stage)
    if factor:
        name = f"{stage.number('connections') or 0:.0f} connections against one"
        yield Figure(stage.name, "connections", name, Unit.TIMES, *factor)

    for side, whose in (("card", "this client's network card"), ("server_card", "the server's network card")):
        for fact in stage.facts:
            card = fact.removeprefix(f"{side}.").removesuffix(".share")
            if fact != f"{side}.{card}.share":
                continue
            percent = 100 * (stage.number(fact) or 0.0)
            name = f"Bytes through {whose} {wording.plain(card)}"
            yield Figure(stage.name, f"{side}_{card}", name, Unit.PERCENT, percent)


_FIGURES: dict[StageName, Callable[[Stage], Iterator[Figure]]] = {
    StageName.CONNECT: _connect_figures,
    StageName.DISTANCE: _distance_figures,
    StageName.SMALL_FILES: _small_files_figures,
    StageName.WINDOW: _window_figures,
    StageName.FOLDERS: _folder_figures,
    StageName.PROTECTION: _protection_figures,
    StageName.LONG_RUN: _long_run_figures,
    StageName.CARDS: _card_figures,
}
