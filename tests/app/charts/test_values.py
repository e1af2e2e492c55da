"""What is drawn is what was measured: each chart read back from its cells, at the sizes of real terminals."""

import random
from itertools import pairwise

import pytest

from app.charts.scale import choose_scale
from app.charts.series_charts import compared_chart, ladder_chart, rates_chart, within_chart
from app.charts.sweep import SweepPoint, sweep_chart
from forms.series.summary import SeriesSummary, run_form
from tests.app.charts.reading import DrawnChart, read_chart
from tests.builders import series

SIZES = [(80, 18), (78, 13), (120, 20), (118, 30), (200, 40), (60, 14)]
SETS = [
    [119.5e6, 119.2e6, 119.6e6, 119.4e6, 119.5e6],
    [85.5e6, 105.4e6, 78.3e6, 112e6, 65.5e6],
    [1.56e9, 1.83e9, 1.92e9, 2.03e9, 2.52e9],
    [976e6, 1226e6, 1.1e9, 1.226e9, 1e9],
    [0.94e6, 1.2e6, 0.9e6, 1.1e6, 1.0e6],
]


def near(drawn: DrawnChart, column: int, value: float) -> float:
    """How far the nearest dot of a column lies from the value, in sub-cells."""
    values = drawn.values(column)
    assert values, f"nothing is drawn in column {column}"
    return min(abs(found - value) for found in values) / (drawn.per_row / 4)


def nearest_around(drawn: DrawnChart, column: int, value: float) -> float:
    """How far a patterned line lies from the value: in some of the columns around it has a dot."""
    return min(near(drawn, at, value) for at in range(column - 3, column + 4) if drawn.values(at))


def check_axis(drawn: DrawnChart) -> None:
    rows = sorted(drawn.ticks)
    assert len(rows) >= 2
    assert len({later - earlier for earlier, later in pairwise(rows)}) == 1, "ticks are evenly spaced"
    steps = {round(drawn.ticks[a] - drawn.ticks[b], 9) for a, b in pairwise(rows)}
    assert len(steps) == 1, "and so are their values"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("rates", SETS)
@pytest.mark.parametrize("zoomed", [False, True])
def test_each_run_and_line_lies_within_half_a_sub_cell_of_its_value(size, rates, zoomed):
    form = run_form(series(rates, link_bits_per_second=10**9))
    drawn = read_chart(rates_chart(form, *size, colour=False, zoomed=zoomed))
    check_axis(drawn)
    unit = next(factor for factor in (1e9, 1e6) if max(*rates, 125e6 if max(rates) > 50e6 else 0) >= factor)
    for row in form.all_rows:
        label = row.label + ("◆" if row.unusual else "")
        assert near(drawn, drawn.column_of(label), (row.measures.bytes_per_second or 0) / unit) <= 0.5 + 1e-6
    between = drawn.column_of("1") + (drawn.column_of("2") - drawn.column_of("1")) // 2
    assert form.average is not None
    average = (form.average.bytes_per_second or 0) / unit
    assert nearest_around(drawn, between, average) <= 0.5 + 1e-6
    if any("link" in row for row in drawn.rows):
        assert nearest_around(drawn, between, 125e6 / unit) <= 0.5 + 1e-6


@pytest.mark.parametrize("size", SIZES)
def test_the_numbers_of_the_lines_stand_beside_them(size):
    form = run_form(series([80e6, 81e6, 79e6, 80e6, 80e6], link_bits_per_second=10**9))
    drawn = read_chart(rates_chart(form, *size, colour=False))
    for words, value in (("link 125", 125.0), ("average 80", 80.0)):
        (row,) = (number for number, text in enumerate(drawn.rows) if words in text)
        assert abs(drawn.value(row, 1) - drawn.per_row / 8 - value) <= drawn.per_row * 1.01


def test_the_link_is_never_drawn_into_the_cells_of_a_run():
    form = run_form(series([119.5e6] * 5, link_bits_per_second=10**9))
    drawn = read_chart(rates_chart(form, 80, 12, colour=False))
    for label in ("1", "3", "5"):
        assert len(drawn.values(drawn.column_of(label))) <= 2, "the run, and at most one line in another row"
        assert near(drawn, drawn.column_of(label), 119.5) <= 0.5


