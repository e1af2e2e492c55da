"""The results of a load in sentences: how many users were carried, and why no more is known.

A number of users is *carried* where the server was not overloaded with it, and *not judged* where this machine,
which plays the users, was too slow to tell. The capacity lies between the most that were carried and the fewest that
were not.
"""

from collections.abc import Iterator
from operator import attrgetter

from forms import wording
from forms.layout import Sign, Tone, Toned
from forms.load import shapes, summary
from forms.load.shapes import MemoryLine
from storage.load.records import Capacity, Load, LoadPoint, PointStatus, Scenario
from storage.records import SeriesStatus

CANNOT_BE_JUDGED = "cannot be judged: "
"""Begins the reason of a point that was disturbed by the machine that made the load."""

_NOT_JUDGED = {
    PointStatus.GENERATOR: ": the load generator could not keep up",
    PointStatus.REJECTED: ": the numbers contradict one another",
}
"""Why a point of that status is not judged, to be put behind its text."""


def load_headline(load: Load) -> Iterator[Toned]:
    """Parts, the most important first: the answer, then ``3 points``, ``! 1 failed``."""
    answer = load_answer(load, brief=True)
    yield Toned(answer or "nothing was measured", Tone.PLAIN if answer else Tone.BAD)
    yield Toned(wording.count(len(load.points), "point"))

    failed = [point for point in load.points if point.status is PointStatus.FAILED]
    if failed:
        yield Toned(f"! {len(failed)} failed", Tone.BAD)

    reasons = [_NOT_JUDGED[point.status] for point in load.points if point.status in _NOT_JUDGED]
    if reasons:
        common_reason = reasons[0] if len(set(reasons)) == 1 else ""
        yield Toned(f"! {wording.count(len(reasons), 'point')} not judged{common_reason}", Tone.CAUTION)

    if load.running:
        yield Toned(f"{Sign.RUNNING} being measured")
    elif load.status is not SeriesStatus.COMPLETE:
        yield wording.ended_early(load.status)


def load_answer(load: Load, *, brief: bool = False) -> str:
    """The answer in a sentence, without reasons if ``brief``; empty where nothing was measured."""
    points = [point for point in load.points if point.status is not PointStatus.FAILED]
    if not load.scenario.requests:
        return _sessions_text(load, points)

    capacity = load.capacity
    if capacity is not None and (capacity.carried or capacity.not_carried):
        users = capacity.carried or capacity.not_carried
        at_capacity = [point for point in points if point.users == users and not point.size_bytes]
        point = at_capacity[0] if at_capacity else None
        return f"{_bracket(load, capacity, brief=brief)}{_silence(point)}"

    if not points:
        return ""

    largest = max(points, key=attrgetter("users"))
    return f"{point_text(largest, load.scenario)}{_silence(largest)}{_why_not_judged(largest, capacity, brief=brief)}"


def _sessions_text(load: Load, points: list[LoadPoint]) -> str:
    """How many users only logged in, and the memory that each took."""
    if not points:
        return ""

    most_connected = max(point.connected for point in points)
    sessions = f"{most_connected:,} sessions without requests"
    line = shapes.memory_line(load)
    return f"{sessions}, {memory_text(line)}" if line else sessions


def _why_not_judged(point: LoadPoint, capacity: Capacity | None, *, brief: bool) -> str:
    reason = _NOT_JUDGED.get(point.status, ": too few requests" if capacity else None)
    if reason is None:
        return ""

    if brief:
        return "; not judged"

    if point.reason and point.reason.startswith(CANNOT_BE_JUDGED):
        reason = f": {point.reason.removeprefix(CANNOT_BE_JUDGED)}"
    return f"; not judged{reason}"


