"""Compare: when there is a verdict, when there is none, and why."""

from collections.abc import Sequence
from typing import Any

import pytest

from forms.comparison.comparison import MANY_RUNS, Comparison
from forms.comparison.summary import comparison_form, comparisons
from forms.comparison.verdict import Sides, compare, compare_several, compare_sides
from forms.stats.decision import Doubt, Limits
from storage.records import Change, Command, Evidence
from tests.builders import in_turns, repeats, series

TEN = (100e6, 101e6, 99e6, 100.5e6, 99.5e6, 100.2e6, 99.8e6, 100.7e6, 99.3e6, 100e6)


def scaled(rates: Sequence[float], factor: float) -> list[float]:
    return [rate * factor for rate in rates]


def against(left: Sequence[float], right: Sequence[float], **options: Any) -> Comparison:
    """Two series whose runs took turns."""
    return compare(*in_turns(series(left, id="base"), series(right, id="other")), **options)


def grouped(base: Sequence[float], other: Sequence[float], order: str, limits: Limits | None = None) -> Comparison:
    """Whole series of TEN times each factor, measured in this order: a letter a series, A the base."""
    left, right = iter(base), iter(other)
    sides: dict[str, list[Any]] = {"A": [], "B": []}
    for hour, side in enumerate(order):
        factor = next(left if side == "A" else right)
        made = series(scaled(TEN, factor), id=f"{side}{hour}", created_at=f"2026-01-31T{hour:02}:00:00.000Z")
        sides[side].append(made)
    return compare_sides(Sides(base=tuple(sides["A"]), other=tuple(sides["B"])), limits or Limits())


def test_faster_slower_and_the_same_in_turns():
    faster = against(TEN, scaled(TEN, 1.1))
    assert (faster.verdict, faster.sign, faster.needed_runs) == ("faster", "+", None)
    assert faster.change_percent == pytest.approx(10)
    assert faster.sentence.startswith("Faster: +10.0 % (95 % interval +")
    slower = against(TEN, scaled(TEN, 0.9))
    assert (slower.verdict, slower.sign) == ("slower", "-")
    same = against(TEN, scaled(TEN, 1.001))
    assert (same.verdict, same.sign) == ("same", "=")
    assert same.sentence.endswith("inside ±5 %.")


def test_one_series_a_side_and_no_history_is_no_verdict():
    found = compare(series(TEN, id="base"), series(scaled(TEN, 1.26), id="other"))
    assert (found.verdict, found.doubt, found.interval_percent) == ("unknown", Doubt.NO_REPEATS, None)
    assert "these two differ by +26.0 %" in found.sentence
    assert "measure the baseline again" in found.sentence
    assert "comes back within 2.4 %" in found.sentence
    other_path = compare(series(TEN, id="base"), series(TEN, id="other", command=Command.PUT))
    assert "measure both again, in alternation" in other_path.sentence


def test_a_base_that_comes_back_gives_a_verdict_and_one_that_wanders_takes_it():
    back = grouped((1, 1.01), (1.26,), "ABA")
    assert (back.verdict, back.between_freedom) == ("faster", 1)
    assert back.interval_percent is not None
    assert back.interval_percent[0] > 0
    wandered = grouped((1, 1.09), (1.26,), "ABA")
    assert (wandered.verdict, wandered.doubt) == ("unknown", Doubt.WANDERED)
    assert wandered.base_wander_percent == pytest.approx(8.6, abs=0.1)
    assert "the base itself wandered by 8.6 % meanwhile" in wandered.sentence
    assert wandered.needed_series is not None


def test_a_base_that_wandered_more_than_its_runs_scatter_asks_for_series_and_not_for_runs():
    """The base comes back at a third: its runs scatter too much to tell, and no number of runs would help."""
    wild = (60e6, 140e6, 95e6, 120e6, 85e6)
    base, other, again = (series(scaled(wild, factor), id=name) for name, factor in (("a", 1), ("b", 1.1), ("c", 0.3)))
    found = compare_sides(Sides(base=(base, again), other=(other,)), Limits())
    assert found.doubt is Doubt.WANDERED
    assert "the base itself wandered by 108 % meanwhile" in found.sentence
    assert "to over +1,000 %)" in found.sentence, "one degree of freedom makes millions of percent"


def test_a_base_that_came_back_around_no_change_asks_for_series_as_well():
    base, other, again = (series(scaled(TEN, factor), id=n) for n, factor in (("a", 1), ("b", 1.001), ("c", 1.02)))
    found = compare_sides(Sides(base=(base, again), other=(other,)), Limits())
    assert (found.verdict, found.doubt) == ("unknown", Doubt.WANDERED)
    assert found.needed_series is not None


