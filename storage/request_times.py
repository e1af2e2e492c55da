"""How long single requests took, kept as counts by class of time, so that any percentile can be computed of them.

Below 256 units of time (nanoseconds, or microseconds in a load) each unit is a class; from there on each power of two
has 128 classes of equal width, so that a class is at most 1/128 (0.78 %) of its times wide. A class is known by its
number, from 0 in order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from storage.json_reader import DocumentError, JSONNode, named

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

    counts: Mapping[int, int] = field(default_factory=dict)
    """By the number of the class, of nanoseconds."""
    total_nanoseconds: int = 0
    max_nanoseconds: int = 0

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def max_seconds(self) -> float | None:
        return self.max_nanoseconds / 1e9 if self.counts else None

    def quantile_seconds(self, share: float) -> float | None:
        """The time that this share of the requests stayed within, to 1 %; None without any."""
        nanoseconds = quantile(self.counts, share, self.max_nanoseconds)
        return None if nanoseconds is None else nanoseconds / 1e9

    def to_json(self) -> dict[str, Any]:
        return {
            "counts": [[lower_bound(number), self.counts[number]] for number in sorted(self.counts)],
            **named(self, "total_nanoseconds", "max_nanoseconds"),
        }


def request_times_from_json(place: JSONNode) -> RequestTimes:
    """The value of :meth:`RequestTimes.to_json`. Raises DocumentError."""
    counts: dict[int, int] = {}
    for pair in place.object().at("counts").items():
        parts = pair.items()
        if len(parts) != 2:
            raise pair.wrong("[nanoseconds, count]")
        nanoseconds, count = parts
        number = class_of(nanoseconds.whole())
        counts[number] = counts.get(number, 0) + count.count()

    times = RequestTimes(
        counts=counts,
        total_nanoseconds=place.at("total_nanoseconds").whole(),
        max_nanoseconds=place.at("max_nanoseconds").whole(),
    )
    _check_longest(place, times)
    return times


def _check_longest(place: JSONNode, times: RequestTimes) -> None:
    """Raises DocumentError where the longest time is in another class than the last one that was counted."""
    last_class = max(times.counts, default=0)
    if class_of(times.max_nanoseconds) != last_class:
        raise DocumentError(f"{place.name}.max_nanoseconds: is not in the last class of the counts")


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
    total_nanoseconds: int = 0
    max_nanoseconds: int = 0

    def add(self, nanoseconds: int) -> None:
        number = class_of(nanoseconds)
        self.counts[number] = self.counts.get(number, 0) + 1
        self.total_nanoseconds += nanoseconds
        self.max_nanoseconds = max(self.max_nanoseconds, nanoseconds)

    def add_all(self, times: RequestTimes) -> None:
        for number, count in times.counts.items():
            self.counts[number] = self.counts.get(number, 0) + count
        self.total_nanoseconds += times.total_nanoseconds
        self.max_nanoseconds = max(self.max_nanoseconds, times.max_nanoseconds)

    def built(self) -> RequestTimes:
        return RequestTimes(
            counts=dict(self.counts),
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

    def to_json(self) -> dict[str, Any]:
        return {"reads": self.reads.to_json(), "writes": self.writes.to_json()}


def run_requests_from_json(place: JSONNode) -> RunRequests | None:
    """The value of :meth:`RunRequests.to_json`, None for none. Raises DocumentError."""
    if place.value is None:
        return None
    return RunRequests(
        reads=request_times_from_json(place.object().at("reads")),
        writes=request_times_from_json(place.at("writes")),
    )
