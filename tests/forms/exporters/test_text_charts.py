"""Charts in plain text read back into values: how far each bar goes, and where it begins."""

from dataclasses import replace

import pytest

from forms.exporters.text_charts import _TextScale, chart_lines
from forms.report import Bar, Chart, Level
from tests.forms.exporters.other_forms import reports

CHARTS = {
    f"{name} {number}": chart
    for name, report in reports().items()
    for number, chart in enumerate(report.charts)
    if chart.in_text
}
CHARTS |= {
    "1 to 12,000 MB/s": Chart(
        title="t", unit="bytes/sec", bars=tuple(Bar(name=f"{rate}", value=rate) for rate in (1000.0, 5e9, 12e9))
    ),
    "waterfall": Chart(
        title="t",
        unit="µs",
        bars=(Bar(name="a", value=33.3), Bar(name="b", value=50.1, start=33.3), Bar(name="c", value=-9.0, start=83.4)),
    ),
    "levels": Chart(
        title="t",
        unit="MB/s",
        bars=(Bar(name="a", value=None), Bar(name="b", value=3.0)),
        levels=(Level(name="l", value=9),),
    ),
}


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("name", CHARTS)
def test_bars_go_from_and_to_their_values_within_half_a_half_cell(name: str, width: int):
    chart = CHARTS[name]
    chart = replace(chart, bars=tuple(replace(bar, interval=None) for bar in chart.bars))
    lines = list(chart_lines(chart, width))[1:]
    rows = [*chart.bars, *(Bar(name=level.name, value=level.value) for level in chart.levels)]
    highest = max(row.ends[1] for row in rows)
    signs = "█▌▐░"
    left = min(line.index(sign) for line in lines for sign in signs if sign in line)
    longest = width - left
    for row, line in zip(rows, lines, strict=True):
        drawn = line[left:].rstrip()
        half = 0.5 if "░" in drawn else 0.25
        start = len(drawn) - len(drawn.lstrip()) + 0.5 * drawn.lstrip().startswith("▐")
        end = len(drawn) - 0.5 * drawn.endswith("▌")
        if not row.value:
            assert drawn == ""
            continue
        assert len(line) <= width
        assert abs(start - longest * row.ends[0] / highest) <= half + 1e-6
        shortest = 0.5 if end - start <= 0.5 else 0.0
        assert abs(end - longest * row.ends[1] / highest) <= max(half, shortest) + 1e-6


def test_on_a_terminal_the_bars_of_data_have_a_colour_and_levels_have_none():
    chart = Chart(title="t", unit="MB/s", bars=(Bar(name="a", value=3.0),), levels=(Level(name="l", value=9),))
    bar, level = list(chart_lines(chart, 80, ansi=True))[1:]
    assert "\x1b[94m█" in bar
    assert "\x1b" not in level


def test_an_interval_lies_over_its_bar_from_end_to_end_and_a_narrow_one_stands_in_numbers_alone():
    bars = (
        Bar(name="wide", value=50.0, interval=(25.0, 75.0)),
        Bar(name="open", value=1.0, interval=(-300.0, 300.0)),
        Bar(name="narrow", value=100.0, interval=(99.0, 101.0)),
    )
    chart = Chart(title="t", unit="ms", bars=bars, levels=(Level(name="all", value=100.0),))
    _, wide, beyond, narrow, level = chart_lines(chart, 80)
    left = level.index("░")
    cells = 80 - left
    places = [wide.index(sign) - left for sign in "├┼┤"]
    assert places == [int(cells * share / 200) for share in (25.0, 50.0, 75.0)], "to twice the longest bar at most"
    assert wide[left : left + places[0]] == "█" * places[0]
    assert beyond[left:] == f"←┼{'─' * (cells - 3)}→", "open where it goes on"
    assert "├" not in narrow
    assert "100.0 ms (99.0 to 101.0)" in narrow


def test_dots_stand_at_their_values_on_both_sides_of_a_named_level():
    bars = (
        Bar(name="1", value=-30.0),
        Bar(name="2", value=10.0),
        Bar(name="All", value=-20.0, interval=(-30.0, -10.0)),
    )
    chart = Chart(title="t", unit="%", bars=bars, levels=(Level(name="no change", value=0.0),), is_dots=True)
    _, first, second, both, name = chart_lines(chart, 80)
    left, zero = first.index("●"), first.index("│")
    cells = 80 - left
    assert zero - left == int(cells * 30 / 40)
    assert len(second) == 80
    assert [both.index(sign) - left for sign in "├●┤│"] == [int(cells * share / 40) for share in (0, 10, 20, 30)]
    assert name.strip() == "no change"
    assert name.index("no change") <= zero < len(name)


def test_an_interval_is_drawn_from_three_cells_on():
    scale = _TextScale(low=0.0, span=10.0, cells=10)
    two, three = (
        scale.draw_dot(Bar(name="", value=5.5, interval=interval), ()) for interval in ((4.5, 5.9), (4.5, 6.5))
    )
    assert (two.strip(), three.strip()) == ("●", "├●┤")


def test_a_change_beside_its_dot_has_the_minus_of_the_tables():
    bars = (Bar(name="1", value=-30.0), Bar(name="All", value=-20.0, interval=(-30.0, -10.0)))
    text = "\n".join(chart_lines(Chart(title="t", unit="%", bars=bars, is_dots=True), 80))
    assert "−20.0 % (−30.0 to −10.0)" in text
    assert "-" not in text
