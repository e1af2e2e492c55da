"""How long single requests took, kept as counts by class of time, so that any percentile can be computed of them.

Below 256 units of time (nanoseconds, or microseconds in a load) each unit is a class; from there on each power of two
has 128 classes of equal width, so that a class is at most 1/128 (0.78 %) of its times wide. A class is known by its
number, from 0 in order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from storage.json_reader import Count

_BITS = 7
_CLASSES = 1 << _BITS
"""In each power of two."""


def class_of(units: int) -> int:
    """The number of the class that a time falls into."""
    # Of a long time the first eight bits count: the first is always 1, the other seven say which of the 128 classes.
    shift = max(0, units.bit_length() - _BITS - 1)
    return _CLASSES * shift + (units >> shift)


def lower_bound(class_number: int) -> int:
    """The least time of a class, in units."""
    shift = max(0, class_number // _CLASSES - 1)
    return (class_number - _CLASSES * shift) << shift


def class_width(class_number: int) -> int:
    """In units."""
    return 1 << max(0, class_number // _CLASSES - 1)


def quantile(counts: Mapping[int, int], share: float, most: int) -> float | None:
    """The time that this share of the times does not exceed, as the middle of its class; None without any.

    ``counts`` has the number of times by class, ``most`` is the longest time; all in units.
    """
    least_count = share * sum(counts.values())
    count = 0
    for number in sorted(counts):
        count += counts[number]
        if count >= least_count:
            middle = lower_bound(number) + (class_width(number) - 1) / 2
            return min(middle, most)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTimes:
    """How long the requests of a run took, each from sent to answered."""

    counts: tuple[tuple[int, Count], ...] = ()
    """(least time of a class in nanoseconds, how many times fell into it)"""
    total_nanoseconds: int = 0
    max_nanoseconds: int = 0

    @property
    def count(self) -> int:
        return sum(count for _least, count in self.counts)

    @property
    def max_seconds(self) -> float | None:
        return self.max_nanoseconds / 1e9 if self.counts else None

    def quantile_seconds(self, share: float) -> float | None:
        """The time that this share of the requests stayed within, to 1 %; None without any."""
        counts = {class_of(least): count for least, count in self.counts}
        nanoseconds = quantile(counts, share, self.max_nanoseconds)
        return None if nanoseconds is None else nanoseconds / 1e9


def merge_request_times(all_times: Iterable[RequestTimes]) -> RequestTimes:
    """The times of all of them together."""
    builder = RequestTimesBuilder()
    for times in all_times:
        builder.add_all(times)
    return builder.built()


@dataclass(slots=True)
class RequestTimesBuilder:
    """Request times that more are added to."""

    counts: dict[int, int] = field(default_factory=dict)
    """By the number of the class."""
    total_nanoseconds: int = 0
    max_nanoseconds: int = 0

    def add(self, nanoseconds: int) -> None:
        number = class_of(nanoseconds)
        self.counts[number] = self.counts.get(number, 0) + 1
        self.total_nanoseconds += nanoseconds
        self.max_nanoseconds = max(self.max_nanoseconds, nanoseconds)

    def add_all(self, times: RequestTimes) -> None:
        for least, count in times.counts:
            number = class_of(least)
            self.counts[number] = self.counts.get(number, 0) + count
        self.total_nanoseconds += times.total_nanoseconds
        self.max_nanoseconds = max(self.max_nanoseconds, times.max_nanoseconds)

    def built(self) -> RequestTimes:
        return RequestTimes(
            counts=tuple((lower_bound(number), self.counts[number]) for number in sorted(self.counts)),
            total_nanoseconds=self.total_nanoseconds,
            max_nanoseconds=self.max_nanoseconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequests:
    """The requests of a run that asks for many blocks at random places, by what they did."""

    reads: RequestTimes = field(default_factory=RequestTimes)
    writes: RequestTimes = field(default_factory=RequestTimes)

    @property
    def count(self) -> int:
        return self.reads.count + self.writes.count

    @property
    def all(self) -> RequestTimes:
        return merge_request_times([self.reads, self.writes])
