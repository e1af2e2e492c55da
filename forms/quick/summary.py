"""The figures of a quick test: rate, operations and times of each line, and what limits it.

A line is limited by the first of these that applies: the link, where it is full; this client, where it computes all the
time; the round trip, where a request that moves nothing takes half of the time already; else the server or its disk.
Where one request is made at a time, the link is not full while the server works: there it is the limit if carrying the
block takes half of the time. If only both together take half, the path is the limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from forms.findings.path import REQUEST_ROUND_TRIP, number_of_fact
from forms.findings.rules_link import FULL_ETHERNET_PERCENT
from forms.stats import summary as stats
from forms.worksheets.references import ethernet_payload
from storage import records
from storage.quick.records import ACCESSES, Access, Quick, QuickLine

FULL_LINK_PERCENT, _ = FULL_ETHERNET_PERCENT
"""From this share of its speed on a link is full: headers take the rest."""
BUSY_CLIENT_PERCENT = 85.0
"""Of one processor: our client that uses as much has little time left to wait for a server."""
PATH_SHARE = 0.5
"""Of the time of a request: where the way takes as much, a faster disk would not even halve the time."""
RESTLESS_PERCENT = 20.0
"""From the slowest run of a line to its fastest, of their average: with more, the average is hardly a figure."""
_P99 = 0.99


class LineLimit(StrEnum):
    """What limits a line."""

    LINK = "link"
    CLIENT = "client"
    ROUND_TRIP = "round trip"
    PATH = "path"
    """Neither the round trip nor the link takes most of the time, but both together do."""
    SERVER = "server"
    """Or its disk; of a local path the disk, or the page cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFigures:
    """A line in numbers; what another program does not tell is None."""

    line: QuickLine
    bytes_per_second: float
    """The mean of the runs, or the best run that another program tells."""
    interval: tuple[float, float] | None
    """(low, high) of that mean at 95 %; None for a single rate."""
    operations_per_second: float
    """Blocks a second, whole ones where a server took them in parts."""
    request_seconds: float | None
    """The mean time of a request."""
    p99_seconds: float | None
    """None for too few requests, so that none would lie beyond it."""
    percent_of_link: float | None
    client_percent: float | None
    """How much of one processor the client used."""
    limit: LineLimit | None
    """None where another program measured."""

    @property
    def is_restless(self) -> bool:
        """Whether the runs differ so much that neither the average nor what limits it says much."""
        rates = line_rates(self.line)
        return max(rates) - min(rates) > RESTLESS_PERCENT / 100 * self.bytes_per_second

    @property
    def is_full_link(self) -> bool:
        return self.percent_of_link is not None and self.percent_of_link >= FULL_LINK_PERCENT

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.line.name,
            "bytes_per_second": self.bytes_per_second,
            "bytes_per_second_interval": list(self.interval) if self.interval else None,
            "operations_per_second": self.operations_per_second,
            "request_seconds": self.request_seconds,
            "p99_seconds": self.p99_seconds,
            "percent_of_link": self.percent_of_link,
            "client_cpu_percent": self.client_percent,
            "limit": self.limit,
            "is_limit_doubtful": self.is_restless,
        }


def line_rates(line: QuickLine) -> tuple[float, ...]:
    """Bytes per second of the runs; one rate where another program tells only its best."""
    if line.runs:
        return tuple(run.bytes_per_second for run in line.runs)
    return (line.best_bytes_per_second,) if line.best_bytes_per_second else ()


