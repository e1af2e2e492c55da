"""The bars: as long as their values, each interval at its ends, in the colour of the verdict, at any size."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.charts.canvas import AVERAGE, BAD, GOOD, MUTED
from app.charts.series_charts import bars_chart, rates_chart
from forms.layout import Tone
from forms.report import Bar, Chart, Level, Mark
from forms.series.summary import SeriesSummary, run_form
from storage.records import Phase, Run, RunStatus
from tests.app.charts.reading import bar_length, plain
from tests.builders import series
from tests.cases import for_each

SIZES = [(80, 24), (120, 36), (200, 50), (60, 14), (34, 9)]
SETS: dict[str, list[float]] = {
    "steady": [119.5e6, 119.2e6, 119.6e6, 119.4e6, 119.5e6],
    "varied": [85.5e6, 105.4e6, 78.3e6, 112e6, 65.5e6],
    "GB/s": [1.56e9, 1.83e9, 1.92e9, 2.03e9, 2.52e9],
    "one": [119.5e6],
    "a hundredth": [119e6, 118e6, 1.19e6, 119e6, 120e6],
    "1 kB/s": [1000, 1100, 900, 1000, 1050],
    "all but nothing": [1e-3, 90e6, 91e6],
}
RATES = [80e6, 81e6, 60e6, 82e6, 80.5e6]


def form(rates: Sequence[float] = RATES, **fields: Any) -> SeriesSummary:
    return run_form(series(rates, **fields))


def chart_of(rates: Sequence[float], *intervals: tuple[float, float] | None, **fields: Any) -> Chart:
    each = [*intervals, *[None] * (len(rates) - len(intervals))]
    bars = tuple(Bar(name=f"n{at}", value=rate, interval=each[at]) for at, rate in enumerate(rates))
    return Chart(title="", unit="bytes/sec", bars=bars, **fields)


def rows_of(text: str) -> dict[str, str]:
    """The cells of each bar, by its name."""
    lines = [line for line in plain(text).split("\n") if re.match(r"\S+ .* [\d,.]+$", line)]
    left = max(len(line.split()[0]) for line in lines) + 1
    right = max(len(line.split()[-1]) for line in lines) + 1
    return {line.split()[0]: line[left:-right] for line in lines if not line.startswith(" ")}


@pytest.fixture(params=["UTF-8", "ASCII"])
def look(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TERM", "xterm-256color" if request.param == "UTF-8" else "linux")
    return str(request.param)


@for_each("size", SIZES)
@for_each("name", SETS)
def test_bars_from_0_are_as_long_as_their_values(size: tuple[int, int], name: str, look: str):
    rates = SETS[name]
    found = rows_of(bars_chart(chart_of(rates), *size, colour=False))
    step = 0.125 if look == "UTF-8" else 1.0
    assert len(found) == len(rates)
    for place, rate in enumerate(rates):
        cells = found[f"n{place}"]
        assert abs(bar_length(cells) - len(cells) * rate / max(rates)) <= step / 2 + 1e-6


@for_each("size", SIZES)
@pytest.mark.usefixtures("look")
def test_an_interval_reaches_from_its_lower_to_its_upper_end(size: tuple[int, int]):
    found = rows_of(bars_chart(chart_of([80e6, 100e6], (60e6, 95e6), (70e6, 125e6)), *size, colour=False))
    for name, low, middle, high in (("n0", 60, 80, 95), ("n1", 70, 100, 125)):
        cells = found[name]
        places = (
            [cells.index(sign) for sign in "├┼┤"] if "├" in cells else [m.start() for m in re.finditer(r"[|+]", cells)]
        )
        for at, value in zip(places, (low, middle, high), strict=True):
            assert abs(at + 0.5 - len(cells) * value / 125) <= 1.5, (name, value)


def test_an_interval_narrower_than_three_cells_is_the_end_of_its_bar_and_one_beyond_the_axis_stays_open():
    text = bars_chart(chart_of([80e6, 100e6, 90e6], (79.9e6, 80.1e6), (50e6, 400e6)), 80, 12, colour=False)
    found = rows_of(text)
    assert set(found["n0"]) <= set(" █▏▎▍▌▋▊▉")
    assert "├" in found["n1"]
    assert "┤" not in found["n1"]
    assert found["n1"].endswith("→")
    assert "95 % interval" in text
    assert "→ beyond the chart" in text
    assert "beyond" not in bars_chart(chart_of([80e6, 100e6], (60e6, 95e6), (70e6, 125e6)), 80, 12, colour=False)
    assert "95 % interval" not in bars_chart(chart_of([80e6], (79.9e6, 80.1e6)), 80, 12, colour=False)


def test_a_bar_has_the_colour_of_its_verdict_and_a_run_that_of_its_mark():
    bars = [
        Bar(name="base", value=80e6, tone=Tone.FAINT), Bar(name="faster", value=90e6, tone=Tone.GOOD),
        Bar(name="slower", value=70e6, tone=Tone.BAD), Bar(name="lost", value=70e6, mark=Mark.REJECTED, tone=Tone.GOOD),
    ]  # fmt: skip
    chart = Chart(title="", unit="bytes/sec", bars=tuple(bars))
    lines = bars_chart(chart, 60, 12).split("\n")
    for name, colour in (("base", MUTED), ("faster", GOOD), ("slower", BAD), ("lost", BAD)):
        (line,) = (line for line in lines if line.startswith(name))
        assert f"\x1b[38;5;{colour}m" in line, name
    assert "▒" in "\n".join(lines), "a rejected one differs without colours as well"
    assert plain("\n".join(lines)) == bars_chart(chart, 60, 12, colour=False)


def test_zoomed_bars_are_broken_and_the_axis_names_both_ends():
    text = bars_chart(chart_of([111.4e6, 112e6, 111.8e6]), 70, 8, colour=False, zoomed=True)
    found = rows_of(text)
    assert all(cells.startswith("██≈") for cells in found.values())
    assert bar_length(found["n1"].replace("≈", "█")) > 2 * bar_length(found["n0"].replace("≈", "█"))
    axis = text.split("\n")[-2].split()
    assert [float(word) for word in axis[:2]] == pytest.approx([111.3, 112.1], abs=0.05)


def test_runs_that_look_alike_are_drawn_from_0_until_somebody_zooms():
    runs = form([100e6, 99e6, 99.5e6], warmups=0)
    assert "zoomed" not in rates_chart(runs, 78, 12)
    assert "zoomed" in rates_chart(runs, 78, 12, zoomed=True)


LINK = 125e6


@for_each("interval", [(90e6, 110e6), (90e6, 124.9e6), (90e6, 125e6), (90e6, 130e6), (90e6, 149e6)])
def test_a_level_is_named_wherever_an_interval_ends(interval: tuple[float, float]):
    chart = chart_of([100e6], interval, levels=(Level(name="link", value=LINK),))
    axis, *_ = (line for line in bars_chart(chart, 78, 8, colour=False).split("\n") if "125 link" in line)
    cells = rows_of(bars_chart(chart, 78, 8, colour=False))["n0"]
    left = axis.index("125 link") - (78 - len(cells) - len("100.0") - 1)
    at_level = len(cells) * LINK / max(LINK, interval[1])
    assert left == pytest.approx(min(at_level, len(cells) - len("125 link")), abs=1.5)


def test_a_level_below_the_bars_is_named():
    chart = chart_of([190e6, 200e6], levels=(Level(name="link", value=LINK),))
    assert "125 link" in bars_chart(chart, 78, 8, colour=False)


@for_each("value", [100e6, 111.5e6, 125e6])
def test_a_level_is_beyond_a_zoomed_chart_only_where_it_is(value: float):
    chart = chart_of([111.4e6, 112e6, 111.8e6], levels=(Level(name="link", value=value),))
    text = bars_chart(chart, 78, 8, colour=False, zoomed=True)
    assert "link" in text
    assert ("beyond the chart" in text) is (value != 111.5e6)


def test_what_is_far_above_is_named_instead_of_drawn():
    near, far = (chart_of([80e6], levels=(Level(name="link", value=value),)) for value in (125e6, 12.5e9))
    assert "125 link" in bars_chart(near, 78, 6, colour=False)
    text = bars_chart(far, 78, 6, colour=False)
    assert "link 12.50 GB/s, beyond the chart" in text
    assert bar_length(rows_of(text)["n0"]) == len(rows_of(text)["n0"])


def test_few_lines_have_the_last_bars_and_say_so():
    for height in range(2, 10):
        lines = rates_chart(form(), 78, height, colour=False).split("\n")
        bars = [line.split()[0].strip("◆") for line in lines if "█" in line]
        assert len(lines) == height, "no row is empty"
        # All runs and their average are worth the axis; fewer are not.
        has_axis = height > 3 and height != 7
        assert len(bars) == height - (2 if has_axis else 1)
        assert bars == ["W1", "W2", "1", "2", "3", "4", "5", "Average"][-len(bars) :]
        hidden = ["W1", "W2", "1", "2", "3", "4", "5"][: 8 - len(bars)]
        named = hidden[0] if len(hidden) == 1 else f"{hidden[0]} {'to' if len(hidden) > 2 else 'and'} {hidden[-1]}"
        assert lines[-1].startswith(f"{named} not shown")
        assert ("in MB/s" in lines[-1]) is not has_axis, "the axis tells it"
        assert ("W warm-up" in lines[-1]) is ("W2" in bars)


def test_warm_ups_go_before_a_run_that_counts():
    """Two warm-ups, five runs and their average, with a line that says what is not shown."""
    for height, first in ((6, "3"), (7, "1"), (8, "1"), (9, "W2"), (10, "W1")):
        lines = rates_chart(form(), 78, height, colour=False).split("\n")
        bars = [line.split()[0].strip("◆") for line in lines if "█" in line]
        assert bars[0] == first, height


@for_each("height", [25, 33])
def test_bars_and_gaps_fill_the_rows_up_to_the_last(height: int):
    """Eight bars, an axis and a legend: the last bar has no gap below it."""
    for rows, thick in ((height, height // 8 - 1), (height - 1, height // 8 - 2)):
        lines = rates_chart(form(), 78, rows, colour=False).split("\n")
        assert sum("█" in line for line in lines) == 8 * max(1, thick)
    assert len(rates_chart(form(), 78, height, colour=False).split("\n")) == height


@for_each("size", [(24, 6), (40, 10), (78, 16), (198, 50), (80, 2)])
def test_bars_keep_to_their_room(size: tuple[int, int]):
    width, height = size
    for zoomed in (False, True):
        lines = rates_chart(form(), width, height, colour=False, zoomed=zoomed).split("\n")
        assert max(map(len, lines)) <= width
        assert len(lines) <= height


@pytest.mark.parametrize("size", [(0, 0), (23, 20), (80, 1)])
def test_where_nothing_can_be_read_there_is_no_chart(size: tuple[int, int]):
    assert rates_chart(form(), *size) == "no room for the chart"[: size[0]]


def test_the_runs_have_signs_and_the_average_a_bar_with_its_interval():
    whole = series([60e6, 81e6, 100e6, 82e6, 80.5e6])
    marked = [replace(run, status=RunStatus.REJECTED, reason="noise") if run.number == 2 and run.phase is Phase.MEASURED
              else run for run in whole.runs]  # fmt: skip
    lost = Run(number=6, phase=Phase.MEASURED, status=RunStatus.FAILED, error="gone")
    text = rates_chart(run_form(replace(whole, runs=(*marked, lost))), 78, 24, colour=False)
    for words in ("W1 ", "2× ", "6! ", "W warm-up", "× rejected", "! failed", "├"):
        assert words in text, words
    assert re.search(r"^Average .*├─+┼─+┤ +80.\d+$", text, re.MULTILINE)


def test_the_average_is_seen_beside_shorter_bars_and_inside_longer_ones():
    text = rates_chart(form([100e6, 50e6, 100e6, 75e6], link_bits_per_second=None), 60, 12)
    found = rows_of(text)
    assert found["2"].index("│") > found["2"].index(" ")
    (column,) = {found[label].index("│") for label in ("1", "2", "3")}
    assert abs(column + 0.5 - bar_length(found["1"]) * 81.25 / 100) <= 1
    assert f"\x1b[38;5;{AVERAGE}m│" in text


def test_what_was_expected_is_a_bar_of_its_own():
    found = rows_of(rates_chart(form(), 78, 18, colour=False, expected_bytes_per_second=110e6, expected_name="FTP"))
    assert bar_length(found["FTP"]) > bar_length(found["1"])


def test_more_runs_than_lines_are_one_curve_with_the_average():
    text = rates_chart(form([119e6 * (1 + (n * 7919 % 13 - 6) / 200) for n in range(60)]), 78, 24, colour=False)
    assert "rate of each run" in text
    assert "average 119" in text
    assert text.split("\n")[-2].split() == ["W1", "12", "25", "38", "51"]


def test_no_run_yet():
    assert rates_chart(form([]), 78, 12) == "no run has ended yet"
    failed = series([80e6], runs=(Run(number=1, phase=Phase.MEASURED, status=RunStatus.FAILED),))
    assert rates_chart(run_form(failed), 78, 12) == "no run has ended yet"
    assert bars_chart(chart_of([0.0]), 78, 12) == "nothing has been measured yet"


def test_bars_of_one_value_are_not_zoomed():
    alike, other = (bars_chart(chart_of([112e6, value]), 70, 8, colour=False, zoomed=True) for value in (112e6, 111e6))
    assert ("zoomed" in alike, "zoomed" in other) == (False, True)


@for_each("width", [78, 34])
def test_a_name_is_cut_only_where_it_leaves_a_bar_too_little(width: int):
    fits = max(width - 30, width // 3)
    for name in ("n" * fits, "n" * (fits + 1)):
        chart = Chart(title="t", unit="bytes/sec", bars=(Bar(name=name, value=1e8), Bar(name="o", value=9e7)))
        text = bars_chart(chart, width, 5, colour=False)
        assert (name in text) is (len(name) == fits)
        assert ("…" in text) is (len(name) > fits), "nothing is cut without a sign"
        assert max(map(len, text.splitlines())) <= width


def test_a_name_with_too_little_room_beside_it_stands_over_its_bar_where_there_are_rows():
    name = "number of threads of the server: sixteen, as proposed"
    bars = (Bar(name=name, value=1e8, mark=Mark.UNUSUAL), Bar(name="other", value=9e7))
    chart = Chart(title="t", unit="bytes/sec", bars=bars)
    over, cut = (bars_chart(chart, 78, height, colour=False).splitlines() for height in (7, 6))
    assert [line.strip() for line in over if "█" not in line][:2] == [f"{name}◆", "other"]
    assert [line.split()[-1] for line in over if "█" in line] == ["100.0", "90.0"]
    assert any(line.startswith(f"{name[:47]}…◆ █") for line in cut)
    assert all(len(line) <= 78 for line in (*over, *cut))


def test_bars_beside_names_of_wide_letters_begin_in_one_column():
    chart = Chart(title="t", unit="bytes/sec", bars=(Bar(name="漢字", value=1e8), Bar(name="abcd", value=9e7)))
    lines = bars_chart(chart, 60, 4, colour=False).splitlines()
    assert lines[0].startswith("漢字 █")
    assert lines[2].startswith("abcd █")


def test_a_legend_with_too_little_room_ends_in_a_sign():
    chart = Chart(title="t", unit="bytes/sec", bars=(Bar(name="a", value=1e8), Bar(name="b", value=9e7)))
    chart = replace(chart, levels=(Level(name="what the link of this machine carries", value=1e10),))
    text = bars_chart(chart, 40, 8, colour=False)
    assert next(line for line in text.splitlines() if line.startswith("what the link")).endswith("…")


@pytest.mark.parametrize("width", [26, 40, 46, 60, 80])
def test_a_scale_has_two_numbers_however_narrow_it_is(width: int):
    text = bars_chart(chart_of([1668e6, 1029e6], (500e6, 9000e6), (300e6, 5000e6)), width, 8, colour=False)
    (axis,) = (line for line in text.split("\n") if line.endswith("B/s"))
    assert len(axis.split()) >= 3, axis
    assert axis.split()[0] == "0"
