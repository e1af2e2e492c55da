"""Judges the points of a load: percentiles, what was offered, overload, stalls, what limited, and the capacity.

A point is a measurement with one number of users. Requests are *offered* by the users, as many as they would make if
the server kept up, and *made*; a server that makes clearly fewer than are offered, or answers late, is overloaded. A
point is *judged* where that is certain either way: the *load generator* (this machine, which plays the users) may
have been too slow itself. The *capacity* lies between the most users that were carried and the fewest that were not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from forms.load import lateness
from forms.stats.summary import values_needed
from storage.load.records import Capacity, Histogram, Limit, Load, LoadChoices, LoadPoint, PointStatus, Scenario

ACHIEVED_SHARE = 0.95
"""Below it a server does not keep up with what it is offered (FSCT, SPEC SFS)."""

MOST_ERRORS_SHARE = 0.001
"""Of the requests: beyond it the server fails."""

MOST_CPU_PERCENT = 70.0
"""Of one processor, by one process of the load generator: beyond it answers queue in the process."""

_ONE_IN_200 = 2.576
"""Standard errors that a normal value exceeds, to either side together, in 1 of 100: to one side in 1 of 200."""

USUAL_LIMIT_SECONDS = 1.0
_USUAL_LIMIT_BYTES_PER_SECOND = 10e6
"""A second (Miller, Response time in man-computer conversational transactions, 1968), or 10 MB/s."""

_LEAST_STALL_SECONDS = 0.5
_STALL_TIMES = 10
"""A silence is a stall from half a second on, and only where it is ten times what is usual at this point."""

MOST_OTHERS_PERCENT = 20.0
"""Of the server's processors, by other programs: beyond it its figures are not those of the file server."""

_NEARLY_FULL_SHARE = 0.9
"""Of a link's speed: a full one shows 94 %, since headers take the rest."""

_BUSY_PERCENT = 85.0
"""Of the processors or of a disk, on average: at its peaks such a one is full."""

_HELD_BACK_PERCENT = 25.0
"""Of the time in which a limit of the server's processor time (a cgroup's) held it back."""

_LEAST_SHARE_OF_FEW = 0.5
"""Where chance alone could take more than half of the requests, a rate says nothing."""


def percentile_seconds(times: Histogram, share: float) -> float | None:
    """The time in seconds that this share of requests stay within; None for too few (p95 needs 20, p99 100)."""
    if times.count < values_needed(share):
        return None

    return times.quantile_seconds(share)


def percentile_interval(times: Histogram, share: float) -> tuple[float, float] | None:
    """The 95 % interval by ranks, whatever the distribution, as if requests were independent; None for too few."""
    # 1.96 standard errors of a share: sqrt(share * (1 - share) / n).
    half = 1.96 * math.sqrt(share * (1 - share) / (times.count or 1))
    low = times.quantile_seconds(share - half)
    high = times.quantile_seconds(share + half)
    if low is None or high is None:
        return None

    return low, high


def error_share(point: LoadPoint) -> float:
    """The share of the requests that failed, 0 to 1."""
    errors = sum(point.errors.values())
    return errors / (point.requests + errors) if errors else 0.0


def fewest_users(points: Sequence[LoadPoint]) -> LoadPoint | None:
    """The point with the fewest users, which shows what each user asks for; a slow load generator does not lower it."""
    telling = [
        point for point in points if point.status in {PointStatus.VALID, PointStatus.GENERATOR} and not point.size_bytes
    ]

    # Of two points with as many users the valid one.
    def users_then_validity(point: LoadPoint) -> tuple[int, bool]:
        return point.users, point.status is not PointStatus.VALID

    return min(telling, key=users_then_validity, default=None)


def offered_per_second(scenario: Scenario, point: LoadPoint, fewest: LoadPoint | None) -> float | None:
    """Requests/s that the users offer, at least those that were made; None where nobody knows.

    By a schedule (a pace) that is users / pace. Users who pause offer as much each as the ``fewest`` made each; of
    those fewest themselves only what they made is known.
    """
    made_per_second = point.requests_per_second or 0.0
    if not scenario.requests:
        return None

    if scenario.pace_seconds:
        return max(made_per_second, point.users / scenario.pace_seconds)

    if fewest is None or fewest is point or not fewest.requests_per_second:
        return None

    # A user who pauses asks for no more than a request a pause, however fast the answers come.
    pause_seconds = scenario.think.seconds
    most_per_user = 1 / pause_seconds if pause_seconds else math.inf
    per_user = min(fewest.requests_per_second / fewest.users, most_per_user)
    return max(made_per_second, point.users * per_user)


