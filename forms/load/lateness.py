"""How far the machine that makes a load (the load generator) may itself have changed a point's rate and percentiles.

While it is measured, each process of the load generator sets a timer every 20 ms and notes how late it fires: its
*lateness*. An answer that arrives waits as long before it is seen. A *standstill* is a time in which the machine did
nothing at all, such as a virtual machine that is paused.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from storage.load.records import Histogram, LoadPoint
from storage.records import LEAST_STANDSTILL_SECONDS
from storage.request_times import class_width, lower_bound

INTERVAL_SECONDS = 0.02
"""Between two timers of a process that makes a load."""
MOST_LOST_SHARE = 0.05
"""Of the users' time. A server that makes less than 95 % of what is offered is overloaded: beyond this share the
machine that makes the load could make a server look so by itself."""
MOST_ADDED_SECONDS = 0.005
MOST_ADDED_SHARE = 0.1
"""Added to a percentile of the response: more than 5 ms, and more than a tenth of it, changes what it says."""
_USUAL_SECONDS = 0.0005
"""How late a timer fires on an idle machine, at most."""

WeightedTimes = tuple[Sequence[float], Sequence[float]]
"""Ascending seconds, and how often each occurred."""


def standstill_seconds(point: LoadPoint) -> float:
    """The longest time in which the machine that made the load did nothing at all; 0 for what a busy one does."""
    longest = point.generator_lateness.max_microseconds / 1e6
    return longest if longest >= LEAST_STANDSTILL_SECONDS else 0.0


def lost_share(point: LoadPoint) -> float:
    """The share of the users' time in which this machine, not the server, kept them from working.

    Three things keep them: requests that are sent late, a standstill, and answers that are seen late. A standstill
    makes requests late, so that of these two the larger one counts; what answers wait comes on top.
    """
    users_seconds = point.users * point.seconds
    if not users_seconds:
        return 0.0

    # The response counts from when a request was due, the service from when it was sent.
    sent_late_seconds = (point.response.total_microseconds - point.service.total_microseconds) / 1e6
    standstill = standstill_seconds(point)
    sent_late_share = max(sent_late_seconds / users_seconds, standstill / point.seconds)

    # An answer waits for this machine as a timer does. The timer of the standstill is left out: it is counted above.
    late_answer_seconds = _mean_excess_seconds(point.generator_lateness, left_out_seconds=standstill)
    seen_late_share = point.requests * late_answer_seconds / users_seconds
    return sent_late_share + seen_late_share


def _mean_excess_seconds(lateness: Histogram, left_out_seconds: float) -> float:
    """By how much timers were later on average than on an idle machine.

    ``left_out_seconds`` is the lateness of one timer that does not count; 0 where all of them do.
    """
    total_seconds = lateness.total_microseconds / 1e6 - left_out_seconds
    count = lateness.count
    if left_out_seconds > 0:
        count -= 1
    return max(0.0, total_seconds / count - _USUAL_SECONDS) if count > 0 else 0.0


def added_to_percentile(point: LoadPoint, share: float) -> float:
    """By how many seconds a percentile of the response would rise if this machine's lateness were added to each answer.

    The measured response contains the lateness already, and what it would be without is not known. Adding as much
    again raises the percentile by about as much as the lateness has raised it.
    """
    before = point.response.quantile_seconds(share)
    if before is None or not point.generator_lateness.count:
        return 0.0
    after = _quantile_of_sum(_times_of(point.response), lateness_at_any_moment(point.generator_lateness), share)
    return max(0.0, after - before)


def changes_percentile(point: LoadPoint, share: float) -> bool:
    """Whether this machine's lateness could change what a percentile of the response says."""
    seconds = point.response.quantile_seconds(share) or 0.0
    return added_to_percentile(point, share) > max(MOST_ADDED_SECONDS, MOST_ADDED_SHARE * seconds)


def lateness_at_any_moment(lateness: Histogram) -> WeightedTimes:
    """How late something is that falls due at any moment, by how late the timers were.

    A timer that fires 90 ms late stands for four more, that would have been due 20, 40, 60 and 80 ms later and as much
    less late.

    Source: G. Tene's correction for coordinated omission (HdrHistogram, ``recordValueWithExpectedInterval``).
    """
    weights: dict[float, float] = {}
    for late_seconds, count in zip(*_times_of(lateness), strict=True):
        remaining = late_seconds
        while remaining >= 0.0:
            weights[remaining] = weights.get(remaining, 0.0) + count
            remaining -= INTERVAL_SECONDS
    ordered = sorted(weights)
    return ordered, [weights[seconds] for seconds in ordered]


def _times_of(histogram: Histogram) -> WeightedTimes:
    classes = sorted(histogram.counts)
    most = histogram.max_microseconds
    middles = [min(lower_bound(number) + (class_width(number) - 1) / 2, most) / 1e6 for number in classes]
    return middles, [histogram.counts[number] for number in classes]


def _quantile_of_sum(first: WeightedTimes, second: WeightedTimes, share: float) -> float:
    """The time that this share of the sums stays within, of each first time with each second time; found by halving."""
    times, counts = first
    counts_up_to = [0.0, *accumulate(counts)]
    all_pairs = counts_up_to[-1] * sum(second[1])
    low = times[0] + second[0][0]
    high = times[-1] + second[0][-1]
    # To a microsecond and a thousandth: the classes of the histograms are coarser.
    while high - low > 1e-6 + 1e-3 * low:
        middle = (low + high) / 2
        within = 0.0
        for added, weight in zip(*second, strict=True):
            within += weight * counts_up_to[bisect_right(times, middle - added)]

        if within >= share * all_pairs:
            high = middle
        else:
            low = middle
    return high
