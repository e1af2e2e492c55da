"""A series that is far from the others of its side is named, with the verdict without it."""

import pytest

from forms.comparison.document import comparison_document
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_sides
from forms.comparison.wording import comparison_sentences
from forms.stats.decision import Limits, Verdict
from storage.records import Series
from tests.builders import CLIENT, one

OTHERS_AGREE = (100.0, 101.0)


def measured(number: int, megabytes: float, **fields: object) -> Series:
    rates = [megabytes * 1e6 * factor for factor in (1, 1.001, 0.999, 1.0005, 0.9995)]
    return one(number, rates, label="before" if number < 9 else "after", **fields)


def sides_of(*megabytes: float) -> Sides:
    """A base of series with these averages, one a day, the newest in front; and a side after it."""
    base = [measured(number, average) for number, average in enumerate(megabytes, 1)]
    after = measured(9, 150.0, client=CLIENT, link_bits_per_second=2_500_000_000)
    return Sides(base=(base[-1], *base[:-1]), other=(after,))


@pytest.mark.parametrize(
    ("averages", "number"),
    [
        ((100.0, 88.0, 101.0), 2),
        ((100.0, 101.0, 88.0), 3),
        ((112.0, 100.0, 101.0), 1),
        ((100.0, 95.6, 100.2), None),
        ((100.0, 94.5, 100.2), 2),
        ((100.0, 94.0, 102.0), None),
        ((100.0, 90.0, 102.0), 2),
        ((100.0, 80.0), None),
    ],
)
def test_one_that_is_far_from_the_others_stands_out(averages: tuple[float, ...], number: int | None):
    comparison = compare_sides(sides_of(*averages), Limits())
    assert [series.number for series in comparison.outstanding] == ([] if number is None else [number])


def test_the_sentence_names_it_by_its_place_in_time_and_says_what_it_changes():
    comparison = compare_sides(sides_of(100.0, 88.0, 101.0), Limits())
    (outstanding,) = comparison.outstanding
    assert outstanding.percent == pytest.approx(100 * (88 / 100.5 - 1), abs=0.1)
    alone = compare_sides(sides_of(*OTHERS_AGREE), Limits())
    assert outstanding.decision.verdict is alone.verdict is Verdict.FASTER
    assert outstanding.decision.change_percent == pytest.approx(alone.change_percent, abs=1e-6)
    assert "The second of the three series of" in comparison_sentences(comparison)

    (document,) = comparison_document(comparison)["outstanding_series"]
    assert (document["series"], document["percent"]) == (f"{2:012x}", outstanding.percent)
