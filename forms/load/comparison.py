"""Two loads side by side: capacity against capacity, and each number of users that both have."""

from dataclasses import dataclass

from forms.stats.decision import Verdict
from storage.loads.records import Load, LoadPoint

PROMISED_RATIO = 2.0
"""Using Samba, appendix B: a tuned server carries at least twice the users of an untuned one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersPair:
    """The same number of users in both loads."""

    users: int
    base: LoadPoint
    other: LoadPoint

    @property
    def change_percent(self) -> float | None:
        """Of the requests a second."""
        first, second = self.base.requests_per_second, self.other.requests_per_second
        return 100 * (second / first - 1) if first and second is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadComparison:
    """What can be said of two loads."""

    base: Load
    other: Load
    pairs: tuple[UsersPair, ...]
    verdict: Verdict
    """``faster`` or ``slower`` where the brackets of both capacities lie apart, else ``unknown``."""
    capacity_ratio: float | None
    differences: tuple[str, ...]
    """What was not the same in both, and so may be the reason as well."""


def compare_loads(base: Load, other: Load) -> LoadComparison:
    """The comparison: one window a point proves nothing of single points, but brackets that lie apart do."""
    others = {(point.users, point.size_bytes): point for point in other.valid_points()}
    pairs = tuple(
        UsersPair(users=point.users, base=point, other=others[point.users, point.size_bytes])
        for point in base.valid_points()
        if (point.users, point.size_bytes) in others
    )
    first, second = base.capacity, other.capacity
    verdict, ratio = Verdict.UNKNOWN, None
    if first and second and first.carried and second.carried:
        ratio = second.carried / first.carried
        if first.not_carried is not None and second.carried >= first.not_carried:
            verdict = Verdict.FASTER
        elif second.not_carried is not None and second.not_carried <= first.carried:
            verdict = Verdict.SLOWER
    differences = tuple(
        name
        for name, one, two in (
            ("scenario", base.scenario, other.scenario),
            ("targets", base.targets, other.targets),
            ("link", base.link_bits_per_second, other.link_bits_per_second),
            ("generators", [w.processes for w in base.workers], [w.processes for w in other.workers]),
        )
        if one != two
    )
    return LoadComparison(
        base=base, other=other, pairs=pairs, verdict=verdict, capacity_ratio=ratio, differences=differences
    )
