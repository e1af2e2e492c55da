"""The figures of a diagnosis: medians, prices and growth, each with its interval."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import accumulate, pairwise

from forms import wording
from forms.stats import summary
from forms.stats.ranks import mann_whitney_p
from forms.tuning.smb_conf import toml_data
from storage.looks import Diagnosis, Stage, StageName

LEAST_SEGMENT_SAMPLES = 8
_LEAST_SEGMENT_SECONDS = 1.0
_SURE = 0.001
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPattern:
    """How a program copies small files; ``patterns.toml`` explains the requests."""

    key: str
    name: str
    streams: int
    put: tuple[str, ...]
    get: tuple[str, ...]
    source: str


@cache
def patterns() -> tuple[CopyPattern, ...]:
    rows = toml_data("patterns.toml", package="forms.diagnosis")["pattern"]
    return tuple(CopyPattern(**{**row, "put": tuple(row["put"]), "get": tuple(row["get"])}) for row in rows)


def copied_per_second(stage: Stage, pattern: CopyPattern, command: str) -> float | None:
    seconds, files = stage.number(f"{pattern.key}_{command}_seconds"), stage.number("pattern_files")
    return files / seconds if seconds and files else None


class Unit(StrEnum):
    """How a figure is written; the value is the end of its name in documents."""

    SECONDS = "seconds"
    RATE = "bytes_per_second"
    BYTES = "bytes"
    PERCENT = "percent"
    TIMES = "factor"
    PER_SECOND = "per_second"
    EXPONENT = "exponent"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its unit and, where it was measured several times, its 95 % interval."""

    stage: StageName
    key: str
    name: str
    unit: Unit
    value: float
    interval: Interval | None = None

    @property
    def text(self) -> str:
        return written(self.value, self.unit)

    @property
    def range_text(self) -> str:
        if self.interval is None or self.interval[0] == self.interval[1]:
            return ""
        low, high = (written(end, self.unit) for end in self.interval)
        return f"{low} to {high}"

    def to_json(self) -> dict[str, object]:
        low, high = self.interval or (None, None)
        return {
            "stage": self.stage.value, "key": f"{self.key}_{self.unit.value}", "name": self.name, "value": self.value,
            "low": low, "high": high,
        }  # fmt: skip


def written(value: float, unit: Unit) -> str:
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


def middle(values: Sequence[float]) -> tuple[float, Interval]:
    """The median and the interval of order statistics that holds it in 95 %. ``values`` is not empty."""
    ordered, count = sorted(values), len(values)
    rank = max(0, math.floor((count - 1.96 * math.sqrt(count)) / 2) - 1)
    return summary.median(ordered) or 0.0, (ordered[rank], ordered[count - 1 - rank])


def at_least(values: Sequence[float]) -> float:
    """What surely nine in ten reach, or all of few: a busy machine delays many, a slow server each."""
    count = len(values)
    return sorted(values)[max(0, math.floor(0.1 * count - 1.96 * math.sqrt(0.09 * count)))]


def price(base: Sequence[float], other: Sequence[float]) -> tuple[float, Interval] | None:
    """How many percent slower ``other`` is, from rates measured side by side."""
    logs = [math.log(mine / theirs) for mine, theirs in zip(base, other, strict=False) if mine > 0 and theirs > 0]
    interval = summary.confidence_interval(logs)
    if interval is None:
        return None
    mean, low, high = (100 * (1 - math.exp(-log)) for log in (summary.mean(logs) or 0.0, *interval))
    return mean, (low, high)


def sizes_of(stage: Stage, kind: str) -> list[int]:
    """The numbers in the names of samples such as ``list_1000_seconds``."""
    words = (name.split("_") for name in stage.samples if name.startswith(f"{kind}_"))
    return sorted(int(word) for parts in words for word in parts if word.isdecimal())


def round_trip(stage: Stage) -> float:
    """Of an empty request; 0 where it was not measured."""
    return summary.median(stage.of("echo_seconds")) or 0.0


def rates_in_flight(stage: Stage) -> dict[int, float]:
    return {
        size: max(stage.of(f"in_flight_{size}_bytes_per_second"))
        for size in (int(name.split("_")[2]) for name in stage.samples if name.startswith("in_flight_"))
    }


def file_seconds(stage: Stage, command: str, parts: Sequence[str] = ("open", "data", "close")) -> list[float]:
    return [sum(each) for each in zip(*(stage.of(f"{command}_{part}_seconds") for part in parts), strict=False)]


