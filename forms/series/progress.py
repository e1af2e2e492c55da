"""The progress of a series: throughput over time, and time left."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from forms import wording


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSpan:
    """A stretch of a run and its rate."""

    until_seconds: float
    bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """The progress of a run."""

    seconds: float
    moved_bytes: int
    size_bytes: int
    bytes_per_second: float | None
    percent: float | None
    seconds_left: float | None


def over_time(progress: Sequence[tuple[float, int]], most: int = 120) -> list[RateSpan]:
    """Rates between samples of (seconds, total bytes), in at most ``most`` stretches of equal count."""
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
    """A run's progress from seconds and bytes."""
    rate = moved_bytes / seconds if seconds > 0 and moved_bytes else None
    return RunProgress(
        seconds=seconds,
        moved_bytes=moved_bytes,
        size_bytes=size_bytes,
        bytes_per_second=rate,
        percent=min(100.0, 100 * moved_bytes / size_bytes) if size_bytes else None,
        seconds_left=max(0.0, (size_bytes - moved_bytes) / rate) if rate and size_bytes else None,
    )


def estimate_text(
    *,
    runs: int,
    warmups: int,
    size_bytes: int | None,
    bytes_per_second: float | None,
    makes_file_first: bool = False,
    until_percent: float | None = None,
    max_runs: int = 30,
) -> str:
    """The expected time of a series, in a sentence."""
    transfers = runs + warmups + (1 if makes_file_first else 0)
    total = transfers * size_bytes if size_bytes is not None else None
    seconds = total / bytes_per_second if total is not None and bytes_per_second else None
    parts = [_runs_in_words(runs, warmups, until_percent, max_runs)]
    if size_bytes is not None and total is not None:
        made = ", the file's making included" if makes_file_first else ""
        parts.append(f"of {wording.file_size(size_bytes)} each, {wording.binary_size(total)} in all{made}")
    if seconds is not None:
        parts.append(f"about {duration(seconds)} or longer")
    else:
        parts.append("how long it takes is not known yet")
    return ", ".join(parts) + "."


def _runs_in_words(runs: int, warmups: int, until_percent: float | None, max_runs: int) -> str:
    warm = f"{wording.count(warmups, 'warm-up run')} and " if warmups else ""
    if until_percent is None:
        return f"{warm}{wording.count(runs, 'measured run')}"
    return f"{warm}{runs} to {max_runs} measured runs, until the average is known to ± {wording.percent(until_percent)}"


def duration(seconds: float) -> str:
    """A time a user waits for: ``8 s``, ``3 min``, ``2 h 10 min``; at least a second."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
