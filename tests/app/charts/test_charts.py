"""The charts: what stands where, with and without colour, at any size."""

import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.charts.canvas import wrapped
from app.charts.marks import AVERAGE, LINK, RUN
from app.charts.scale import round_ticks
from app.charts.series_charts import compared_chart, ladder_chart, rates_chart, within_chart
from app.charts.sweep import SweepPoint, sweep_chart
from forms.series.summary import SeriesSummary, run_form
from storage.records import Phase, Run, RunStatus
from tests.builders import series

RATES = [80e6, 81e6, 60e6, 82e6, 80.5e6]


def form(rates: Sequence[float] = RATES, **fields: Any) -> SeriesSummary:
    return run_form(series(rates, **fields))


def with_rejected(number: int) -> SeriesSummary:
    whole = series(RATES)
    runs = tuple(
        replace(run, status=RunStatus.REJECTED, reason="noise")
        if (run.phase, run.number) == (Phase.MEASURED, number)
        else run
        for run in whole.runs
    )
    return run_form(replace(whole, runs=runs))


def row_of(chart: str, words: str) -> int:
    """The line of the picture that holds the words beside it."""
    return next(place for place, line in enumerate(chart.splitlines()) if words in line)


def test_rates_show_every_kind_of_run_by_a_sign_of_its_own():
    chart = rates_chart(with_rejected(2), 78, 18, colour=False)
    labels = chart.splitlines()[row_of(chart, "W1")]
    assert labels.split() == ["W1", "W2", "1", "2×", "3◆", "4", "5"]
    for name in ("W warm-up", "× rejected", "◆ unusual"):
        assert name in chart


def test_average_band_link_and_expected_are_named_with_their_figures():
    chart = rates_chart(form(), 78, 18, colour=False, expected_bytes_per_second=110e6, expected_name="FTP")
    for words in ("average 76.70 MB/s", "one deviation", "link 1 Gb/s", "FTP 110.0 MB/s"):
        assert words in chart
    assert row_of(chart, "link 125") < row_of(chart, " FTP 110") < row_of(chart, "average 76.7")


def test_a_link_far_above_the_runs_is_named_instead_of_drawn():
    chart = rates_chart(form(link_bits_per_second=10**11), 78, 18, colour=False)
    assert "link 100 Gb/s, above the chart" in chart
    assert "link 12500" not in chart


def test_few_columns_give_bars_until_the_scatter_is_asked_for():
    assert "W1 █" in rates_chart(form(), 34, 16, colour=False)
    assert "W1 █" not in rates_chart(form(), 34, 16, colour=False, zoomed=True)
    assert "W1 █" not in rates_chart(form(), 60, 16, colour=False)


def test_one_run_has_an_average_and_no_band():
    chart = rates_chart(form([80e6], link_bits_per_second=None), 78, 12, colour=False)
    assert "average" in chart
    assert "deviation" not in chart
    assert "link" not in chart


def test_no_run_yet():
    assert rates_chart(form([]), 78, 12) == "no run has ended yet"
    failed = series([80e6], runs=(Run(number=1, phase=Phase.MEASURED, status=RunStatus.FAILED),))
    assert rates_chart(run_form(failed), 78, 12) == "no run has ended yet"


@pytest.mark.parametrize("size", [(24, 6), (40, 10), (78, 16), (198, 50)])
def test_charts_keep_to_their_room(size):
    width, height = size
    for chart in (
        rates_chart(form(), width, height, colour=False),
        compared_chart(form(), form([90e6] * 5), width=width, height=height, colour=False),
        ladder_chart([form(), form([90e6] * 5)], width, height, colour=False),
        sweep_chart([SweepPoint(value="4K", bytes_per_second=1e6)], width, height, colour=False),
        within_chart([(0.1, 10**6), (0.2, 3 * 10**6)], width, height, colour=False),
    ):
        lines = chart.splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) <= height
        assert len(lines) > height * 0.6


@pytest.mark.parametrize("size", [(0, 0), (23, 20), (80, 1)])
def test_where_nothing_can_be_read_there_is_no_chart(size):
    assert rates_chart(form(), *size) == "no room for the chart"[: size[0]]


@pytest.mark.parametrize("height", range(14, 30))
def test_the_legend_names_the_lowest_tick(height):
    sides = form([613.5e6, 262.5e6, 380.3e6, 1003e6, 797.4e6]), form([636.3e6, 632.3e6, 1080e6, 503.4e6, 980.5e6])
    lines = compared_chart(*sides, width=76, height=height, colour=False, zoomed=True).splitlines()
    lowest = [line.partition("┤")[0].strip() for line in lines if "┤" in line][-1]
    assert f"GB/s from {lowest}, zoomed" in "\n".join(lines)


