"""Which point comes next: as asked for, or users doubled until overload and then halved to a bracket."""

from collections.abc import Sequence
from typing import NamedTuple

from forms.load.summary import overload, tells_of_server
from storage.loads.records import MOST_USERS, LoadChoices, LoadPoint, PointStatus
from storage.loads.scenario import Scenario

FIRST_USERS = 25
MOST_TRIES = 3
"""A point that tells nothing of the server, since the load generator was disturbed, is measured so often at most."""
BRACKET_SHARE = 0.0625
"""How far apart carried and not carried may lie at the end, of what was carried: 640 and 680."""


class NextPoint(NamedTuple):
    """What is to be measured."""

    users: int
    size_bytes: int | None = None
    """The one size of file; None for all of the scenario's."""


def next_point(points: Sequence[LoadPoint], choices: LoadChoices, scenario: Scenario) -> NextPoint | None:
    """What is to be measured after those points; None at the end."""
    if choices.find_capacity:
        users = _next_of_search(points, choices, scenario)
        return None if users is None else NextPoint(users)
    sizes = [each.size_bytes for each in scenario.sizes]
    each_size = sizes if choices.by_size and sizes else (None,)
    done = {(point.users, point.size_bytes) for point in points}
    wanted = (NextPoint(users, size) for users in choices.users for size in each_size)
    return next((each for each in wanted if each not in done), None)


def _next_of_search(points: Sequence[LoadPoint], choices: LoadChoices, scenario: Scenario) -> int | None:
    first = choices.users[0] if choices.users else FIRST_USERS
    if not points:
        return first
    last = points[-1]
    if not tells_of_server(last):
        tries = sum(point.users == last.users for point in points)
        again = last.status is not PointStatus.FAILED and tries < MOST_TRIES
        return last.users if again else None
    judged = [(point, overload(point, choices, scenario)) for point in points if tells_of_server(point)]
    broken = [point.users for point, why in judged if why is not None]
    carried = [point.users for point, why in judged if why is None]
    if not broken:
        return max(carried) * 2 if max(carried) * 2 <= MOST_USERS else None
    low = max((users for users in carried if users < min(broken)), default=0)
    high = min(broken)
    if high - low <= max(1, round(BRACKET_SHARE * low)):
        return None
    return (low + high) // 2
