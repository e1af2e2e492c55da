"""An inconclusive comparison that leans to one side says so, with the probability of the direction."""

from dataclasses import replace

import pytest

from forms.comparison.comparison import Comparison
from forms.comparison.document import comparison_document
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare, compare_sides
from forms.comparison.wording import comparison_sentences, verdict_word
from forms.stats.decision import PROBABLY, ChangeDecision, Limits, Verdict
from tests.builders import one


def compared(before: float, after: float, varies_by: float = 0.003) -> Comparison:
    """Two series of five runs each, with these averages."""
    spread = [1 + varies_by * place for place in (-1.2, -0.4, 0.1, 0.5, 1.0)]
    return compare(one(1, [before * factor for factor in spread]), one(2, [after * factor for factor in spread]))


@pytest.mark.parametrize(("p_value", "leans"), [(2 * (1 - PROBABLY), True), (2 * (1 - PROBABLY) + 1e-9, False)])
def test_it_leans_from_nine_in_ten_on(p_value: float, leans: bool):
    decision = ChangeDecision(verdict=Verdict.UNKNOWN, change_percent=-5.0, leaning_p_value=p_value)
    assert (decision.leaning is Verdict.SLOWER) is leans
    assert decision.direction_probability == pytest.approx(PROBABLY)


def test_what_is_decided_or_refused_does_not_lean():
    decided = ChangeDecision(verdict=Verdict.FASTER, change_percent=5.0, leaning_p_value=0.01)
    assert (decided.leaning, decided.direction_probability) == (None, None)
    assert ChangeDecision(verdict=Verdict.UNKNOWN, change_percent=5.0).leaning is None

    base = one(1, (100e6, 100.1e6, 99.9e6, 100e6, 100e6))
    other = one(2, (108e6, 108.1e6, 107.9e6, 108e6, 108e6))
    same_settings = compare_sides(Sides(base=(base,), other=(other,), equal=True), Limits())
    assert (same_settings.verdict, same_settings.leaning) == (Verdict.UNKNOWN, None)


@pytest.mark.parametrize(("after", "leaning"), [(110e6, Verdict.FASTER), (91e6, Verdict.SLOWER), (101e6, None)])
def test_the_headline_and_the_document_say_it(after: float, leaning: Verdict | None):
    comparison = compared(100e6, after)
    assert comparison.verdict is Verdict.UNKNOWN
    document = comparison_document(comparison)
    assert document["verdict"] == "unknown"
    assert document["probably"] == leaning
    assert document["direction_probability"] == comparison.direction_probability
    word = {Verdict.FASTER: "Probably faster", Verdict.SLOWER: "Probably slower", None: "Inconclusive"}[leaning]
    assert verdict_word(comparison) == word
    assert comparison_sentences(comparison).startswith(word)


def test_the_rates_are_told_and_an_interval_that_tells_nothing_is_not():
    narrow = comparison_sentences(compared(87e6, 95e6, 0.01))
    assert narrow.startswith("Probably faster: 87 → 95 MB/s, +9.2 % (")
    wide = replace(compared(87e6, 95e6, 0.01), interval_percent=(-59.0, 653.0))
    assert comparison_sentences(wide).startswith("Probably faster: 87 → 95 MB/s. ")
