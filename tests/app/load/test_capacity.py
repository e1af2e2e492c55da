"""The search for the capacity, at the edges of each of its rules."""

import pytest

from app.load.capacity import NextPoint, next_point
from storage.loads.records import MOST_USERS, LoadChoices
from tests.loads import point, scenario

SEARCH = LoadChoices(find_capacity=True)


def after(carried: int, not_carried: int | None) -> NextPoint | None:
    points = [point(1, carried, 10.0 * carried)]
    if not_carried is not None:
        points.append(point(2, not_carried, 5.0 * not_carried))
    return next_point(points, SEARCH, scenario())


@pytest.mark.parametrize(
    ("carried", "not_carried", "following"),
    [(640, 680, None), (640, 681, 660), (40, 42, None), (40, 43, 41), (8, 9, None), (8, 10, 9)],
)
def test_the_search_ends_when_the_bracket_is_within_a_sixteenth_or_a_user(carried, not_carried, following):
    assert after(carried, not_carried) == (None if following is None else NextPoint(following))


def test_the_users_are_doubled_up_to_the_most_that_may_be():
    assert after(MOST_USERS // 2, None) == NextPoint(2 * (MOST_USERS // 2))
    assert after(MOST_USERS // 2 + 1, None) is None
