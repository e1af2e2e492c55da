"""A load in one line: the users that were carried or what its largest point came to, and how much that is worth."""

from collections.abc import Iterator

from forms import wording
from forms.tone import Tone, Toned
from storage.loads.records import Load, LoadPoint, PointStatus
from storage.records import SeriesStatus


def load_headline(load: Load) -> tuple[Toned, ...]:
    """The parts, the most important first: ``20 users: 190.0 requests/s, p95 5.0 ms``, ``3 points``, ``! 1 failed``."""
    return tuple(_parts(load))


def _parts(load: Load) -> Iterator[Toned]:
    points = [point for point in load.points if point.status is not PointStatus.FAILED]
    found = load.capacity
    if found is not None and found.not_carried is not None:
        carried = f"{found.carried} users carried, {found.not_carried} not" if found.carried else (
            f"not even {found.not_carried} users carried"
        )  # fmt: skip
        yield Toned(f"{carried}{f'; the limit: {found.limit.value}' if found.limit else ''}")
    elif points and not load.scenario.requests:
        yield Toned(f"{max(point.connected for point in points):,} sessions without requests")
    elif points:
        yield Toned(point_text(max(points, key=lambda point: point.users)))
    else:
        yield Toned("nothing was measured", Tone.BAD)
    yield Toned(wording.count(len(load.points), "point"))
    failed = sum(point.status is PointStatus.FAILED for point in load.points)
    if failed:
        yield Toned(f"! {failed} failed", Tone.BAD)
    if any(point.status is PointStatus.GENERATOR for point in load.points):
        yield Toned("! limited by this end", Tone.CAUTION)
    if load.running:
        yield Toned("▸ being measured")
    elif load.status is not SeriesStatus.COMPLETE:
        yield Toned(f"! {load.status}", Tone.BAD if load.status is SeriesStatus.FAILED else Tone.CAUTION)


def point_text(point: LoadPoint) -> str:
    """What a point came to: ``20 users: 190.0 requests/s, p95 5.0 ms``."""
    p95 = point.response.quantile_seconds(0.95)
    served = "" if p95 is None else f", p95 {1000 * p95:,.1f} ms"
    if point.requests_per_second is None or not point.requests:
        return f"{wording.count(point.users, 'user')}: no request was answered"
    return f"{wording.count(point.users, 'user')}: {point.requests_per_second:,.1f} requests/s{served}"
