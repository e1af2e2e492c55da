"""Which file size suits a measurement, by run time and server memory."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from forms import wording
from forms.findings.series_warnings import GOOD_SECONDS, SHORT_SECONDS, advised_size
from storage.plan import DEFAULT_SIZE_BYTES

MEMORY_SHARE = 0.5
PATIENCE_SECONDS = 300.0


class FileFit(StrEnum):
    """How well a file size suits, each with its own sign."""

    WELL = "good"
    SHORT = "short"
    TINY = "too small"
    LARGE = "large"
    EMPTY = "empty"
    UNKNOWN = "unknown"

    @property
    def sign(self) -> str:
        return {"good": "+", "short": "-", "too small": "!", "large": "~", "empty": "!", "unknown": "?"}[self.value]


class FileSuitability(NamedTuple):
    """What to say about a file size."""

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
    """Why that size is advised, and what is unknown."""
    size, rate = wording.typed_size(advised(around)), around.expected_bytes_per_second
    if rate is None:
        return (
            f"Neither the link's rate nor an earlier result is known, so {size} is a first guess: the review says"
            " whether a run of it lasts long enough."
        )
    origin = "an earlier series reached" if around.measured_bytes_per_second else "the link carries"
    fits = (
        f"it fits the server's memory of {wording.file_size(around.memory_bytes)}"
        if around.memory_bytes
        else "the server's memory is not known, so look that it fits"
    )
    return (
        f"{size}: {origin} {wording.rate(rate)}, a run should last about {GOOD_SECONDS:.0f} s so that start-up and"
        f" chance weigh little, and {fits}."
    )


def suitability(size_bytes: int, around: FileSizeContext) -> FileSuitability:
    """How well a size suits, and why not."""
    if size_bytes <= 0:
        return FileSuitability(FileFit.EMPTY, "An empty file moves no bytes: choose another.")
    rate = around.expected_bytes_per_second
    if rate is None and size_bytes < 1024**2:
        why = "Under a megabyte it measures opening and closing, not throughput: choose a larger."
        return FileSuitability(FileFit.TINY, why)
    if rate is None:
        return FileSuitability(FileFit.UNKNOWN, "Neither link nor server rate is known; the review will tell.")
    seconds = size_bytes / rate
    lasts = f"A run would last {wording.seconds(seconds)}"
    larger = f"choose one of {wording.typed_size(advised(around))} or so, or have one made"
    if seconds < SHORT_SECONDS:
        return FileSuitability(FileFit.TINY, f"{lasts}: mostly start-up and chance; {larger}.")
    if around.memory_bytes and size_bytes > around.memory_bytes * MEMORY_SHARE:
        why = (
            f"More than half the server's memory ({wording.file_size(around.memory_bytes)}): after the warm-up it"
            f" may still come from the disk, so the disk is measured too; {larger} to leave the disk out."
        )
        return FileSuitability(FileFit.LARGE, why)
    if seconds < GOOD_SECONDS:
        return FileSuitability(FileFit.SHORT, f"{lasts}: usable; {larger} for a steadier result.")
    if seconds > PATIENCE_SECONDS:
        return FileSuitability(FileFit.LARGE, f"{lasts}; a smaller file tells as much sooner.")
    return FileSuitability(FileFit.WELL, f"{lasts}: long enough to trust.")
