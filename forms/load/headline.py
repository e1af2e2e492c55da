"""A load's result as one answer, the same everywhere."""

from collections.abc import Iterator

from forms import wording
from forms.layout import Tone, Toned
from forms.load.summary import MemoryLine, limit_seconds, memory_line, percentile_seconds, stall_of, tells_of_server
from storage.loads.records import Capacity, Load, LoadPoint, PointStatus
from storage.records import SeriesStatus


def load_headline(load: Load) -> tuple[Toned, ...]:
    """Parts, the most important first: the answer, then ``3 points``, ``! 1 failed``."""
    return tuple(_parts(load))


def _parts(load: Load) -> Iterator[Toned]:
    answer = load_answer(load, brief=True)
    yield Toned(answer or "nothing was measured", Tone.PLAIN if answer else Tone.BAD)
    yield Toned(wording.count(len(load.points), "point"))
    failed = sum(point.status is PointStatus.FAILED for point in load.points)
    if failed:
        yield Toned(f"! {failed} failed", Tone.BAD)
    others = sum(point.status in {PointStatus.GENERATOR, PointStatus.REJECTED} for point in load.points)
    if others:
        yield Toned(f"! {others} not judged", Tone.CAUTION)
    if load.running:
        yield Toned("▸ being measured")
    elif load.status is not SeriesStatus.COMPLETE:
        yield Toned(f"! {load.status}", Tone.BAD if load.status is SeriesStatus.FAILED else Tone.CAUTION)


def load_answer(load: Load, *, brief: bool = False) -> str:
    """The answer in a sentence, without reasons if ``brief``; empty where nothing was measured."""
    points = [point for point in load.points if point.status is not PointStatus.FAILED]
    if not load.scenario.requests:
        return _idle_answer(points, memory_line(load))
    found = load.capacity
    if found is not None and (found.carried or found.not_carried):
        carried = next((point for point in points if point.users == found.carried and not point.size_bytes), None)
        return f"{_bracket(load, found, brief=brief)}{_silence(carried)}"
    if not points:
        return ""
    largest = max(points, key=lambda point: point.users)
    reason = "" if brief or largest.status is PointStatus.VALID else f"; not judged: {largest.reason}"
    return f"{point_text(largest)}{_silence(largest)}{reason}"


def _idle_answer(points: list[LoadPoint], line: MemoryLine | None) -> str:
    if not points:
        return ""
    sessions = f"{max(point.connected for point in points):,} sessions without requests"
    return f"{sessions}, {memory_text(line)}" if line else sessions


def memory_text(line: MemoryLine) -> str:
    """Memory of an idle user: ``575 kB each (540 to 610)``."""
    within = "" if line.low_bytes is None or line.high_bytes is None else (
        f" ({line.low_bytes / 1000:,.0f} to {line.high_bytes / 1000:,.0f})"
    )  # fmt: skip
    return f"{line.bytes_a_session / 1000:,.0f} kB each{within}"


def _bracket(load: Load, found: Capacity, *, brief: bool) -> str:
    if found.not_carried is None:
        return f"{found.carried:,} users carried; {_why_no_more(load, found.carried or 0, brief=brief)}"
    begin = f"{found.carried:,} users carried, {found.not_carried:,} not" if found.carried else (
        f"not even {found.not_carried:,} users carried"
    )  # fmt: skip
    reason = "" if brief or not found.reason else f" ({found.reason})"
    ended = _broken_off(load)
    narrower = "" if ended is None else f"; the search between them was broken off at {ended.users:,} users"
    return f"{begin}{reason}{f'; the limit: {found.limit.value}' if found.limit else ''}{narrower}"


def _why_no_more(load: Load, carried: int, *, brief: bool) -> str:
    ended = _broken_off(load)
    if ended is not None:
        return f"the search was broken off at {ended.users:,} users{'' if brief else f' ({ended.reason})'}"
    unjudged = [point for point in load.points if point.users > carried and not tells_of_server(point)]
    if unjudged:
        last = max(unjudged, key=lambda point: point.users)
        return f"{last.users:,} users were not judged{'' if brief else f' ({last.reason})'}"
    scenario = load.scenario
    if scenario.pace_seconds:
        most = carried / scenario.pace_seconds
        return f"not at their limit (a request every {scenario.pace_seconds:g} s each: {most:,.3g} requests/s)"
    if scenario.think.seconds:
        most = carried / scenario.think.seconds
        return f"not at their limit (they pause {scenario.think.seconds:g} s, so at most {most:,.4g} requests/s)"
    return "no more were tried"


def _broken_off(load: Load) -> LoadPoint | None:
    if not load.choices.find_capacity or load.running or not load.points or tells_of_server(load.points[-1]):
        return None
    return load.points[-1]


def _silence(point: LoadPoint | None) -> str:
    stall = stall_of(point) if point else None
    if stall is None or stall.silent_seconds is None:
        return ""
    return f"; it answered nothing for {stall.silent_seconds:.1f} s"


def point_text(point: LoadPoint) -> str:
    """A point's result: ``20 users: 190.0 requests/s, p95 5.0 ms``."""
    p95 = percentile_seconds(point.response, 0.95)
    served = "" if p95 is None else f", p95 {1000 * p95:,.1f} ms"
    if point.requests_per_second is None or not point.requests:
        return f"{wording.count(point.users, 'user')}: no request was answered"
    return f"{wording.count(point.users, 'user')}: {point.requests_per_second:,.1f} requests/s{served}"


def limit_text(load: Load) -> str:
    """The response time limit in words."""
    limit = limit_seconds(load.choices, load.scenario)
    usual = "" if load.choices.limit_seconds is not None else ", the usual limit; --limit sets another"
    return f"a p95 of the response above {limit:.3g} s{usual}"
