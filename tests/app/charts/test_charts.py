"""The charts: what stands where, with and without colour, at any size."""

import re
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from app.charts.canvas import AVERAGE, LINK, RUN, wrap_parts
from app.charts.scale import round_ticks
from app.charts.series_charts import curve_chart, rates_chart, runs_chart
from forms.report import Bar, Chart
from forms.series.summary import SeriesSummary, run_form
from tests.app.charts.reading import plain
from tests.builders import series

RATES = [80e6, 81e6, 60e6, 82e6, 80.5e6]


def form(rates: Sequence[float] = RATES, **fields: Any) -> SeriesSummary:
    return run_form(series(rates, **fields))


def curve(*sizes: int) -> Chart:
    bars = tuple(Bar(name=f"{size}K", value=size * 1e6, interval=(0.9e6 * size, 1.1e6 * size)) for size in sizes)
    return Chart(title="t", unit="bytes/sec", bars=bars, is_curve=True)


@pytest.mark.parametrize("size", [(24, 6), (40, 10), (78, 16), (198, 50)])
def test_charts_keep_to_their_room(size):
    width, height = size
    for chart in (
        rates_chart(form([90e6, 91e6] * 30), width, height, colour=False),
        curve_chart(curve(4), width, height, colour=False),
        plain(runs_chart([("0 s", [(0.1, 10**6), (0.2, 3 * 10**6)])], width, height)),
    ):
        lines = chart.splitlines()
        assert max(map(len, lines)) <= width
        assert len(lines) <= height
        assert len(lines) > height * 0.6


@pytest.mark.parametrize("height", range(14, 30))
def test_the_legend_names_the_lowest_tick(height):
    runs = form([613.5e6, 262.5e6, 380.3e6, 1003e6, 797.4e6, 636.3e6, 632.3e6, 1080e6, 503.4e6, 980.5e6] * 3)
    lines = rates_chart(runs, 76, height, colour=False, zoomed=True).splitlines()
    lowest = [line.partition("┤")[0].strip() for line in lines if "┤" in line][-1]
    assert f"GB/s from {lowest}, zoomed" in "\n".join(lines)


def test_each_sample_of_the_legend_has_the_colour_of_its_line():
    chart = rates_chart(form(RATES * 6), 78, 20)
    picture, legend = chart.split("\n")[0:-2], chart.split("\n")[-2:]
    for colour, name in ((LINK, "link 1 Gb/s"), (AVERAGE, "average 76.70 MB/s"), (RUN, "rate of each run")):
        painted = f"\x1b[38;5;{colour}m"
        assert painted in "".join(picture)
        assert any(re.search(rf"{re.escape(painted)}\S+\x1b\[0m {name}", line) for line in legend), name


def test_a_curve_keeps_the_order_of_its_points():
    assert re.search(r"64K +4K", curve_chart(curve(64, 4), 60, 14, colour=False))


def test_within_draws_seconds():
    progress = [(i / 10, i * 10**7) for i in range(1, 41)]
    assert re.search(r"0 s +1 s +2 s +3 s +4 s", plain(runs_chart([("0 s", progress)], 60, 12)))
    assert re.search(r"W1 +1 +8 s", plain(runs_chart([("W1", progress), ("1", progress)], 60, 12))), "runs are named"
    assert runs_chart([("0 s", [])], 60, 12) == "the run is too short for a curve"
    beside = runs_chart([("1", [(5.0, 500_000_000), (10.0, 1_000_000_000)]), ("2", [(10.7, 1 << 30)])], 80, 8)
    assert re.search(r" 1 +2 +20.7 s", beside), "each run that the table has is there"
    assert runs_chart([("W1", [(0.1, 10)]), ("1", [(0.1, 10)])], 60, 12) == "the run is too short for a curve"


def test_threads_take_turns_on_the_one_figure():
    expected = {n: rates_chart(form([n * 1e6] * 25), 78, 16, colour=False) for n in (10, 40)}
    wrong: list[int] = []

    def draw(n):
        wrong.extend(n for _ in range(20) if rates_chart(form([n * 1e6] * 25), 78, 16, colour=False) != expected[n])

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
    assert wrap_parts(["MB/s", "─ average", "● run"], 16) == [["MB/s", "─ average"], ["● run"]]
