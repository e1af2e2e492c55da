"""Computes figures of a diagnosis from the samples of its stages: medians, prices and growth, each with its interval.

Samples are found by their names, which end in their unit. Those of a stage:

- distance: ``echo_seconds``, of empty requests; ``in_flight_BYTES_bytes_per_second``, rates with as much on the way;
- small files: ``put_open_seconds``, ``put_data_seconds``, ``put_close_seconds``, of one file each, round by round; of
  each round how many these are, ``put_files_of_round``, ``put_side_by_side_files_per_second`` of several streams, and
  ``PATTERN_put_seconds`` of each program's pattern; ``get_…`` as well;
- folders: ``list_COUNT_seconds``, ``ask_COUNT_seconds`` and ``missing_COUNT_seconds``, in a folder of COUNT entries;
- protection: ``plain_bytes_per_second``, as the server asks for it; ``signed_…`` and ``encrypted_…``, in turn with it;
- long run: ``at_seconds`` and ``moved_bytes``, the progress of one transfer; ``busy_ticks`` and ``all_ticks`` of this
  machine's processors until then;
- cards: ``connections_COUNT_bytes_per_second``, of COUNT connections together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from forms import wording
from forms.stats import summary
from forms.stats.ranks import mann_whitney_p
from forms.tuning.smb_conf import toml_data
from storage.looks import Diagnosis, Stage

LEAST_SEGMENT_SAMPLES = 8
"""Fewer samples on one side of a break are a hiccup."""

_LEAST_SEGMENT_SECONDS = 1.0
"""A run must go on that long after a break."""

_SURE = 0.001
"""The chance of a break where there is none: it is searched at every place, so that 0.05 would find one too often."""

_Z_95 = 1.96
"""Standard deviations to each side of the mean that hold 95 % of a normal distribution."""

Interval = tuple[float, float]
"""(lowest, highest), of 95 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyPattern:
    """How a program copies small files; ``patterns.toml`` explains the requests."""

    key: str
    name: str
    """Of the program."""
    streams: int
    """How many files it copies at once."""
    put: tuple[str, ...]
    get: tuple[str, ...]
    """The requests for one file, in order."""
    source: str
    """Where the pattern is from."""


@cache
def patterns() -> tuple[CopyPattern, ...]:
    """All patterns, as ``patterns.toml`` has them."""
    rows = toml_data("patterns.toml", package="forms.diagnosis")["pattern"]
    return tuple(
        CopyPattern(
            key=row["key"],
            name=row["name"],
            streams=row["streams"],
            put=tuple(row["put"]),
            get=tuple(row["get"]),
            source=row["source"],
        )
        for row in rows
    )


def copied_per_second(stage: Stage, pattern: CopyPattern, command: str) -> float | None:
    """Small files a second, copied as by that program; None where it was not measured."""
    seconds = stage.number(f"{pattern.key}_{command}_seconds")
    files = stage.number("pattern_files")
    return files / seconds if seconds and files else None


def copied_per_second_by_round(stage: Stage, pattern: CopyPattern, command: str) -> list[float]:
    """The same of each round; empty of a diagnosis of before, which kept the best one alone."""
    files = stage.number("pattern_files") or 0.0
    return [files / seconds for seconds in stage.of(f"{pattern.key}_{command}_seconds") if seconds > 0]


def median_with_interval(values: Sequence[float]) -> tuple[float, Interval]:
    """The median, with the samples between which it lies in 95 % of cases. ``values`` is not empty.

    Of n sorted samples those are, from either end, number (n - 1.96 √n) / 2, by the binomial distribution.
    """
    ordered = sorted(values)
    count = len(ordered)
    rank = max(0, math.floor((count - _Z_95 * math.sqrt(count)) / 2) - 1)
    return summary.median(ordered) or 0.0, (ordered[rank], ordered[count - 1 - rank])


def time_of_nearly_each(values: Sequence[float]) -> float:
    """The time that surely nine in ten samples reach or exceed; of few samples the shortest.

    A busy machine delays many of them, a slow server each. Of n sorted samples it is number 0.1 n - 1.96 √(0.09 n).
    """
    count = len(values)
    rank = math.floor(0.1 * count - _Z_95 * math.sqrt(0.09 * count))
    return sorted(values)[max(0, rank)]


