"""What limits a line of a quick test, and the most that its path and this client allow.

A line is limited by the first of these that applies: the link, where it is full; this client, where it computes or
waits for a processor all the time; the round trip, where a request that moves nothing takes half of the time already;
else the server or its disk. Where one request is made at a time, the link is not full while the server works: there it
is the limit if carrying the block takes half of the time. If only both together take half, the path is the limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from forms.findings.path import REQUEST_ROUND_TRIP, TCP_ROUND_TRIP, number_of_fact
from forms.findings.rules_link import FULL_ETHERNET_PERCENT
from forms.worksheets.references import ethernet_payload
from storage.quick.records import Access, Quick

FULL_LINK_PERCENT, _ = FULL_ETHERNET_PERCENT
"""From this share of its speed on a link is full: headers take the rest."""
BUSY_CLIENT_PERCENT = 85.0
"""Of the time: our client that computes, or waits for a processor, for as long hardly ever waits for the server."""
PATH_SHARE = 0.5
"""Of the time of a request: where the way takes as much, a faster disk would not even halve the time."""


class LineLimit(StrEnum):
    """What limits a line."""

    LINK = "link"
    CLIENT = "client"
    ROUND_TRIP = "round trip"
    PATH = "path"
    """Neither the round trip nor the link takes most of the time, but both together do."""
    SERVER = "server"
    """Or its disk; of a local path the disk, or the page cache."""


def limit_of_shares(percent_of_link: float | None, held_percent: float | None) -> LineLimit | None:
    """The link or this client, where one of them has no time left; else None."""
    if percent_of_link is not None and percent_of_link >= FULL_LINK_PERCENT:
        return LineLimit.LINK
    if held_percent is not None and held_percent >= BUSY_CLIENT_PERCENT:
        return LineLimit.CLIENT
    return None


def limit_of_requests(quick: Quick, access: Access, request_seconds: float | None) -> LineLimit:
    """What takes most of the time of a request: the way there and back, or the server."""
    if not request_seconds:
        return LineLimit.SERVER

    round_trip = round_trip_seconds(quick) or 0.0
    # Several requests share the link, so that what one of them waits for it says nothing.
    on_link = seconds_on_link(quick, access) if access.in_flight == 1 else 0.0

    most_seconds = PATH_SHARE * request_seconds
    if round_trip >= most_seconds:
        return LineLimit.ROUND_TRIP
    if on_link >= most_seconds:
        return LineLimit.LINK
    return LineLimit.PATH if round_trip + on_link >= most_seconds else LineLimit.SERVER


# The path


def round_trip_seconds(quick: Quick) -> float | None:
    """How long a request takes that moves nothing; None where it is unknown.

    It was measured by a few requests before all others. Where this machine was busy just then, the fastest of the
    thousands of single small requests shows that it is less: but no less than the network itself takes, as a link
    carries the first blocks after a pause faster than its speed says.
    """
    measured_seconds = measured_round_trip_seconds(quick)
    if measured_seconds is None:
        return None
    network_seconds = number_of_fact(quick.environment.get("path", {}), TCP_ROUND_TRIP) or 0.0
    least_seconds = min(_most_round_trip_seconds(quick), default=measured_seconds)
    return max(network_seconds, min(measured_seconds, least_seconds))


def measured_round_trip_seconds(quick: Quick) -> float | None:
    """How long the fastest of the few requests took that moved nothing."""
    return number_of_fact(quick.environment.get("path", {}), REQUEST_ROUND_TRIP)


def _most_round_trip_seconds(quick: Quick) -> Iterator[float]:
    """What the fastest request of each line of single small ones leaves, beside the link, for the round trip."""
    for line in quick.lines:
        is_single = line.access.random and line.access.requests_at_once == 1
        if is_single and line.times.counts:
            least_nanoseconds, _count = line.times.counts[0]
            yield max(0.0, least_nanoseconds / 1e9 - seconds_on_link(quick, line.access))


def seconds_on_link(quick: Quick, access: Access) -> float:
    """How long a link that does nothing else takes to carry a block; 0 where its speed is unknown."""
    if not quick.link_bits_per_second:
        return 0.0
    return access.block_bytes / _link_payload(quick.link_bits_per_second)


def _link_payload(bits_per_second: float) -> float:
    """The bytes of content per second that a link carries."""
    return ethernet_payload(bits_per_second / 1e6)


def path_seconds(quick: Quick, access: Access) -> float | None:
    """The least time of a request of a block: an empty request, and the link; None where no round trip is known."""
    round_trip = round_trip_seconds(quick)
    return None if round_trip is None else round_trip + seconds_on_link(quick, access)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The most that a line can reach, whatever the server does."""

    bytes_per_second: float
    limit: LineLimit
    """What allows no more."""

    def to_json(self) -> dict[str, Any]:
        return {"bytes_per_second": self.bytes_per_second, "limit": self.limit}


def path_allowance(quick: Quick, access: Access) -> Allowance | None:
    """What the path allows with the requests of a line, up to what the link carries; None where that is unknown.

    Each request takes a round trip at least; a server that answered at once would reach this.
    """
    return min(_path_allowances(quick, access), key=_rate_of, default=None)


def _path_allowances(quick: Quick, access: Access) -> Iterator[Allowance]:
    if quick.link_bits_per_second:
        yield Allowance(bytes_per_second=_link_payload(quick.link_bits_per_second), limit=LineLimit.LINK)

    least_seconds = path_seconds(quick, access)
    if least_seconds:
        on_link = seconds_on_link(quick, access)
        is_mostly_link = on_link > least_seconds - on_link
        yield Allowance(
            bytes_per_second=access.requests_at_once * access.block_bytes / least_seconds,
            limit=LineLimit.LINK if is_mostly_link else LineLimit.ROUND_TRIP,
        )


def client_allowance(bytes_per_second: float, held_percent: float | None) -> Allowance | None:
    """What this client, as busy as its machine was, would reach if it never had to wait for the server.

    None where that is unknown. What takes more than one processor is not held up by one: it is as fast as it was.
    """
    if not held_percent:
        return None
    return Allowance(bytes_per_second=bytes_per_second / min(1.0, held_percent / 100), limit=LineLimit.CLIENT)


def lowest_allowance(*allowances: Allowance | None) -> Allowance | None:
    """The lowest of those that are known."""
    return min((allowance for allowance in allowances if allowance), key=_rate_of, default=None)


def _rate_of(allowance: Allowance) -> float:
    return allowance.bytes_per_second
