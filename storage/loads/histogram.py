"""Counts of times in whole microseconds, in classes at most 1 % wide; they add up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from storage.json_reader import JSONNode
from storage.records import JSONValue

_BITS = 7
"""128 classes per power of two, at most 0.78 % wide; below 256 µs one per microsecond."""
_CLASSES = 1 << _BITS


def class_of(microseconds: int) -> int:
    """The class that a time belongs to."""
    shift = max(0, microseconds.bit_length() - _BITS - 1)
    return _CLASSES * shift + (microseconds >> shift)


def lower_bound(class_number: int) -> int:
    """The least time of a class, in microseconds."""
    shift = max(0, class_number // _CLASSES - 1)
    return (class_number - _CLASSES * shift) << shift


def class_width(class_number: int) -> int:
    """In microseconds."""
    return 1 << max(0, class_number // _CLASSES - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts of times."""

    counts: Mapping[int, int] = field(default_factory=dict)
    total_microseconds: int = 0
    max_microseconds: int = 0

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def mean_seconds(self) -> float | None:
        return self.total_microseconds / self.count / 1e6 if self.counts else None

    def quantile_seconds(self, share: float) -> float | None:
        wanted, seen = share * self.count, 0
        for number in sorted(self.counts):
            seen += self.counts[number]
            if seen >= wanted:
                middle = lower_bound(number) + (class_width(number) - 1) / 2
                return min(middle, self.max_microseconds) / 1e6
        return None

    def to_json(self) -> dict[str, JSONValue]:
        return {
            "counts": [[lower_bound(number), self.counts[number]] for number in sorted(self.counts)],
            "total_microseconds": self.total_microseconds,
            "max_microseconds": self.max_microseconds,
        }


def added(histograms: Iterable[Histogram]) -> Histogram:
    """The sum of histograms."""
    counts: dict[int, int] = {}
    total = longest = 0
    for one in histograms:
        for number, count in one.counts.items():
            counts[number] = counts.get(number, 0) + count
        total += one.total_microseconds
        longest = max(longest, one.max_microseconds)
    return Histogram(counts=counts, total_microseconds=total, max_microseconds=longest)


def histogram_from_json(node: JSONNode) -> Histogram:
    """The histogram of :meth:`Histogram.to_json`. Raises DocumentError."""
    if node.value is None:
        return Histogram()
    counts: dict[int, int] = {}
    for pair in node.object().at("counts").items():
        if len(both := pair.items()) != 2:
            raise pair.wrong("[microseconds, count]")
        number = class_of(both[0].whole(at_least=0))
        counts[number] = counts.get(number, 0) + both[1].whole(at_least=1)
    return Histogram(
        counts=counts,
        total_microseconds=node.at("total_microseconds").whole(at_least=0),
        max_microseconds=node.at("max_microseconds").whole(at_least=0),
    )


class HistogramBuilder:
    """A growing histogram."""

    __slots__ = ("counts", "max_microseconds", "total_microseconds")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.total_microseconds = 0
        self.max_microseconds = 0

    def add(self, seconds: float) -> None:
        microseconds = max(0, round(seconds * 1e6))
        shift = max(0, microseconds.bit_length() - _BITS - 1)
        number = _CLASSES * shift + (microseconds >> shift)
        self.counts[number] = self.counts.get(number, 0) + 1
        self.total_microseconds += microseconds
        self.max_microseconds = max(self.max_microseconds, microseconds)

    def built(self) -> Histogram:
        return Histogram(
            counts=dict(self.counts),
            total_microseconds=self.total_microseconds,
            max_microseconds=self.max_microseconds,
        )
