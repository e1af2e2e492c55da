"""Lines whose runs differ: who disturbed them, what to do, and which figures to quote."""

from __future__ import annotations

import pytest

from forms.quick.advice import WAITED_PERCENT
from forms.quick.comparison import compare_quick_tests
from forms.quick.report import quick_report
from storage.quick.records import Quick
from storage.records import Command
from tests.quick_tests import RND_Q1, RND_Q32, SEQ_Q1, SEQ_Q8, quick_line, quick_test

RESTLESS_RATES = [8e6, 12e6, 16e6]
ONCE_MORE = "Measure once more"


def restless_test(waited_share: float = 0.0) -> Quick:
    held_share = 0.3 + waited_share
    line = quick_line(RND_Q1, Command.GET, RESTLESS_RATES, cpu_share=0.3, held_share=held_share)
    return quick_test().with_line(line)


def page_of(quick: Quick, before: Quick | None = None) -> str:
    """All that the form says in sentences."""
    report = quick_report(quick, compare_quick_tests(before, quick) if before else None)
    cells = [str(cell.value) for table in report.tables for row in table.rows for cell in row.cells]
    return " ".join([field.text for field in report.fields] + cells + list(report.advice))


@pytest.mark.parametrize(("above", "is_told"), [(0.1, True), (-0.1, False)])
def test_a_client_that_waited_for_its_processors_is_where_the_scatter_comes_from(above: float, is_told: bool):
    page = page_of(restless_test(waited_share=(WAITED_PERCENT + above) / 100))
    assert ("other programs took the client's processors" in page) is is_told
    assert ("on the server, on its disk or on the network" in page) is not is_told


@pytest.mark.parametrize(("above", "is_told"), [(0.1, True), (-0.1, False)])
def test_the_answer_says_that_this_computer_was_busy_unless_a_repeat_was_no_quieter(above: float, is_told: bool):
    quick = restless_test(waited_share=(WAITED_PERCENT + above) / 100)
    answer = quick_report(quick).fields[0].text
    assert ("This computer was busy" in answer) is is_told
    again = quick_report(quick, compare_quick_tests(restless_test(), quick)).fields[0].text
    assert "This computer was busy" not in again


def test_what_to_do_is_said_once():
    assert page_of(restless_test()).lower().count("once more") == 1
    assert ONCE_MORE not in page_of(quick_test())


@pytest.mark.parametrize(("is_restless_before", "is_repeated"), [(True, False), (False, True)])
def test_after_a_repeat_that_was_no_quieter_it_says_what_to_quote(is_restless_before: bool, is_repeated: bool):
    page = page_of(restless_test(), restless_test() if is_restless_before else quick_test())
    assert (ONCE_MORE in page) is is_repeated
    quoted = "Quote SEQ1M, RND4K Q32T1 and RND4K Q1T1 write; RND4K Q1T1 read only roughly"
    assert (quoted in page) is not is_repeated


def test_a_line_that_is_another_than_before_is_none_to_quote():
    quiet_but_other = restless_test().with_line(quick_line(RND_Q32, Command.PUT, [20e6, 21e6, 22e6]))
    before = restless_test().with_line(quick_line(RND_Q32, Command.PUT, [40e6, 60e6, 80e6]))
    page = page_of(quiet_but_other, before)
    assert "; RND4K Q1T1 read only roughly; RND4K Q32T1 write not at all." in page
    assert "Quote SEQ1M, RND4K Q32T1 read and RND4K Q1T1 write; " in page


@pytest.mark.parametrize(("cpu_share", "is_capped"), [(0.16, True), (0.15, False)])
def test_the_disk_of_reference_is_no_faster_than_this_client(cpu_share: float, is_capped: bool):
    quick = quick_test().with_line(quick_line(RND_Q32, Command.GET, [18e6] * 3, cpu_share=cpu_share))
    report = quick_report(quick)
    table = next(table for table in report.tables if any(column.heading == "Possible" for column in table.columns))
    rows = {row.name: [cell.value for cell in row.cells] for row in table.rows}
    _, _, _, most, _, with_disk = rows["RND4K Q32T1 read"]
    assert isinstance(most, float)
    assert isinstance(with_disk, float)
    assert with_disk <= most
    assert any("no more than this client takes" in text for text in report.advice) is is_capped
    assert rows["SEQ1M Q8T1 read"][-1] == pytest.approx(117.7, abs=0.05), "the link allows no more"
    assert quick.line(SEQ_Q8, Command.GET) is not None


@pytest.mark.parametrize(("rate", "is_rest"), [(117e6, False), (105e6, True)])
def test_a_rest_is_told_where_there_is_one(rate: float, is_rest: bool):
    """On the link a piece of 1 MiB takes 8.9 ms, which is 118 MB/s, and a round trip 0.2 ms."""
    line = quick_line(SEQ_Q1, Command.GET, [rate] * 3)
    page = page_of(quick_test(lines=(line,)))
    assert ("the rest is waiting" in page) is is_rest
    assert ("nearly all of it on the way" in page) is not is_rest