def test_three_bases_show_what_one_after_them_is_worth():
    assert grouped((1, 1.002, 0.998), (1.05,), "AAAB").verdict == "faster"
    assert grouped((1, 1.002, 0.998), (1.001,), "AAAB").verdict == "same"
    assert grouped((1, 1.05, 0.95), (1.1,), "AAAB").doubt is Doubt.WANDERED


def test_history_of_the_same_path_stands_in_for_repeats_of_the_sides():
    base, other = series(TEN, id="base"), series(scaled(TEN, 1.05), id="other")
    history = (repeats(series(TEN, id="h" * 12), 1, 1.002, 0.998, 1.001, 0.999),)
    assert compare_sides(Sides(base=(base,), other=(other,), history=history), Limits()).verdict == "faster"
    assert compare_sides(Sides(base=(base,), other=(other,)), Limits()).verdict == "unknown"


def test_a_steady_trend_takes_the_verdict_away_unless_the_sides_alternate():
    climbing = (1, 1.01, 1.02)
    trend = grouped(climbing, (1.03, 1.04, 1.05), "AAABBB")
    assert (trend.verdict, trend.doubt) == ("unknown", Doubt.TREND)
    assert "a steady trend over the series explains it" in trend.sentence
    stepped = grouped(climbing, (1.23, 1.24, 1.25), "AAABBB")
    assert stepped.verdict == "faster"
    assert grouped((1, 1.001, 1), (1.02, 1.021, 1.02), "ABABAB").verdict == "faster"


def test_scatter_of_one_side_takes_the_verdict_that_ranks_would_give():
    """Two lines of CLI output before: "Slower: -17.0 % (95 % interval -49.7 % to +15.8 %), p = 0.0328"."""
    wide = (96e6, 99e6, 98e6, 10e6, 97e6)
    result = compare_sides(Sides(base=repeats(series(TEN, id="b" * 12), 1, 1, 1), other=(series(wide),)), Limits())
    assert result.verdict == "unknown"
    assert result.interval_percent is not None
    assert result.interval_percent[0] < 0 < result.interval_percent[1]


def test_noise_wins_over_margin():
    assert against(TEN, scaled(TEN, 1.02)).verdict == "faster"
    assert against(TEN, scaled(TEN, 1.02), noise_percent=3).verdict == "same"


@pytest.mark.parametrize(("base", "other"), [(3, 3), (1, 1), (1, 10), (3, 10)])
def test_fewer_than_four_runs_a_side_are_never_a_verdict(base, other):
    for result in (
        against(TEN[:base], scaled(TEN[:other], 1.5)),
        compare_sides(
            Sides(base=(series(TEN[:base]),), other=repeats(series(scaled(TEN[:other], 1.5)), *(1,) * 1)), Limits()
        ),
    ):
        assert (result.verdict, result.needed_runs) == ("unknown", 4)
        assert "at least 4 runs a side" in result.sentence
    assert against((100e6,) * 4, (100e6,) * 4).verdict == "same"
    assert against((100e6,) * 4, (102e6,) * 4).verdict == "faster"


def test_no_valid_run_on_a_side():
    result = against((), TEN)
    assert (result.verdict, result.doubt) == ("unknown", Doubt.NO_RUNS)
    assert (result.change_percent, result.interval_percent, result.p_value) == (None, None, None)
    assert "no valid run" in result.sentence


def test_one_wild_run_is_no_verdict():
    wild = against(TEN, [*scaled(TEN, 1.05)[:9], 10e6])
    assert wild.verdict == "unknown"


def test_no_number_of_runs_tells_where_noise_is_as_wide_as_the_margin():
    result = against(TEN, scaled(TEN, 1.02), noise_percent=3, margin_percent=1)
    assert (result.verdict, result.needed_runs) == ("unknown", None)
    assert "noise threshold is as wide" in result.sentence


def test_what_scatters_too_much_is_told_how_many_runs_as_a_range():
    loose = [rate + (1.7e6 if index % 3 else -3.4e6) for index, rate in enumerate(TEN)]
    result = against(loose, scaled([*loose[1:], loose[0]], 1.02))
    assert result.doubt is Doubt.SCATTER
    assert result.needed_runs_range is not None
    low, high = result.needed_runs_range
    assert high is None or low <= (result.needed_runs or low) <= high
    assert result.needed_runs is not None
    assert result.needed_runs <= MANY_RUNS
    assert f"about {result.needed_runs} runs a side would tell (now 10;" in result.sentence


