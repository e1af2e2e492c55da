"""Findings about distance: buffers, windows and slow start."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forms import wording
from forms.findings.finding import (
    TCP_ROUND_TRIP,
    Finding,
    Severity,
    called,
    is_far,
    is_relayed,
    request_seconds,
    round_trip_seconds,
)
from forms.findings.rules_link import retransmits
from forms.stats import summary
from storage.records import Command, Facts, Series

FULL_PERCENT_OF_LINK = 60.0
LIMITED_SHARE = 0.45
BUFFER_SHARE = 0.5
"""The share of a socket buffer that carries data: the kernel keeps about half."""
_MORE_THAN_HALF = 0.55
SLOW_START_TIMES = 20
_FIRST_WINDOW_BYTES = 10 * 1460
"""The initial window of TCP (RFC 6928)."""
_BUFFER_FACTS = {Command.GET: ("tcp.rmem", "tcp.wmem"), Command.PUT: ("tcp.wmem", "tcp.rmem")}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    size_bytes: float
    name: str
    window: bool = False

    @property
    def usable_bytes(self) -> float:
        return self.size_bytes * (1 if self.window else BUFFER_SHARE)

    def bound(self, on_the_way: float, round_trip: float) -> str:
        halved = not self.window and on_the_way <= _MORE_THAN_HALF * self.size_bytes
        most = self.usable_bytes if halved else self.size_bytes
        return (
            f"{self.name}: {_amount(self.size_bytes)}{', half of it for data,' if halved else ''} /"
            f" {wording.milliseconds(round_trip)} = {wording.rate(most / round_trip)} at most."
        )


def slow_start_rules(series: Series) -> bool:
    """Whether runs are so short that a new connection spends much of them in slow start."""
    round_trip, rate = round_trip_seconds(series), summary.mean(series.rates())
    times = [run.seconds for run in series.measured() if run.seconds]
    if round_trip is None or rate is None or not times or not is_far(series):
        return False
    rounds = math.log2(max(2.0, rate * round_trip / _FIRST_WINDOW_BYTES))
    return (summary.median(times) or 0.0) < SLOW_START_TIMES * rounds * round_trip


def limited_by_distance(series: Series) -> Iterator[Finding]:
    """A far server with an unfilled link: the limiting buffer or window, else slow start and losses."""
    round_trip, rate = round_trip_seconds(series), summary.mean(series.rates())
    if round_trip is None or rate is None or not is_far(series):
        return
    link = series.link_bits_per_second
    if link and 100 * 8 * rate / link >= FULL_PERCENT_OF_LINK:
        return
    on_the_way = rate * round_trip
    limits = sorted(_limits(series), key=lambda limit: limit.usable_bytes)
    least = limits[0] if limits else None
    trip = wording.milliseconds(round_trip)
    seen = f"{called(series)}: {wording.rate(rate)} x {trip} = {_amount(on_the_way)} on the way"
    need = f"; {wording.link_rate(link)} would need {_amount(link / 8 * round_trip)}" if link else ""
    loses = any(retransmits(series))
    starts = slow_start_rules(series) and not (least and least.window)
    if least is not None and on_the_way >= LIMITED_SHARE * least.size_bytes and not loses and not starts:
        yield Finding(
            key="latency",
            severity=Severity.WARNING,
            title="The distance is the limit, by a window"
            if least.window
            else "The distance is the limit, by a buffer",
            evidence=f"{seen}{need}. {least.bound(on_the_way, round_trip)}",
            what_to_do=_wider(series, least, round_trip),
        )
        return
    yield Finding(
        key="far",
        severity=Severity.NOTE,
        title="The server is far away",
        evidence=f"{seen}{need}. "
        + (
            "Packets are lost, and TCP slows down for each."
            if loses
            else "The runs are so short that TCP's slow start is part of them."
            if starts
            else "No known buffer or window is the limit."
        )
        + "".join(f" {limit.name}: {_amount(limit.size_bytes)}." for limit in limits),
        what_to_do="The slowest line on the way may set the pace: measure the bare TCP path (iperf3), which tells it"
        " from the server, in runs so long that the start of a connection does not count.",
    )


def relayed(series: Series) -> Iterator[Finding]:
    """TCP is answered sooner than requests: something in between has its own connections."""
    if is_relayed(series):
        path = series.environment.get("path", {})
        yield Finding(
            key="relayed",
            severity=Severity.NOTE,
            title="Something between here and the server answers TCP",
            evidence=f"{called(series)}: TCP is acknowledged after"
            f" {wording.milliseconds(float(path[TCP_ROUND_TRIP]))}, an empty request is answered after"
            f" {wording.milliseconds(request_seconds(series) or 0.0)}.",
            what_to_do="Expect the longer of the two for each file that is opened: a proxy, VPN or port forwarding"
            " stands in between, or the server is slow to answer. TCP settings of this machine reach the proxy only.",
        )


RULES: tuple[Callable[[Series], Iterator[Finding]], ...] = (limited_by_distance, relayed)


def _wider(series: Series, least: _Limit, round_trip: float) -> str:
    link = series.link_bits_per_second
    wanted = 2 * link / 8 * round_trip if link else 2 * least.size_bytes
    if least.window:
        depth = series.client.in_flight or 1
        times = math.ceil(wanted / 2 / least.size_bytes) + 1 if link else 2
        return f"Measure with {depth * max(2, times)} requests in flight."
    return (
        f"Raise the last number of net.ipv4.tcp_rmem and tcp_wmem to {wanted:.0f} or more on both ends, and measure"
        " again; more in flight does not help."
    )


def _limits(series: Series) -> Iterator[_Limit]:
    ours, theirs = _BUFFER_FACTS[series.command]
    ends = (("client", ours, "This machine's"), ("server", theirs, "The server's"))
    for facts, fact, whose in () if is_relayed(series) else ends:
        largest = _largest(series.environment.get(facts, {}), fact)
        if largest:
            yield _Limit(size_bytes=largest, name=f"{whose} largest buffer ({fact.replace('.', '_')})")
    client = series.client
    if series.target.abilities.has_depth and client.block_bytes and client.in_flight:
        window = client.block_bytes * client.in_flight
        yield _Limit(size_bytes=window, name=f"The client's window ({client.in_flight} in flight)", window=True)


def _largest(facts: Facts, name: str) -> float | None:
    words = str(facts.get(name, "")).split()
    return float(words[-1]) if len(words) == 3 and words[-1].isdecimal() else None


def _amount(size_bytes: float) -> str:
    return wording.byte_rate(size_bytes).removesuffix("/s")