@pytest.mark.parametrize("size", SIZES)
def test_compared_series_lie_at_their_values(size):
    base, other = [78.3e6, 79e6, 77.5e6], [90e6, 91e6, 89.5e6]
    width, height = size
    sides = [run_form(series(rates)) for rates in (base, other)]
    drawn = read_chart(compared_chart(*sides, width=width, height=height, colour=False))
    check_axis(drawn)
    labels = drawn.below[0]
    columns = [at - drawn.left for at, sign in enumerate(labels) if sign.isdigit()]
    assert len(columns) == 6
    for column, rate in zip(columns, [*base, *other], strict=True):
        assert near(drawn, column, rate / 1e6) <= 0.5 + 1e-6


@pytest.mark.parametrize("size", SIZES)
def test_rungs_and_points_of_a_sweep_lie_at_their_values(size):
    rates = [40e6, 55.5e6, 51e6]
    ladder = [run_form(series([rate * 0.99, rate, rate * 1.01])) for rate in rates]
    points = [SweepPoint(value=f"{n}K", bytes_per_second=rate) for n, rate in enumerate(rates)]
    drawn = read_chart(ladder_chart(ladder, *size, colour=False))
    swept = read_chart(sweep_chart(points, *size, colour=False))
    for chart in (drawn, swept):
        check_axis(chart)
    for number, (summary, rate) in enumerate(zip(ladder, rates, strict=True)):
        assert summary.average is not None
        column = drawn.column_of(str(number)) + 2  # beside the upright interval
        assert near(drawn, column, (summary.average.bytes_per_second or 0) / 1e6) <= 0.5 + 1e-6
        assert near(swept, swept.column_of(f"{number}K"), rate / 1e6) <= 0.5 + 1e-6


def test_no_line_joins_the_rungs_of_a_ladder():
    ladder = [run_form(series([rate, rate * 1.001, rate * 0.999])) for rate in (40e6, 80e6)]
    drawn = read_chart(ladder_chart(ladder, 80, 18, colour=False))
    middle = (drawn.column_of("0") + drawn.column_of("1")) // 2
    assert drawn.values(middle) == []


@pytest.mark.parametrize("size", SIZES)
def test_the_curve_within_a_run_passes_through_its_rates(size):
    progress, moved = [], 0
    for tenth in range(1, 41):
        moved += 10**7 if tenth <= 20 else 4 * 10**6
        progress.append((tenth / 10, moved))
    drawn = read_chart(within_chart(progress, *size, colour=False))
    check_axis(drawn)
    inside = max(len(row) for row in drawn.rows)
    assert near(drawn, inside // 4, 100.0) <= 0.5 + 1e-6
    assert near(drawn, inside * 3 // 4, 40.0) <= 0.5 + 1e-6


@pytest.mark.parametrize("zoomed", [False, True])
def test_every_tick_lies_in_the_centre_of_a_row(zoomed):
    chance = random.Random(16)
    for _ in range(2000):
        top = 10 ** chance.uniform(0, 11)
        rates = [top * chance.uniform(0.5, 1) for _ in range(5)]
        rows = chance.randrange(4, 60)
        scale = choose_scale(rates, rows, zoomed=zoomed)
        assert 3 <= scale.rows <= rows
        for tick in scale.ticks:
            assert scale.row(tick) == pytest.approx(round(scale.row(tick)), abs=1e-6)
        assert all(scale.holds(rate) for rate in rates)
        assert scale.rows > rows * 0.6


def summary_of(rates: list[float]) -> SeriesSummary:
    return run_form(series(rates, link_bits_per_second=None))


def test_few_lines_give_bars_with_eighths_of_a_cell():
    chart = rates_chart(summary_of([100e6, 50e6, 75e6]), 60, 9, colour=False)
    lines = {line.split()[0]: line for line in chart.split("\n")}
    full = lines["1"].count("█")
    eighths = {"▏": 1, "▎": 2, "▍": 3, "▌": 4, "▋": 5, "▊": 6, "▉": 7}

    def length(name: str) -> int:
        return lines[name].count("█") * 8 + sum(eighths.get(sign, 0) for sign in lines[name])

    assert abs(length("2") - full * 8 * 0.5) <= 0.5
    assert abs(length("3") - full * 8 * 0.75) <= 0.5
    assert lines["2"].rstrip().endswith("50.0")


def test_a_terminal_without_braille_gets_plain_signs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "linux")
    chart = rates_chart(summary_of([80e6, 81e6, 60e6]), 78, 18, colour=False)
    assert not [sign for sign in chart if 0x2800 <= ord(sign) <= 0x28FF]
    assert "*" in chart
    bars = rates_chart(summary_of([80e6, 81e6, 60e6]), 78, 8, colour=False)
    assert "#" in bars
    assert "█" not in bars