def test_few_lines_have_the_last_bars():
    lines = rates_chart(form(), 78, 3, colour=False).splitlines()
    assert [line.split()[0] for line in lines] == ["4", "5", "the"]
    assert lines[-1].startswith("the last 2 of")


def test_colour_changes_no_sign():
    coloured = rates_chart(form(), 78, 16, colour=True)
    assert "\x1b[38;5;" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert plain == rates_chart(form(), 78, 16, colour=False)
    assert "48;5" not in coloured, "no background of its own"


def test_each_sample_of_the_legend_has_the_colour_of_its_line():
    chart = rates_chart(form(), 78, 20)
    picture, legend = chart.split("\n")[0:-2], chart.split("\n")[-2:]
    for colour, name in ((LINK, "link 1 Gb/s"), (AVERAGE, "average 76.70 MB/s"), (RUN, "run")):
        painted = f"\x1b[38;5;{colour}m"
        assert painted in "".join(picture)
        assert any(re.search(rf"{re.escape(painted)}\S+\x1b\[0m {name}", line) for line in legend), name


def test_a_narrow_pane_whose_legend_leaves_few_rows_has_bars_with_all_that_the_legend_says():
    chart = rates_chart(form(), 34, 13, colour=False)
    values = [line.split()[-1] for line in chart.split("\n") if "█" in line]
    assert values == ["80.00", "80.00", "80.00", "81.00", "60.00", "82.00", "80.50"]
    assert "the link" in chart
    assert "│ average 76.70 MB/s" in chart


def test_compared_has_both_on_one_scale_and_their_averages_beside_them():
    chart = compared_chart(form([40e6] * 5), form([80e6] * 5), width=78, height=20, colour=False)
    assert "base average 40.00 MB/s" in chart
    assert "other average 80.00 MB/s" in chart
    assert chart.count("40.00 MB/s") == chart.count("80.00 MB/s") == 1
    assert row_of(chart, "other 80") < row_of(chart, "base 40")


def test_several_series_stand_side_by_side():
    chart = compared_chart(form([40e6] * 3), form([80e6] * 3), form([60e6] * 3), width=100, height=20, colour=False)
    assert row_of(chart, "other 1 80") < row_of(chart, "other 2 60") < row_of(chart, "base 40")


def test_compared_without_any_run():
    assert compared_chart(form([]), form([]), width=78, height=20) == "neither series has a finished run"


def test_the_ladder_counts_its_steps_from_the_base():
    chart = ladder_chart([form([40e6, 41e6]), form([]), form([80e6, 82e6])], 60, 16, colour=False)
    assert re.search(r" 0 +1 +2\b", chart)
    assert re.search(r" 40.50 +- +81.00\b", chart)
    assert "95 % interval" in chart
    assert "no series" in ladder_chart([form([])], 60, 16)


def test_a_sweep_keeps_the_order_of_its_values():
    points = [
        SweepPoint(value=v, bytes_per_second=r, low=r * 0.9, high=r * 1.1) for v, r in (("4K", 1e7), ("64K", 5e7))
    ]
    assert re.search(r"4K +64K", sweep_chart(points, 60, 14, colour=False))
    assert sweep_chart([], 60, 14) == "nothing has been measured yet"


def test_within_draws_seconds():
    chart = within_chart([(i / 10, i * 10**7) for i in range(1, 41)], 60, 12, colour=False)
    assert "0 s" in chart
    assert "4 s" in chart
    assert within_chart([], 60, 12) == "the run is too short for a curve"


def test_threads_take_turns_on_the_one_figure():
    expected = {n: rates_chart(form([n * 1e6] * 5), 78, 16, colour=False) for n in (10, 40)}
    wrong: list[int] = []

    def draw(n):
        wrong.extend(n for _ in range(20) if rates_chart(form([n * 1e6] * 5), 78, 16, colour=False) != expected[n])

    threads = [threading.Thread(target=draw, args=(n,)) for n in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(("top", "last"), [(131, 150), (1, 1), (0.3, 0.3), (99, 100), (1000, 1000)])
def test_ticks_are_round_and_reach_the_top(top, last):
    ticks = round_ticks(top, 4)
    assert ticks[0] == 0
    assert ticks[-1] == pytest.approx(last)


def test_the_legend_breaks_between_signs():
    assert wrapped(["MB/s", "─ average", "● run"], 16) == [["MB/s", "─ average"], ["● run"]]
