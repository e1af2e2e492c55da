"""Drawings for paper: every bar and line at its value, every name and number beside what it belongs to."""

from itertools import combinations

import pytest

from forms.exporters.drawing import HEIGHT, LEAST_HEIGHT, WIDTH, Box, ChartDrawing, ChartText, Stroke, drawing
from forms.layout import width
from forms.report import Bar, Chart, Level, Mark
from forms.reports import series_reports
from tests.builders import full_series, series

LETTER, LINE = 7.0, 12.0
RATES: dict[str, list[float]] = {
    "steady": [119.5e6, 119.2e6, 119.6e6, 119.4e6, 119.5e6],
    "near the link": [124.6e6, 124.2e6, 124.8e6, 124.4e6],
    "one": [119e6],
    "two equal ones": [80e6, 80e6],
    "a hundred times": [1.19e6, 1.18e6, 119e6, 1.2e6, 1.2e6],
    "1 kB/s": [1000, 1100, 900],
    "12 GB/s": [12e9, 11.8e9, 12.3e9],
    "60 runs": [119e6 * (1 + (number * 7919 % 13 - 6) / 200) for number in range(60)],
    "2000 runs": [119e6] * 2000,
}
CHARTS = {name: chart for name, rates in RATES.items() for chart in series_reports([series(rates)])[0].charts}
LONG_NAMES = tuple(Bar(name=f"get untuned Samba {n} 日本語のとても長い名前", value=1e6 * n) for n in (1, 2, 3, 4, 5, 6))
CHARTS |= {
    "all marks": series_reports([full_series()])[0].charts[0],
    "long names": Chart(title="Average", unit="bytes/sec", bars=LONG_NAMES),
    "no level near": Chart(
        title="x",
        unit="MB/s",
        bars=LONG_NAMES[:2],
        levels=(Level(name="n" * 90, value=2e6), Level(name="m", value=2e6)),
    ),
    "negative part": Chart(
        title="Where it goes",
        unit="µs",
        bars=(Bar(name="a", value=10.0), Bar(name="b", value=5.0, start=10.0), Bar(name="c", value=-3.0, start=15.0)),
    ),
}


