"""What load points show: overload, limits, capacity, memory per session, cards, sizes, and the answer in words."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from forms import wording
from forms.layout import Sign, Tone, Toned
from forms.load import lateness
from forms.load.lateness import standstill_seconds
from forms.stats.distributions import student_t
from forms.stats.summary import LEVEL
from storage.load.records import Capacity, Histogram, Limit, Load, LoadChoices, LoadPoint, PointStatus, Scenario
from storage.records import SeriesStatus

ACHIEVED_SHARE = 0.95
"""Below it a server does not keep up with what it is offered (FSCT, SPEC SFS)."""
MOST_ERRORS_SHARE = 0.001
MOST_CPU_PERCENT = 70.0
"""Of one processor, by one process of the load generator: beyond it answers queue in the process."""
_ONE_IN_200 = 2.576
USUAL_LIMIT_SECONDS, _USUAL_LIMIT_BYTES_PER_SECOND = 1.0, 10e6
"""A second (Miller, Response time in man-computer conversational transactions, 1968), or 10 MB/s."""
_LEAST_STALL_SECONDS, _STALL_TIMES = 0.5, 10
MOST_OTHERS_PERCENT = 20.0
REDPAPER_SESSION_BYTES = 390_000
"""What the Redpaper's figure 7 found for an idle user of Samba 3.0.5: about 390 kB."""
_NEARLY = 0.9
_BUSY_PERCENT, _HELD_BACK_PERCENT = 85.0, 25.0
_ONE_CARD_SHARE = 0.9
_USED_CARD_SHARE = 0.2
LOOPBACK_CARD = "lo"


def percentile_seconds(times: Histogram, share: float) -> float | None:
    """The time that this share of requests stay within; None for too few (p95 needs 20, p99 100)."""
    return None if times.count < requests_needed(share) else times.quantile_seconds(share)


def percentile_interval(times: Histogram, share: float) -> tuple[float, float] | None:
    """The 95 % interval by ranks, whatever the distribution, as if requests were independent; None for too few."""
    half = 1.96 * math.sqrt(share * (1 - share) / (times.count or 1))
    low, high = times.quantile_seconds(share - half), times.quantile_seconds(share + half)
    return None if low is None or high is None else (low, high)


def requests_needed(share: float) -> int:
    return round(1 / (1 - share))


def error_share(point: LoadPoint) -> float:
    errors = sum(point.errors.values())
    return errors / (point.requests + errors) if errors else 0.0


def fewest_users(points: Sequence[LoadPoint]) -> LoadPoint | None:
    """The point that shows each user's demand; a limited load generator does not lower it."""
    telling = {PointStatus.VALID, PointStatus.GENERATOR}
    tell = [each for each in points if each.status in telling and not each.size_bytes]
    return min(tell, key=lambda each: (each.users, each.status is not PointStatus.VALID), default=None)


def offered_per_second(scenario: Scenario, point: LoadPoint, fewest: LoadPoint | None) -> float | None:
    """Requests/s offered, at least those made: as scheduled, or as ``fewest`` users made and pauses allow.

    None where nobody knows: without a schedule, the fewest users' own requests show only what was made.
    """
    made = point.requests_per_second or 0.0
    if not scenario.requests:
        return None
    if scenario.pace_seconds:
        return max(made, point.users / scenario.pace_seconds)
    if fewest is None or fewest is point or not fewest.requests_per_second:
        return None

    pauses = scenario.think.seconds
    most_each = 1 / pauses if pauses else math.inf
    each = min(fewest.requests_per_second / fewest.users, most_each)
    return max(made, point.users * each)


def _made_by_chance(point: LoadPoint, scenario: Scenario, fewest: LoadPoint | None) -> float:
    """The share of what is offered that a server which keeps up falls below in 1 of 200 points (Poisson counts)."""
    offered = (point.offered_per_second or 0.0) * point.seconds
    if scenario.pace_seconds or fewest is None or not fewest.requests or not offered:
        return 1.0
    return 1 - _ONE_IN_200 * math.sqrt(1 / fewest.requests + 1 / offered)