def memory_text(line: MemoryLine) -> str:
    """The server's memory per session, with its interval."""
    within = ""
    if line.low_bytes is not None and line.high_bytes is not None:
        within = f" ({line.low_bytes / 1000:,.0f} to {line.high_bytes / 1000:,.0f})"

    with_shared = ""
    if line.shared_bytes_a_session is not None:
        with_shared = f"; {line.shared_bytes_a_session / 1000:,.0f} kB with their part of shared memory"

    return f"{line.bytes_a_session / 1000:,.0f} kB of private memory each{within}{with_shared}"


def _bracket(load: Load, capacity: Capacity, *, brief: bool) -> str:
    """How many users were carried, and how many were not."""
    carried = wording.count(capacity.carried or 0, "user")
    if capacity.not_carried is None:
        return f"{carried} carried; {_why_no_more(load, capacity.carried or 0, brief=brief)}"

    begin = f"not even {wording.count(capacity.not_carried, 'user')} carried"
    if capacity.carried:
        begin = f"{carried} carried, {capacity.not_carried:,} not"

    reason = "" if brief or not capacity.reason else f" ({capacity.reason})"
    limit = f"; the limit: {capacity.limit.value}" if capacity.limit else ""
    return f"{begin}{reason}{limit}{_text_of_gap(load, capacity.carried or 0, capacity.not_carried)}"


def _text_of_gap(load: Load, carried: int, not_carried: int) -> str:
    """Why the numbers of users between carried and not carried say nothing; empty where there are none."""
    broken_off = summary.point_where_search_broke_off(load)
    if broken_off is not None:
        return f"; the search between them was broken off at {broken_off.users:,} users"

    between = [point for point in load.points if carried < point.users < not_carried]
    return f"; {wording.count(len(between), 'point')} between them not judged" if between else ""


def _why_no_more(load: Load, carried: int, *, brief: bool) -> str:
    """Why it is not known whether the server carries more users than these."""
    broken_off = summary.point_where_search_broke_off(load)
    if broken_off is not None:
        reason = "" if brief else f" ({broken_off.reason})"
        return f"the search was broken off at {broken_off.users:,} users{reason}"

    unjudged = [point for point in load.points if point.users > carried and not point.size_bytes]
    if unjudged:
        last = max(unjudged, key=attrgetter("users"))
        reason = "" if brief else f" ({last.reason or 'too few requests: measure longer'})"
        return f"{last.users:,} users were not judged{reason}"

    scenario = load.scenario
    if scenario.pace_seconds:
        most = carried / scenario.pace_seconds
        return f"the limit was not reached (a request every {scenario.pace_seconds:g} s each: {most:,.3g} requests/s)"

    pause_seconds = scenario.think.seconds
    if pause_seconds:
        per_second = f"{carried / pause_seconds:,.4g} a second"
        return (
            f"the limit was not reached (they pause {pause_seconds:g} s on average, so they ask for about {per_second})"
        )
    return "no more were tried"


def _silence(point: LoadPoint | None) -> str:
    """What is added of a time in which the server answered nothing; empty without one."""
    stall = summary.stall_of(point) if point else None
    if stall is None or stall.silent_seconds is None:
        return ""

    return f"; the server answered nothing for {stall.silent_seconds:.1f} s"


def point_text(point: LoadPoint, scenario: Scenario) -> str:
    """A point in a line: its users, requests/s and p95; of a scenario without requests, its sessions."""
    users = wording.count(point.users, "user")
    if not scenario.requests:
        return f"{users}: {wording.count(point.connected, 'session')} without requests"
    if point.requests_per_second is None or not point.requests:
        return f"{users}: no request was answered"

    p95 = summary.percentile_seconds(point.response, 0.95)
    served = "" if p95 is None else f", p95 {1000 * p95:,.1f} ms"
    return f"{users}: {point.requests_per_second:,.1f} requests/s{served}"


def limit_text(load: Load) -> str:
    """Which response time counts as overload."""
    limit = summary.limit_seconds(load.choices, load.scenario)
    usual = "" if load.choices.limit_seconds is not None else ", the usual limit; --limit sets another"
    return f"a p95 of the response above {limit:.3g} s{usual}"