def price(base: Sequence[float], other: Sequence[float]) -> tuple[float, Interval] | None:
    """How many percent slower ``other`` is, from rates that were measured in turn; None for fewer than two pairs.

    It is 100 (1 - exp(-m)), m the mean of the logarithms of base / other; the interval of m is Student's.
    """
    pairs = [(base_rate, other_rate) for base_rate, other_rate in zip(base, other, strict=False)]
    logs = [math.log(base_rate / other_rate) for base_rate, other_rate in pairs if base_rate > 0 and other_rate > 0]
    interval = summary.confidence_interval(logs)
    if interval is None:
        return None

    low, high = interval
    return _percent_slower(summary.mean(logs) or 0.0), (_percent_slower(low), _percent_slower(high))


def _percent_slower(log_ratio: float) -> float:
    return 100 * (1 - math.exp(-log_ratio))


def sizes_of(stage: Stage, kind: str) -> list[int]:
    """The numbers in the names of samples of that kind, ascending: 1000 in ``list_1000_seconds``."""
    sizes = []
    for name in stage.samples:
        if name.startswith(f"{kind}_"):
            sizes += [int(word) for word in name.split("_") if word.isdecimal()]
    return sorted(sizes)


def round_trip(stage: Stage) -> float:
    """The median seconds of an empty request; 0 where it was not measured."""
    return summary.median(stage.of("echo_seconds")) or 0.0


def rates_in_flight(stage: Stage) -> dict[int, float]:
    """The best rate by the number of bytes that were on their way at once."""
    return {
        size: max(stage.of(f"in_flight_{size}_bytes_per_second")) for size in dict.fromkeys(_sizes_in_flight(stage))
    }


def _sizes_in_flight(stage: Stage) -> list[int]:
    return [int(name.split("_")[2]) for name in stage.samples if name.startswith("in_flight_")]


FILE_PARTS = ("open", "data", "close")
"""The steps of one small file, by the names of their samples."""


def file_seconds(stage: Stage, command: str, parts: Sequence[str] = FILE_PARTS) -> list[float]:
    """How long these parts of each file took together."""
    samples = [stage.of(f"{command}_{part}_seconds") for part in parts]
    return [sum(times) for times in zip(*samples, strict=False)]


def file_seconds_by_round(stage: Stage, command: str, parts: Sequence[str] = FILE_PARTS) -> list[list[float]]:
    """The same round by round; empty of a diagnosis of before, which had no rounds."""
    times = file_seconds(stage, command, parts)
    rounds = []
    for count in map(int, stage.of(f"{command}_files_of_round")):
        if count and len(times) >= count:
            rounds.append(times[:count])
            times = times[count:]
    return rounds


def median_file_seconds_by_round(stage: Stage, command: str, parts: Sequence[str] = FILE_PARTS) -> list[float]:
    return [summary.median(times) or 0.0 for times in file_seconds_by_round(stage, command, parts)]


def side_by_side_factor(stage: Stage, command: str) -> float | None:
    """How many times as fast several streams copy small files as one does."""
    single = file_seconds(stage, command)
    together_seconds = stage.number(f"{command}_side_by_side_seconds")
    files = stage.number("files")
    if not single or not together_seconds or not files:
        return None

    mean_seconds = sum(single) / len(single)
    return mean_seconds * files / together_seconds


def side_by_side_interval(stage: Stage, command: str) -> Interval | None:
    """The lowest and the highest of that in a round; None for fewer than two rounds."""
    together_rates = stage.of(f"{command}_side_by_side_files_per_second")
    factors = []
    for times, together_rate in zip(file_seconds_by_round(stage, command), together_rates, strict=False):
        factors.append(together_rate * sum(times) / len(times))
    return ends_of(factors)