def _too_few(point: LoadPoint, scenario: Scenario, fewest: LoadPoint | None) -> bool:
    """Whether less was made than offered, and so few requests that half of them could be missing by chance."""
    made, offered = point.requests_per_second or 0.0, point.offered_per_second or 0.0
    return made < ACHIEVED_SHARE * offered and _made_by_chance(point, scenario, fewest) < 0.5


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
    rate, offered = point.requests_per_second, point.offered_per_second
    if not rate or not offered:
        return False
    if overload(point, choices, scenario, fewest) is None:
        return True
    if max(point.generator_cpu_percent, default=0.0) > MOST_CPU_PERCENT:
        return False
    lost = 0.0 if scenario.pace_seconds else lateness.lost_share(point)
    return rate < _least_share(point, scenario, fewest) * offered * (1 - min(1.0, lost))


def _least_share(point: LoadPoint, scenario: Scenario, fewest: LoadPoint | None) -> float:
    """Of what is offered, what a server that keeps up makes at least."""
    return min(ACHIEVED_SHARE, _made_by_chance(point, scenario, fewest))


def limit_seconds(choices: LoadChoices, scenario: Scenario, size_bytes: int | None = None) -> float:
    if choices.limit_seconds is not None:
        return choices.limit_seconds
    largest = size_bytes or max((each.size_bytes for each in scenario.sizes), default=0)
    return max(USUAL_LIMIT_SECONDS, largest / _USUAL_LIMIT_BYTES_PER_SECOND)


def overload(point: LoadPoint, choices: LoadChoices, scenario: Scenario, fewest: LoadPoint | None) -> str | None:
    """Why the server does not carry the point's users; ``fewest`` users showed what is offered. None if it does."""
    if point.status is PointStatus.FAILED:
        return point.reason or "the point failed"
    if error_share(point) > MOST_ERRORS_SHARE:
        return f"{sum(point.errors.values()):,} errors: {point.first_error}"
    rate, offered = point.requests_per_second, point.offered_per_second
    if rate is not None and offered and rate < _least_share(point, scenario, fewest) * offered:
        return f"{rate:,.1f} of {offered:,.1f} requests/s were made ({100 * rate / offered:.0f} %)"
    limit = limit_seconds(choices, scenario, point.size_bytes)
    usual = "" if choices.limit_seconds is not None else ", the usual limit"
    for name, share in (("p95", 0.95), ("p50", 0.5)):
        seconds = percentile_seconds(point.response, share)
        if seconds is not None and seconds > limit:
            return f"{name} of the response was {seconds:.3g} s, above {limit:.3g} s{usual}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A time in which the server answered nothing, or one request for very long."""

    silent_seconds: float | None
    longest_seconds: float
    p99_seconds: float


def stall_of(point: LoadPoint) -> Stall | None:
    """What percentiles hide: waiting users make no requests, so a long silence is a few slow ones.

    While this machine stood still, nobody knows what the server did.
    """
    middle, p99 = (percentile_seconds(point.response, share) for share in (0.5, 0.99))
    if middle is None or p99 is None:
        return None

    standstill = standstill_seconds(point)
    silent = max(0.0, point.silent_seconds - standstill)
    longest = max(0.0, point.response.max_microseconds / 1e6 - standstill)

    is_silent = silent >= max(_LEAST_STALL_SECONDS, _STALL_TIMES * middle)
    is_long = longest >= max(_LEAST_STALL_SECONDS, _STALL_TIMES * p99)
    if not is_silent and not is_long:
        return None
    return Stall(silent_seconds=silent if is_silent else None, longest_seconds=longest, p99_seconds=p99)


def mostly_others(point: LoadPoint) -> bool:
    others = point.server.others_percent if point.server else None
    return others is not None and others.mean > MOST_OTHERS_PERCENT


def limit_of(point: LoadPoint, link_bits_per_second: int | None) -> Limit:
    server = point.server
    if point.status is PointStatus.GENERATOR or point.limit is Limit.GENERATOR:
        return Limit.GENERATOR
    if point.status is PointStatus.FAILED or error_share(point) > MOST_ERRORS_SHARE:
        return Limit.ERRORS
    if server is not None and (server.throttled_percent or 0.0) > _HELD_BACK_PERCENT:
        return Limit.SERVER_CPU
    moved = max(point.read_bytes_per_second or 0.0, point.write_bytes_per_second or 0.0)
    if link_bits_per_second and 8 * moved > _NEARLY * link_bits_per_second:
        return Limit.NETWORK
    if server is not None and server.total_percent.mean > _BUSY_PERCENT:
        return Limit.OTHERS if mostly_others(point) else Limit.SERVER_CPU
    if server is not None and any(busy > _BUSY_PERCENT for busy in server.disk_busy_percent.values()):
        return Limit.DISK
    return Limit.UNKNOWN