def _least_share_by_chance(point: LoadPoint, scenario: Scenario, fewest: LoadPoint | None) -> float:
    """The share of what is offered that a server which keeps up makes at least, but for 1 of 200 points.

    Counts of requests are taken for Poisson's: 1 - 2.576 √(1 / requests of the fewest users + 1 / requests offered).
    """
    offered = (point.offered_per_second or 0.0) * point.seconds
    if scenario.pace_seconds or fewest is None or not fewest.requests or not offered:
        return 1.0

    # A count of n varies by sqrt(n), so by sqrt(1 / n) of itself; what the fewest users ask for is a count, too.
    return 1 - _ONE_IN_200 * math.sqrt(1 / fewest.requests + 1 / offered)


def _is_of_too_few_requests(point: LoadPoint, scenario: Scenario, fewest: LoadPoint | None) -> bool:
    """Whether less was made than offered, and so few requests that half of them could be missing by chance."""
    made_per_second = point.requests_per_second or 0.0
    offered = point.offered_per_second or 0.0
    if made_per_second >= ACHIEVED_SHARE * offered:
        return False

    return _least_share_by_chance(point, scenario, fewest) < _LEAST_SHARE_OF_FEW


def _least_share_made(point: LoadPoint, scenario: Scenario, fewest: LoadPoint | None) -> float:
    """The share of what is offered below which a server does not keep up: 0.95, or less where chance allows less."""
    return min(ACHIEVED_SHARE, _least_share_by_chance(point, scenario, fewest))


def tells_of_server(point: LoadPoint) -> bool:
    """Whether a point shows the server: the load generator neither limited nor broke, the numbers agree."""
    return point.status in {PointStatus.VALID, PointStatus.FAILED} and point.limit is not Limit.GENERATOR


def is_judged(point: LoadPoint, choices: LoadChoices, scenario: Scenario, fewest: LoadPoint | None) -> bool:
    """Whether it is certain that the server carries the point's users, or that it does not.

    A late load generator takes from the rate, and adds to the response: what is carried in spite of it is carried, and
    what lacks more than it can have taken is not.
    """
    if point.status is not PointStatus.GENERATOR:
        return tells_of_server(point)

    rate = point.requests_per_second
    offered = point.offered_per_second
    if not rate or not offered:
        return False

    if overload(point, choices, scenario, fewest) is None:
        return True

    if max(point.generator_cpu_percent, default=0.0) > MOST_CPU_PERCENT:
        return False

    # By a schedule, a late request is made all the same.
    lost_share = 0.0 if scenario.pace_seconds else min(1.0, lateness.lost_share(point))
    return rate < _least_share_made(point, scenario, fewest) * offered * (1 - lost_share)


def limit_seconds(choices: LoadChoices, scenario: Scenario, size_bytes: int | None = None) -> float:
    """What p95 of the response may take: as asked for; else a second, or the largest file's time at 10 MB/s."""
    if choices.limit_seconds is not None:
        return choices.limit_seconds

    largest_bytes = size_bytes or max((size.size_bytes for size in scenario.sizes), default=0)
    return max(USUAL_LIMIT_SECONDS, largest_bytes / _USUAL_LIMIT_BYTES_PER_SECOND)


