"""Which number of users comes next: as asked for, or doubled until overload and then halved to a bracket."""

from collections.abc import Sequence

from forms.load.summary import overload
from storage.loads.records import LoadChoices, LoadPoint, PointStatus

FIRST_USERS = 25
MOST_USERS = 100_000
BRACKET_SHARE = 0.0625
"""How far apart carried and not carried may lie at the end, of what was carried: 640 and 680."""


def next_users(points: Sequence[LoadPoint], choices: LoadChoices) -> int | None:
    """The users of the next point; None at the end."""
    if not choices.find_capacity:
        done = [point.users for point in points]
        return next((users for users in choices.users if users not in done), None)
    first = choices.users[0] if choices.users else FIRST_USERS
    if not points:
        return first
    if points[-1].status in {PointStatus.GENERATOR, PointStatus.REJECTED}:
        return None  # there is no verdict from here on
    broken = [point.users for point in points if overload(point, choices) is not None]
    carried = [point.users for point in points if overload(point, choices) is None]
    if not broken:
        return max(carried) * 2 if max(carried) * 2 <= MOST_USERS else None
    low = max((users for users in carried if users < min(broken)), default=0)
    high = min(broken)
    if high - low <= max(1, round(BRACKET_SHARE * low)):
        return None
    return (low + high) // 2
