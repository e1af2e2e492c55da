"""Of the sweeps that are settled at least 95 % name a right value."""

import pytest

from tests.truth.sweeps import SWEEP_WORLDS, VARIATIONS, sweep_tally

TRIALS = 120


@pytest.mark.long
def test_settled_sweeps_are_right():
    wrong, settled = {}, 0
    for world in SWEEP_WORLDS:
        for variation in VARIATIONS:
            tally = sweep_tally(world, 16, variation, TRIALS)
            settled += tally.settled
            room = 2 * 100 * (0.05 * 0.95 / max(1, tally.settled)) ** 0.5
            if (tally.right_percent or 100.0) < 95 - room:
                wrong[world.name, variation] = tally
    assert wrong == {}
    assert settled > 0.4 * TRIALS * len(SWEEP_WORLDS) * len(VARIATIONS), "a rule that never settles is no rule"