def line_figures(quick: Quick, line: QuickLine) -> LineFigures | None:
    """None for a line without a rate."""
    rates = line_rates(line)
    rate = stats.mean(rates)
    if rate is None:
        return None

    requests = sum(run.requests for run in line.runs)
    request_seconds = line.best_request_seconds
    client_percent = None
    if requests:
        request_seconds = sum(run.request_nanoseconds for run in line.runs) / requests / 1e9
        seconds = sum(run.seconds for run in line.runs)
        client_percent = 100 * sum(run.cpu_seconds for run in line.runs) / seconds

    has_p99 = line.times.count >= stats.values_needed(_P99)
    percent_of_link = records.percent_of_link(rate, quick.link_bits_per_second)
    limit = None
    if line.runs:
        limit = _limit(percent_of_link, client_percent)
        limit = limit or _limit_of_requests(quick, line, request_seconds)
    return LineFigures(
        line=line,
        bytes_per_second=rate,
        interval=stats.confidence_interval(rates),
        operations_per_second=rate / line.access.block_bytes,
        request_seconds=request_seconds,
        p99_seconds=line.times.quantile_seconds(_P99) if has_p99 else None,
        percent_of_link=percent_of_link,
        client_percent=client_percent,
        limit=limit,
    )


def _limit(percent_of_link: float | None, client_percent: float | None) -> LineLimit | None:
    """The link or this client, where one of them has no time left; else None."""
    if percent_of_link is not None and percent_of_link >= FULL_LINK_PERCENT:
        return LineLimit.LINK
    if client_percent is not None and client_percent >= BUSY_CLIENT_PERCENT:
        return LineLimit.CLIENT
    return None


def _limit_of_requests(quick: Quick, line: QuickLine, request_seconds: float | None) -> LineLimit:
    """What takes most of the time of a request: the way there and back, or the server."""
    if not request_seconds:
        return LineLimit.SERVER

    round_trip = round_trip_seconds(quick) or 0.0
    # Several requests share the link, so that what one of them waits for it says nothing.
    on_link = seconds_on_link(quick, line.access) if line.access.in_flight == 1 else 0.0

    most_seconds = PATH_SHARE * request_seconds
    if round_trip >= most_seconds:
        return LineLimit.ROUND_TRIP
    if on_link >= most_seconds:
        return LineLimit.LINK
    return LineLimit.PATH if round_trip + on_link >= most_seconds else LineLimit.SERVER


def seconds_on_link(quick: Quick, access: Access) -> float:
    """How long a full link takes to carry a block; 0 where its speed is unknown."""
    if not quick.link_bits_per_second:
        return 0.0
    full_link = quick.link_bits_per_second * FULL_LINK_PERCENT / 100
    return 8 * access.block_bytes / full_link


def path_seconds(quick: Quick, access: Access) -> float | None:
    """The least time of a request of a block: an empty request, and the link; None where no round trip is known."""
    round_trip = round_trip_seconds(quick)
    return None if round_trip is None else round_trip + seconds_on_link(quick, access)


def path_rate(quick: Quick, access: Access) -> float | None:
    """Bytes per second that the path allows with the requests of a line, up to what the link carries; None if unknown.

    Each request takes a round trip at least; a server that answered at once would reach this.
    """
    rates = []
    least_seconds = path_seconds(quick, access)
    if least_seconds:
        rates.append(access.in_flight * access.threads * access.block_bytes / least_seconds)
    if quick.link_bits_per_second:
        rates.append(ethernet_payload(quick.link_bits_per_second / 1e6))
    return min(rates, default=None)


def round_trip_seconds(quick: Quick) -> float | None:
    """How long a request takes that moves nothing; None where it is unknown."""
    return number_of_fact(quick.environment.get("path", {}), REQUEST_ROUND_TRIP)


def quick_figures(quick: Quick) -> list[LineFigures]:
    """In the order of the table: the four lines that every quick test has, each read first, then those of others."""
    return [figures for line in _in_order(quick) if (figures := line_figures(quick, line))]


def _in_order(quick: Quick) -> Iterator[QuickLine]:
    accesses = dict.fromkeys([*ACCESSES, *(line.access for line in quick.lines)])
    for access in accesses:
        for command in records.Command:
            line = quick.line(access, command)
            if line is not None:
                yield line
