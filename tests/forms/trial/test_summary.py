"""What a trial says, at the edges of each rule."""

from dataclasses import replace

import pytest

from forms.stats.decision import Doubt, Verdict
from forms.stats.paired import PairedEffect
from forms.trial.document import trial_document
from forms.trial.report import verdict_field
from forms.trial.summary import (
    LIMITED_SHARE,
    UNKNOWN_SHARE,
    TrialSummary,
    _control_explains,
    _share_for_veto,
    _verdict_at_look,
)
from storage.changes import ChangeKind, Slot, TrialPlan
from storage.records import Experiment
from tests.builders import series

PLAN = TrialPlan(kind=ChangeKind.SMB_CONF, name="strict sync", values=("no",), looks=(8,))


def effect(change: float, p: float = 0.01, interval: tuple[float, float] | None = None) -> PairedEffect:
    return PairedEffect(pairs=8, p_value=p, change_percent=change, interval_percent=interval, deviation_percent=None)


SURE, UNSURE = (0.1, 50.0), (0.0, 50.0)


@pytest.mark.parametrize(
    ("share", "control", "interval", "change", "moved"),
    [
        # Half of log(0.9) is the throughput of 5.41 % more seconds; all of it is that of 11.11 % more.
        (LIMITED_SHARE, 5.42, SURE, -10.0, True),
        (LIMITED_SHARE, 5.40, SURE, -10.0, False),
        (UNKNOWN_SHARE, 11.12, SURE, -10.0, True),
        (UNKNOWN_SHARE, 11.10, SURE, -10.0, False),
        (LIMITED_SHARE, -4.66, (-9.0, -0.1), 10.0, True),
        (LIMITED_SHARE, -4.65, (-9.0, -0.1), 10.0, False),
        (LIMITED_SHARE, 40.0, SURE, 10.0, False),
        (LIMITED_SHARE, -40.0, (-50.0, -0.1), -10.0, False),
        (LIMITED_SHARE, 40.0, UNSURE, -10.0, False),
        (LIMITED_SHARE, -40.0, (-50.0, 0.0), 10.0, False),
        (LIMITED_SHARE, 40.0, None, -10.0, False),
    ],
)
def test_the_fixed_work_explains_a_change_from_a_share_of_it_on_in_its_direction_and_surely(
    share: float, control: float, interval: tuple[float, float] | None, change: float, moved: bool
):
    assert _control_explains(effect(control, interval=interval), effect(change), share) is moved


def with_load(limited: int, windows: int = 4) -> list[Slot]:
    return [
        Slot(series_id="a", number=n, position=n, control_seconds=1.0, generator_limited=n < limited)
        for n in range(windows)
    ]


@pytest.mark.parametrize(
    ("processor", "slots", "link", "share"),
    [
        ((90.0,), [], None, LIMITED_SHARE),
        ((89.9,), [], None, None),
        ((10.0, 90.0, 200.0), [], None, LIMITED_SHARE),
        ((10.0, 89.9, 200.0), [], None, None),
        ((), with_load(2), None, LIMITED_SHARE),
        ((), with_load(1), None, UNKNOWN_SHARE),
        ((), [], None, UNKNOWN_SHARE),
        # The runs below move 100 MB/s, which is 800 Mbit/s.
        ((), [], 888_888_888, None),
        ((), [], 889_000_000, UNKNOWN_SHARE),
        ((200.0,), [], 888_888_888, None),
        ((200.0,), [], 889_000_000, LIMITED_SHARE),
    ],
)
def test_the_fixed_work_may_veto_only_where_this_machine_may_have_been_the_limit(
    processor: tuple[float, ...], slots: list[Slot], link: int | None, share: float | None
):
    plan = replace(PLAN, processor_percent=processor)
    sides = [series(rates, warmups=0, link_bits_per_second=link) for rates in ([1e8] * 3, [0.8e8] * 3)]
    assert _share_for_veto(plan, sides, slots) == share
    assert _share_for_veto(plan, sides[::-1], slots) == share


def test_a_change_is_told_beyond_the_noise_and_within_alpha():
    assert _verdict_at_look(effect(1.1, 0.02), PLAN, 0.02, is_last=False) is Verdict.FASTER
    assert _verdict_at_look(effect(-1.1, 0.02), PLAN, 0.02, is_last=False) is Verdict.SLOWER
    assert _verdict_at_look(effect(1.1, 0.021), PLAN, 0.02, is_last=False) is None
    assert _verdict_at_look(effect(1.0, 0.001), PLAN, 0.02, is_last=False) is None
    assert _verdict_at_look(effect(0.5, 0.5, (-0.9, 0.9)), PLAN, 0.02, is_last=False) is Verdict.SAME
    assert _verdict_at_look(effect(0.5, 0.5, (-1.0, 0.9)), PLAN, 0.02, is_last=False) is None
    assert _verdict_at_look(effect(0.5, 0.5, (-4.9, 4.9)), PLAN, 0.02, is_last=True) is Verdict.SAME
    assert _verdict_at_look(effect(0.5, 0.5, (-4.9, 5.0)), PLAN, 0.02, is_last=True) is None
    assert _verdict_at_look(effect(0.5, 0.5), PLAN, 0.02, is_last=True) is None


def reservations(
    seconds: float, deviation_percent: float, doubt: Doubt | None = None, *, of_base: float | None = None
) -> list[str]:
    base, other = (series([(1 << 30) / each] * 8) for each in (of_base or seconds, seconds))
    found = replace(effect(-38.7), deviation_percent=deviation_percent)
    summary = TrialSummary(
        experiment=Experiment(name="it"), plan=PLAN, base=base, other=other, pairs=(), rejected_pairs=0,
        verdict=Verdict.SLOWER, doubt=doubt, effect=found, looked_at=8, slot_effect_percent=None, control=None,
    )  # fmt: skip
    said = verdict_field(summary).text
    assert all(one.text[1:] in said for one in summary.reservations)
    assert ("is slower here. By how much is less sure: " in said) is bool(summary.reservations)
    assert trial_document(summary)["reservations"] == [one.key for one in summary.reservations]
    return [one.key for one in summary.reservations]


@pytest.mark.parametrize(
    ("seconds", "deviation_percent", "said"),
    [
        (1.01, 10.0, []),
        (0.99, 10.0, ["short"]),
        (1.01, 10.1, ["scatter"]),
        (0.146, 41.0, ["short", "scatter"]),
    ],
)
def test_short_runs_and_unequal_pairs_are_said_with_the_verdict(
    seconds: float, deviation_percent: float, said: list[str]
):
    assert reservations(seconds, deviation_percent) == said


@pytest.mark.parametrize(("of_base", "said"), [(1.49, ["short"]), (1.5, [])])
def test_a_file_that_fits_the_slower_side_is_not_called_too_short_for_the_other(of_base: float, said: list[str]):
    """It was shortened on purpose where the slower side would take long."""
    assert reservations(0.01, 5.0, of_base=of_base) == said


def test_what_withholds_the_verdict_is_said_once():
    assert reservations(2.0, 41.0, Doubt.VARYING) == []