def side_by_side_factor(stage: Stage, command: str) -> float | None:
    single, together = file_seconds(stage, command), stage.number(f"{command}_side_by_side_seconds")
    files = stage.number("files")
    return (sum(single) / len(single)) * files / together if single and together and files else None


def growth(stage: Stage) -> tuple[float, Interval] | None:
    """The exponent by which the time of a listing grows with the folder, between the two largest."""
    counts = [count for count in sizes_of(stage, "list") if count > 0]
    if len(counts) < 2:
        return None
    small, large = counts[-2:]
    before, after = stage.of(f"list_{small}_seconds"), stage.of(f"list_{large}_seconds")
    width = math.log(large / small)

    def exponent(first: float, second: float) -> float:
        return math.log(second / first) / width

    whole = exponent(middle(before)[0], middle(after)[0])
    return whole, (exponent(max(before), min(after)), exponent(min(before), max(after)))


@dataclass(frozen=True, slots=True)
class Break:
    """Where a long run became slower or faster for good."""

    at_seconds: float
    before: float
    """Bytes per second."""
    after: float
    p_value: float


def break_of(stage: Stage) -> Break | None:
    at, moved = stage.of("at_seconds"), stage.of("moved_bytes")
    rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(zip(at, moved, strict=False)) if b[0] > a[0]]
    best, where = 0.0, 0
    whole = sum(rates)
    for index, left in enumerate(accumulate(rates[:-1]), start=1):
        if min(index, len(rates) - index) < LEAST_SEGMENT_SAMPLES:
            continue
        gap = left / index - (whole - left) / (len(rates) - index)
        score = gap * gap * index * (len(rates) - index)
        if score > best:
            best, where = score, index
    if not where or at[-1] - at[where] < _LEAST_SEGMENT_SECONDS:
        return None
    p_value = mann_whitney_p(rates[:where], rates[where:])
    if p_value > _SURE:
        return None

    # Of each part as a whole: where bytes move in bursts, most samples see none.
    before = (moved[where] - moved[0]) / (at[where] - at[0])
    after = (moved[-1] - moved[where]) / (at[-1] - at[where])
    return Break(at[where], before, after, p_value)


def figures(diagnosis: Diagnosis) -> list[Figure]:
    return [figure for name, found in _FIGURES.items() if (stage := diagnosis.stage(name)) for figure in found(stage)]


def _connect(stage: Stage) -> Iterator[Figure]:
    totals = stage.of("total_seconds")
    if totals:
        yield Figure(stage.name, "first_connect", "First connect", Unit.SECONDS, totals[0])
    if len(totals) > 1:
        yield Figure(stage.name, "later_connect", "Later connects", Unit.SECONDS, *middle(totals[1:]))


def _distance(stage: Stage) -> Iterator[Figure]:
    echoes = stage.of("echo_seconds")
    yield Figure(stage.name, "round_trip", "Round trip of a request", Unit.SECONDS, *middle(echoes))
    late = sorted(echoes)[int(0.95 * (len(echoes) - 1))] - (summary.median(echoes) or 0.0)
    yield Figure(stage.name, "jitter", "Jitter (95 % of requests)", Unit.SECONDS, late)
    rates = rates_in_flight(stage)
    for key, size in (("least_in_flight", min(rates)), ("most_in_flight", max(rates))):
        yield Figure(stage.name, key, f"{wording.binary_size(size)} in flight", Unit.RATE, rates[size])
    if granted := stage.number("granted_bytes_in_flight"):
        yield Figure(stage.name, "granted", "Credits granted, for", Unit.BYTES, granted)
    if segment := stage.number("mtu.segment_bytes"):
        yield Figure(stage.name, "segment", "Largest TCP segment", Unit.BYTES, segment)


def _small_files(stage: Stage) -> Iterator[Figure]:
    for command in ("put", "get"):
        if times := file_seconds(stage, command):
            value, interval = middle(times)
            yield Figure(stage.name, f"{command}_file", f"One small file, {command}", Unit.SECONDS, value, interval)
        if factor := side_by_side_factor(stage, command):
            name = f"{stage.number('streams') or 0:.0f} streams against one, {command}"
            yield Figure(stage.name, f"{command}_streams", name, Unit.TIMES, factor)
    for pattern in patterns():
        for command in ("put", "get"):
            if rate := copied_per_second(stage, pattern, command):
                name = f"Small files copied as by {pattern.name}, {command}"
                yield Figure(stage.name, f"{pattern.key}_{command}", name, Unit.PER_SECOND, rate)


