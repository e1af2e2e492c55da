"""What a faster link and a shorter way add to a line at most, and how the answer says it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forms.quick import equal_tests
from forms.quick.answer import network_text, quick_answer
from forms.quick.faster_network import HARDLY_PERCENT, HARDLY_TEXT, LinkGain, NetworkHelp, link_percent, way_percent
from forms.quick.limits import BUSY_CLIENT_PERCENT, FULL_LINK_PERCENT, seconds_on_link
from forms.quick.report import quick_report
from forms.quick.summary import LineFigures, line_figures
from forms.worksheets.references import ethernet_payload
from storage.quick.records import Quick, QuickLine
from storage.records import FRAME_BYTES, Command, SeriesStatus, Target
from tests.quick_tests import RND_Q1, RND_Q32, SEQ_Q1, SEQ_Q8, quick_line, quick_test

PAYLOAD = ethernet_payload(1000)
IN_SWITCH = 8 * FRAME_BYTES / 1e9


def figures_of(line: QuickLine, **fields: Any) -> LineFigures:
    figures = line_figures(quick_test(lines=(line,), **fields), line)
    assert figures is not None
    return figures


def help_of(line: QuickLine, **fields: Any) -> NetworkHelp | None:
    gain = figures_of(line, **fields).link_gain
    return gain.help if gain else None


@pytest.mark.parametrize("milliseconds", [0.1, 0.17, 0.31, 1.0])
def test_of_single_requests_a_link_adds_no_more_than_its_part_of_the_time_to_the_others(milliseconds: float):
    seconds = milliseconds / 1000
    on_network = 4096 / PAYLOAD + IN_SWITCH
    gain = link_percent(quick_test(), RND_Q1, 4096 / seconds)
    assert gain == pytest.approx(100 * on_network / (seconds - on_network))


@pytest.mark.parametrize("busy_share", [0.1, 0.5, 0.9])
def test_of_many_requests_a_link_adds_what_waits_for_it(busy_share: float):
    gain = link_percent(quick_test(), RND_Q32, busy_share * PAYLOAD)
    in_switch = 100 * IN_SWITCH * busy_share * PAYLOAD / (32 * 4096)
    assert gain == pytest.approx(100 * busy_share / (32 * (1 - busy_share)) + in_switch, rel=0.05)


def test_a_link_that_is_all_of_the_time_sets_no_bound():
    assert link_percent(quick_test(), RND_Q1, PAYLOAD) == float("inf")
    assert link_percent(quick_test(), RND_Q32, 1.1 * PAYLOAD) == float("inf")


@pytest.mark.parametrize("round_trip", [0.00005, 0.001])
def test_a_shorter_way_adds_no_more_than_the_round_trip_of_the_time_to_the_others(round_trip: float):
    path = {"tcp.least_round_trip_seconds": round_trip, "request.least_round_trip_seconds": 0.5}
    quick = quick_test(environment={"path": path}, lines=())
    assert way_percent(quick, RND_Q1, 4096 / 0.002) == pytest.approx(100 * round_trip / (0.002 - round_trip))
    assert way_percent(quick, RND_Q32, 32 * 4096 / 0.002) == way_percent(quick, RND_Q1, 4096 / 0.002)
    assert way_percent(replace(quick, environment={}), RND_Q1, 1e6) is None


@pytest.mark.parametrize(("above", "network_help"), [(1.01, NetworkHelp.HARDLY), (0.99, NetworkHelp.AT_MOST)])
def test_a_small_gain_is_hardly_one(above: float, network_help: NetworkHelp):
    on_network = 4096 / PAYLOAD + IN_SWITCH
    seconds = above * on_network * (1 + 100 / HARDLY_PERCENT)
    # Runs that are all alike: an equal quick test may be faster by what sessions differ by.
    slower = 1 / equal_tests.most_bytes_per_second([1.0] * 3)
    line = quick_line(RND_Q1, Command.GET, [slower * 4096 / seconds] * 3)
    assert help_of(line) is network_help


@pytest.mark.parametrize(
    ("percent", "network_help"),
    [
        (FULL_LINK_PERCENT + 0.1, NetworkHelp.HELPS),
        (FULL_LINK_PERCENT - 0.1, NetworkHelp.UNCLEAR),
        (75.0, NetworkHelp.AT_MOST),
    ],
)
def test_a_faster_link_helps_what_fills_it(percent: float, network_help: NetworkHelp):
    line = quick_line(SEQ_Q8, Command.GET, [percent / 100 * 125e6] * 3)
    assert help_of(line) is network_help
    assert help_of(line, link_bits_per_second=None) is None
    assert help_of(line, target=Target(protocol="file", path="/srv")) is None


@pytest.mark.parametrize(("above", "is_told"), [(0.1, True), (-0.1, False)])
def test_a_busy_client_leaves_little_to_gain_even_where_the_link_is_full(above: float, is_told: bool):
    busy_share = (BUSY_CLIENT_PERCENT + above) / 100
    gain = figures_of(quick_line(SEQ_Q8, Command.GET, [117e6] * 3, cpu_share=busy_share)).link_gain
    assert gain is not None
    assert gain.help is (NetworkHelp.AT_MOST if is_told else NetworkHelp.HELPS)
    assert gain.most_percent == (pytest.approx(100 * (1 / busy_share - 1)) if is_told else None)


@pytest.mark.parametrize("rates", [[9e6, 9e6, 9e6], [8e6, 9e6, 10e6], [5e6, 9e6, 15e6]])
def test_the_fastest_equal_quick_test_sets_the_bound(rates: list[float]):
    gain = figures_of(quick_line(RND_Q1, Command.GET, rates)).link_gain
    assert gain is not None
    most_rate = equal_tests.most_bytes_per_second(rates)
    assert gain.most_percent == pytest.approx(link_percent(quick_test(), RND_Q1, most_rate), rel=1e-4)
    assert max(rates) < most_rate <= equal_tests.MOST_FACTOR * max(rates)


def test_an_equal_quick_test_may_be_faster_the_more_the_runs_differ():
    ratios = [equal_tests.most_bytes_per_second([1 - part, 1.0, 1 + part]) for part in (0.0, 0.02, 0.05, 0.1)]
    assert ratios == sorted(set(ratios))
    assert equal_tests.most_bytes_per_second([1.0, 2.0]) == 2.0, "two runs do not tell how they vary"
    assert equal_tests.most_bytes_per_second([1.0, 3.0, 9.0]) == pytest.approx(9 * equal_tests.MOST_FACTOR)


@pytest.mark.parametrize(("part", "is_rough"), [(0.020, False), (0.022, True)])
def test_a_bound_of_runs_that_vary_is_told_roughly(part: float, is_rough: bool):
    line = quick_line(RND_Q1, Command.GET, [9e6 * (1 - part), 9e6, 9e6 * (1 + part)])
    gain = figures_of(line).link_gain
    assert gain is not None
    assert gain.most_percent is not None
    assert gain.is_rough is is_rough
    assert gain.told_percent >= gain.most_percent
    text = network_text(quick_test(lines=(line,)))
    assert ("(at most 25 %, as its runs differ)." in text) is is_rough
    assert ("(more Gbit/s) would help RND4K Q1T1 read by at most " in text) is not is_rough
    likely_percent = link_percent(quick_test(), RND_Q1, 9e6)
    assert gain.likely_percent == (pytest.approx(likely_percent, rel=1e-4) if is_rough else None)


@pytest.mark.parametrize(("percent", "told_percent"), [(24.9, 25.0), (25.1, 33.0), (299.0, 300.0), (5.1, 10.0)])
def test_a_rough_bound_is_told_as_the_next_larger_step(percent: float, told_percent: float):
    gain = LinkGain(help=NetworkHelp.AT_MOST, most_percent=percent, likely_percent=1.0)
    assert gain.told_percent == told_percent
    assert replace(gain, likely_percent=None).told_percent == percent


@pytest.mark.parametrize(
    ("rates", "network_help"),
    [([117e6, 90e6, 80e6], NetworkHelp.UNCLEAR), ([50e6, 45e6, 40e6], NetworkHelp.AT_MOST)],
)
def test_where_only_some_runs_fill_the_link_nobody_can_say(rates: list[float], network_help: NetworkHelp):
    line = quick_line(SEQ_Q8, Command.GET, rates)
    assert help_of(line) is network_help
    is_unclear = network_help is NetworkHelp.UNCLEAR
    assert ("is not clear, as its three runs do not agree" in network_text(quick_test(lines=(line,)))) is is_unclear


def test_a_rate_beyond_the_link_says_nothing_of_another_link():
    line = quick_line(SEQ_Q8, Command.GET, [290e6] * 3)
    assert help_of(line) is NetworkHelp.UNCLEAR
    assert "(--link)" in network_text(quick_test(lines=(line,)))


FOUR_LINES = (
    "A faster network (more Gbit/s) would help SEQ1M; RND4K Q32T1 by at most 5.3 %; RND4K Q1T1 by at most 23 %."
    " A shorter way to the server would help RND4K Q1T1 by at most 107 %."
)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, FOUR_LINES),
        (
            {"lines": (quick_line(SEQ_Q8, Command.GET, [117e6] * 3),)},
            "A faster network (more Gbit/s) would help SEQ1M Q8T1 read.",
        ),
        (
            {"lines": (quick_line(RND_Q32, Command.PUT, [20e6] * 3, cpu_share=1.0),)},
            "A faster network (more Gbit/s) would help RND4K Q32T1 write by under 5 %.",
        ),
        ({"link_bits_per_second": None}, ""),
        ({"target": Target(protocol="file", path="/srv")}, ""),
    ],
)
def test_it_says_which_lines_a_faster_network_would_help(fields: dict[str, Any], text: str):
    assert network_text(quick_test(**fields)) == text


@pytest.mark.parametrize(("milliseconds", "is_told"), [(10.0, True), (0.01, False)])
def test_a_shorter_way_is_told_of_only_where_the_round_trip_matters(milliseconds: float, is_told: bool):
    path = dict.fromkeys(("tcp.least_round_trip_seconds", "request.least_round_trip_seconds"), milliseconds / 1000)
    line = quick_line(RND_Q1, Command.GET, [4096 / 0.0102] * 3)
    text = network_text(quick_test(lines=(line,), environment={"path": path}))
    assert ("A shorter way to the server would help RND4K Q1T1 read" in text) is is_told


def test_the_answer_without_a_known_link_says_what_limits_and_asks_for_the_speed():
    answer = quick_answer(quick_test(link_bits_per_second=None)).text
    assert "limits" in answer
    assert "--link" in answer
    assert "--link" not in quick_answer(quick_test(link_bits_per_second=None, loopback=True)).text


@pytest.mark.parametrize(("percent", "is_full"), [(87.9, False), (88.1, True), (97.9, True), (98.1, False)])
def test_a_link_of_unknown_speed_that_would_be_full_is_named(percent: float, is_full: bool):
    line = quick_line(SEQ_Q8, Command.GET, [percent / 100 * 125e6] * 3)
    quick = quick_test(lines=(line,), link_bits_per_second=None)
    assert quick_answer(quick).text.startswith("If the link has 1 Gb/s, ") is is_full
    assert ("--link 1G" in quick_answer(quick).text) is is_full
    assert "or the link" in quick_report(quick).tables[0].caption


def test_the_answer_is_short():
    """A page of 80 x 24 has room for it above the table."""
    rates = {(SEQ_Q1, Command.GET): [60e6, 84e6, 100e6], (RND_Q32, Command.PUT): [19e6, 42e6, 50e6]}
    quick: Quick = quick_test(rates, status=SeriesStatus.COMPLETE)
    assert len(quick_answer(quick).text) < 4 * 78
    assert seconds_on_link(quick, SEQ_Q1) > 0


@pytest.mark.parametrize(("percent", "text"), [(4.9, HARDLY_TEXT), (5.0, "about 5.0 %"), (None, "")])
def test_a_likely_gain_below_hardly_anything_is_told_as_that(percent: float | None, text: str):
    assert LinkGain(help=NetworkHelp.AT_MOST, most_percent=30.0, likely_percent=percent).likely_text == text