def overload(point: LoadPoint, choices: LoadChoices, scenario: Scenario, fewest: LoadPoint | None) -> str | None:
    """Why the server does not carry the point's users; None where it does. ``fewest`` is from :func:`fewest_users`."""
    if point.status is PointStatus.FAILED:
        return point.reason or "the point failed"

    if error_share(point) > MOST_ERRORS_SHARE:
        return f"{sum(point.errors.values()):,} errors: {point.first_error}"

    rate = point.requests_per_second
    offered = point.offered_per_second
    if rate is not None and offered and rate < _least_share_made(point, scenario, fewest) * offered:
        return f"{rate:,.1f} of {offered:,.1f} requests/s were made ({100 * rate / offered:.0f} %)"

    limit = limit_seconds(choices, scenario, point.size_bytes)
    usual = "" if choices.limit_seconds is not None else ", the usual limit"
    # p95 of too few requests is unknown: half of them beyond the limit are as telling.
    for name, share in (("p95", 0.95), ("p50", 0.5)):
        seconds = percentile_seconds(point.response, share)
        if seconds is not None and seconds > limit:
            return f"{name} of the response was {seconds:.3g} s, above {limit:.3g} s{usual}"

    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A time in which the server answered nothing, or one request for very long."""

    silent_seconds: float | None
    """How long nothing was answered; None where only one request took very long."""
    longest_seconds: float
    """The longest answer."""
    p99_seconds: float
    """The 99th percentile of the answers."""


def stall_of(point: LoadPoint) -> Stall | None:
    """The stall of a point, None without one. Percentiles hide it: users who wait make no requests, so that a long
    silence is only a few slow ones.

    While this machine stood still nobody knows what the server did: that time is taken out.
    """
    median = percentile_seconds(point.response, 0.5)
    p99 = percentile_seconds(point.response, 0.99)
    if median is None or p99 is None:
        return None

    standstill = lateness.standstill_seconds(point)
    silent = max(0.0, point.silent_seconds - standstill)
    longest = max(0.0, point.response.max_microseconds / 1e6 - standstill)

    is_silent = silent >= max(_LEAST_STALL_SECONDS, _STALL_TIMES * median)
    is_long = longest >= max(_LEAST_STALL_SECONDS, _STALL_TIMES * p99)
    if not is_silent and not is_long:
        return None

    return Stall(silent_seconds=silent if is_silent else None, longest_seconds=longest, p99_seconds=p99)


def is_mostly_others(point: LoadPoint) -> bool:
    """Whether other programs took so much of the server's processors that its figures are not the file server's."""
    others = point.server.others_percent if point.server else None
    return others is not None and others.mean > MOST_OTHERS_PERCENT


def limit_of(point: LoadPoint, link_bits_per_second: int | None) -> Limit:
    """What limited a point, the most certain cause first."""
    server = point.server
    if point.status is PointStatus.GENERATOR or point.limit is Limit.GENERATOR:
        return Limit.GENERATOR

    if point.status is PointStatus.FAILED or error_share(point) > MOST_ERRORS_SHARE:
        return Limit.ERRORS

    if server is not None and (server.throttled_percent or 0.0) > _HELD_BACK_PERCENT:
        return Limit.SERVER_CPU

    moved = max(point.read_bytes_per_second or 0.0, point.write_bytes_per_second or 0.0)
    if link_bits_per_second and 8 * moved > _NEARLY_FULL_SHARE * link_bits_per_second:
        return Limit.NETWORK

    if server is not None and server.total_percent.mean > _BUSY_PERCENT:
        return Limit.OTHERS if is_mostly_others(point) else Limit.SERVER_CPU

    if server is not None and any(busy > _BUSY_PERCENT for busy in server.disk_busy_percent.values()):
        return Limit.DISK

    return Limit.UNKNOWN


def capacity_of(load: Load) -> Capacity | None:
    """The most users that were carried below the fewest that were not; None where no point is judged."""
    if not load.scenario.requests:
        return None

    fewest = fewest_users(load.points)
    judged = [
        (point, overload(point, load.choices, load.scenario, fewest))
        for point in load.points
        if point.size_bytes is None and is_judged(point, load.choices, load.scenario, fewest)
    ]
    if not judged:
        return None

    not_carried: LoadPoint | None = None
    reason: str | None = None
    for point, why_not in judged:
        if why_not is not None and (not_carried is None or point.users < not_carried.users):
            not_carried = point
            reason = why_not

    carried = []
    for point, why_not in judged:
        is_below = not_carried is None or point.users < not_carried.users
        if why_not is None and is_below and not _is_of_too_few_requests(point, load.scenario, fewest):
            carried.append(point.users)

    return Capacity(
        carried=max(carried, default=None),
        not_carried=not_carried.users if not_carried else None,
        reason=reason or "",
        limit=_limit_of_server(not_carried, load.link_bits_per_second) if not_carried else None,
    )


def _limit_of_server(point: LoadPoint, link_bits_per_second: int | None) -> Limit:
    """What limited the server at a point, also at one that is judged although the load generator was late."""
    if point.status is PointStatus.GENERATOR:
        point = replace(point, status=PointStatus.VALID, limit=None)

    return limit_of(point, link_bits_per_second)


def point_where_search_broke_off(load: Load) -> LoadPoint | None:
    """The last point of a capacity search, if nobody can say whether its users were carried."""
    if not load.choices.find_capacity or load.running or not load.points:
        return None

    last = load.points[-1]
    if is_judged(last, load.choices, load.scenario, fewest_users(load.points)):
        return None

    return last
