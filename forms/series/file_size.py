"""Whether a file of some size suits a path: how long a run would last, and whether the server can keep it in memory."""

from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from forms.findings.series_warnings import GOOD_SECONDS, MEMORY_SHARE, SHORT_SECONDS, advised_size

PATIENCE_SECONDS = 300.0
"""A run that lasts longer tells no more than a shorter one."""

_TINY_BYTES = 1024**2
"""A smaller file mostly measures opening and closing, on whatever path."""


class FileFit(StrEnum):
    WELL = "good"
    SHORT = "short"
    TINY = "too small"
    LARGE = "large"
    EMPTY = "empty"
    UNKNOWN = "unknown"

    @property
    def sign(self) -> str:
        return _SIGNS[self]


_SIGNS = {
    FileFit.WELL: "+",
    FileFit.SHORT: "-",
    FileFit.TINY: "!",
    FileFit.LARGE: "~",
    FileFit.EMPTY: "!",
    FileFit.UNKNOWN: "?",
}


class FitReason(Enum):
    """Why a file fits as it does."""

    NO_BYTES = auto()
    NO_RATE = auto()
    UNDER_A_MEGABYTE = auto()
    UNDER_A_SECOND = auto()
    BEYOND_MEMORY = auto()
    FEW_SECONDS = auto()
    BEYOND_PATIENCE = auto()
    GOOD_TIME = auto()

    @property
    def fit(self) -> FileFit:
        return _FITS[self]


_FITS = {
    FitReason.NO_BYTES: FileFit.EMPTY,
    FitReason.NO_RATE: FileFit.UNKNOWN,
    FitReason.UNDER_A_MEGABYTE: FileFit.TINY,
    FitReason.UNDER_A_SECOND: FileFit.TINY,
    FitReason.BEYOND_MEMORY: FileFit.LARGE,
    FitReason.FEW_SECONDS: FileFit.SHORT,
    FitReason.BEYOND_PATIENCE: FileFit.LARGE,
    FitReason.GOOD_TIME: FileFit.WELL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSizeContext:
    """What is known before measuring; absent where unknown."""

    link_bits_per_second: int | None = None
    measured_bytes_per_second: float | None = None
    memory_bytes: int | None = None

    @property
    def expected_bytes_per_second(self) -> float | None:
        """What was measured, unless the link is slower by now: no run will be faster than that."""
        rates = (self.measured_bytes_per_second, (self.link_bits_per_second or 0) / 8)
        return min((rate for rate in rates if rate), default=None)

    @property
    def is_as_measured(self) -> bool:
        """Whether what is expected is what an earlier series reached; else it is what the link carries."""
        return self.expected_bytes_per_second == self.measured_bytes_per_second


def advised_bytes(context: FileSizeContext) -> int:
    """The advised size; a first guess where no rate is known."""
    return advised_size(context.expected_bytes_per_second or 0.0, context.memory_bytes)


def judge_file_size(size_bytes: int, context: FileSizeContext) -> FitReason:
    if size_bytes <= 0:
        return FitReason.NO_BYTES
    rate = context.expected_bytes_per_second
    if rate is None:
        return FitReason.UNDER_A_MEGABYTE if size_bytes < _TINY_BYTES else FitReason.NO_RATE

    seconds = size_bytes / rate
    if seconds < SHORT_SECONDS:
        return FitReason.UNDER_A_SECOND
    if context.memory_bytes and size_bytes > context.memory_bytes * MEMORY_SHARE:
        return FitReason.BEYOND_MEMORY
    if seconds < GOOD_SECONDS:
        return FitReason.FEW_SECONDS
    if seconds > PATIENCE_SECONDS:
        return FitReason.BEYOND_PATIENCE
    return FitReason.GOOD_TIME
