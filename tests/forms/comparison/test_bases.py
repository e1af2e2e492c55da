"""What a stored base will show: the same as the rule says of its runs, with the wait that is told."""

from dataclasses import replace

import pytest

from forms.comparison.bases import plan_sentence, power_of_base, power_sentence
from forms.stats.before_change import BasePower, RepeatPlan
from tests.builders import full_series, series


def test_a_base_is_judged_by_its_valid_runs():
    base = full_series()
    power = power_of_base([base])
    assert power is not None
    assert power.series == 1
    assert power_of_base([replace(base, runs=())]) is None
    assert power_of_base([series([1e8])]) is None, "one run tells nothing of how runs vary"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (30.0, "twice more now: then a change of 12 % will show; as it is, 34 %"),
        (600.0, "twice more, 10 min apart: then"),
    ],
)
def test_a_plan_says_what_it_gains_and_how_long_one_waits(seconds: float, told: str):
    plans = tuple(RepeatPlan(series=2, spacing_seconds=wait, shows_percent=12.0) for wait in (30.0, 600.0))
    power = BasePower(series=1, shows_percent=34.0, plans=plans)
    plan = next(plan for plan in plans if plan.spacing_seconds == seconds)
    assert told in plan_sentence(power, plan)


def test_a_single_plan_says_its_wait():
    plan = RepeatPlan(series=1, spacing_seconds=900.0, shows_percent=150.0)
    power = BasePower(series=2, shows_percent=210.0, plans=(plan,))
    assert "once more, 15 min apart" in plan_sentence(power, plan)
    assert "a factor of 3.1" in power_sentence(power)
