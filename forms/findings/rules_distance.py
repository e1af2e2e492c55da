"""Findings about far servers: what limits a connection whose round trip is long.

A sender has at most a window, or a socket buffer, of data on the way before it waits for an answer, so that the rate is
at most its size / the round trip. *On the way* at a measured rate are rate · round trip bytes (the bandwidth-delay
product): where that is nearly the size of a buffer or window, that one is the limit.
"""

import math
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from forms import wording
from forms.findings import path
from forms.findings.finding import Finding, finding_from_texts, name_with_command
from forms.findings.rules_link import retransmits
from forms.stats import summary
from storage.records import Command, Series, percent_of_link

FULL_PERCENT_OF_LINK = 60.0
"""A link filled so far is not what distance limits."""

LIMITED_SHARE = 0.45
"""The share of a buffer or window on the way from which it is the limit: a little below :data:`BUFFER_SHARE`."""

BUFFER_SHARE = 0.5
"""The share of a socket buffer that carries data: the kernel keeps about half."""

_MORE_THAN_HALF = 0.55
"""Share of a buffer on the way beyond which the kernel evidently keeps less than half of it."""

SLOW_START_TIMES = 20
"""A run shorter than this many slow starts spends much of its time in one."""

_FIRST_WINDOW_BYTES = 10 * 1460
"""The initial window of TCP (RFC 6928)."""

_BUFFER_FACTS = {Command.GET: ("tcp.rmem", "tcp.wmem"), Command.PUT: ("tcp.wmem", "tcp.rmem")}
"""The buffer of the client and that of the server through which the bytes go."""


class _Limit(NamedTuple):
    """A socket buffer or a window: no more bytes can be on the way than it holds."""

    size_bytes: float
    name: str
    is_window: bool = False
    """Whether it is the client's window (requests in flight · their size), and no buffer of the kernel."""

    @property
    def usable_bytes(self) -> float:
        """What of it carries data."""
        return self.size_bytes * (1 if self.is_window else BUFFER_SHARE)

    def bound_text(self, bytes_on_the_way: float, round_trip: float) -> str:
        """``NAME: 4 MB, half of it for data, / 20 ms = 100 MB/s at most.``"""
        is_halved = not self.is_window and bytes_on_the_way <= _MORE_THAN_HALF * self.size_bytes
        most_bytes = self.usable_bytes if is_halved else self.size_bytes
        half = ", half of it for data," if is_halved else ""
        return (
            f"{self.name}: {_amount(self.size_bytes)}{half} /"
            f" {wording.milliseconds(round_trip)} = {wording.rate(most_bytes / round_trip)} at most."
        )


def spends_runs_in_slow_start(series: Series) -> bool:
    """Whether runs are so short that a new connection spends much of them in slow start."""
    round_trip = path.round_trip_seconds(series)
    rate = summary.mean(series.rates())
    run_seconds = summary.median([run.seconds for run in series.measured() if run.seconds])
    if round_trip is None or rate is None or run_seconds is None or not path.is_far(series):
        return False

    # Each round trip of slow start doubles what is on the way.
    doublings = math.log2(max(2.0, rate * round_trip / _FIRST_WINDOW_BYTES))
    return run_seconds < SLOW_START_TIMES * doublings * round_trip


def limited_by_distance(series: Series) -> Iterator[Finding]:
    """A far server with an unfilled link: the limiting buffer or window, else slow start and losses."""
    round_trip = path.round_trip_seconds(series)
    rate = summary.mean(series.rates())
    link_bits_per_second = series.link_bits_per_second
    link_percent = percent_of_link(rate, link_bits_per_second)
    if round_trip is None or rate is None or not path.is_far(series):
        return
    # Random requests are not meant to fill a link.
    if series.is_random:
        return
    if link_percent is not None and link_percent >= FULL_PERCENT_OF_LINK:
        return

    bytes_on_the_way = rate * round_trip
    evidence = (
        f"{name_with_command(series)}: {wording.rate(rate)} x {wording.milliseconds(round_trip)}"
        f" = {_amount(bytes_on_the_way)} on the way"
    )
    if link_bits_per_second:
        needed_bytes = link_bits_per_second / 8 * round_trip
        evidence += f"; {wording.link_rate(link_bits_per_second)} would need {_amount(needed_bytes)}"

    limits = sorted(_limits(series), key=attrgetter("usable_bytes"))
    smallest = limits[0] if limits else None
    has_losses = any(retransmits(series))
    has_window = smallest is not None and smallest.is_window
    is_slow_start = spends_runs_in_slow_start(series) and not has_window

    fills_smallest = smallest is not None and bytes_on_the_way >= LIMITED_SHARE * smallest.size_bytes
    if smallest is not None and fills_smallest and not has_losses and not is_slow_start:
        # Twice what the link has on the way, as the kernel keeps half of a buffer; or twice what there is.
        needed_bytes = 2 * link_bits_per_second / 8 * round_trip if link_bits_per_second else 2 * smallest.size_bytes
        variant = "latency.window" if smallest.is_window else "latency"
        yield finding_from_texts(
            "latency.late" if path.is_relayed(series) else variant,
            series,
            seen=f"{evidence}.",
            bound=smallest.bound_text(bytes_on_the_way, round_trip),
            wanted=needed_bytes,
            depth=(series.client.in_flight or 1) * (math.ceil(needed_bytes / 2 / smallest.size_bytes) + 1),
        )
        return

    name = "far"
    if path.is_relayed(series):
        name = "far.late"
    elif has_losses:
        name = "far.losses"
    elif is_slow_start:
        name = "far.starts"
    limit_texts = [f" {limit.name}: {_amount(limit.size_bytes)}." for limit in limits]
    yield finding_from_texts(name, series, seen=f"{evidence}.", limits="".join(limit_texts))


def relayed(series: Series) -> Iterator[Finding]:
    """TCP is answered sooner than requests: something in between has its own connections, or the server is slow."""
    if path.is_relayed(series):
        yield finding_from_texts(
            "relayed",
            series,
            tcp=wording.milliseconds(path.tcp_round_trip_seconds(series) or 0.0),
            request=wording.milliseconds(path.least_request_seconds(series) or 0.0),
        )


def _limits(series: Series) -> Iterator[_Limit]:
    if not path.is_relayed(series):
        client_fact, server_fact = _BUFFER_FACTS[series.command]
        yield from _buffer_limit(series, "client", client_fact, "This machine's")
        yield from _buffer_limit(series, "server", server_fact, "The server's")

    client = series.client
    if series.target.abilities.has_depth and client.block_bytes and client.in_flight:
        yield _Limit(
            size_bytes=client.block_bytes * client.in_flight,
            name=f"The client's window ({client.in_flight} in flight)",
            is_window=True,
        )


def _buffer_limit(series: Series, side: str, fact: str, whose: str) -> Iterator[_Limit]:
    """The largest buffer by the three sizes of ``tcp_rmem`` or ``tcp_wmem``: least, default, most."""
    sizes = str(series.environment.get(side, {}).get(fact, "")).split()
    if len(sizes) != 3 or not sizes[-1].isdecimal():
        return
    largest = float(sizes[-1])
    if largest:
        yield _Limit(size_bytes=largest, name=f"{whose} largest buffer ({fact.replace('.', '_')})")


def _amount(size_bytes: float) -> str:
    return wording.byte_rate(size_bytes).removesuffix("/s")
