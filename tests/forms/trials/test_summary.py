"""What a trial says, at the edges of each rule."""

import pytest

from forms.stats.decision import Verdict
from forms.stats.paired import ALPHA, PairedEffect
from forms.trials.summary import _at_look, _moved
from storage.changes import ChangeKind, TrialPlan

PLAN = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", values=("no",), looks=(8,))


def effect(change: float, p: float = 0.01, interval: tuple[float, float] | None = None) -> PairedEffect:
    return PairedEffect(pairs=8, p_value=p, change_percent=change, interval_percent=interval, deviation_percent=None)


@pytest.mark.parametrize(
    ("control", "p", "change", "moved"),
    [
        (-5.0, 0.01, 10.0, True),
        (-4.9, 0.01, 10.0, False),
        (5.0, 0.01, -10.0, True),
        (4.9, 0.01, -10.0, False),
        (5.0, 0.01, 10.0, False),
        (-20.0, ALPHA, 10.0, True),
        (-20.0, ALPHA + 0.001, 10.0, False),
    ],
)
def test_the_machine_explains_a_change_from_half_of_it_on(control: float, p: float, change: float, moved: bool):
    assert _moved(effect(control, p), effect(change)) is moved


def test_a_change_is_told_beyond_the_noise_and_within_alpha():
    assert _at_look(effect(1.1, 0.02), PLAN, 0.02, last=False) is Verdict.FASTER
    assert _at_look(effect(-1.1, 0.02), PLAN, 0.02, last=False) is Verdict.SLOWER
    assert _at_look(effect(1.1, 0.021), PLAN, 0.02, last=False) is None
    assert _at_look(effect(1.0, 0.001), PLAN, 0.02, last=False) is None
    assert _at_look(effect(0.5, 0.5, (-0.9, 0.9)), PLAN, 0.02, last=False) is Verdict.SAME
    assert _at_look(effect(0.5, 0.5, (-1.0, 0.9)), PLAN, 0.02, last=False) is None
    assert _at_look(effect(0.5, 0.5, (-4.9, 4.9)), PLAN, 0.02, last=True) is Verdict.SAME
    assert _at_look(effect(0.5, 0.5, (-4.9, 5.0)), PLAN, 0.02, last=True) is None
    assert _at_look(effect(0.5, 0.5), PLAN, 0.02, last=True) is None
