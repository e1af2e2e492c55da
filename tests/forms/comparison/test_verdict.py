"""Compare: when there is a verdict, when there is none, and why."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from forms.comparison.comparison import (
    MANY_RUNS,
    MANY_RUNS_SECONDS,
    Comparison,
    more_interleaved_runs_settle,
    needs_longer_runs,
)
from forms.comparison.history import groups_of
from forms.comparison.judged_sides import Sides
from forms.comparison.properties import ComparisonRow, properties_table
from forms.comparison.remarks import comparison_remarks, weaknesses
from forms.comparison.report import comparison_report
from forms.comparison.settling import SettlingStep
from forms.comparison.summary import comparison_form, comparisons
from forms.comparison.verdict import compare, compare_several, compare_sides
from forms.comparison.wording import (
    basis_sentence,
    comparison_headline,
    comparison_sentences,
    comparison_title,
    settling_commands,
    settling_sentence,
)
from forms.layout import Sign
from forms.stats.decision import Doubt, Limits, Verdict
from forms.stats.settle import Way
from forms.tuning.differences import Difference, differences_prose
from storage.plan import Settings
from storage.records import Change, Command, Evidence, Facts, Series
from tests.builders import CLIENT, interleaved, one, repeats, series
from tests.specs import plan_with

TEN = (100e6, 101e6, 99e6, 100.5e6, 99.5e6, 100.2e6, 99.8e6, 100.7e6, 99.3e6, 100e6)


def scaled(rates: Sequence[float], factor: float) -> list[float]:
    return [rate * factor for rate in rates]


def against(left: Sequence[float], right: Sequence[float], **options: Any) -> Comparison:
    """Two series whose runs took turns."""
    return compare(*interleaved(series(left, id="base"), series(right, id="other")), Limits(**options))


def grouped(base: Sequence[float], other: Sequence[float], order: str, limits: Limits | None = None) -> Comparison:
    """Whole series of TEN times each factor, measured in this order: a letter a series, A the base."""
    left, right = iter(base), iter(other)
    sides: dict[str, list[Any]] = {"A": [], "B": []}
    for hour, side in enumerate(order):
        factor = next(left if side == "A" else right)
        made = series(scaled(TEN, factor), id=f"{side}{hour}", created_at=f"2026-01-31T{hour:02}:00:00.000Z")
        sides[side].append(made)
    return compare_sides(Sides(base=tuple(sides["A"]), other=tuple(sides["B"])), limits or Limits())


def test_faster_slower_and_no_change_interleaved():
    faster = against(TEN, scaled(TEN, 1.1))
    assert (faster.verdict, faster.sign, faster.needed_runs) == ("faster", Sign.FASTER, None)
    assert faster.change_percent == pytest.approx(10)
    assert comparison_headline(faster).startswith("Faster by 10.0 % (")
    slower = against(TEN, scaled(TEN, 0.9))
    assert (slower.verdict, slower.sign) == ("slower", Sign.SLOWER)
    same = against(TEN, scaled(TEN, 1.001))
    assert (same.verdict, same.sign) == ("same", Sign.SAME)
    assert comparison_headline(same).startswith("No change (")


VARIED = (100e6, 101e6, 99e6, 101e6, 99e6)


@pytest.mark.parametrize(
    ("factor", "verdict", "headline"),
    [
        (1.43, "faster", "Faster by 43 % (23 % to 67 %)."),
        (0.7, "slower", "Slower by 30 % (18 % to 40 %)."),
        (10.0, "faster", "Faster by a factor of 10 (8.6 to 12)."),
        (1.03, "unknown", "Inconclusive: 3 % faster (12 % slower to 20 % faster)."),
        (1.0, "unknown", "Inconclusive: no difference seen (14 % slower to 17 % faster)."),
    ],
)
def test_two_series_whose_runs_vary_by_one_percent_show_what_is_plain(factor: float, verdict: str, headline: str):
    found = compare(series(VARIED, id="base"), series(scaled(VARIED, factor), id="other"))
    assert (found.verdict, comparison_headline(found)) == (verdict, headline)
    assert found.apart_percent == pytest.approx(16.7, abs=0.2)
    least = found.least_certain_percent
    assert least is not None
    assert least == pytest.approx(14.3 if factor < 1 else 16.7, abs=0.2)
    assert (abs(found.change_percent or 0) > least) is (verdict != "unknown"), "else it contradicts itself"
    assert (found.settle is None) == (verdict != "unknown")


def test_an_inconclusive_change_names_the_cheapest_step_that_settles_it():
    change = Change(name="strict sync", value="no", previous="yes", evidence=Evidence.CONFIRMED)
    found = compare(series(VARIED, id="base"), series(scaled(VARIED, 1.03), id="other", change=change))
    assert found.settle is not None
    assert (found.settle.way, found.settle.count) == (Way.TRY, 8)
    assert found.settle.commands == ("sharebench try 'strict sync=no' smb://nas/data/big.bin",)
    assert comparison_sentences(found).endswith(
        "Try it: 8 interleaved pairs, about 6 min, find a change of 2.9 % nine times in ten."
    )
    later = compare(
        series(VARIED, id="base"),
        series(scaled(VARIED, 1.03), id="other", change=change, created_at="2026-02-01T10:00:00.000Z"),
    )
    assert later.settle is not None
    assert later.settle.seconds == found.settle.seconds
    assert settling_sentence(later.settle).startswith(
        "Restore the base, then try it: 8 interleaved pairs, about 6 min, find"
    ), "what was measured last is still set"
    unknown = compare(series(VARIED, id="base"), series(scaled(VARIED, 1.03), id="other"))
    assert unknown.settle is not None
    assert (unknown.settle.way, unknown.settle.count, unknown.needed_series) == (Way.ALTERNATING, 4, 3)
    assert unknown.settle.commands == ("sharebench run --again base", "sharebench run --again other")
    assert settling_commands(unknown.settle) == (
        "sharebench run --again base, then sharebench run --again other, and so on: 4 series"
    )
    assert unknown.settle.first_id == "base"
    by_hand = Change(name="a thing", value="no", previous="yes")
    changed = compare(series(VARIED, id="base"), series(scaled(VARIED, 1.03), id="other", change=by_hand))
    assert changed.settle is not None
    assert changed.settle.seconds - unknown.settle.seconds == pytest.approx(4 * 57, abs=1), "a minute for each change"
    assert "about 9 min with the changes by hand, find" in settling_sentence(changed.settle)
    assert ", change the server, sharebench run --again other, and so on" in settling_commands(changed.settle)


GIGABIT = 1_000_000_000


def after_a_new_link(factor: float, **fields: Any) -> Comparison:
    """A series, and half an hour later another over a link that is twice as fast."""
    base = series(VARIED, id="base", link_bits_per_second=GIGABIT)
    later = {"created_at": "2026-01-31T10:30:00.000Z", "link_bits_per_second": 2 * GIGABIT, **fields}
    return compare(base, series(scaled(VARIED, factor), id="other", **later))


def test_where_the_link_was_replaced_only_the_other_side_is_measured_again():
    found = after_a_new_link(1.16)
    assert found.verdict == "unknown"
    step = found.settle
    assert step is not None
    assert (step.way, step.count) == (Way.OTHER_AGAIN, 2)
    assert step.seconds == 2 * step.spacing_seconds
    assert step.commands == ("sharebench run --again other",)
    assert step.shows_percent <= 16
    assert "1 Gb/s → 2 Gb/s" in settling_sentence(step)
    assert settling_commands(step) == "sharebench run --again other, 2 times"


def test_what_more_series_of_the_other_side_show_is_found_with_them():
    found = after_a_new_link(1.16)
    assert found.settle is not None
    base = series(VARIED, id="base", link_bits_per_second=GIGABIT)
    minutes = [30, 40, 50]
    others = tuple(
        series(
            scaled(VARIED, 1.16),
            id=f"other{minute}",
            created_at=f"2026-01-31T10:{minute}:00.000Z",
            link_bits_per_second=2 * GIGABIT,
        )
        for minute in minutes
    )
    assert compare_sides(Sides(base=(base,), other=others), Limits()).verdict == "faster"


def test_a_base_that_is_gone_is_told_where_nothing_settles_it():
    found = after_a_new_link(1.03)
    assert (found.verdict, found.settle) == ("unknown", None)
    assert "cannot be measured again (link 1 Gb/s → 2 Gb/s)" in comparison_sentences(found)


def test_a_setting_that_was_tried_is_tried_again_whatever_the_link_did():
    change = Change(name="strict sync", value="no", previous="yes", evidence=Evidence.CONFIRMED)
    found = after_a_new_link(1.1, change=change)
    assert found.settle is not None
    assert found.settle.way is Way.TRY


def test_a_get_beside_a_put_is_nothing_to_settle():
    put = series(scaled(VARIED, 1.03), id="other", command=Command.PUT)
    assert compare(series(VARIED, id="base"), put).settle is None


def test_a_comparison_is_called_by_its_sides_and_the_number_of_series_of_each():
    names = [series(VARIED, id=name, label=name) for name in ("slow", "again", "fast")]
    sides = Sides(base=tuple(names[:2]), other=(names[2],))
    assert comparison_title(compare_sides(sides, Limits())) == "fast against slow (2 series)"
    of_baseline = compare_sides(replace(sides, baselines={"slow": "spring"}), Limits())
    assert comparison_title(of_baseline) == "fast against spring (2 series)"


def test_the_step_that_is_named_settles_it_when_it_is_carried_out():
    """3 % where runs vary by 1 %: 3 + 3 alternating."""
    found = grouped((1, 1.002, 0.999), (1.031, 1.029, 1.03), "ABABAB")
    assert (found.verdict, found.settle) == ("faster", None)


def test_a_change_of_the_client_is_interleaved_by_run_itself():
    other = series(scaled(VARIED, 1.05), id="other", client=replace(CLIENT, in_flight=1))
    found = compare(series(VARIED, id="base"), other)
    assert found.settle is not None
    assert found.settle.way is Way.INTERLEAVED
    assert found.settle.commands[0].endswith("--versus '--in-flight 1' smb://nas/data/big.bin")
    assert comparison_sentences(found).endswith(settling_sentence(found.settle))


def test_a_session_that_is_encrypted_is_told_once_and_interleaved_by_run_itself():
    asked = plan_with(runs=5, settings=Settings(encrypt=True))
    sealed = series(
        scaled(VARIED, 1.05), id="other", plan=asked, client=replace(CLIENT, encryption="aes-128-gcm"),
        change=Change(name="client encrypt", value="yes", previous="no", evidence=Evidence.CONFIRMED),
    )  # fmt: skip
    found = compare(series(VARIED, id="base"), sealed)
    assert [one.name for one in found.differences] == ["client.encryption", "settings.encrypt"]
    assert differences_prose(found.differences) == "client: encryption none → aes-128-gcm"
    assert differences_prose(found.differences[1:]) == "client: encryption required no → yes", (
        "where the session is not known"
    )
    assert found.settle is not None
    assert found.settle.commands[0].endswith("--versus --encrypt smb://nas/data/big.bin")
    back = compare(sealed, series(scaled(VARIED, 1.05), id="base"))
    assert back.settle is not None
    assert back.settle.way is not Way.INTERLEAVED, "no option takes encryption away"


@pytest.mark.parametrize(
    ("facts", "host", "told"),
    [({}, "nas", True), ({"tcp.rmem": "1"}, "nas", False), ({}, "attic", False)],
    ids=["same", "the kernel's differ", "another server"],
)
def test_that_the_settings_of_the_server_are_the_same_is_said_where_they_are(facts: Facts, host: str, *, told: bool):
    seen: Facts = {"smb.conf/global/strict sync": "Yes", "tcp.rmem": "2"}
    base = series(VARIED, id="base", environment={"server": seen})
    target = replace(base.target, host=host)
    other = series(
        VARIED,
        id="other",
        environment={"server": {**seen, **facts}},
        target=target,
        client=replace(CLIENT, in_flight=1),
    )
    assert ("The server's settings are the same." in comparison_remarks(comparison_form(base, other))) is told


def test_the_change_is_the_one_setting_of_this_client_that_differs():
    base, few = series(VARIED, id="base"), replace(CLIENT, in_flight=1)
    sealed = replace(CLIENT, encryption="aes-128-gcm")
    asked = plan_with(runs=5, settings=Settings(encrypt=True))
    server = {"server": {"smb.conf/global/strict sync": "Yes"}}
    for other, name, value in (
        (series(VARIED, client=few), "in-flight", "1"),
        (series(VARIED, client=replace(CLIENT, block_bytes=65536)), "block", "64K"),
        (series(VARIED, client=sealed, plan=asked), "client encrypt", "yes"),
        (series(VARIED, client=sealed), None, None),
        (series(VARIED, client=replace(CLIENT, in_flight=None)), None, None),
        (series(VARIED, client=replace(few, block_bytes=65536)), None, None),
        (series(VARIED, client=few, environment={"server": {"smb.conf/global/strict sync": "No"}}), None, None),
    ):
        mine = replace(base, environment=server) if other.environment else base
        change = compare(mine, other).the_change
        assert (change and change.name, change and change.value) == (name, value)


@pytest.mark.parametrize("whose", ["base", "other"])
def test_series_are_not_alike_where_one_of_them_has_a_change_that_no_fact_shows(whose: str):
    seen = {"server": {"smb.conf/global/strict sync": "Yes"}}
    cable = Change(name="cable", value="new", evidence=Evidence.UNCONFIRMED)
    pair = [
        series(
            scaled(VARIED, factor), id=name, environment=seen, base_id="b" * 12, change=cable if name == whose else None
        )
        for name, factor in (("base", 1), ("other", 1.03))
    ]
    found = compare(pair[0], pair[1])
    assert not found.is_alike
    assert found.settle is not None, "what would settle it is still said"


def test_the_time_of_interleaved_runs_counts_what_a_series_takes_beside_them():
    other = series(scaled(VARIED, 1.05), id="other", client=replace(CLIENT, in_flight=1))
    found = compare(series(VARIED, id="base"), other).settle
    assert found is not None
    transfers = [run.seconds for one in (series(VARIED), other) for run in one.runs if run.seconds]
    assert found.seconds == pytest.approx(2 * ((found.count + 2) * sum(transfers) / len(transfers) + 3.0))


def test_what_became_of_the_session_is_said_with_the_verdict():
    base, other = series(VARIED, id="base"), series(scaled(VARIED, 0.52), id="other")
    sealed = replace(other, client=replace(CLIENT, encryption="aes-128-gcm"))
    assert comparison_headline(compare(base, sealed)) == "Slower by 48 % (39 % to 55 %); the session is now encrypted."
    assert comparison_headline(compare(sealed, base)).endswith("; the session is no longer encrypted.")
    tried = replace(compare(base, sealed), tried=Mock(verdict=Verdict.SLOWER))
    assert comparison_headline(tried) == "Slower by 48 % (39 % to 55 %).", "a trial has restored what was there"


def test_what_is_interleaved_is_said_where_it_is_what_this_client_was_told_otherwise():
    base, other = series(VARIED, id="base"), series(scaled(VARIED, 1.02), id="other")
    smaller = replace(other, client=replace(CLIENT, block_bytes=65536, in_flight=1))
    found = compare(base, smaller).settle
    assert found is not None
    said = "Interleave them as they are (client: block size 1M → 64K and client: in flight 4 → 1): "
    assert settling_sentence(found).startswith(said)
    assert settling_sentence(found).endswith(", settle it nine times in ten.")
    assert "64K" not in comparison_headline(compare(base, smaller)), "which would name it for a cause"


def test_a_base_that_comes_back_sharpens_the_verdict_and_one_that_does_not_takes_it():
    back = grouped((1, 1.01), (1.2,), "ABA")
    assert back.variation is not None
    assert (back.verdict, back.variation.freedom) == ("faster", 5)
    moved = grouped((1, 1.19), (1.2,), "ABA")
    assert (moved.verdict, moved.doubt) == ("unknown", Doubt.BASE_VARIED)
    assert moved.base_wander_percent == pytest.approx(17.4, abs=0.1)


def test_no_interval_ends_beyond_what_can_be_read():
    """The base comes back at a third: millions of percent, were one degree of freedom all there is."""
    wild = (60e6, 140e6, 95e6, 120e6, 85e6)
    base, other, again = (series(scaled(wild, factor), id=name) for name, factor in (("a", 1), ("b", 1.1), ("c", 0.01)))
    found = compare_sides(Sides(base=(base, again), other=(other,)), Limits())
    assert found.doubt is Doubt.BASE_VARIED
    assert "−100 %" not in comparison_sentences(found)
    assert "Inconclusive: these runs vary too much to tell (by " in comparison_sentences(found)
    assert "a change is certain only from a factor of over 100 on; this is " in comparison_sentences(found)
    assert "to +1," not in comparison_sentences(found)


def test_three_bases_show_what_one_after_them_is_worth():
    assert grouped((1, 1.002, 0.998), (1.1,), "AAAB").verdict == "faster"
    assert grouped((1, 1.002, 0.998), (1.04,), "AAAB").verdict == "unknown"


def test_history_of_the_same_path_sharpens_the_verdict_and_is_said():
    base, other = (
        series(scaled(TEN, factor), id=name, created_at=f"2026-02-0{day}T10:00:00.000Z")
        for day, (name, factor) in enumerate((("base", 1), ("other", 1.1)), 1)
    )
    earlier = repeats(series(TEN, id="h" * 12), 1, 1.002, 0.998, 1.001, 0.999, 1, 1.001, 1.002)
    spread = tuple(replace(one, created_at=f"2026-01-{20 + place}T10:00:00.000Z") for place, one in enumerate(earlier))
    found = compare_sides(Sides(base=(base,), other=(other,), history=(spread,)), Limits())
    assert found.variation is not None
    assert (found.verdict, found.history_count, found.variation.repeats) == ("faster", 8, 7)
    assert found.apart_percent is not None
    assert found.apart_percent < 8
    assert "judged by 8 earlier series as well, the newest of them measured 6 days before" in comparison_sentences(
        found
    )
    assert compare_sides(Sides(base=(base,), other=(other,)), Limits()).verdict == "unknown"
    newest = compare_sides(Sides(base=(base,), other=(other,), history=(spread[-1:],)), Limits())
    assert "judged by 1 earlier series as well, measured 6 days before" in comparison_sentences(newest)


def test_a_steady_trend_takes_the_verdict_away_unless_the_sides_alternate():
    climbing = (1, 1.02, 1.04)
    trend = grouped(climbing, (1.06, 1.08, 1.1), "AAABBB")
    assert (trend.verdict, trend.doubt) == ("unknown", Doubt.TREND)
    stepped = grouped(climbing, (1.33, 1.34, 1.35), "AAABBB")
    assert stepped.verdict == "faster"
    assert grouped((1, 1.001, 1), (1.02, 1.021, 1.02), "ABABAB").verdict == "faster"


def test_wild_runs_of_one_side_take_the_verdict():
    wide = (96e6, 99e6, 98e6, 10e6, 97e6)
    result = compare_sides(Sides(base=repeats(series(TEN, id="b" * 12), 1, 1, 1), other=(series(wide),)), Limits())
    assert result.verdict == "unknown"
    assert result.interval_percent is not None
    assert result.interval_percent[0] < 0 < result.interval_percent[1]


def test_noise_wins_over_margin():
    assert against(TEN, scaled(TEN, 1.02)).verdict == "faster"
    assert against(TEN, scaled(TEN, 1.02), noise_percent=3).verdict == "same"


@pytest.mark.parametrize(("base", "other"), [(2, 2), (1, 1), (1, 10), (2, 10)])
def test_fewer_than_three_runs_a_side_are_never_a_verdict(base, other):
    for result in (
        against(TEN[:base], scaled(TEN[:other], 1.5)),
        compare_sides(Sides(base=(series(TEN[:base]),), other=(series(scaled(TEN[:other], 1.5)),)), Limits()),
    ):
        assert (result.verdict, result.needed_runs) == ("unknown", 3)
        assert "at least 3 runs a side" in comparison_sentences(result)
    assert against((100e6,) * 3, (100e6,) * 3).verdict == "same"
    assert against((100e6,) * 3, (102e6,) * 3).verdict == "faster"


def test_no_valid_run_on_a_side():
    result = against((), TEN)
    assert (result.verdict, result.doubt) == ("unknown", Doubt.NO_RUNS)
    assert (result.change_percent, result.interval_percent, result.p_value) == (None, None, None)
    assert "no valid run" in comparison_sentences(result)


def test_one_wild_run_is_no_verdict():
    wild = against(TEN, [*scaled(TEN, 1.05)[:9], 10e6])
    assert wild.verdict == "unknown"


def test_no_number_of_runs_tells_where_noise_is_as_wide_as_the_margin():
    result = against(TEN, scaled(TEN, 1.02), noise_percent=3, margin_percent=1)
    assert (result.verdict, result.needed_runs) == ("unknown", None)
    assert "noise threshold is as wide" in comparison_sentences(result)


def test_what_scatters_too_much_is_told_how_many_runs_as_a_range():
    loose = [rate + (1.7e6 if index % 3 else -3.4e6) for index, rate in enumerate(TEN)]
    result = against(loose, scaled([*loose[1:], loose[0]], 1.02))
    assert result.doubt is Doubt.VARYING
    assert result.needed_runs_range is not None
    low, high = result.needed_runs_range
    assert high is None or low <= (result.needed_runs or low) <= high
    assert result.needed_runs is not None
    assert result.needed_runs <= MANY_RUNS
    assert f"About {result.needed_runs} interleaved runs a side would settle it (" in comparison_sentences(result)


@pytest.mark.parametrize(
    ("runs_range", "told"),
    [((4, 900), " (likely 4 to 900), in about"), ((4, None), " (at least 4, perhaps over 1,000), in about")],
)
def test_the_range_of_the_needed_runs_is_told(runs_range: tuple[int, int | None], told: str):
    loose = [rate + (1.7e6 if index % 3 else -3.4e6) for index, rate in enumerate(TEN)]
    result = against(loose, scaled([*loose[1:], loose[0]], 1.02))
    assert told in comparison_sentences(replace(result, needed_runs_range=runs_range))


def loose_pairs() -> Comparison:
    """Two hundred and fifty runs a side would settle them."""
    loose = [rate + (5e6 if index % 3 else -10e6) for index, rate in enumerate(TEN)]
    result = against(loose, scaled([*loose[1:], loose[0]], 1.02))
    assert result.doubt is Doubt.VARYING
    assert result.needed_runs is not None
    assert result.needed_runs > MANY_RUNS
    return result


@pytest.mark.parametrize(
    ("runs", "seconds", "are_advised"),
    [
        (MANY_RUNS, 10 * MANY_RUNS_SECONDS, True),
        (MANY_RUNS + 1, MANY_RUNS_SECONDS, True),
        (MANY_RUNS + 1, MANY_RUNS_SECONDS + 1, False),
        (MANY_RUNS + 1, None, False),
        (None, None, False),
    ],
)
def test_many_runs_are_advised_where_they_are_short(runs: int | None, seconds: float | None, are_advised: bool):
    result = replace(loose_pairs(), needed_runs=runs, needed_seconds=seconds)
    assert more_interleaved_runs_settle(result) == are_advised
    assert needs_longer_runs(result) != are_advised
    sentences = comparison_sentences(result)
    assert ("would settle it" in sentences) == are_advised
    # Their number is told in any case, or that there is none.
    assert ("over 1,000)" if runs is None else f"bout {runs} ") in sentences
    assert ("larger file" in sentences) == (runs != MANY_RUNS)


@pytest.mark.parametrize(
    ("runs_range", "told"), [((54, None), "at least 54 a side, perhaps over 1,000"), (None, "(perhaps over 1,000)")]
)
def test_where_no_number_of_runs_is_enough_the_least_that_may_be_is_told(
    runs_range: tuple[int, None] | None, told: str
):
    result = replace(loose_pairs(), needed_runs=None, needed_runs_range=runs_range)
    assert told in comparison_sentences(result)


def test_longer_runs_are_advised_where_nothing_else_settles_it():
    result = replace(loose_pairs(), needed_seconds=2 * MANY_RUNS_SECONDS)
    assert needs_longer_runs(result)
    step = SettlingStep(way=Way.BASE_AGAIN, count=1, shows_percent=1.0, seconds=1.0, commands=())
    settled: Sequence[tuple[str, Any]] = (
        ("verdict", Verdict.SAME), ("doubt", Doubt.FEW_RUNS), ("settle", step), ("needed_runs", MANY_RUNS),
        ("limits", Limits(noise_percent=5.0, margin_percent=5.0)),
    )  # fmt: skip
    for field, value in settled:
        assert not needs_longer_runs(replace(result, **{field: value})), field
    assert needs_longer_runs(replace(result, limits=Limits(noise_percent=4.9, margin_percent=5.0)))


def test_pairs_that_a_break_took_apart_are_told_not_to_count():
    result = loose_pairs()
    assert result.pair_count == len(TEN)
    for pair_count in (len(TEN) - 1, len(TEN)):
        told = comparison_sentences(replace(result, pair_count=pair_count))
        assert (f"Only {pair_count} pairs" in told) == (pair_count < len(TEN))
        assert f"there are {pair_count}." in told


@pytest.mark.parametrize(
    ("interval", "told"),
    [((-15.2, 11.0), "larger than 15 %"), ((-3.0, 7.04), "larger than 7.0 %"), ((-60.0, 200.0), "")],
)
def test_an_open_answer_of_pairs_says_how_large_the_difference_is_at_most(interval: tuple[float, float], told: str):
    basis = basis_sentence(replace(loose_pairs(), interval_percent=interval)) or ""
    assert ("would have shown" in basis) == bool(told)
    assert told in basis


def test_longer_runs_help_sides_of_other_targets_only_where_their_runs_are_interleaved():
    result = replace(loose_pairs(), needed_seconds=2 * MANY_RUNS_SECONDS)
    on_other_target = replace(result, differences=(Difference(name="target", base="a", other="b"),))
    assert result.interleaved
    assert needs_longer_runs(on_other_target)
    assert not needs_longer_runs(replace(on_other_target, interleaved=False))


CONTRADICTED = Change(name="log level", value="0", previous="3", evidence=Evidence.CONTRADICTED, remark="it is still 3")


@pytest.mark.parametrize(
    ("ends", "is_chance"), [((-0.1, 5.0), True), ((0.0, 5.0), True), ((0.1, 5.0), False), (None, True)]
)
def test_what_may_be_chance_has_no_other_reason(ends: tuple[float, float] | None, is_chance: bool):
    base, other = interleaved(series(TEN, id="a"), series(scaled(TEN, 1.1), id="b", change=CONTRADICTED))
    found = replace(compare(base, other), interval_percent=ends)
    assert ("may be chance" in comparison_headline(found)) is is_chance
    assert ("has another reason" in comparison_headline(found)) is not is_chance


@pytest.mark.parametrize(
    ("base_ids", "said"), [(("a",), "One series a side: "), (("a", "c"), "2 series before and 1 after: ")]
)
def test_how_many_series_a_verdict_rests_on_is_said(base_ids: tuple[str, ...], said: str):
    found = replace(compare(series(TEN, id="a"), series(scaled(TEN, 1.01), id="b")), base_ids=base_ids)
    assert said in comparison_sentences(found)


@pytest.mark.parametrize(
    ("change", "interval", "least"),
    [
        (20.0, (-10.0, 60.0), 33.3),
        (-20.0, (-40.0, 6.0), 24.5),
        (0.2, (-10.0, 12.0), 11.3),
        (40.0, (39.9, 41.0), 1.0),
        (40.0, (-100.0, 300.0), None),
        (40.0, None, None),
    ],
)
def test_the_least_certain_change_follows_from_the_interval(
    change: float, interval: tuple[float, float] | None, least: float | None
):
    """By a trend, or for several at once, an interval is wider than equal series alone would make it."""
    found = replace(compare(series(TEN), series(TEN, id="b")), change_percent=change, interval_percent=interval)
    assert found.least_certain_percent == (least if least is None else pytest.approx(least, abs=0.1))


def test_equal_settings_say_how_far_equal_series_differ():
    base, told = series(VARIED, id="a"), dict[float, str]()
    for factor in (1.1, 3.0, 0.4):
        other = series(scaled(VARIED, factor), id="b")
        found = compare_sides(Sides(base=(base,), other=(other,), equal=True), Limits())
        assert found.doubt is Doubt.SAME_SETTINGS
        assert found.least_certain_percent == pytest.approx(14.3 if factor < 1 else 16.7, abs=0.2)
        told[factor] = comparison_headline(found)
    else_ = "more than equal series differ, so look for what else has changed."
    assert told[1.1].startswith(
        "No setting is known to differ: 10 % faster is no more than series vary by themselves; "
    )
    assert told[3.0] == f"Same settings, but 200 % faster: {else_}"
    assert told[0.4] == f"Same settings, but 60 % slower: {else_}"
    ends = replace(found, change_percent=10.0, interval_percent=(0.0, 20.0))
    assert "no more than series vary" in comparison_headline(ends)
    assert "more than equal" in comparison_headline(replace(ends, interval_percent=(0.1, 20.0)))


def test_a_contradicted_change_replaces_the_verdict():
    base, other = interleaved(series(TEN, id="a"), series(scaled(TEN, 1.1), id="b", change=CONTRADICTED))
    result = compare(base, other)
    assert (result.verdict, result.doubt, result.sign) == ("unknown", Doubt.CONTRADICTED, Sign.WARNING)
    assert "Not the change that was claimed" in comparison_sentences(result)
    assert result.change == CONTRADICTED


def test_states_are_compared_not_claims():
    """In-flight 4, 1, 4: the third series claims 1 -> 4, but beside the first nothing is different."""
    back = Change(name="in-flight", value="4", previous="1", evidence=Evidence.CONFIRMED)
    first, third = interleaved(
        series(TEN, id="first", experiment="x"),
        series(scaled(TEN, 1.26), id="third", experiment="x", change=back, base_id="second"),
    )
    result = compare(first, third)
    assert (result.verdict, result.doubt, result.sign, result.change) == (
        "unknown",
        Doubt.SAME_SETTINGS,
        Sign.SAME,
        None,
    )
    assert "Same settings, but 26 % faster: more than equal series differ" in comparison_sentences(result)
    assert not any("in-flight" in remark for remark in comparison_remarks(comparison_form(first, third)))


def test_settings_that_were_not_to_be_seen_are_not_called_equal():
    change = Change(name="log level", value="0", previous="3", evidence=Evidence.CONFIRMED)
    first, third = interleaved(
        series(TEN, id="first", experiment="x"),
        series(scaled(TEN, 1.26), id="third", experiment="x", change=change, base_id="second"),
    )
    assert compare(first, third).verdict == "faster"


def test_the_differences_come_along():
    result = compare(series(TEN, id="a"), series(TEN, id="b", command=Command.PUT))
    assert ("command", "get", "put") in [(d.name, d.base, d.other) for d in result.differences]


def test_several_at_once_must_be_surer_and_say_so():
    base = series(TEN, id="base")
    pairs = [interleaved(base, series(scaled(TEN[::-1], 1.011), id=f"other{n}")) for n in range(6)]
    sides = [Sides(base=(left,), other=(right,)) for left, right in pairs]
    alone, together = compare(*pairs[0]), compare_several(sides, Limits())
    assert alone.limits.level == pytest.approx(0.95)
    assert together[0].limits.level == pytest.approx(1 - 0.05 / 6)
    assert alone.interval_percent is not None
    assert together[0].interval_percent is not None
    assert together[0].interval_percent[0] < alone.interval_percent[0]
    for count, words in ((6, "all 6 verdicts"), (2, "both verdicts")):
        told = comparison_report([base, *(right for _, right in pairs[:count])], comparisons(sides[:count])).fields
        (text,) = (field.text for field in told if field.name == "Intervals")
        assert words in text
    one_judged = [sides[0], Sides(base=(base,), other=(series(TEN[:2], id="few"),))]
    told = comparison_report([base, pairs[0][1], one_judged[1].other[0]], comparisons(one_judged)).fields
    assert "Intervals" not in [field.name for field in told]
    assert "Intervals" not in [field.name for field in comparison_report(pairs[0]).fields]


def test_of_several_a_surer_change_has_no_wider_interval():
    base = one(1, VARIED)
    restless = one(2, scaled(VARIED, 2.0))
    steady = one(3, scaled(TEN, 2.0))
    sides = [Sides(base=(base,), other=(other,)) for other in (restless, steady)]
    of_restless, of_steady = compare_several(sides, Limits())
    assert of_restless.limits.level == of_steady.limits.level == pytest.approx(0.975)
    assert of_restless.interval_percent is not None
    assert of_steady.interval_percent is not None
    assert of_steady.interval_percent[0] >= of_restless.interval_percent[0]


def test_of_several_one_that_only_holms_level_decides_keeps_its_verdict():
    base = one(1, TEN)
    for percent in range(8, 40):
        sure = one(2, scaled(TEN, 3.0))
        hardly = one(3, scaled(TEN, 1 + percent / 100))
        sides = [Sides(base=(base,), other=(other,)) for other in (sure, hardly)]
        _, compared = compare_several(sides, Limits())
        if compared.verdict == "faster":
            break
    assert compared.limits.level == pytest.approx(0.95), "with 97.5 % it is inconclusive"
    assert compared.interval_percent is not None
    assert compared.interval_percent[0] > 0


def test_several_at_once_are_settled_as_each_pair_alone():
    base = series(VARIED, id="base")
    sides = [Sides(base=(base,), other=(series(scaled(VARIED, 1.03), id=f"other{n}"),)) for n in range(4)]
    alone = compare_sides(sides[0], Limits())
    assert alone.settle
    assert {one.settle and one.settle.shows_percent for one in compare_several(sides, Limits())} == {
        alone.settle.shows_percent
    }


def test_dependence_and_trend_of_a_side_are_told():
    rising = series([1e8 * (1 + 0.01 * n) for n in range(10)], id="rising")
    waves = [100, 103, 105, 103, 100, 97, 95, 97, 100, 103, 105, 103, 100, 97, 95, 97]
    wavy = series([1e6 * rate for rate in waves], id="wavy")
    said = " ".join(weaknesses(comparison_form(rising, wavy)))
    assert '"get data/big.bin (rising)" rose by' in said
    assert '"get data/big.bin (wavy)" has runs that depend on each other' in said
    assert weaknesses(comparison_form(*interleaved(rising, rising))) == ()


STEADY = (100e6, 100.5e6, 99.5e6, 100e6, 100e6)
BASE = one(30, STEADY)


def at(day: int, factor: float = 1.0, **fields: Any) -> Series:
    return one(day, [rate * factor for rate in STEADY], **fields)


def days(*earlier: Series, **options: Any) -> list[list[int]]:
    return [[int(each.id, 16) for each in group] for group in groups_of(earlier, BASE, **options)]


def test_equal_series_are_one_group() -> None:
    assert days(at(1), at(2, 1.02), at(3, 0.99)) == [[1, 2, 3]]


def test_a_recorded_change_ends_a_group() -> None:
    change = Change(name="log level", value="0", previous="3", evidence=Evidence.UNCONFIRMED)
    assert days(at(1), at(2), at(3, change=change), at(4)) == [[1, 2], [3, 4]]


def test_what_differs_from_the_base_does_not_count() -> None:
    sealed = replace(CLIENT, encryption="aes-128-gcm")
    kernels = ({"server": {"os": "Linux 6.1"}}, {"server": {"os": "Linux 6.2"}})
    base = replace(BASE, environment=kernels[1])
    assert days(at(1), at(2, client=sealed), at(3)) == [[1], [3]]
    older = [at(1, environment=kernels[0]), at(2, environment=kernels[0]), at(3, environment=kernels[1])]
    assert [[int(each.id, 16) for each in group] for group in groups_of(older, base)] == [[3]]
    assert days(at(1, command=Command.PUT), at(2, size_bytes=1 << 20)) == []


def test_a_slower_that_the_next_series_confirms_ends_a_group_and_a_single_one_does_not() -> None:
    assert days(at(1), at(2), at(3, 0.6), at(4, 0.6), at(5, 0.6)) == [[1, 2], [3, 4, 5]]
    assert days(at(1), at(2), at(3, 0.6), at(4), at(5)) == [[1, 2, 3, 4, 5]]
    assert days(at(1), at(2), at(3, 0.6)) == [[1, 2, 3]]


def test_a_new_normal_ends_a_group() -> None:
    assert days(at(1), at(2), at(3), new_normal={f"{3:012x}"}) == [[1, 2], [3]]


def test_the_only_put_among_several_is_told_to_be_compared_with_none():
    gets = [one(number, label=f"get {number}") for number in (1, 2)]
    put = one(3, label="small", command=Command.PUT)
    said = "small is the only put of its server here: there is nothing to compare it with."
    assert said in comparison_report([*gets, put]).advice
    assert said not in comparison_report([gets[0], put]).advice, "a pair is compared as it was named"
    assert said not in comparison_report([*gets, put, one(4, command=Command.PUT)]).advice


@pytest.mark.parametrize(("block", "told"), [(None, []), (65536, ["Setting"])])
def test_a_column_of_what_differs_is_there_only_where_a_row_is_of_a_setting(block: int | None, told: list[str]):
    rows = [ComparisonRow("Average", "1", "2"), *([ComparisonRow("Block", "64K", "1M", differs=True)] if block else [])]
    comparison = compare(series(STEADY, id="base", label="before"), series(STEADY, id="other", label="after"))
    table = properties_table("Side by side", comparison, rows)
    assert [column.heading for column in table.columns] == ["", "before", "after", *told]


@pytest.mark.parametrize(
    ("factor", "told"), [(1.0004, "and no difference is seen"), (1.0006, "0.1 % faster is no more")]
)
def test_series_of_the_same_settings_that_do_not_differ_say_so(factor: float, told: str):
    other = series(scaled(VARIED, factor), id="b")
    found = compare_sides(Sides(base=(series(VARIED, id="a"),), other=(other,), equal=True), Limits())
    assert told in comparison_headline(found)


def test_no_change_of_interleaved_runs_says_what_counts_as_none():
    found = compare(*interleaved(series(VARIED, id="a"), series(VARIED, id="b", client=replace(CLIENT, in_flight=1))))
    assert found.verdict is Verdict.SAME
    assert "Less than 5 % counts as none. " in comparison_sentences(found)
    assert "counts as none" not in comparison_sentences(replace(found, verdict=Verdict.FASTER))
