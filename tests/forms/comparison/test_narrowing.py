"""The range of a change that is certain, were the new side measured once more."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from forms.comparison.comparison import Comparison
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_sides
from forms.comparison.wording import basis_sentence, range_after_repeat
from forms.stats.decision import Limits, Verdict
from storage.records import Series
from tests.builders import CLIENT, one

STEADY = (1.0, 1.001, 0.999, 1.0, 1.0)
FEW = replace(CLIENT, in_flight=1)


def compared(*, base: int = 1, other: int = 1, factor: float = 2.0) -> Comparison:
    """So many series a side: of the base ten minutes apart, of the other, from half an hour later, right behind."""
    before = [at(10 * number, number, 1.0) for number in range(1, 1 + base)]
    after = [at(60 + number / 100, 10 + number, factor, client=FEW) for number in range(1, 1 + other)]
    return compare_sides(Sides(base=tuple(before), other=tuple(after)), Limits())


def at(minutes: float, number: int, factor: float, **fields: Any) -> Series:
    """A series so many minutes after ten."""
    moment = datetime(2026, 1, 31, 10, tzinfo=UTC) + timedelta(minutes=minutes)
    rates = [factor * 100e6 * rate for rate in STEADY]
    return one(number, rates, created_at=moment.isoformat(), **fields)


@pytest.mark.parametrize(("base", "is_narrower"), [(1, True), (3, False)])
@pytest.mark.parametrize("factor", [2.0, 0.5])
def test_the_range_after_one_more_series_is_what_that_gives(base: int, factor: float, *, is_narrower: bool):
    """Beside three series ten minutes apart, a second later one lets a steady trend explain the change as well."""
    now = compared(base=base, factor=factor)
    then = compared(base=base, other=2, factor=factor)
    assert now.interval_after_repeat_percent == pytest.approx(then.interval_percent, rel=0.05)
    assert (now.narrower_interval_percent is not None) is is_narrower

    basis = str(basis_sentence(now))
    assert ("would only narrow the range, to about" in basis) is is_narrower
    assert ("would not narrow the range" in basis) is not is_narrower
    assert range_after_repeat(now) in basis


def test_it_is_told_of_a_single_later_series_that_is_certain():
    is_certain = compared()
    assert is_certain.verdict is Verdict.FASTER
    assert is_certain.interval_after_repeat_percent is not None
    assert compared(other=2).interval_after_repeat_percent is None
    is_open = compared(factor=1.02)
    assert is_open.verdict is Verdict.UNKNOWN
    assert is_open.interval_after_repeat_percent is None
    assert range_after_repeat(is_open) == ""

    base_last = Sides(base=(at(30, 1, 1.0),), other=(at(0, 2, 2.0, client=FEW),))
    assert compare_sides(base_last, Limits()).verdict is Verdict.FASTER
    assert compare_sides(base_last, Limits()).interval_after_repeat_percent is None
