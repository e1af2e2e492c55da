"""An inconclusive comparison leans to the side that is right, and seldom where nothing changed."""

import pytest

from tests.truth.designs import INTERLEAVED, ONE_EACH, WITH_HISTORY, Design
from tests.truth.leanings import (
    LEAST_RIGHT_PERCENT,
    MOST_WHERE_NOTHING_CHANGED_PERCENT,
    leanings_of,
    real_leanings_table,
)
from tests.truth.timelines import Rhythm, Timeline

TRIALS = 300
CHANCE = 3 * 100 * (0.2 * 0.8 / TRIALS) ** 0.5
"""Three standard errors of a fifth of the trials: 7 %."""


@pytest.mark.parametrize(
    ("design", "timeline"),
    [
        (ONE_EACH, Timeline(name="independent")),
        (WITH_HISTORY, Timeline(name="sessions", session=3)),
        (INTERLEAVED, Timeline(name="unequal", other_variation=10)),
        (INTERLEAVED, Timeline(name="rhythm", rhythm=Rhythm(5, 2))),
    ],
)
def test_a_leaning_is_right_and_seldom_where_nothing_changed(design: Design, timeline: Timeline):
    unchanged = leanings_of(design, timeline, TRIALS, is_changed=False)
    assert unchanged.said_percent <= MOST_WHERE_NOTHING_CHANGED_PERCENT + CHANCE

    changed = leanings_of(design, timeline, TRIALS, is_changed=True)
    assert changed.leaning > 0
    assert changed.right_percent is not None
    assert changed.right_percent >= LEAST_RIGHT_PERCENT - CHANCE


def test_equal_series_of_real_paths_seldom_lean():
    rows = list(real_leanings_table())
    assert len(rows) > 20
    assert not [row for row in rows if "**" in row]
