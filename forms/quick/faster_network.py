"""What a faster link, or a shorter way to the server, adds to a line of a quick test at most, whatever else limits it.

A faster *link* carries each block in less time; a shorter *way* shortens the round trip of each request. All else takes
as long as before, so that a line gains no more than the time that goes over the network, of the time that does not.

Of n requests under way at once each takes n · block / rate from sent to answered. The link is busy for the share
``busy`` of the time, and holds N of the requests on average: the one that it carries, and those that wait for that. A
request that comes at random finds the part of N there that belongs to the n - 1 others, so that N = busy · (1 + N ·
(n - 1) / n). Without the link a line gains N / (n - N), which is busy / (n · (1 - busy)): exact for n = 1, and less is
gained where something else is busy all the time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any

from forms import wording
from forms.findings.path import TCP_ROUND_TRIP, number_of_fact
from forms.quick import equal_tests, limits
from storage.quick.records import Access, Quick
from storage.records import FRAME_BYTES

HARDLY_PERCENT = 5.0
"""A gain below this is hardly one."""
HARDLY_TEXT = f"under {HARDLY_PERCENT:.0f} %"
MOST_TOLD_PERCENT = 300.0
"""A bound beyond four times as fast is none that anybody needs."""
ROUGH_FACTOR = 1.25
"""Where an equal quick test may be faster than the fastest run by more than this, the bound is a rough one."""
ROUGH_PERCENTS = (5.0, 10.0, 25.0, 33.0, 50.0, 75.0, 100.0, 150.0, 200.0, 300.0)
"""A rough bound is told as the next of these, so that it does not seem to be more exact than it is."""


class NetworkHelp(StrEnum):
    """Whether a faster link would help a line."""

    HELPS = "helps"
    """The link is what limits it."""
    AT_MOST = "at most"
    """By no more than some percent, whatever limits it."""
    HARDLY = "hardly"
    """By less than anybody would notice."""
    UNCLEAR = "not clear"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGain:
    """What a faster link would do for a line."""

    help: NetworkHelp
    most_percent: float | None = None
    """The gain that no faster link exceeds; None where the link is the limit, or nobody can say."""
    likely_percent: float | None = None
    """The same at the average of its runs, where their bound is a rough one."""

    @property
    def is_rough(self) -> bool:
        """Whether its runs vary so much that only the size of the bound is known."""
        return self.likely_percent is not None

    @property
    def told_percent(self) -> float:
        """The bound as it is told: no less than it is, and in large steps where it is a rough one."""
        percent = self.most_percent or 0.0
        if not self.is_rough:
            return percent
        return next((step for step in ROUGH_PERCENTS if step >= percent), percent)

    @property
    def likely_text(self) -> str:
        """``about 19 %``, at the average of its runs; empty where the bound says it."""
        if self.likely_percent is None:
            return ""
        if self.likely_percent < HARDLY_PERCENT:
            return HARDLY_TEXT
        return f"about {wording.percent(self.likely_percent)}"

    def to_json(self) -> dict[str, Any]:
        return {"help": self.help, "most_percent": self.most_percent}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunShares:
    """A run of a line, as far as it tells what a faster link would do."""

    bytes_per_second: float
    held_percent: float
    """Of the time in which the client did not wait for the server."""
    limit: limits.LineLimit


def link_gain(
    quick: Quick, access: Access, limit: limits.LineLimit, runs: Sequence[RunShares], *, is_doubtful: bool
) -> LinkGain | None:
    """What a faster link would do for a line with that limit; None without a link whose speed is known.

    ``is_doubtful``: whether its runs leave the limit in doubt. The bound is that of the fastest equal quick test that
    is to be expected; where that may fill the link, or the link limits some of the runs, nobody can say.
    """
    if not quick.link_bits_per_second or quick.target is None or quick.target.abilities.is_local:
        return None

    is_link_in_doubt = is_doubtful and any(run.limit is limits.LineLimit.LINK for run in runs)
    if is_link_in_doubt:
        return LinkGain(help=NetworkHelp.UNCLEAR)
    if limit is limits.LineLimit.LINK and not any(map(_is_held_by_client, runs)):
        return LinkGain(help=NetworkHelp.HELPS)

    rates = [run.bytes_per_second for run in runs]
    most_rate = equal_tests.most_bytes_per_second(rates)
    most_percent = _most_percent(quick, access, most_rate, runs)
    if most_percent > MOST_TOLD_PERCENT:
        return LinkGain(help=NetworkHelp.UNCLEAR)

    is_rough = most_rate > ROUGH_FACTOR * max(rates)
    return LinkGain(
        help=NetworkHelp.HARDLY if most_percent < HARDLY_PERCENT else NetworkHelp.AT_MOST,
        most_percent=most_percent,
        likely_percent=_most_percent(quick, access, fmean(rates), runs) if is_rough else None,
    )


def _is_held_by_client(run: RunShares) -> bool:
    return run.held_percent >= limits.BUSY_CLIENT_PERCENT


def _most_percent(quick: Quick, access: Access, most_rate: float, runs: Sequence[RunShares]) -> float:
    by_link = link_percent(quick, access, most_rate)
    # A client that has much time left in a run may need less of it for a block on a faster link.
    if not all(map(_is_held_by_client, runs)):
        return by_link
    by_client = max(100 * max(0.0, 100 / run.held_percent - 1) for run in runs)
    return min(by_link, by_client)


def link_percent(quick: Quick, access: Access, bytes_per_second: float) -> float:
    """The most that a link without a limit of its own adds; infinite where the line is all link."""
    assert quick.link_bits_per_second
    requests = access.requests_at_once
    on_link = limits.seconds_on_link(quick, access)
    busy_share = bytes_per_second * on_link / access.block_bytes
    share_of_others = busy_share * (requests - 1) / requests
    if share_of_others >= 1:
        return math.inf

    # A switch passes a frame on once it has all of it.
    in_switch = 8 * FRAME_BYTES / quick.link_bits_per_second
    network_seconds = on_link / (1 - share_of_others) + in_switch
    return _gain_percent(network_seconds, requests * access.block_bytes / bytes_per_second)


def way_percent(quick: Quick, access: Access, bytes_per_second: float) -> float | None:
    """The most that a shorter way adds, with no round trip at all; None where the round trip is unknown."""
    round_trip = number_of_fact(quick.environment.get("path", {}), TCP_ROUND_TRIP)
    if round_trip is None:
        round_trip = limits.round_trip_seconds(quick)
    if round_trip is None:
        return None
    return _gain_percent(round_trip, access.requests_at_once * access.block_bytes / bytes_per_second)


def _gain_percent(network_seconds: float, request_seconds: float) -> float:
    """The gain of requests of which the network takes some time, where it would take none."""
    other_seconds = request_seconds - network_seconds
    return 100 * network_seconds / other_seconds if other_seconds > 0 else math.inf
