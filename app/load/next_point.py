"""Which load point is measured next: those that were asked for, or a search for as many users as the server carries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from forms.load.summary import fewest_users, is_judged, overload
from storage.load import records

FIRST_USERS = 25
MOST_TRIES = 3
"""Attempts at a point while the load generator is disturbed."""
BRACKET_SHARE = 0.0625
"""Final gap between carried and not carried, as a share of carried: 640 and 680."""


class NextPoint(NamedTuple):
    """A load point to measure."""

    users: int
    size_bytes: int | None = None
    """The only size of files that the users work on; None for all of the scenario."""


def next_point(
    points: Sequence[records.LoadPoint], choices: records.LoadChoices, scenario: records.Scenario
) -> NextPoint | None:
    """The point to measure after ``points``, which are those that were measured; None where nothing is left."""
    if choices.find_capacity:
        users = _next_of_search(points, choices, scenario)
        return None if users is None else NextPoint(users)

    measured = {(point.users, point.size_bytes) for point in points}
    for planned in _planned_points(choices, scenario):
        if planned not in measured:
            return planned
    return None


def _planned_points(choices: records.LoadChoices, scenario: records.Scenario) -> list[NextPoint]:
    sizes: Sequence[int | None] = (None,)
    if choices.by_size and scenario.sizes:
        sizes = [size_class.size_bytes for size_class in scenario.sizes]

    planned: list[NextPoint] = []
    for users in choices.users:
        planned += [NextPoint(users, size_bytes) for size_bytes in sizes]
    return planned


def _next_of_search(
    points: Sequence[records.LoadPoint], choices: records.LoadChoices, scenario: records.Scenario
) -> int | None:
    """The users of the next point: twice as many until some are not carried, then halfway between; None at the end."""
    first = choices.users[0] if choices.users else FIRST_USERS
    if not points:
        return first

    # Points are judged against the one with the fewest users, who hardly wait for one another.
    fewest = fewest_users(points)
    judged = [point for point in points if is_judged(point, choices, scenario, fewest)]
    last = points[-1]
    if last not in judged:
        tries = sum(point.users == last.users for point in points)
        may_try_again = last.status is not records.PointStatus.FAILED and tries < MOST_TRIES
        return last.users if may_try_again else None

    bracket = _bracket(judged, choices, scenario, fewest)
    if bracket.overloaded is None:
        doubled = bracket.carried * 2
        return doubled if doubled <= records.MOST_USERS else None
    return None if bracket.is_narrow else bracket.middle


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bracket:
    """Between how many users the capacity lies, as far as a search has come."""

    carried: int
    """The most that were carried, below those that were too many; 0 for none."""
    overloaded: int | None
    """The fewest that were too many; None where none were."""

    @property
    def is_narrow(self) -> bool:
        """Whether the search ends here."""
        if self.overloaded is None:
            return False
        return self.overloaded - self.carried <= max(1, round(BRACKET_SHARE * self.carried))

    @property
    def middle(self) -> int:
        return (self.carried + (self.overloaded or self.carried)) // 2


def _bracket(
    judged: Sequence[records.LoadPoint],
    choices: records.LoadChoices,
    scenario: records.Scenario,
    fewest: records.LoadPoint | None,
) -> _Bracket:
    overloaded = [point.users for point in judged if overload(point, choices, scenario, fewest) is not None]
    carried = [point.users for point in judged if overload(point, choices, scenario, fewest) is None]
    if not overloaded:
        return _Bracket(carried=max(carried), overloaded=None)

    high = min(overloaded)
    return _Bracket(carried=max((users for users in carried if users < high), default=0), overloaded=high)


def users_to_come_of_search(
    points: Sequence[records.LoadPoint], choices: records.LoadChoices, scenario: records.Scenario
) -> list[int] | None:
    """The users of the points that a search still needs, if each is carried; None while nobody knows how many.

    That is known from the first point on that is overloaded: from there each halves what lies between.
    """
    fewest = fewest_users(points)
    judged = [point for point in points if is_judged(point, choices, scenario, fewest)]
    if not judged:
        return None

    bracket = _bracket(judged, choices, scenario, fewest)
    if bracket.overloaded is None:
        return None

    users: list[int] = []
    while not bracket.is_narrow:
        users.append(bracket.middle)
        bracket = replace(bracket, carried=bracket.middle)
    return users
