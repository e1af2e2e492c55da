"""How far a run is, and its rate over time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from forms.stats import summary


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSpan:
    """The rate from the end of the span before up to a time."""

    until_seconds: float
    bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run is; None where that is not known."""

    seconds: float
    """Since it began."""
    moved_bytes: int
    size_bytes: int
    """What it will move in all; 0 where that is not known."""
    bytes_per_second: float | None
    """The mean rate so far."""
    percent: float | None
    seconds_left: float | None
    """If it goes on at that rate."""


def over_time(progress: Sequence[tuple[float, int]], most: int = 120) -> list[RateSpan]:
    """Between samples of (seconds, total bytes), in at most ``most`` stretches; short ones join a neighbour."""
    step = max(1, math.ceil(len(progress) / most))
    samples = [(0.0, 0), *progress[step - 1 :: step]]
    if progress and samples[-1] != progress[-1]:
        samples.append(progress[-1])

    # A stretch much shorter than the others has a rate by chance.
    typical_seconds = summary.median([later - earlier for (earlier, _), (later, _) in pairwise(samples)])
    short_seconds = (typical_seconds or 0.0) / 2
    joined = samples[:1]
    for sample in samples[1:]:
        if sample[0] - joined[-1][0] > short_seconds:
            joined.append(sample)
        elif len(joined) > 1:
            joined[-1] = sample

    return [
        RateSpan(until_seconds=later, bytes_per_second=(after - before) / (later - earlier))
        for (earlier, before), (later, after) in pairwise(joined)
    ]


def run_progress(seconds: float, moved_bytes: int, size_bytes: int) -> RunProgress:
    """How far a run is, and how long it will take if it goes on like that; None where that is not known."""
    rate = moved_bytes / seconds if seconds > 0 and moved_bytes else None

    percent = None
    seconds_left = None
    if size_bytes:
        percent = min(100.0, 100 * moved_bytes / size_bytes)
        if rate:
            seconds_left = max(0.0, (size_bytes - moved_bytes) / rate)

    return RunProgress(
        seconds=seconds,
        moved_bytes=moved_bytes,
        size_bytes=size_bytes,
        bytes_per_second=rate,
        percent=percent,
        seconds_left=seconds_left,
    )
