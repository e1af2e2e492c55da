"""Intervals that hold together: against simulated quantiles, and against Student's t where there is one."""

import pytest

from forms.stats.decision import Step, Verdict, critical_of, decide_together
from forms.stats.distributions import student_t
from forms.stats.variation import SeriesGroup

SIMULATED = {2: 3.249, 3: 3.490, 4: 3.666, 5: 3.809, 6: 3.932}
"""Of two million draws: so many steps and their total, the base measured twice, five degrees of freedom."""


@pytest.mark.parametrize("steps", SIMULATED)
def test_steps_and_their_total_hold_together(steps: int):
    pairs = (*((step, step + 1) for step in range(steps)), (0, steps))
    assert critical_of((2,) + (1,) * steps, pairs, 5.0, 0.95) == pytest.approx(SIMULATED[steps], abs=0.025)


def test_one_step_has_students_t():
    assert critical_of((1, 1), ((0, 1),), 5.0, 0.95) == student_t(0.95, 5.0)


def test_steps_share_one_variation():
    levels = (100.0, 130.0, 131.0)
    groups = [SeriesGroup([[level] * 5], [float(place)]) for place, level in enumerate(levels)]
    first, second, whole = decide_together(groups, [Step(0, 1), Step(1, 2), Step(0, 2)])
    assert [one.verdict for one in (first, second, whole)] == [Verdict.FASTER, Verdict.UNKNOWN, Verdict.FASTER]
    assert first.variation == second.variation
    assert first.critical == pytest.approx(critical_of((1, 1, 1), ((0, 1), (1, 2), (0, 2)), 4.0, 0.95))
    empty = [*groups[:2], SeriesGroup([], [])]
    told = decide_together(empty, [Step(0, 1), Step(1, 2)])
    assert (told[0].verdict, told[1].verdict) == (Verdict.FASTER, Verdict.UNKNOWN)
