"""One slow run decides nothing: power and false alarms with the room that chance needs for so few trials."""

import pytest

from tests.truth.designs import ONE_EACH, WITH_HISTORY, Design
from tests.truth.hiccups import (
    AFTER_THREE,
    CHANGES,
    HICCUPS,
    LEAST_FOUND,
    MOST_WITH_HISTORY,
    PLACES,
    found_beside_a_hiccup,
    lost_by_history,
)
from tests.truth.timelines import TIMELINES, Timeline

TRIALS = 2000
ROOM = 2 * 100 * (0.9 * 0.1 / TRIALS) ** 0.5
"""What chance takes from an exact 90 %: two standard errors, in percent."""


@pytest.mark.parametrize("size", HICCUPS)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place[0])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change[0]:+g} % at {change[1]:g} %")
def test_a_change_is_found_although_a_run_hiccups(
    change: tuple[float, float], place: tuple[str, Design, str], size: float
):
    _, design, sides = place
    tally = found_beside_a_hiccup(design, sides, size, *change, TRIALS)
    assert tally.different_percent >= LEAST_FOUND - ROOM


@pytest.mark.parametrize(("design", "sides"), [(ONE_EACH, "AB"), (AFTER_THREE, "H")])
def test_a_hiccup_where_nothing_changed_is_no_change(design: Design, sides: str):
    assert found_beside_a_hiccup(design, sides, 40.0, 0.0, 1.0, TRIALS).different_percent <= 1


@pytest.mark.parametrize("earlier", [1, 3, 6])
def test_earlier_series_with_hiccups_take_no_verdict_away(earlier: int):
    """At most 4 of 200, where 2 % of chance would take up to 8."""
    tally = lost_by_history(earlier, 200)
    assert tally.decided >= 160
    assert tally.lost <= 4


@pytest.mark.parametrize("timeline", TIMELINES, ids=lambda timeline: timeline.name)
def test_three_runs_with_a_history_are_not_called_different(timeline: Timeline):
    room = 2 * 100 * (MOST_WITH_HISTORY / 100 / TRIALS) ** 0.5
    tally = WITH_HISTORY.tally(timeline, 3, TRIALS, 0.0, seed=1)
    assert tally.different_percent <= MOST_WITH_HISTORY + room