def ends_of(values: Sequence[float]) -> Interval | None:
    """The lowest and the highest; None of fewer than two."""
    return (min(values), max(values)) if len(values) > 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramsBeside:
    """A program that copies several small files at once, beside one that copies one at a time with equal requests."""

    several: CopyPattern
    several_per_second: float
    single: CopyPattern
    single_per_second: float

    @property
    def factor(self) -> float:
        """How many times as fast several at once are."""
        return self.several_per_second / self.single_per_second


def programs_beside(stage: Stage, command: str) -> ProgramsBeside | None:
    """None where not both were measured."""
    single: dict[tuple[str, ...], tuple[CopyPattern, float]] = {}
    for pattern in patterns():
        rate = copied_per_second(stage, pattern, command)
        requests = pattern.put if command == "put" else pattern.get
        if rate is None:
            continue
        if pattern.streams == 1:
            single.setdefault(requests, (pattern, rate))
        elif requests in single:
            single_pattern, single_rate = single[requests]
            return ProgramsBeside(
                several=pattern, several_per_second=rate, single=single_pattern, single_per_second=single_rate
            )
    return None


def growth(stage: Stage) -> tuple[float, Interval] | None:
    """The exponent by which the time of a listing grows with the folder, between the two largest: 1 if in proportion.

    It is log(time ratio) / log(entry ratio), of the medians; its ends take the extreme samples of both folders.
    """
    counts = [count for count in sizes_of(stage, "list") if count > 0]
    if len(counts) < 2:
        return None

    small, large = counts[-2:]
    small_times = stage.of(f"list_{small}_seconds")
    large_times = stage.of(f"list_{large}_seconds")
    log_of_growth = math.log(large / small)

    def exponent(small_seconds: float, large_seconds: float) -> float:
        return math.log(large_seconds / small_seconds) / log_of_growth

    small_median, _ = median_with_interval(small_times)
    large_median, _ = median_with_interval(large_times)
    least = exponent(max(small_times), min(large_times))
    most = exponent(min(small_times), max(large_times))
    return exponent(small_median, large_median), (least, most)


@dataclass(frozen=True, slots=True)
class Break:
    """Where a long run became slower or faster for good."""

    at_seconds: float
    before: float
    """Bytes per second."""
    after: float
    p_value: float


def break_of(stage: Stage) -> Break | None:
    """Where a long run parts into two levels of speed; None where it has one."""
    # Samples at the same moment have no rate between them: the first of them stands for all.
    moved_at: dict[float, float] = {}
    for at_seconds, moved_bytes in zip(stage.of("at_seconds"), stage.of("moved_bytes"), strict=False):
        moved_at.setdefault(at_seconds, moved_bytes)
    moments = sorted(moved_at)
    moved = [moved_at[at_seconds] for at_seconds in moments]

    rates = []
    for (begin, bytes_before), (end, bytes_after) in pairwise(zip(moments, moved, strict=True)):
        rates.append((bytes_after - bytes_before) / (end - begin))

    # A rate is that from the sample of its place to the next one.
    place = _place_of_break(rates)
    if not place or moments[-1] - moments[place] < _LEAST_SEGMENT_SECONDS:
        return None

    p_value = mann_whitney_p(rates[:place], rates[place:])
    if p_value > _SURE:
        return None

    # Of each part as a whole: where bytes move in bursts, most samples see none.
    before = (moved[place] - moved[0]) / (moments[place] - moments[0])
    after = (moved[-1] - moved[place]) / (moments[-1] - moments[place])
    return Break(moments[place], before, after, p_value)


BUSY_TICKS = "busy_ticks"
ALL_TICKS = "all_ticks"
"""Samples: what this machine's processors had worked since a long run began, and could have; at its moments."""

FULL_PERCENT = 90.0
"""Where this machine's processors are as busy, they are what connections share, and what a scan or a run waits for."""