def capacity_of(load: Load) -> Capacity | None:
    if not load.scenario.requests:
        return None
    fewest = fewest_users(load.points)
    judged = [
        (point, overload(point, load.choices, load.scenario, fewest))
        for point in load.points
        if point.size_bytes is None and is_judged(point, load.choices, load.scenario, fewest)
    ]
    broken = [(point, why) for point, why in judged if why is not None]
    not_carried, why = min(broken, key=lambda each: each[0].users, default=(None, None))
    carried = [
        point.users for point, why_not in judged
        if why_not is None and (not_carried is None or point.users < not_carried.users)
        if not _too_few(point, load.scenario, fewest)
    ]  # fmt: skip
    if not judged:
        return None
    return Capacity(
        carried=max(carried, default=None),
        not_carried=not_carried.users if not_carried else None,
        reason=why or "",
        limit=_limit_of_server(not_carried, load.link_bits_per_second) if not_carried else None,
    )


def _limit_of_server(point: LoadPoint, link_bits_per_second: int | None) -> Limit:
    """Of a point that is judged although the load generator was late."""
    if point.status is PointStatus.GENERATOR:
        point = replace(point, status=PointStatus.VALID, limit=None)
    return limit_of(point, link_bits_per_second)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Where more users begin to add more time than requests."""

    users: int
    requests_per_second: float
    response_seconds: float


KNEE_POINTS = 3


def knee_of(points: Sequence[LoadPoint]) -> Knee | None:
    """The point of the greatest power, requests/s over response seconds (Kleinrock 1979; Jain 1991, 3.3), if inside."""
    found = [
        Knee(users=point.users, requests_per_second=point.requests_per_second, response_seconds=mean)
        for point in sorted(points, key=lambda each: each.users)
        if point.size_bytes is None and point.requests_per_second and (mean := point.response.mean_seconds)
    ]
    powers = [each.requests_per_second / each.response_seconds for each in found]
    best = max(range(len(powers)), key=powers.__getitem__, default=0)
    return found[best] if 0 < best < len(found) - 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """Memory per session: the slope of the server processes' memory over sessions."""

    bytes_a_session: float
    """Of private memory (USS)."""
    low_bytes: float | None
    high_bytes: float | None
    shared_bytes_a_session: float | None = None
    """With a session's part of what processes share (PSS); None where that was not seen at each point."""


def memory_line(load: Load) -> MemoryLine | None:
    """The line through private memory over idle connected users; None for fewer than two points."""
    if load.scenario.requests:
        return None
    seen = [
        (float(point.connected), point.server)
        for point in load.points
        if point.status in {PointStatus.VALID, PointStatus.GENERATOR} and point.server is not None
    ]
    private = [(users, float(server.smbd_uss_bytes)) for users, server in seen if server.smbd_uss_bytes is not None]
    with_shared = [(users, float(server.smbd_pss_bytes)) for users, server in seen if server.smbd_pss_bytes is not None]

    slope = _slope(private)
    if slope is None:
        return None
    bytes_a_session, half = slope
    shared = _slope(with_shared) if len(with_shared) == len(private) else None
    return MemoryLine(
        bytes_a_session=bytes_a_session,
        low_bytes=None if half is None else bytes_a_session - half,
        high_bytes=None if half is None else bytes_a_session + half,
        shared_bytes_a_session=shared[0] if shared else None,
    )