def _folders(stage: Stage) -> Iterator[Figure]:
    for count in sizes_of(stage, "list")[-1:]:
        value, (low, high) = middle(stage.of(f"list_{count}_seconds"))
        rates = (count / high, count / low)
        yield Figure(stage.name, "entries", f"Listing {count:,} entries", Unit.PER_SECOND, count / value, rates)
        for kind, name in (("ask", "Asking about one entry"), ("missing", "Asking for a missing name")):
            if times := stage.of(f"{kind}_{count}_seconds"):
                yield Figure(stage.name, kind, name, Unit.SECONDS, *middle(times))
    if found := growth(stage):
        yield Figure(stage.name, "growth", "Growth of a listing (1: with the folder)", Unit.EXPONENT, *found)


def protection_share(stage: Stage) -> tuple[float, Interval] | None:
    """Percent of a get's time that this machine spends on the signing or encryption that the server asks for."""
    rates = stage.of("plain_bytes_per_second")
    is_encrypted = str(stage.facts.get("plain.encryption") or "none") != "none"
    speed = stage.number("cipher_bytes_per_second" if is_encrypted else "signer_bytes_per_second")
    if not rates or not speed:
        return None
    rate, (low, high) = middle(rates)
    return 100 * rate / speed, (100 * low / speed, 100 * high / speed)


def _protection(stage: Stage) -> Iterator[Figure]:
    base = stage.of("plain_bytes_per_second")
    if base:
        yield Figure(stage.name, "as_it_is", "As the server asks for it", Unit.RATE, *middle(base))
    if share := protection_share(stage):
        yield Figure(stage.name, "protection", "This machine's part of the signing or encryption", Unit.PERCENT, *share)
    for mode, name in (("signed", "Price of signing"), ("encrypted", "Price of encryption")):
        if found := price(base, stage.of(f"{mode}_bytes_per_second")):
            yield Figure(stage.name, mode, name, Unit.PERCENT, *found)


def _long_run(stage: Stage) -> Iterator[Figure]:
    at, moved = stage.of("at_seconds"), stage.of("moved_bytes")
    if at and at[-1]:
        yield Figure(stage.name, "whole", f"Long run of {wording.seconds(at[-1])}", Unit.RATE, moved[-1] / at[-1])
    if found := break_of(stage):
        yield Figure(stage.name, "before", f"Before {wording.seconds(found.at_seconds)}", Unit.RATE, found.before)
        yield Figure(stage.name, "after", "After that", Unit.RATE, found.after)
    if (flush := stage.number("flush_seconds")) is not None:
        yield Figure(stage.name, "flush", "Writing it to the disk then", Unit.SECONDS, flush)


BUSY_WITH_SEVERAL = "several_busy_percent"
"""Samples: how busy this machine's processors were while several connections read."""


def connections_factor(stage: Stage) -> tuple[float, Interval] | None:
    """How many times as much several connections carry as one does, over the turns."""
    single, several = _connection_rates(stage)
    found = price(several, single)
    if found is None:
        return None
    value, (low, high) = found
    return 1 / (1 - value / 100), (1 / (1 - low / 100), 1 / (1 - high / 100))


def connection_turns(stage: Stage) -> list[float]:
    """The same, turn by turn."""
    return [several / single for single, several in zip(*_connection_rates(stage), strict=False) if single > 0]


def _connection_rates(stage: Stage) -> tuple[Sequence[float], Sequence[float]]:
    """Of one connection, and of several, interleaved; empty where none were measured."""
    counts = sizes_of(stage, "connections")
    if not counts:
        return (), ()
    rates = [stage.of(f"connections_{count}_bytes_per_second") for count in (1, counts[-1])]
    return rates[0], rates[1]


def _cards(stage: Stage) -> Iterator[Figure]:
    if found := connections_factor(stage):
        name = f"{stage.number('connections') or 0:.0f} connections against one"
        yield Figure(stage.name, "connections", name, Unit.TIMES, *found)
    for side, whose in (("card", "this machine's"), ("server_card", "the server's")):
        for fact in stage.facts:
            card = fact.removeprefix(f"{side}.").removesuffix(".share")
            if fact == f"{side}.{card}.share":
                share = 100 * (stage.number(fact) or 0.0)
                yield Figure(
                    stage.name, f"{side}_{card}", f"Through {whose} {wording.plain(card)}", Unit.PERCENT, share
                )


_FIGURES = {
    StageName.CONNECT: _connect,
    StageName.DISTANCE: _distance,
    StageName.SMALL_FILES: _small_files,
    StageName.FOLDERS: _folders,
    StageName.PROTECTION: _protection,
    StageName.LONG_RUN: _long_run,
    StageName.CARDS: _cards,
}
