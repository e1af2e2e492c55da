"""Two quick tests line by line: the verdicts, how often equal ones differ, what is said first, and on paper."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from forms.quick import comparison_report
from forms.quick.comparison import QuickComparison, compare_quick_tests, is_alike
from forms.quick.comparison_report import quick_comparison_document, quick_comparison_report
from forms.stats.decision import Limits, Verdict
from storage.plan import Imitated, Settings
from storage.quick.records import Access, Quick, QuickLine
from storage.records import ClientFacts, Command, Target
from tests.quick_tests import RATES, RND_Q1, SEQ_Q8, quick_test

HOUR = 3600


def other_test(factors: Mapping[tuple[Access, Command], float], **fields: Any) -> Quick:
    """A later one, some of whose lines are as many times as fast."""
    rates = {key: [RATES[key] * factor * share for share in (0.99, 1.0, 1.01)] for key, factor in factors.items()}
    return quick_test(rates, **{"id": "bb77bb77bb77", "created_at": "2026-01-31T11:00:00.000Z", **fields})


def verdict_of(comparison: QuickComparison, access: Access, command: Command) -> Verdict:
    (pair,) = [pair for pair in comparison.pairs if pair.base.access == access and pair.base.command is command]
    return pair.decision.verdict


def test_a_line_that_became_faster_or_slower_is_found_among_the_others():
    base = quick_test()
    comparison = compare_quick_tests(base, other_test({(SEQ_Q8, Command.GET): 3.0}))
    assert comparison.verdict is Verdict.FASTER
    assert verdict_of(comparison, SEQ_Q8, Command.GET) is Verdict.FASTER
    assert len(comparison.pairs_of(Verdict.UNKNOWN)) == 7

    both = compare_quick_tests(base, other_test({(SEQ_Q8, Command.GET): 3.0, (RND_Q1, Command.PUT): 0.3}))
    assert both.verdict is Verdict.SLOWER, "what became slower is not hidden by what became faster"
    text = quick_comparison_report(both).fields[0].text
    assert text.index("RND4K Q1T1 write") < text.index("SEQ1M Q8T1 read")


def test_equal_ones_are_inconclusive_and_say_what_would_have_shown():
    comparison = compare_quick_tests(quick_test(), other_test({}))
    assert comparison.verdict is Verdict.UNKNOWN
    assert comparison.level == pytest.approx(1 - 0.05 / 8)
    assert "shows in the best line" in quick_comparison_report(comparison).fields[0].text


def test_lines_in_which_only_more_than_a_doubling_would_have_shown_are_named_as_restless():
    restless = {(RND_Q1, Command.GET): [4e6, 14e6, 30e6]}
    comparison = compare_quick_tests(quick_test(restless), other_test({}))
    text = quick_comparison_report(comparison).fields[0].text
    assert "the runs of RND4K Q1T1 read vary too much to tell" in text
    assert "shows in the best line" in text

    every_line = {key: [0.3 * rate, rate, 2 * rate] for key, rate in RATES.items()}
    comparison = compare_quick_tests(quick_test(every_line), other_test({}))
    text = quick_comparison_report(comparison).fields[0].text
    assert "vary too much to tell" in text
    assert "shows" not in text


@pytest.mark.parametrize("is_told", [True, False])
def test_a_doubling_is_the_most_that_is_told(monkeypatch: pytest.MonkeyPatch, is_told: bool):
    comparison = compare_quick_tests(quick_test(), other_test({}))
    most = max(comparison_report._least_shown_percent(comparison, pair) for pair in comparison.pairs)
    monkeypatch.setattr(comparison_report, "MOST_SHOWN_PERCENT", most if is_told else most - 0.001)
    assert ("vary too much" not in quick_comparison_report(comparison).fields[0].text) is is_told


def test_the_limits_are_those_that_were_asked_for():
    limits = Limits(noise_percent=99.0, margin_percent=400.0)
    comparison = compare_quick_tests(quick_test(), other_test({(SEQ_Q8, Command.GET): 1.9}), limits=limits)
    assert comparison.verdict is Verdict.SAME, "within the margin, though it is far from equal"


def test_fewer_lines_share_the_risk_among_them():
    base = quick_test()
    one_line = replace(base, lines=base.lines[:1])
    assert compare_quick_tests(one_line, other_test({})).level == pytest.approx(0.95)
    nothing = compare_quick_tests(one_line, replace(base, lines=base.lines[1:]))
    assert (nothing.verdict, nothing.pairs) == (Verdict.UNKNOWN, ())
    assert quick_comparison_report(nothing).tables == ()


def test_earlier_quick_tests_of_the_path_let_smaller_differences_show():
    base = quick_test(created_at="2026-01-31T10:00:00.000Z")
    other = other_test({(SEQ_Q8, Command.GET): 0.75})
    earlier = [quick_test(id=f"{day:012}", created_at=f"2026-01-{day:02}T10:00:00.000Z") for day in range(20, 31)]
    assert compare_quick_tests(base, other).verdict is Verdict.UNKNOWN
    assert compare_quick_tests(base, other, earlier).verdict is Verdict.SLOWER


@pytest.mark.parametrize(("ratio", "differs"), [(1.25, False), (1.26, True), (0.81, False), (0.79, True), (16, True)])
def test_files_of_different_sizes_are_said_first(ratio: float, differs: bool):
    comparison = compare_quick_tests(quick_test(), other_test({}, file_bytes=round(ratio * (1 << 30))))
    assert comparison.has_other_files is differs
    assert quick_comparison_report(comparison).fields[0].text.startswith("Files of 1 GiB and ") is differs
    assert quick_comparison_document(comparison)["has_other_files"] is differs


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, None),
        ({"target": Target(protocol="smb", host="nas", share="data", path="tests", user="bob")}, None),
        ({"target": Target(protocol="smb", host="old", share="data", path="tests")}, "target"),
        ({"settings": Settings(like=Imitated.WINDOWS_10)}, "imitated client"),
        ({"client": ClientFacts(name="sharebench", dialect="3.1.1", signing="aes-gmac", encryption="none")}, "signing"),
        ({"link_bits_per_second": 100}, "link"),
        ({"past_page_cache": True}, "page cache"),
        ({"run_seconds": 1.0}, "length of a run"),
        ({"environment": {"client": {"host.name": "laptop"}}}, "machine"),
    ],
)
def test_what_was_not_the_same_is_named_and_makes_no_history(fields: dict[str, Any], named: str | None):
    base = quick_test()
    other = other_test({}, **fields)
    advice = " ".join(quick_comparison_report(compare_quick_tests(base, other)).advice)
    assert is_alike(base, other) is (named is None)
    assert (named or "Not the same") in advice or named is None
    assert ("Not the same in both" in advice) is (named is not None)


def test_what_another_program_tells_stands_beside_and_is_not_judged():
    line = QuickLine(access=SEQ_Q8, command=Command.GET, best_bytes_per_second=50e6)
    imported = other_test({}, program="CrystalDiskMark 8.0.4 x64", lines=(line,), target=None, client=None)
    comparison = compare_quick_tests(quick_test(), imported)
    (pair,) = comparison.pairs
    assert pair.decision.verdict is Verdict.UNKNOWN
    assert pair.decision.change_percent == pytest.approx(-57.3, abs=0.1)
    report = quick_comparison_report(comparison)
    assert "CrystalDiskMark 8.0.4 x64" in report.fields[2].text
    assert any("best run" in text for text in report.advice)
    assert "−57.3 % (SEQ1M Q8T1 read)" in report.fields[0].text
    assert comparison.differences == ("program",), "what it does not tell is no difference"
    assert not is_alike(quick_test(), imported)
    slower_link = replace(imported, link_bits_per_second=100)
    assert compare_quick_tests(quick_test(), slower_link).differences == ("program", "link")


def _varied(dice: random.Random, key: tuple[Access, Command], session: float, runs: float) -> Sequence[float]:
    """Three runs of a line in a session of its own."""
    level = RATES[key] * dice.lognormvariate(0, session)
    return [level * dice.lognormvariate(0, runs) for _ in range(3)]


@pytest.mark.varied
@pytest.mark.parametrize(("session", "runs"), [(0.0, 0.01), (0.0, 0.1), (0.02, 0.003), (0.025, 0.02), (0.04, 0.04)])
def test_of_equal_pairs_at_most_one_in_twenty_has_any_line_that_differs(session: float, runs: float):
    """Lines of one pair vary independently, which is the worst case for eight of them."""
    dice = random.Random(f"{session} {runs}")
    pairs = 300
    differing = 0
    for _ in range(pairs):
        base = quick_test({key: _varied(dice, key, session, runs) for key in RATES})
        other = quick_test(
            {key: _varied(dice, key, session, runs) for key in RATES}, created_at="2026-01-31T11:00:00.000Z"
        )
        differing += compare_quick_tests(base, other).verdict is not Verdict.UNKNOWN
    assert differing <= 0.05 * pairs
