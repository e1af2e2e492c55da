"""The figures of a quick test, and what limits each of its lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forms.quick.answer import limit_name, limits_text, network_text, quick_answer
from forms.quick.disk_reference import disk_reference
from forms.quick.limits import (
    BUSY_CLIENT_PERCENT,
    FULL_LINK_PERCENT,
    PATH_SHARE,
    LineLimit,
    path_allowance,
    path_seconds,
    round_trip_seconds,
    seconds_on_link,
)
from forms.quick.report import file_text, possible_interval, quick_report
from forms.quick.summary import LineFigures, line_figures, quick_figures
from forms.report import FieldRole
from forms.worksheets.references import ethernet_payload
from storage.quick.records import LEAST_FILE_BYTES, MIB, Access, Quick, QuickLine
from storage.records import ClientFacts, Command, SeriesStatus, Target
from tests.quick_tests import RND_Q1, RND_Q32, SEQ_Q1, SEQ_Q8, quick_line, quick_test

LINK = 1_000_000_000
_DISK = f"With a {disk_reference()['name']}"


def figures_of(quick: Quick, access: Access, command: Command = Command.GET) -> LineFigures:
    line = quick.line(access, command)
    assert line is not None
    figures = line_figures(quick, line)
    assert figures is not None
    return figures


def limit_of(line: QuickLine, **fields: Any) -> LineLimit | None:
    figures = line_figures(quick_test(lines=(line,), **fields), line)
    assert figures is not None
    return figures.limit


def test_a_line_is_named_as_everybody_writes_it():
    names = [
        access.quoted_name
        for access in (SEQ_Q8, RND_Q32, replace(RND_Q32, threads=16), replace(SEQ_Q8, block_bytes=700))
    ]
    assert names == ["SEQ1M Q8T1", "RND4K Q32T1", "RND4K Q32T16", "SEQ700 Q8T1"]
    line = quick_line(SEQ_Q8, Command.PUT, (1e6,))
    assert (line.name, line.quoted_name) == ("SEQ1M Q8 write", "SEQ1M Q8T1 write"), "documents have the first"


def test_the_figures_of_a_line_are_those_of_its_runs():
    figures = figures_of(quick_test(), SEQ_Q8)
    assert figures.bytes_per_second == pytest.approx(117e6)
    assert figures.interval == pytest.approx((117e6 - 2.907e6, 117e6 + 2.907e6), rel=1e-3)  # t(2) = 4.303, s = 1.17e6
    assert figures.operations_per_second == pytest.approx(117e6 / MIB)
    assert figures.request_seconds == pytest.approx(8 * MIB / 117e6, rel=0.02)
    assert figures.percent_of_link == pytest.approx(93.6)
    assert figures.client_percent == pytest.approx(30)


def test_the_table_has_each_read_before_its_write_whatever_was_measured_first():
    made = quick_test()
    shuffled = replace(made, lines=made.lines[::-1])
    names = [figures.line.name for figures in quick_figures(shuffled)]
    assert names[:3] == ["SEQ1M Q8 read", "SEQ1M Q8 write", "SEQ1M Q1 read"]
    assert len(names) == 8


@pytest.mark.parametrize(
    ("percent", "limit"), [(FULL_LINK_PERCENT, LineLimit.LINK), (FULL_LINK_PERCENT - 0.1, LineLimit.SERVER)]
)
def test_a_full_link_is_the_limit(percent: float, limit: LineLimit):
    line = quick_line(SEQ_Q8, Command.GET, [percent / 100 * LINK / 8] * 3)
    assert limit_of(line) is limit
    assert limit_of(line, link_bits_per_second=None) is LineLimit.SERVER


@pytest.mark.parametrize(
    ("percent", "limit"), [(BUSY_CLIENT_PERCENT + 0.1, LineLimit.CLIENT), (BUSY_CLIENT_PERCENT - 0.1, LineLimit.SERVER)]
)
def test_a_client_that_computes_all_the_time_is_the_limit(percent: float, limit: LineLimit):
    line = quick_line(RND_Q32, Command.GET, [61e6] * 3, cpu_share=percent / 100)
    assert limit_of(line) is limit


@pytest.mark.parametrize(
    ("percent", "limit"), [(BUSY_CLIENT_PERCENT + 0.1, LineLimit.CLIENT), (BUSY_CLIENT_PERCENT - 0.1, LineLimit.SERVER)]
)
def test_a_client_that_waits_for_a_processor_all_the_time_is_the_limit(percent: float, limit: LineLimit):
    line = quick_line(RND_Q32, Command.GET, [61e6] * 3, cpu_share=0.2, held_share=percent / 100)
    quick = quick_test(lines=(line,))
    figures = figures_of(quick, RND_Q32)
    assert figures.limit is limit
    assert figures.client_percent == pytest.approx(20)
    assert figures.allowance is not None
    assert figures.allowance.bytes_per_second == pytest.approx(61e6 / percent * 100)
    advice = " ".join(quick_report(quick).advice)
    assert ("Other programs had its processors" in advice) is (limit is LineLimit.CLIENT)


@pytest.mark.parametrize(("share", "limit"), [(PATH_SHARE, LineLimit.ROUND_TRIP), (0.48, LineLimit.SERVER)])
def test_a_round_trip_of_half_a_request_is_the_limit(share: float, limit: LineLimit):
    line = quick_line(RND_Q1, Command.GET, [4.096e6] * 3)  # 1 ms each
    path = {"path": {"request.least_round_trip_seconds": share / 1000}}
    assert limit_of(line, environment=path, link_bits_per_second=None) is limit
    assert limit_of(line, environment={}) is LineLimit.SERVER


@pytest.mark.parametrize(("megabits", "limit"), [(96, LineLimit.LINK), (94, LineLimit.SERVER)])
def test_of_single_requests_the_link_is_the_limit_where_it_carries_half_of_the_time(megabits: int, limit: LineLimit):
    rate = 0.5 * ethernet_payload(1000)  # of which a link of 1 Gbit/s would be half the time
    line = quick_line(SEQ_Q1, Command.GET, [rate * megabits / 95] * 3)
    assert limit_of(line, environment={}, link_bits_per_second=LINK) is limit
    eight = quick_line(SEQ_Q8, Command.GET, [rate * megabits / 95] * 3)
    assert limit_of(eight, environment={}, link_bits_per_second=LINK) is LineLimit.SERVER


def test_where_several_apply_the_link_comes_before_the_client_and_that_before_the_round_trip():
    slow_path = {"path": {"request.least_round_trip_seconds": 1.0}}
    full = quick_line(SEQ_Q8, Command.GET, [117e6] * 3, cpu_share=1.0)
    assert limit_of(full, environment=slow_path) is LineLimit.LINK
    assert limit_of(full, environment=slow_path, link_bits_per_second=None) is LineLimit.CLIENT


def test_the_table_has_what_limits_each_line_and_the_gain_of_a_faster_network():
    report = quick_report(quick_test())
    assert report.fields[0].role is FieldRole.ANSWER
    known_table = report.tables[0]
    assert [row.name for row in known_table.rows] == ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"]
    assert [cell.value for cell in known_table.rows[0].cells[1:]] == [117.0, "link", 116.0, "link", "helps"]
    busy_line = quick_line(RND_Q32, Command.GET, [61e6] * 3, cpu_share=1.0)
    caption = quick_report(quick_test(lines=(busy_line,))).tables[0].caption
    assert "client: the computer that runs sharebench (desk)" in caption


def test_of_a_local_path_the_disk_or_the_page_cache_is_the_limit():
    local = quick_test(target=Target(protocol="file", path="/srv"), past_page_cache=True)
    assert limit_name(LineLimit.SERVER, local) == "the disk"
    assert "page cache" in limit_name(LineLimit.SERVER, replace(local, past_page_cache=False))
    assert any("memory" in text for text in quick_report(replace(local, past_page_cache=False)).advice)


@pytest.mark.parametrize("status", [SeriesStatus.INTERRUPTED, SeriesStatus.FAILED])
def test_what_ended_early_says_so_before_its_figures(status: SeriesStatus):
    early = quick_test(status=status, error="the cable")
    answer = quick_answer(replace(early, lines=early.lines[:1])).text
    assert status.value in answer
    assert "would help SEQ1M Q8T1 read" in answer
    nothing = quick_answer(replace(early, lines=())).text
    assert nothing == "Nothing was measured: the cable."
    assert quick_report(replace(early, lines=(), client=None, environment={})).tables == ()


def test_what_another_program_tells_has_no_interval_and_no_limit():
    line = QuickLine(access=SEQ_Q8, command=Command.GET, best_bytes_per_second=120e6, best_request_seconds=0.07)
    quick = quick_test(lines=(line,), program="CrystalDiskMark 8.0.4 x64", target=None, client=None, environment={})
    figures = figures_of(quick, SEQ_Q8)
    assert (figures.interval, figures.limit, figures.request_seconds) == (None, None, 0.07)
    assert quick_answer(quick).text == "CrystalDiskMark 8.0.4 x64 shows SEQ1M Q8T1 read 120.0 MB/s."
    headings = [column.heading for table in quick_report(quick).tables for column in table.columns]
    assert not {"Limited by", "Faster network", "Why"} & set(headings)
    assert network_text(quick) == ""


def test_a_file_that_became_smaller_than_asked_is_told():
    def file_field(quick: Quick) -> str:
        return next(field.text for field in quick_report(quick).fields if field.name == "File")

    assert "asked for" not in file_field(quick_test())
    assert file_field(quick_test(file_bytes=LEAST_FILE_BYTES)).startswith("64 MiB (1 GiB asked for")
    short_of_room = file_field(quick_test(file_bytes=LEAST_FILE_BYTES, file_lacks_room=True))
    short_of_time = file_field(quick_test(file_bytes=LEAST_FILE_BYTES, file_lacks_room=False))
    assert ("free space" in short_of_room, "time" in short_of_room) == (True, False)
    assert ("free space" in short_of_time, "time" in short_of_time) == (False, True)


def test_requests_that_the_server_takes_in_parts_or_not_at_once_are_told():
    assert not [text for text in quick_report(quick_test()).advice if "MiB" in text]
    made = quick_test()
    split = replace(made, lines=tuple(replace(line, request_bytes=65536) for line in made.lines[:1]))
    assert [text for text in quick_report(split).advice if "64 KiB" in text]
    few = quick_test(client=ClientFacts(name="sharebench", in_flight=4))
    assert [text for text in quick_report(few).advice if "4 requests of 1 MiB" in text]


@pytest.mark.parametrize(("spread", "is_told"), [(0.101, True), (0.099, False)])
def test_runs_that_differ_much_are_told(spread: float, is_told: bool):
    rates = {(SEQ_Q8, Command.GET): [50e6 * (1 - spread), 50e6, 50e6 * (1 + spread)]}
    report = quick_report(quick_test(rates))
    assert ("three runs of SEQ1M Q8T1 read differ" in " ".join(report.advice)) is is_told
    assert ("differ by over 20 %" in str(report.tables[1].rows[0].cells[1].value)) is is_told


@pytest.mark.parametrize(("cpu_share", "is_doubtful"), [(0.5, False), (0.8, True), (1.0, False)])
def test_runs_that_differ_leave_the_limit_in_doubt_only_where_they_do_not_agree_on_it(
    cpu_share: float, is_doubtful: bool
):
    line = quick_line(RND_Q32, Command.GET, [40e6, 50e6, 60e6], cpu_share=cpu_share)
    if is_doubtful:  # the client has time left in one of them
        line = replace(line, runs=(*line.runs[:2], replace(line.runs[2], cpu_seconds=1.9)))
    report = quick_report(quick_test(lines=(line,)))
    tables = {table.columns[-1].heading: table for table in report.tables}
    cells = [report.tables[0].rows[0].cells[2].value, *(cell.value for cell in tables[_DISK].rows[0].cells[2:5:2])]
    assert [str(cell).endswith("?") for cell in cells] == [is_doubtful] * 3
    assert ("?: " in report.tables[0].caption) is is_doubtful
    assert ("what limits" in limits_text(quick_test(lines=(line,))).lower()) is is_doubtful
    assert ("server in 2 and client in 1" in str(report.tables[1].rows[0].cells[1].value)) is is_doubtful
    assert ("Certain all the same" in " ".join(report.advice)) is not is_doubtful


def test_an_interval_ends_where_rates_are_impossible():
    wide = figures_of(quick_test({(SEQ_Q8, Command.GET): [80e6, 117e6, 124e6]}), SEQ_Q8)
    assert wide.interval is not None
    assert wide.interval[1] > LINK / 8
    low, high = possible_interval(quick_test(), wide) or (0.0, 0.0)
    assert (low, high) == (max(0.0, wide.interval[0]), LINK / 8)
    assert possible_interval(quick_test(link_bits_per_second=None), wide) == pytest.approx((low, wide.interval[1]))


def test_more_than_the_link_can_carry_is_not_as_fast_as_it_allows():
    quick = quick_test({(SEQ_Q8, Command.GET): [290e6] * 3})
    assert "more than the link can carry" in quick_answer(quick).text
    assert limits_text(quick).startswith("More than the link can carry was moved by SEQ1M Q8T1 read")
    beyond = figures_of(quick_test({(SEQ_Q8, Command.GET): [290e6] * 3}), SEQ_Q8)
    assert (beyond.is_limit_doubtful, beyond.allowance) == (True, None)


def test_what_a_link_just_carried_is_possible():
    figures = figures_of(quick_test({(SEQ_Q8, Command.GET): [119.2e6] * 3}), SEQ_Q8)
    assert figures.allowance is not None
    assert figures.allowance.limit is LineLimit.LINK
    assert figures.allowance.bytes_per_second == pytest.approx(119.2e6)
    assert figures.bytes_per_second > ethernet_payload(1000)
    assert not figures.is_limit_doubtful


def test_no_line_moves_more_than_the_most():
    """A machine that is busy while the round trip is measured, and links that carry short bursts faster."""
    path = {"path": {"request.least_round_trip_seconds": 0.001, "tcp.least_round_trip_seconds": 0.0008}}
    for figures in quick_figures(quick_test(environment=path)):
        assert figures.allowance is not None
        assert figures.bytes_per_second <= figures.allowance.bytes_per_second


def test_what_the_path_allows_is_a_block_each_round_trip_up_to_the_link():
    quick = quick_test(environment={"path": {"request.least_round_trip_seconds": 0.001}}, lines=())

    each = 0.001 + seconds_on_link(quick, RND_Q1)
    without_link = replace(quick, link_bits_per_second=None)
    for path, access, rate, limit in (
        (quick, RND_Q1, 4096 / each, LineLimit.ROUND_TRIP),
        (quick, RND_Q32, ethernet_payload(1000), LineLimit.LINK),
        (without_link, RND_Q32, 32 * 4096 / 0.001, LineLimit.ROUND_TRIP),
    ):
        allowance = path_allowance(path, access)
        assert allowance is not None
        assert allowance.bytes_per_second == pytest.approx(rate)
        assert allowance.limit is limit
    assert path_allowance(replace(without_link, environment={}), RND_Q1) is None


@pytest.mark.parametrize(("milliseconds", "is_believed"), [(0.95, True), (0.97, False)])
def test_a_round_trip_that_took_longer_than_the_fastest_small_request_is_not_believed(
    milliseconds: float, is_believed: bool
):
    line = quick_line(RND_Q1, Command.GET, [4.096e6] * 3)  # 1 ms each, 0.035 ms of it on the link
    path = {"path": {"request.least_round_trip_seconds": milliseconds / 1000}}
    quick = quick_test(lines=(line,), environment=path)
    assert (round_trip_seconds(quick) == milliseconds / 1000) is is_believed


@pytest.mark.parametrize(("milliseconds", "shown"), [(0.011, "0.011 ms"), (0.0, "0.01 ms")])
def test_no_empty_request_is_shown_as_faster_than_the_network(milliseconds: float, shown: str):
    path = {"request.least_round_trip_seconds": milliseconds / 1000, "tcp.least_round_trip_seconds": 0.00001}
    fields = {field.name: field for field in quick_report(quick_test(environment={"path": path})).fields}
    assert fields["Empty SMB request"].text == shown


@pytest.mark.parametrize(("megabits", "seconds"), [(1000, 0.0001), (100, 0.00001)])
def test_an_empty_request_takes_no_less_than_the_network(megabits: int, seconds: float):
    line = quick_line(RND_Q1, Command.GET, [4096 / 0.000135] * 3)  # 0.135 ms each; 0.035 or 0.348 ms of it the link's
    path = {"path": {"request.least_round_trip_seconds": 0.0005, "tcp.least_round_trip_seconds": 0.00001}}
    quick = quick_test(lines=(line,), environment=path, link_bits_per_second=megabits * 1_000_000)
    assert round_trip_seconds(quick) == pytest.approx(seconds, rel=0.01)
    fields = {field.name: field for field in quick_report(quick).fields}
    assert "0.5 ms before the test" in fields["Empty SMB request"].text
    assert fields["Path of a small one"].number == pytest.approx(seconds + seconds_on_link(quick, RND_Q1), rel=0.01)


@pytest.mark.parametrize(("milliseconds", "limit"), [(8.9, LineLimit.LINK), (8.95, LineLimit.ROUND_TRIP)])
def test_of_one_block_each_round_trip_what_takes_longer_allows_no_more(milliseconds: float, limit: LineLimit):
    quick = quick_test(environment={"path": {"request.least_round_trip_seconds": milliseconds / 1000}}, lines=())
    assert seconds_on_link(quick, SEQ_Q1) == pytest.approx(0.00891, rel=0.001)
    allowance = path_allowance(quick, SEQ_Q1)
    assert allowance is not None
    assert allowance.limit is limit


@pytest.mark.parametrize(("cpu_share", "limit"), [(0.68, LineLimit.LINK), (0.70, LineLimit.CLIENT)])
def test_the_lowest_of_link_round_trip_and_client_is_what_is_allowed(cpu_share: float, limit: LineLimit):
    line = quick_line(RND_Q32, Command.GET, [82e6] * 3, cpu_share=cpu_share)  # 117.7 MB/s is 0.697 of it
    figures = figures_of(quick_test(lines=(line,)), RND_Q32)
    assert figures.allowance is not None
    assert figures.allowance.limit is limit
    most = min(82e6 / cpu_share, ethernet_payload(1000))
    assert figures.allowance.bytes_per_second == pytest.approx(most)
    assert quick_report(quick_test(lines=(line,))).tables[-1].rows[0].cells[4].value == limit


def test_all_lines_are_judged_those_alike_together():
    text = limits_text(quick_test())
    assert text == (
        "The link limits SEQ1M; the server or its disk limits RND4K Q32T1; the round trip of a request limits"
        " RND4K Q1T1."
    )
    slow_writes = {(RND_Q1, Command.PUT): [3e6] * 3}
    assert "the round trip of a request limits RND4K Q1T1 read." in limits_text(quick_test(slow_writes))


def test_a_client_of_more_than_one_processor_is_no_less_allowed_than_it_reached():
    line = quick_line(RND_Q32, Command.GET, [82e6] * 3, cpu_share=1.4)
    allowance = figures_of(quick_test(lines=(line,)), RND_Q32).allowance
    assert allowance is not None
    assert allowance.bytes_per_second == pytest.approx(82e6)


def test_the_disk_of_reference_is_behind_the_path():
    quick = quick_test(environment={"path": {"request.least_round_trip_seconds": 0.001}})

    def with_disk(quick: Quick, access: Access, command: Command = Command.GET) -> float | None:
        return figures_of(quick, access, command).bytes_per_second_with_disk

    fast = replace(quick, link_bits_per_second=10**11)
    assert with_disk(fast, SEQ_Q8) == 560e6
    assert with_disk(fast, SEQ_Q8, Command.PUT) == 530e6
    assert with_disk(quick, SEQ_Q8) == pytest.approx(ethernet_payload(1000))
    assert with_disk(quick, RND_Q32) == pytest.approx(ethernet_payload(1000))
    on_path = path_seconds(quick, RND_Q1)
    assert on_path is not None
    assert with_disk(quick, RND_Q1) == pytest.approx(4096 / (on_path + 0.00015 + 1 / 13_000))
    assert with_disk(quick, RND_Q1, Command.PUT) == pytest.approx(4096 / (on_path + 0.00017 + 1 / 36_000))
    assert with_disk(replace(quick, environment={}), RND_Q1) is None


def test_a_local_disk_is_held_against_the_disk_of_reference_alone():
    local = quick_test(target=Target(protocol="file", path="/srv"), past_page_cache=True, link_bits_per_second=None)
    figures = figures_of(local, RND_Q32)
    assert (figures.allowance, figures.bytes_per_second_with_disk) == (None, 98_000 * 4096)
    report = quick_report(local)
    assert [column.heading for column in report.tables[-1].columns][1:] == [
        "MB/s",
        f"With a {disk_reference()['name']}",
    ]
    assert any(disk_reference()["source"] in text for text in report.advice)


@pytest.mark.parametrize(
    "access",
    [replace(RND_Q32, in_flight=16), replace(RND_Q32, threads=16), replace(RND_Q1, block_bytes=8192),
     replace(SEQ_Q8, block_bytes=MIB // 2)],
)  # fmt: skip
def test_no_figure_of_the_disk_of_reference_is_made_up(access: Access):
    line = quick_line(access, Command.GET, [50e6] * 3)
    figures = figures_of(quick_test(lines=(line,)), access)
    assert figures.bytes_per_second_with_disk is None
    assert figures.allowance is not None


@pytest.mark.parametrize(("milliseconds", "limit"), [(0.154, LineLimit.PATH), (0.150, LineLimit.SERVER)])
def test_round_trip_and_link_together_are_the_path(milliseconds: float, limit: LineLimit):
    line = quick_line(RND_Q1, Command.GET, [4.096e6] * 3)  # 1 ms each, 0.348 of it on a link of 100 Mbit/s
    path = {"path": {"request.least_round_trip_seconds": milliseconds / 1000}}
    assert limit_of(line, environment=path, link_bits_per_second=100_000_000) is limit


def test_a_usual_server_is_told_beside_small_reads():
    assert [text for text in quick_report(quick_test()).advice if "small read" in text]
    assert not [text for text in quick_report(quick_test(environment={})).advice if "small read" in text]


@pytest.mark.parametrize(("path", "is_removed"), [(None, True), (".sharebench-0123456789ab", False)])
def test_a_file_is_said_to_be_removed_once_it_is(path: str | None, is_removed: bool):
    assert file_text(quick_test(scratch_path=path)).endswith("removed") is is_removed
