"""The throughput within one run: from what had moved when, to rates over time, and to what is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSpan:
    """A stretch of a run and its rate."""

    until_seconds: float
    """Since the first request."""
    bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run has come."""

    seconds: float
    moved_bytes: int
    size_bytes: int
    bytes_per_second: float | None
    """Since the first request; absent before anything has moved."""
    percent: float | None
    """Of the file; absent where its size is unknown."""
    seconds_left: float | None
    """At that rate; absent where rate or size is unknown."""


def over_time(progress: Sequence[tuple[float, int]], most: int = 120) -> list[RateSpan]:
    """The rates between samples of (seconds, bytes moved so far), in at most ``most`` stretches of equal count."""
    step = max(1, -(-len(progress) // most))
    kept = [(0.0, 0), *progress[step - 1 :: step]]
    if progress and kept[-1] != progress[-1]:
        kept.append(progress[-1])
    return [
        RateSpan(until_seconds=later, bytes_per_second=(after - before) / (later - earlier))
        for (earlier, before), (later, after) in pairwise(kept)
        if later > earlier
    ]


def standing(seconds: float, moved_bytes: int, size_bytes: int) -> RunProgress:
    """How far a run has come that moved so many bytes in so many seconds."""
    rate = moved_bytes / seconds if seconds > 0 and moved_bytes else None
    return RunProgress(
        seconds=seconds,
        moved_bytes=moved_bytes,
        size_bytes=size_bytes,
        bytes_per_second=rate,
        percent=min(100.0, 100 * moved_bytes / size_bytes) if size_bytes else None,
        seconds_left=max(0.0, (size_bytes - moved_bytes) / rate) if rate and size_bytes else None,
    )