def room_of(text: ChartText) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) of a text."""
    wide = width(text.text) * LETTER
    left = text.x - {"start": 0.0, "middle": wide / 2, "end": wide}[text.anchor]
    return left, text.y - LINE + 2, left + wide, text.y + 2


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def texts(found: ChartDrawing) -> list[ChartText]:
    return [shape for shape in found.shapes if isinstance(shape, ChartText) and shape.text]


def bars(found: ChartDrawing) -> list[Box]:
    return [shape for shape in found.shapes if isinstance(shape, Box) and shape.look not in {"band", "frame"}]


def value_at(found: ChartDrawing, y: float) -> float:
    """By the numbers at the axis: its lowest and its highest line."""
    lines = [shape.y1 for shape in found.shapes if isinstance(shape, Stroke) and shape.look == "grid"]
    numbers = [
        float(text.text.replace(",", "").replace("−", "-"))
        for text in texts(found)
        if text.anchor == "end" and text.x < 200
    ]
    zero, top = lines[0], lines[-1]
    return numbers[0] + (zero - y) / (zero - top) * (numbers[-1] - numbers[0])


@pytest.mark.parametrize("height", [HEIGHT, LEAST_HEIGHT])
@pytest.mark.parametrize("name", CHARTS)
def test_no_text_reaches_into_another_one_or_out_of_the_drawing(name: str, height: float):
    found = drawing(CHARTS[name], height)
    shown = [text for text in texts(found) if text.look != "sign"]
    for one, other in combinations(shown, 2):
        assert not overlap(room_of(one), room_of(other)), (one.text, other.text)
    for text in shown:
        left, top, right, bottom = room_of(text)
        assert left >= -1, text.text
        assert top >= -1, text.text
        assert right <= WIDTH + 1, text.text
        assert bottom <= height + 1, text.text
    for box in bars(found):
        edges = (box.x, box.y, box.x + box.width, box.y + box.height)
        assert not [text.text for text in shown if overlap(edges, room_of(text))], "no text lies on a bar"


@pytest.mark.parametrize("name", CHARTS)
def test_bars_and_lines_end_at_their_values(name: str):
    chart = CHARTS[name]
    found = drawing(chart)
    unit = found.shapes[-2]
    assert isinstance(unit, ChartText)
    factor = (
        {"GB/s": 1e9, "MB/s": 1e6, "kB/s": 1e3}.get(unit.text.rpartition(" ")[2], 1.0)
        if chart.unit == "bytes/sec"
        else 1.0
    )
    drawn = [bar for bar in chart.bars if bar.value]
    fine = 0.002 * max(*(bar.ends[1] for bar in drawn), *(level.value for level in chart.levels), 0.0)
    if len(chart.bars) <= 240:
        for box, bar in zip(bars(found), drawn, strict=True):
            assert value_at(found, box.y) * factor == pytest.approx(bar.ends[1], abs=fine)
            assert box.width > 0
    for level in chart.levels:
        lines = [s for s in found.shapes if isinstance(s, Stroke) and s.look in {"mean", "reference"} and s.y1 == s.y2]
        values = [value_at(found, line.y1) * factor for line in lines if line.x2 - line.x1 > 100]
        near = [value for value in values if value == pytest.approx(level.value, abs=fine)]
        assert near or any(f"{level.name}: " in text.text for text in texts(found)), "drawn, or named above"


def test_the_link_is_dashed_also_where_no_run_counts():
    chart = Chart(
        title="x", unit="bytes/sec", bars=(Bar(name="1", value=1e8),), levels=(Level(name="link", value=1.25e8),)
    )
    looks = {shape.look for shape in drawing(chart).shapes if isinstance(shape, Stroke)}
    assert looks == {"grid", "reference"}


def test_what_lies_far_above_is_named_with_a_unit_of_its_own():
    said = [text.text for text in texts(drawing(CHARTS["1 kB/s"]))]
    assert "shaded: one deviation;  link: 125 MB/s, above the drawing" in said


def test_an_interval_beyond_the_drawing_does_not_squeeze_the_bars():
    chart = Chart(title="x", unit="MB/s", bars=(Bar(name="1", value=100.0, interval=(-400.0, 600.0)),))
    found = drawing(chart)
    (box,) = bars(found)
    assert box.height > HEIGHT / 4
    whiskers = [shape for shape in found.shapes if isinstance(shape, Stroke) and shape.look == "whisker"]
    assert len(whiskers) == 1, "neither end is there to be marked"


def test_a_frame_and_a_part_begin_where_they_should():
    chart = Chart(title="x", unit="MB/s", bars=(Bar(name="1", value=30.0, frame=80.0),))
    found = drawing(chart)
    (frame,) = (shape for shape in found.shapes if isinstance(shape, Box) and shape.look == "frame")
    assert value_at(found, frame.y) == pytest.approx(80, rel=0.01)
    _, second, third = bars(drawing(CHARTS["negative part"]))
    fall = drawing(CHARTS["negative part"])
    assert value_at(fall, second.y + second.height) == pytest.approx(10, rel=0.02)
    assert value_at(fall, third.y) == pytest.approx(15, rel=0.02)
    assert value_at(fall, third.y + third.height) == pytest.approx(12, rel=0.02)


def test_each_mark_has_a_look_of_its_own():
    marks = (Mark.NONE, Mark.REJECTED, Mark.UNUSUAL, Mark.BOTTLENECK)
    chart = Chart(title="x", unit="MB/s", bars=tuple(Bar(name=str(n), value=9.0, mark=m) for n, m in enumerate(marks)))
    assert [box.look for box in bars(drawing(chart))] == ["bar", "rejected", "unusual", "least"]


def test_dots_and_their_intervals_stand_at_their_values_on_both_sides_of_zero():
    dots = (
        Bar(name="1", value=-30.0),
        Bar(name="2", value=10.0),
        Bar(name="All", value=-20.0, interval=(-30.0, -10.0)),
    )
    zero = Level(name="no change", value=0.0)
    found = drawing(Chart(title="x", unit="%", bars=dots, levels=(zero,), is_dots=True))
    middles = [value_at(found, box.y + box.height / 2) for box in bars(found)]
    assert middles == pytest.approx([-30.0, 10.0, -20.0], abs=0.2)
    assert {(box.width, box.height) for box in bars(found)} == {(8, 8)}
    whisker, *_ = (shape for shape in found.shapes if isinstance(shape, Stroke) and shape.look == "whisker")
    assert [value_at(found, y) for y in (whisker.y1, whisker.y2)] == pytest.approx([-30.0, -10.0], abs=0.2)
    assert "no change 0" in [text.text for text in texts(found)]
