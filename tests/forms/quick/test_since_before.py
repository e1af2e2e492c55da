"""What changed since the quick test before: which lines, what limits them, which to trust."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forms.quick.comparison import QuickComparison, compare_quick_tests, told_interval
from forms.quick.report import quick_report
from forms.quick.since_before import CLEAR_FACTOR, LineSince, judgements_since, lines_since, since_text
from forms.stats.decision import Verdict
from storage.quick.records import LEAST_FILE_BYTES, Quick
from storage.records import Command
from tests.quick_tests import RATES, RND_Q1, RND_Q32, SEQ_Q1, SEQ_Q8, quick_line, quick_test

BEFORE = quick_test(id="aa00aa00aa00", created_at="2026-01-30T10:00:00.000Z")


def since(quick: Quick, before: Quick = BEFORE) -> QuickComparison:
    return compare_quick_tests(before, quick)


@pytest.mark.parametrize("factor", [4.0, 0.25])
def test_a_line_that_changed_is_named_with_both_rates(factor: float):
    quick = quick_test({(SEQ_Q1, Command.PUT): [79e6 / 4 * factor] * 3, (SEQ_Q1, Command.GET): [20e6] * 3})
    before = replace(BEFORE, lines=quick_test({(SEQ_Q1, Command.PUT): [79e6 / 4] * 3}).lines)
    text = since_text(since(quick, before))
    assert f"SEQ1M Q1T1 write 19.8 → {79 / 4 * factor:.1f} MB/s" in text
    assert text.index("Since the quick test ") == 0
    assert text in quick_report(quick, since(quick, before)).fields[0].text
    assert since_text(None) == since_text(since(quick, replace(BEFORE, lines=()))) == ""


@pytest.mark.parametrize(("factor", "is_named"), [(1.21, True), (1.19, False), (1 / 1.21, True), (1 / 1.19, False)])
def test_what_may_be_chance_is_called_that_and_named_where_it_is_seen(factor: float, is_named: bool):
    comparison = since(quick_test({(SEQ_Q1, Command.PUT): [79e6 * factor] * 3}))
    text = since_text(comparison)
    explained = " ".join(judgements_since(comparison))
    assert (
        f"SEQ1M Q1T1 write: 79.0 before, {79 * factor:.1f} MB/s now: equal quick tests may" in explained
    ) is is_named
    assert "whether SEQ1M Q1T1 write changed cannot be told" in text
    assert "no change in SEQ1M Q8T1, SEQ1M Q1T1 read and RND4K" in text


def with_interval(low_factor: float, high_factor: float) -> LineSince:
    interval = (100 * low_factor - 100, 100 * high_factor - 100)
    line = lines_since(since(quick_test()))[0]
    return replace(line, decision=replace(line.decision, verdict=Verdict.UNKNOWN, interval_percent=interval))


@pytest.mark.parametrize(
    ("low_factor", "high_factor", "is_clear"),
    [
        (1.01 / CLEAR_FACTOR, 0.99 * CLEAR_FACTOR, True),
        (0.99 / CLEAR_FACTOR, 0.99 * CLEAR_FACTOR, False),
        (1.01 / CLEAR_FACTOR, 1.01 * CLEAR_FACTOR, False),
    ],
)
def test_no_change_is_said_only_of_a_line_whose_interval_is_narrow(
    low_factor: float, high_factor: float, is_clear: bool
):
    line = with_interval(low_factor, high_factor)
    assert line.is_clear is is_clear
    assert line.is_untold is not is_clear


def test_no_line_changed_only_where_that_is_said_of_all_of_them():
    assert "no line changed" in since_text(since(quick_test()))
    assert "no line changed" not in since_text(since(quick_test({(RND_Q1, Command.PUT): [5e6, 12e6, 20e6]})))


@pytest.mark.parametrize(("fastest", "is_quoted"), [(20.0, False), (17.4, True)])
def test_of_a_line_whose_runs_are_far_apart_neither_figure_is_to_be_quoted(fastest: float, is_quoted: bool):
    """RND4K Q1T1 write was 12.5 MB/s before."""
    rates = [16.4e6, 16.4e6, fastest * 1e6]
    text = " ".join(judgements_since(since(quick_test({(RND_Q1, Command.PUT): rates}))))
    assert "RND4K Q1T1 write: 12.5 before, " in text
    assert ("quote neither" in text) is not is_quoted


def test_one_figure_each_is_not_said_to_differ_in_its_runs():
    lines = tuple(replace(line, runs=(), best_bytes_per_second=5e6) for line in BEFORE.lines)
    faster_lines = tuple(replace(line, best_bytes_per_second=9e6) for line in lines)
    before = replace(BEFORE, program="CrystalDiskMark 8.0.4", lines=lines)
    text = " ".join(judgements_since(since(quick_test(program=before.program, lines=faster_lines), before)))
    assert "one figure each" in text
    assert "runs" not in text


@pytest.mark.parametrize(("changed", "others"), [(3, ""), (4, "and 1 other line"), (8, "and 5 other lines")])
def test_of_many_changes_those_are_named_that_are_largest(changed: int, others: str):
    rates = {}
    for place, (key, rate) in enumerate(list(RATES.items())[:changed]):
        rates[key] = [rate / (6 + place)] * 3
    comparison = since(quick_test(rates))
    text = since_text(comparison)
    assert text.count("→") == 3
    assert others in text
    assert ("other line" in text) is bool(others)
    last_access, last_command = list(RATES)[changed - 1]
    line = comparison.other.line(last_access, last_command)
    assert line is not None
    assert f": {line.quoted_name} " in text.partition(";")[0], "the largest change comes first"


def restless(*, is_agreed: bool) -> Quick:
    """Runs of RND4K Q32T1 write that differ, and have one limit, or two."""
    line = quick_line(RND_Q32, Command.PUT, [30e6, 42e6, 50e6], cpu_share=0.95 if is_agreed else 0.5)
    if not is_agreed:
        line = replace(line, runs=(replace(line.runs[0], cpu_seconds=1.9), *line.runs[1:]))
    return quick_test().with_line(line)


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        (
            BEFORE,
            restless(is_agreed=False),
            "server? now (trust before: the server was the limit in each of its three runs)",
        ),
        (
            restless(is_agreed=False),
            restless(is_agreed=True),
            "server? before, client now (trust now: the client was the limit in each of its three runs)",
        ),
        (BEFORE, restless(is_agreed=True), "server before, client now (which of the two is not certain"),
        (BEFORE, quick_test(), ""),
    ],
)
def test_another_limit_than_before_is_said_with_the_one_to_trust(before: Quick, now: Quick, text: str):
    judgements = " ".join(judgements_since(since(now, before)))
    assert text in judgements
    assert ("Limited by" in judgements) is bool(text)
    assert judgements in " ".join(quick_report(now, since(now, before)).advice)


@pytest.mark.parametrize(("rates", "is_disputed"), [([38e6, 42e6, 50e6], True), ([8e6, 8.1e6, 8.2e6], False)])
def test_a_limit_that_the_quick_test_before_disputes_has_its_question_mark(rates: list[float], is_disputed: bool):
    """Where the line changed, what limits it may well be another."""
    now = quick_test().with_line(quick_line(RND_Q32, Command.PUT, rates, cpu_share=0.95))
    table = quick_report(now, since(now)).tables[0]
    row = next(row for row in table.rows if row.name == "RND4K Q32T1")
    assert row.cells[4].value == ("client?" if is_disputed else "client")
    assert ("the quick test before says another" in table.caption) is is_disputed


@pytest.mark.parametrize(("most_percent", "is_told"), [(999.0, True), (999.1, False)])
def test_an_interval_that_reaches_too_far_is_left_blank(most_percent: float, is_told: bool):
    line = lines_since(since(quick_test()))[0]
    decision = replace(line.decision, interval_percent=(-95.0, most_percent))
    assert told_interval(decision) == ((-95.0, most_percent) if is_told else None)


def test_each_line_has_its_interval_and_its_reading():
    quick = quick_test({(SEQ_Q8, Command.GET): [10e6] * 3})
    comparison = since(quick)
    table = quick_report(quick, comparison).tables[-1]
    rows = {row.name: [cell.value for cell in row.cells] for row in table.rows}
    assert len(rows) == 8
    _, before, now, low, high, reading, limits = rows["SEQ1M Q8T1 read"]
    assert [before, now] == pytest.approx([117.0, 10.0])
    assert limits == "link → server"
    assert (low, high) == comparison.pairs[0].decision.interval_percent
    assert "Slower" in str(reading)
    assert rows["RND4K Q1T1 read"][5:] == ["no", "round trip"]


def test_a_line_of_only_one_of_both_is_none_of_them():
    quick = quick_test(lines=BEFORE.lines[:2])
    assert [line.name for line in lines_since(since(quick))] == ["SEQ1M Q8T1 read", "SEQ1M Q1T1 read"]
    assert RND_Q1 not in {line.now.line.access for line in lines_since(since(quick))}


def test_what_was_not_the_same_since_the_quick_test_before_is_said():
    before = quick_test(link_bits_per_second=10**8, file_bytes=LEAST_FILE_BYTES)
    assert not list(judgements_since(since(quick_test(), before))), "another link, another question"
    assert since_text(since(quick_test(), before)).endswith("Not the same in both: link and size of the file.")


@pytest.mark.parametrize(("rates_before", "is_told"), [([16e6, 18e6, 20e6], True), ([7e6, 9e6, 12e6], False)])
def test_of_two_bounds_the_larger_holds(rates_before: list[float], is_told: bool):
    now = quick_test(lines=(quick_line(RND_Q1, Command.GET, [7e6, 9e6, 12e6]),))
    before = replace(BEFORE, lines=(quick_line(RND_Q1, Command.GET, rates_before),))
    judgements = " ".join(judgements_since(since(now, before)))
    assert ("RND4K Q1T1 at most 75 % before, 33 % now" in judgements) is is_told
    assert ("the larger holds" in judgements) is is_told
