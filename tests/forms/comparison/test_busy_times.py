"""What a busy time of a side means for the answer: only what it may be the reason for is in doubt."""

from dataclasses import replace

import pytest

from forms.comparison.comparison import Comparison
from forms.comparison.doubts import busy_times
from forms.comparison.verdict import compare
from forms.stats.decision import Verdict
from storage.records import Quiet, QuietVerdict
from tests.builders import CLIENT, interleaved, one

BASE_ID, OTHER_ID = f"{1:012x}", f"{2:012x}"
BUSY = Quiet(verdict=QuietVerdict.BUSY, reasons=("others are at work",))
STEADY = (1.0, 1.001, 0.999, 1.0, 1.0)


def compared(factor: float, *busy: str) -> Comparison:
    base = one(1, [100e6 * rate for rate in STEADY], quiet=BUSY if BASE_ID in busy else None)
    few = replace(CLIENT, in_flight=1)
    other = one(2, [factor * 100e6 * rate for rate in STEADY], client=few, quiet=BUSY if OTHER_ID in busy else None)
    return compare(base, other)


@pytest.mark.parametrize(
    ("factor", "busy", "verdict", "is_in_doubt"),
    [
        (1.5, (), Verdict.FASTER, False),
        (1.5, (BASE_ID,), Verdict.FASTER, True),
        (1.5, (OTHER_ID,), Verdict.FASTER, False),
        (1.5, (BASE_ID, OTHER_ID), Verdict.FASTER, False),
        (0.5, (BASE_ID,), Verdict.SLOWER, False),
        (0.5, (OTHER_ID,), Verdict.SLOWER, True),
        (1.02, (OTHER_ID,), Verdict.UNKNOWN, False),
    ],
)
def test_an_answer_is_in_doubt_where_the_slower_side_was_busy(factor, busy, verdict, is_in_doubt):
    comparison = compared(factor, *busy)
    assert comparison.verdict is verdict
    assert busy_times.is_in_doubt(comparison) is is_in_doubt
    has_reason = busy_times.why_no_matter(comparison) is not None
    if len(busy) == 1 and verdict is not Verdict.UNKNOWN:
        assert has_reason is not is_in_doubt
    assert bool(busy_times.consequence(comparison)) is (verdict is not Verdict.UNKNOWN)


def test_no_change_is_in_doubt_whichever_side_was_busy():
    for busy_id in (BASE_ID, OTHER_ID):
        assert busy_times.is_in_doubt(replace(compared(1.5, busy_id), verdict=Verdict.SAME))


def test_runs_that_alternated_met_the_same_load():
    base = one(1, [100e6] * 8, quiet=BUSY)
    other = one(2, [150e6] * 8, quiet=BUSY, client=replace(CLIENT, in_flight=1))
    comparison = compare(*interleaved(base, other))
    assert comparison.verdict is Verdict.FASTER
    assert comparison.busy_ids
    assert not busy_times.is_in_doubt(comparison)


def test_a_base_that_is_gone_is_not_to_be_measured_again():
    comparison = replace(compared(1.5, BASE_ID), base_told_gone=True)
    assert "measure again" not in busy_times.consequence(comparison)
    assert "measure again" in busy_times.consequence(replace(comparison, base_told_gone=False))