def busy_percent_after(stage: Stage, at_seconds: float) -> float | None:
    """How busy this machine's processors were in a long run from that moment on; None where nobody looked."""
    readings = list(zip(stage.of("at_seconds"), stage.of(BUSY_TICKS), stage.of(ALL_TICKS), strict=False))
    from_then_on = [(busy, passed) for moment, busy, passed in readings if moment >= at_seconds]
    if len(from_then_on) < 2:
        return None

    (first_busy, first_passed), (last_busy, last_passed) = from_then_on[0], from_then_on[-1]
    passed = last_passed - first_passed
    return 100 * (last_busy - first_busy) / passed if passed > 0 else None


def _place_of_break(rates: Sequence[float]) -> int:
    """Where the squared difference of the means of both sides, weighted by their lengths, is largest; 0: nowhere."""
    best_score = 0.0
    best_place = 0
    total = sum(rates)
    sum_before = 0.0
    for place, rate in enumerate(rates[:-1], start=1):
        sum_before += rate
        count_after = len(rates) - place
        if min(place, count_after) < LEAST_SEGMENT_SAMPLES:
            continue

        difference = sum_before / place - (total - sum_before) / count_after
        score = difference * difference * place * count_after
        if score > best_score:
            best_score = score
            best_place = place
    return best_place


def protection_share(stage: Stage) -> tuple[float, Interval] | None:
    """Percent of a get's time that this machine spends on the signing or encryption that the server asks for."""
    rates = stage.of("plain_bytes_per_second")
    is_encrypted = str(stage.facts.get("plain.encryption") or "none") != "none"
    speed = stage.number("cipher_bytes_per_second" if is_encrypted else "signer_bytes_per_second")
    if not rates or not speed:
        return None

    rate, (low, high) = median_with_interval(rates)
    return 100 * rate / speed, (100 * low / speed, 100 * high / speed)


BUSY_LOAD = 1.5
"""Processes that wait for each processor of this machine, from which on times are doubtful."""


def is_machine_busy(stage: Stage) -> bool:
    """Whether this machine had too much to do while the stage was measured for its times to be right."""
    return (stage.number("machine.load_per_processor") or 0.0) >= BUSY_LOAD


BUSIEST_PROGRAM = "machine.busiest"
"""Fact: the name of the program that worked most on this machine beside ours, while the stage was measured."""

BUSIEST_PERCENT = "machine.busiest_percent"
"""Fact: how much of one processor it used."""


def busiest_program_text(diagnosis: Diagnosis) -> str:
    """``backup (98 % of a processor)``: what kept this machine busiest of all stages; empty where nobody knows."""
    stages = [stage for stage in diagnosis.stages if stage.number(BUSIEST_PERCENT) is not None]
    busiest = max(stages, key=_percent_of_busiest_program, default=None)
    if busiest is None:
        return ""

    name = wording.plain(str(busiest.facts.get(BUSIEST_PROGRAM) or ""))
    return f"{name} ({wording.percent(_percent_of_busiest_program(busiest))} of a processor)"


def _percent_of_busiest_program(stage: Stage) -> float:
    return stage.number(BUSIEST_PERCENT) or 0.0


BUSY_WITH_MISSING = "missing_busy_percent"
"""Samples: how busy this machine's processors were while names were asked for that are missing, a folder each."""

BUSY_WITH_SEVERAL = "several_busy_percent"
"""Samples: how busy this machine's processors were while several connections read."""


def connections_factor(stage: Stage) -> tuple[float, Interval] | None:
    """How many times as much several connections carry as one does, over the turns."""
    single, several = _connection_rates(stage)
    slower = price(several, single)
    if slower is None:
        return None

    percent, (low, high) = slower
    return 1 / (1 - percent / 100), (1 / (1 - low / 100), 1 / (1 - high / 100))


def connection_turns(stage: Stage) -> list[float]:
    """How many times as much several connections carry as one does, turn by turn."""
    return [several / single for single, several in zip(*_connection_rates(stage), strict=False) if single > 0]


def _connection_rates(stage: Stage) -> tuple[Sequence[float], Sequence[float]]:
    """Of one connection, and of several, interleaved; empty where none were measured."""
    counts = sizes_of(stage, "connections")
    if not counts:
        return (), ()

    return stage.of("connections_1_bytes_per_second"), stage.of(f"connections_{counts[-1]}_bytes_per_second")