def test_many_runs_are_not_what_is_advised_first():
    """Two hundred and fifty runs a side are honest and useless: what can be done is a larger file or a quieter time."""
    loose = [rate + (5e6 if index % 3 else -10e6) for index, rate in enumerate(TEN)]
    result = against(loose, scaled([*loose[1:], loose[0]], 1.02))
    assert result.doubt is Doubt.SCATTER
    assert result.smallest_percent == pytest.approx(14.3, abs=0.1)
    assert result.needed_runs is not None
    assert result.needed_runs > MANY_RUNS
    assert (
        "; that is smaller than this set-up can show with 10 runs a side (±14 %): measure longer runs, of a larger"
        f" file, or at a quieter time; more runs alone would take about {result.needed_runs} a side."
    ) in result.sentence
    assert "would tell" not in result.sentence


def test_a_change_that_drowns_is_smaller_than_the_set_up_can_show():
    loose = [rate + (12e6 if index % 3 else -24e6) for index, rate in enumerate(TEN)]
    result = against(loose, scaled([*loose[1:], loose[0]], 1.02))
    assert (result.doubt, result.needed_runs) == (Doubt.SCATTER, None)
    assert "smaller than this set-up can show" in result.sentence


CONTRADICTED = Change(name="log level", value="0", previous="3", evidence=Evidence.CONTRADICTED, remark="it is still 3")


def test_a_contradicted_change_replaces_the_verdict():
    base, other = in_turns(series(TEN, id="a"), series(scaled(TEN, 1.1), id="b", change=CONTRADICTED))
    result = compare(base, other)
    assert (result.verdict, result.doubt, result.sign) == ("unknown", Doubt.CONTRADICTED, "!")
    assert "Not the change that was claimed" in result.sentence
    assert result.change == CONTRADICTED


def test_states_are_compared_not_claims():
    """In-flight 4, 1, 4: the third series claims 1 -> 4, but beside the first nothing is different."""
    back = Change(name="in-flight", value="4", previous="1", evidence=Evidence.CONFIRMED)
    first, third = in_turns(
        series(TEN, id="first", experiment="x"),
        series(scaled(TEN, 1.26), id="third", experiment="x", change=back, base_id="second"),
    )
    result = compare(first, third)
    assert (result.verdict, result.doubt, result.sign, result.change) == ("unknown", Doubt.SAME_SETTINGS, "~", None)
    assert "The same settings: +26.0 %" in result.sentence
    assert "is variation" in result.sentence
    assert not any("in-flight" in remark for remark in comparison_form(first, third).remarks)


def test_settings_that_were_not_to_be_seen_are_not_called_equal():
    change = Change(name="log level", value="0", previous="3", evidence=Evidence.CONFIRMED)
    first, third = in_turns(
        series(TEN, id="first", experiment="x"),
        series(scaled(TEN, 1.26), id="third", experiment="x", change=change, base_id="second"),
    )
    assert compare(first, third).verdict == "faster"


def test_the_differences_come_along():
    result = compare(series(TEN, id="a"), series(TEN, id="b", command=Command.PUT))
    assert ("command", "get", "put") in [(d.name, d.base, d.other) for d in result.differences]


def test_several_at_once_must_be_surer_and_say_so():
    base = series(TEN, id="base")
    pairs = [in_turns(base, series(scaled(TEN[::-1], 1.011), id=f"other{n}")) for n in range(6)]
    sides = [Sides(base=(left,), other=(right,)) for left, right in pairs]
    alone, together = compare(*pairs[0]), compare_several(sides, Limits())
    assert alone.level == pytest.approx(0.95)
    assert together[0].level == pytest.approx(1 - 0.05 / 6)
    assert alone.interval_percent is not None
    assert together[0].interval_percent is not None
    assert together[0].interval_percent[0] < alone.interval_percent[0]
    assert "99.2 % interval" in together[0].sentence
    assert any("6 comparisons at once" in remark for remark in comparisons(sides)[0].remarks)


def test_dependence_and_trend_of_a_side_are_told():
    rising = series([1e8 * (1 + 0.01 * n) for n in range(10)], id="rising")
    waves = [100, 103, 105, 103, 100, 97, 95, 97, 100, 103, 105, 103, 100, 97, 95, 97]
    wavy = series([1e6 * rate for rate in waves], id="wavy")
    said = " ".join(comparison_form(rising, wavy).remarks)
    assert "The base rose by" in said
    assert "The other's runs depend on each other" in said
    assert not any("rose" in remark for remark in comparison_form(*in_turns(rising, rising)).remarks)