def _slope(pairs: Sequence[tuple[float, float]]) -> tuple[float, float | None] | None:
    """The least-squares slope of y over x, and half of its 95 % interval from three points on; None for one x."""
    count = len(pairs)
    if len({x for x, _ in pairs}) < 2:
        return None
    mean_x, mean_y = (sum(values) / count for values in zip(*pairs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in pairs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread
    if count < 3:
        return slope, None
    residuals = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in pairs)
    return slope, student_t(LEVEL, count - 2) * math.sqrt(residuals / (count - 2) / spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCheck:
    cards: tuple[tuple[str, float, float], ...]
    """(name, bytes/s in, bytes/s out), without idle cards."""
    only_out: str | None


def card_check(points: Sequence[LoadPoint]) -> CardCheck | None:
    """The cards at the busiest point; None where fewer than two carry anything."""
    seen = [point for point in points if point.server is not None and point.requests]
    if not seen:
        return None
    busiest = max(seen, key=lambda point: point.read_bytes + point.write_bytes)
    assert busiest.server is not None
    cards = {name: rates for name, rates in busiest.server.interfaces.items() if name != LOOPBACK_CARD}
    total_in, total_out = (sum(rates[side] for rates in cards.values()) for side in (0, 1))
    if not total_in or not total_out:
        return None
    used = tuple(
        (name, come, go)
        for name, (come, go) in cards.items()
        if come > _USED_CARD_SHARE * total_in or go > _USED_CARD_SHARE * total_out
    )
    if len(used) < 2:
        return None
    only = next((name for name, _come, go in used if go > _ONE_CARD_SHARE * total_out), None)
    balanced_in = sum(come > _USED_CARD_SHARE * total_in for _name, come, _go in used) > 1
    return CardCheck(cards=used, only_out=only if balanced_in else None)


class _SizeRow(NamedTuple):
    size_bytes: int
    users: int
    requests_per_second: float
    bytes_per_second: float
    cpu_seconds_a_megabyte: float | None
    """Of file server and kernel, per 10^6 bytes; absent where others worked or nobody knows."""


def size_rows(points: Sequence[LoadPoint]) -> tuple[_SizeRow, ...]:
    rows = []
    for point in points:
        rate = point.requests_per_second
        if point.size_bytes is None or rate is None or point.status is not PointStatus.VALID:
            continue
        moved = (point.read_bytes_per_second or 0.0) + (point.write_bytes_per_second or 0.0)
        busy = _busy_for_users(point)
        each = busy / (moved / 1e6) if busy is not None and moved else None
        rows.append(_SizeRow(point.size_bytes, point.users, rate, moved, each))
    return tuple(sorted(rows, key=lambda row: (row.users, row.size_bytes)))


def _busy_for_users(point: LoadPoint) -> float | None:
    server = point.server
    if server is None or server.smbd_percent is None or server.kernel_percent is None or mostly_others(point):
        return None
    programs = server.total_percent.mean - server.kernel_percent.mean
    share = min(1.0, server.smbd_percent.mean / programs) if programs > 0 else 0.0
    return server.processors * (server.smbd_percent.mean + share * server.kernel_percent.mean) / 100


def load_headline(load: Load) -> Iterator[Toned]:
    """Parts, the most important first: the answer, then ``3 points``, ``! 1 failed``."""
    answer = load_answer(load, brief=True)
    yield Toned(answer or "nothing was measured", Tone.PLAIN if answer else Tone.BAD)
    yield Toned(wording.count(len(load.points), "point"))
    if failed := sum(point.status is PointStatus.FAILED for point in load.points):
        yield Toned(f"! {failed} failed", Tone.BAD)
    if others := [_NOT_JUDGED[point.status] for point in load.points if point.status in _NOT_JUDGED]:
        why = others[0] if len({*others}) == 1 else ""
        yield Toned(f"! {wording.count(len(others), 'point')} not judged{why}", Tone.CAUTION)
    if load.running:
        yield Toned(f"{Sign.RUNNING} being measured")
    elif load.status is not SeriesStatus.COMPLETE:
        yield wording.ended_early(load.status)


def load_answer(load: Load, *, brief: bool = False) -> str:
    """The answer in a sentence, without reasons if ``brief``; empty where nothing was measured."""
    points = [point for point in load.points if point.status is not PointStatus.FAILED]
    if not load.scenario.requests:
        line = memory_line(load)
        if not points:
            return ""
        sessions = f"{max(point.connected for point in points):,} sessions without requests"
        return f"{sessions}, {memory_text(line)}" if line else sessions
    found = load.capacity
    if found is not None and (found.carried or found.not_carried):
        told_users = found.carried or found.not_carried
        told = next((point for point in points if point.users == told_users and not point.size_bytes), None)
        return f"{_bracket(load, found, brief=brief)}{_silence(told)}"
    if not points:
        return ""
    largest = max(points, key=lambda point: point.users)
    return f"{point_text(largest)}{_silence(largest)}{_why_not_judged(largest, found, brief=brief)}"


CANNOT_BE_JUDGED = "cannot be judged: "
"""Begins the reason of a point that was disturbed by the machine that made the load."""


def _why_not_judged(point: LoadPoint, capacity: Capacity | None, *, brief: bool) -> str:
    reason = _NOT_JUDGED.get(point.status, ": too few requests" if capacity else None)
    if reason is None:
        return ""
    if brief:
        return "; not judged"
    if point.reason and point.reason.startswith(CANNOT_BE_JUDGED):
        reason = f": {point.reason.removeprefix(CANNOT_BE_JUDGED)}"
    return f"; not judged{reason}"


_NOT_JUDGED = {
    PointStatus.GENERATOR: ": this machine could not keep up",
    PointStatus.REJECTED: ": the numbers contradict one another",
}


def memory_text(line: MemoryLine) -> str:
    within = "" if line.low_bytes is None or line.high_bytes is None else (
        f" ({line.low_bytes / 1000:,.0f} to {line.high_bytes / 1000:,.0f})"
    )  # fmt: skip
    shared = line.shared_bytes_a_session
    with_shared = "" if shared is None else f"; {shared / 1000:,.0f} kB with their part of shared memory"
    return f"{line.bytes_a_session / 1000:,.0f} kB of private memory each{within}{with_shared}"


def _bracket(load: Load, found: Capacity, *, brief: bool) -> str:
    carried = wording.count(found.carried or 0, "user")
    if found.not_carried is None:
        return f"{carried} carried; {_why_no_more(load, found.carried or 0, brief=brief)}"
    begin = f"not even {wording.count(found.not_carried, 'user')} carried"
    if found.carried:
        begin = f"{carried} carried, {found.not_carried:,} not"
    reason = "" if brief or not found.reason else f" ({found.reason})"
    ended = _broken_off(load)
    narrower = "" if ended is None else f"; the search between them was broken off at {ended.users:,} users"
    unjudged = sum((found.carried or 0) < one.users < found.not_carried for one in load.points)
    between = f"; {wording.count(unjudged, 'point')} between them not judged" if unjudged and ended is None else ""
    return f"{begin}{reason}{f'; the limit: {found.limit.value}' if found.limit else ''}{between}{narrower}"


def _why_no_more(load: Load, carried: int, *, brief: bool) -> str:
    if (ended := _broken_off(load)) is not None:
        return f"the search was broken off at {ended.users:,} users{'' if brief else f' ({ended.reason})'}"
    if unjudged := [point for point in load.points if point.users > carried and not point.size_bytes]:
        last = max(unjudged, key=lambda point: point.users)
        why = f" ({last.reason or 'too few requests: measure longer'})"
        return f"{last.users:,} users were not judged{'' if brief else why}"
    scenario = load.scenario
    if scenario.pace_seconds:
        most = carried / scenario.pace_seconds
        return f"the limit was not reached (a request every {scenario.pace_seconds:g} s each: {most:,.3g} requests/s)"
    if pause := scenario.think.seconds:
        asked = f"they pause {pause:g} s on average, so they ask for about {carried / pause:,.4g} a second"
        return f"the limit was not reached ({asked})"
    return "no more were tried"


def _broken_off(load: Load) -> LoadPoint | None:
    if not load.choices.find_capacity or load.running or not load.points:
        return None
    last = load.points[-1]
    return None if is_judged(last, load.choices, load.scenario, fewest_users(load.points)) else last


def _silence(point: LoadPoint | None) -> str:
    stall = stall_of(point) if point else None
    if stall is None or stall.silent_seconds is None:
        return ""
    return f"; the server answered nothing for {stall.silent_seconds:.1f} s"


def point_text(point: LoadPoint) -> str:
    p95 = percentile_seconds(point.response, 0.95)
    served = "" if p95 is None else f", p95 {1000 * p95:,.1f} ms"
    if point.requests_per_second is None or not point.requests:
        return f"{wording.count(point.users, 'user')}: no request was answered"
    return f"{wording.count(point.users, 'user')}: {point.requests_per_second:,.1f} requests/s{served}"


def limit_text(load: Load) -> str:
    limit = limit_seconds(load.choices, load.scenario)
    usual = "" if load.choices.limit_seconds is not None else ", the usual limit; --limit sets another"
    return f"a p95 of the response above {limit:.3g} s{usual}"
