"""The progress of a series: throughput over time, time left, and which file size suits it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from forms import wording
from forms.findings.finding import PRACTICE_BYTES_PER_SECOND, is_loopback_address, practice_text
from forms.findings.series_warnings import GOOD_SECONDS, SHORT_SECONDS, advised_size
from storage.plan import DEFAULT_SIZE_BYTES
from storage.records import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class _RateSpan:
    until_seconds: float
    bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    seconds: float
    moved_bytes: int
    size_bytes: int
    bytes_per_second: float | None
    percent: float | None
    seconds_left: float | None


def over_time(progress: Sequence[tuple[float, int]], most: int = 120) -> list[_RateSpan]:
    """Rates between samples of (seconds, total bytes), in at most ``most`` stretches of equal count."""
    step = max(1, -(-len(progress) // most))
    kept = [(0.0, 0), *progress[step - 1 :: step]]
    if progress and kept[-1] != progress[-1]:
        kept.append(progress[-1])
    return [
        _RateSpan(until_seconds=later, bytes_per_second=(after - before) / (later - earlier))
        for (earlier, before), (later, after) in pairwise(kept)
        if later > earlier
    ]


def standing(seconds: float, moved_bytes: int, size_bytes: int) -> RunProgress:
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
    rate: "ExpectedRate",
    makes_file_first: bool = False,
    until_percent: float | None = None,
    max_runs: int = 30,
    series: int = 1,
) -> str:
    parts = [_runs_in_words(runs, warmups, until_percent, max_runs)]
    if size_bytes is None:
        return f"{parts[0]}, duration not yet known."
    total = (runs + warmups + makes_file_first) * series * size_bytes
    made = ", including making the file" if makes_file_first else ""
    each = " each" if series == 1 else f" each in {series} series"
    parts.append(f"of {wording.file_size(size_bytes)}{each}, {wording.binary_size(total)} in all{made}")
    parts.append(time_text(total / rate.bytes_per_second, [rate]))
    return ", ".join(parts) + "."


ASSUMED_LINK = 10**9
ASSUMED_HERE_BYTES_PER_SECOND = 10**9


class ExpectedRate(NamedTuple):
    """How fast transfers are expected to be, and why."""

    bytes_per_second: float
    why: str


def expected_rate(
    target: Target | None, *, measured: float | None = None, link: int | None = None, here: bool = False
) -> ExpectedRate:
    """By an earlier series, the practice server's limit or the link, else assumed; ``here``: the server is here."""
    if measured:
        return ExpectedRate(measured, "as fast as an earlier series")
    if target and practice_text(target):
        limit = wording.byte_rate(PRACTICE_BYTES_PER_SECOND)
        return ExpectedRate(PRACTICE_BYTES_PER_SECOND, f"at {limit}, the practice server's limit")
    if link:
        return ExpectedRate(link / 8, f"at {wording.link_rate(link)}, the link speed")
    if here or (target and is_loopback_address(target.host)):
        assumed = wording.byte_rate(ASSUMED_HERE_BYTES_PER_SECOND)
        return ExpectedRate(ASSUMED_HERE_BYTES_PER_SECOND, f"at {assumed}, assumed within this machine")
    return ExpectedRate(ASSUMED_LINK / 8, f"at {wording.link_rate(ASSUMED_LINK)}, assumed")


def time_text(seconds: float, rates: Iterable[ExpectedRate]) -> str:
    why = "; ".join(dict.fromkeys(rate.why for rate in rates))
    return f"about {duration(seconds)} or longer{f' ({why})' if why else ''}"


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


MEMORY_SHARE = 0.5
PATIENCE_SECONDS = 300.0


class FileFit(StrEnum):
    WELL = "good"
    SHORT = "short"
    TINY = "too small"
    LARGE = "large"
    EMPTY = "empty"
    UNKNOWN = "unknown"

    @property
    def sign(self) -> str:
        return {"good": "+", "short": "-", "too small": "!", "large": "~", "empty": "!", "unknown": "?"}[self.value]


class _FileSuitability(NamedTuple):
    word: FileFit
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSizeContext:
    """What is known before measuring; absent where unknown."""

    link_bits_per_second: int | None = None
    measured_bytes_per_second: float | None = None
    memory_bytes: int | None = None

    @property
    def expected_bytes_per_second(self) -> float | None:
        if self.measured_bytes_per_second:
            return self.measured_bytes_per_second
        return self.link_bits_per_second / 8 if self.link_bits_per_second else None


def advised(around: FileSizeContext) -> int:
    """The advised size in bytes: ten seconds a run, at most half the server's memory."""
    rate = around.expected_bytes_per_second
    size = advised_size(rate) if rate else DEFAULT_SIZE_BYTES
    while around.memory_bytes and size > around.memory_bytes * MEMORY_SHARE and size > DEFAULT_SIZE_BYTES:
        size //= 2
    return size


def why_advised(around: FileSizeContext) -> str:
    size, rate = wording.typed_size(advised(around)), around.expected_bytes_per_second
    if rate is None:
        return (
            f"Neither the link speed nor an earlier result is known, so {size} is a first guess: the review says"
            " whether runs last long enough."
        )
    origin = "an earlier series reached" if around.measured_bytes_per_second else "the link carries"
    fits = (
        f"it fits the server's memory of {wording.file_size(around.memory_bytes)}"
        if around.memory_bytes
        else "the server's memory is unknown: check that it fits"
    )
    return f"{size}: {origin} {wording.rate(rate)}, a run should last about {GOOD_SECONDS:.0f} s, and {fits}."


def suitability(size_bytes: int, around: FileSizeContext) -> _FileSuitability:
    if size_bytes <= 0:
        return _FileSuitability(FileFit.EMPTY, "An empty file moves no bytes: choose another.")
    rate = around.expected_bytes_per_second
    if rate is None and size_bytes < 1024**2:
        why = "A file under 1 MB measures opening and closing, not throughput: choose a larger one."
        return _FileSuitability(FileFit.TINY, why)
    if rate is None:
        return _FileSuitability(
            FileFit.UNKNOWN, "Link speed and server speed are not known yet, so it may be too small."
        )
    seconds = size_bytes / rate
    lasts = f"A run would last {wording.seconds(seconds)}"
    larger = f"choose one of {wording.typed_size(advised(around))} or so, or have one made"
    if seconds < SHORT_SECONDS:
        return _FileSuitability(FileFit.TINY, f"{lasts}: mostly start-up and chance; {larger}.")
    if around.memory_bytes and size_bytes > around.memory_bytes * MEMORY_SHARE:
        why = (
            f"More than half the server's memory ({wording.file_size(around.memory_bytes)}): after the warm-up it"
            f" may still come from the disk, so the disk is measured too; {larger} to leave the disk out."
        )
        return _FileSuitability(FileFit.LARGE, why)
    if seconds < GOOD_SECONDS:
        return _FileSuitability(FileFit.SHORT, f"{lasts}: usable; {larger} for a steadier result.")
    if seconds > PATIENCE_SECONDS:
        return _FileSuitability(FileFit.LARGE, f"{lasts}; a smaller file tells as much sooner.")
    return _FileSuitability(FileFit.WELL, f"{lasts}: long enough to trust.")
