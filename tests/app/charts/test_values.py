"""What is drawn is what was measured: each chart read back from its cells, at the sizes of real terminals."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from app.charts.marks import AVERAGE
from app.charts.scale import choose_scale
from app.charts.series_charts import compared_chart, ladder_chart, rates_chart, within_chart
from app.charts.sweep import SweepPoint, sweep_chart
from forms.series.summary import SeriesSummary, run_form
from storage.records import Decision, Phase, Run, RunStatus
from tests.app.charts.reading import DrawnChart, bar_length, plain, read_chart
from tests.builders import series
from tests.cases import for_each

SIZES = [(80, 24), (120, 36), (200, 50), (60, 14)]
"""Those of the terminals, and that of a chart in one of several panes."""
SETS: dict[str, list[float]] = {
    "steady": [119.5e6, 119.2e6, 119.6e6, 119.4e6, 119.5e6],
    "scattered": [85.5e6, 105.4e6, 78.3e6, 112e6, 65.5e6],
    "GB/s": [1.56e9, 1.83e9, 1.92e9, 2.03e9, 2.52e9],
    "one run": [119.5e6],
    "two equal ones": [80e6, 80e6],
    "a hundredth": [119e6, 118e6, 1.19e6, 119e6, 120e6],
    "a hundred times": [1.19e6, 1.18e6, 119e6, 1.2e6, 1.2e6],
    "1 kB/s": [1000, 1100, 900, 1000, 1050],
    "12 GB/s": [12e9, 11.8e9, 12.3e9],
    "all but nothing": [1e-3, 90e6, 91e6],
    "60 runs": [119e6 * (1 + (number * 7919 % 13 - 6) / 200) for number in range(60)],
}
SLACK = 1e-6


@pytest.fixture(params=["braille", "ASCII"])
def look(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A terminal with braille and one without."""
    monkeypatch.setenv("TERM", "xterm-256color" if request.param == "braille" else "linux")
    return str(request.param)


@dataclass(frozen=True)
class Drawn:
    """A chart, and where on its lower axis its ends are."""

    chart: DrawnChart
    low: float
    high: float
    unit: float
    """What a 1 on its ticks stands for, in bytes per second."""

    def off(self, place: float, rate: float, around: int = 0) -> float:
        """How far the nearest dot at a place across lies from a rate, in sub-cells; patterned lines have gaps."""
        column = round((place - self.low) / (self.high - self.low) * (self.chart.inside - 1))
        values = [value for at in range(column - around, column + around + 1) for value in self.chart.values(at)]
        assert values, f"nothing is drawn in column {column}"
        return self._off(values, rate)

    def off_line(self, rate: float) -> float:
        """How far the nearest dot of all lies from a rate, in sub-cells."""
        return self._off([value for _, value in self.chart.dots()], rate)

    def strangers(self, rates: Sequence[float], ranges: Sequence[tuple[float, float]] = ()) -> list[float]:
        """What is drawn although no rate of these is there, nor a range that reaches over it."""
        slack = (0.5 + SLACK) * self.chart.per_sub_cell
        known = [(rate / self.unit, rate / self.unit) for rate in rates]
        known += [(low / self.unit, high / self.unit) for low, high in ranges]
        return [
            value
            for _, value in self.chart.dots()
            if not any(low - slack <= value <= high + slack for low, high in known)
        ]

    def _off(self, values: Sequence[float], rate: float) -> float:
        return min(abs(value - rate / self.unit) for value in values) / self.chart.per_sub_cell


def drawn(text: str, low: float, high: float) -> Drawn:
    chart = read_chart(text)
    check_axis(chart)
    unit = next(
        factor for name, factor in _UNITS.items() if any(line.startswith(f"{name} from") for line in chart.below)
    )
    return Drawn(chart=chart, low=low, high=high, unit=unit)


_UNITS = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9}


def check_axis(chart: DrawnChart) -> None:
    rows = sorted(chart.ticks)
    assert len(rows) >= 2
    assert len({later - earlier for earlier, later in pairwise(rows)}) == 1, "ticks are evenly spaced"
    steps = {round(chart.ticks[a] - chart.ticks[b], 9) for a, b in pairwise(rows)}
    assert len(steps) == 1, "and so are their values"


def levels_of(form: SeriesSummary) -> Iterator[float]:
    if form.average_rate is not None:
        yield form.average_rate
    yield from form.band or ()


@for_each("size", SIZES)
@for_each("name", SETS)
@pytest.mark.usefixtures("look")
def test_each_run_and_line_lies_within_half_a_sub_cell_of_its_value(size: tuple[int, int], name: str):
    form = run_form(series(SETS[name], link_bits_per_second=10**9))
    found = drawn(rates_chart(form, *size, colour=False), 0.5, len(form.all_rows) + 0.5)
    rates = [row.measures.bytes_per_second or 0.0 for row in form.all_rows]
    if len(rates) <= found.chart.inside:
        assert all(found.off(place, rate) <= 0.5 + SLACK for place, rate in enumerate(rates, 1))
    lines = [*levels_of(form), *([125e6] if "link" in "".join(found.chart.rows) else [])]
    assert found.strangers([*rates, *lines]) == []
    assert form.average_rate is not None
    assert found.off_line(form.average_rate) <= 0.5 + SLACK


@for_each("size", SIZES)
@for_each("name", ["steady", "a hundredth", "two equal ones", "60 runs"])
@pytest.mark.usefixtures("look")
def test_zoomed_to_the_scatter_each_run_lies_at_its_value(size: tuple[int, int], name: str):
    form = run_form(series(SETS[name], link_bits_per_second=None))
    found = drawn(rates_chart(form, *size, colour=False, zoomed=True), 0.5, len(form.all_rows) + 0.5)
    rates = [row.measures.bytes_per_second or 0.0 for row in form.all_rows]
    if len(rates) <= found.chart.inside:
        assert all(found.off(place, rate) <= 0.5 + SLACK for place, rate in enumerate(rates, 1))
    assert found.strangers([*rates, *levels_of(form)]) == []


@pytest.mark.usefixtures("look")
def test_what_was_expected_and_runs_that_do_not_count_lie_at_their_values():
    whole = series([80e6, 81e6, 60e6])
    lost = Run(number=4, phase=Phase.MEASURED, status=RunStatus.FAILED, error="gone")
    runs = (*whole.runs[:-1], replace(whole.runs[-1], status=RunStatus.REJECTED, reason="noise"), lost)
    form = run_form(replace(whole, runs=runs))
    chart = rates_chart(form, 80, 24, colour=False, expected_bytes_per_second=110e6, expected_name="FTP")
    found = drawn(chart, 0.5, 6.5)
    assert found.off(5, 60e6) <= 0.5 + SLACK
    assert found.off_line(110e6) <= 0.5 + SLACK
    assert found.strangers([80e6, 81e6, 60e6, 110e6, 125e6, *levels_of(form)]) == []


@for_each("size", SIZES)
def test_the_numbers_of_the_lines_stand_beside_them(size: tuple[int, int]):
    form = run_form(series([80e6, 81e6, 79e6, 80e6, 80e6], link_bits_per_second=10**9))
    chart = read_chart(rates_chart(form, *size, colour=False))
    for words, value in (("link 125", 125.0), ("average 80", 80.0)):
        (row,) = (number for number, text in enumerate(chart.rows) if words in text)
        assert abs(chart.value(row, 1) - chart.per_row / 8 - value) <= chart.per_row * 1.01


def test_the_link_is_never_drawn_into_the_cells_of_a_run():
    form = run_form(series([119.5e6] * 5, link_bits_per_second=10**9))
    found = drawn(rates_chart(form, 80, 12, colour=False), 0.5, 7.5)
    for label in ("1", "3", "5"):
        column = found.chart.column_of(label)
        assert len(found.chart.values(column)) <= 2, "the run, and at most one line in another row"
    assert all(found.off(place, 119.5e6) <= 0.5 + SLACK for place in (3, 5, 7))


@for_each("size", SIZES)
@for_each("zoomed", [False, True])
@for_each("names", [("scattered", "steady"), ("one run", "a hundredth", "two equal ones")])
@pytest.mark.usefixtures("look")
def test_compared_series_lie_at_their_values(size: tuple[int, int], zoomed: bool, names: tuple[str, ...]):
    width, height = size
    sides = [run_form(series(SETS[name])) for name in names]
    text = compared_chart(*sides, width=width, height=height, colour=False, zoomed=zoomed)
    found = drawn(text, 0.5, sum(len(side.rows) for side in sides) + len(sides) - 0.5)
    place, lines = 0, [] if zoomed else [125e6]
    for side in sides:
        for row in side.rows:
            place += 1
            assert found.off(place, row.measures.bytes_per_second or 0.0) <= 0.5 + SLACK
        place += 1
        lines += [row.measures.bytes_per_second or 0.0 for row in side.rows] + list(levels_of(side))
    assert found.strangers(lines) == []


@for_each("size", SIZES)
@pytest.mark.usefixtures("look")
def test_the_rungs_of_a_ladder_and_their_intervals_lie_at_their_values(size: tuple[int, int]):
    rates = [40e6, 55.5e6, 51e6, 20e6]
    ladder = [run_form(series([rate * 0.99, rate, rate * 1.01])) for rate in rates]
    ladder[2] = run_form(replace(ladder[2].series, decision=Decision.REVERTED))
    ladder.insert(1, run_form(series([])))
    found = drawn(ladder_chart(ladder, *size, colour=False), -0.5, 4.5)
    intervals = [rung.confidence for rung in ladder if rung.confidence]
    for place, rung in enumerate(ladder):
        if rung.average_rate is not None and rung.confidence is not None:
            assert found.off(place + 0.15, rung.average_rate, around=2) <= 0.5 + SLACK, "beside the upright"
            assert all(found.off(place, end, around=1) <= 0.5 + SLACK for end in rung.confidence)
    averages = [rung.average_rate for rung in ladder if rung.average_rate]
    assert found.strangers(averages, intervals) == []
    between = round(1.5 / 5 * found.chart.inside)
    assert found.chart.values(between) == [], "no line joins the rungs"


@for_each("size", SIZES)
@pytest.mark.usefixtures("look")
def test_the_points_of_a_sweep_and_what_was_there_lie_at_their_values(size: tuple[int, int]):
    rates = [40e6, 55.5e6, 51e6]
    points = [SweepPoint(value=f"{n}K", bytes_per_second=r, low=r * 0.9, high=r * 1.1) for n, r in enumerate(rates)]
    found = drawn(sweep_chart(points, *size, base=47e6, colour=False), -0.5, 2.5)
    for place, rate in enumerate(rates):
        assert found.off(place + 0.2, rate) <= 0.5 + SLACK
        assert found.off(place, rate * 0.9, around=1) <= 0.5 + SLACK
        assert found.off(place, rate * 1.1, around=1) <= 0.5 + SLACK
    assert found.off(-0.3, 47e6, around=3) <= 0.5 + SLACK


@for_each("size", SIZES)
@pytest.mark.usefixtures("look")
def test_the_curve_within_a_run_passes_through_its_rates(size: tuple[int, int]):
    progress, moved = [], 0
    for tenth in range(1, 41):
        moved += 10**7 if tenth <= 20 else 4 * 10**6
        progress.append((tenth / 10, moved))
    found = drawn(within_chart(progress, *size, colour=False), 0.0, 4.0)
    assert found.off(1.0, 100e6) <= 0.5 + SLACK
    assert found.off(3.0, 40e6) <= 0.5 + SLACK


def test_colour_changes_no_sign_of_any_chart():
    forms = [run_form(series(SETS[name])) for name in ("steady", "scattered")]
    point = SweepPoint(value="4K", bytes_per_second=1e6, low=9e5, high=1.1e6)

    def drawings(*, colour: bool) -> list[str]:
        return [
            rates_chart(forms[0], 80, 24, colour=colour),
            rates_chart(forms[0], 80, 8, colour=colour),
            compared_chart(*forms, width=80, height=24, colour=colour),
            ladder_chart(forms, 80, 24, colour=colour),
            sweep_chart([point], 80, 24, base=2e6, colour=colour),
            within_chart([(0.1, 10**6), (0.2, 3 * 10**6)], 80, 24, colour=colour),
        ]

    coloured = drawings(colour=True)
    assert all("\x1b[38;5;" in chart for chart in coloured)
    assert [plain(chart) for chart in coloured] == drawings(colour=False)


@for_each("zoomed", [False, True])
def test_every_tick_lies_in_the_centre_of_a_row(zoomed: bool):
    chance = random.Random(16)
    for _ in range(500):
        top = 10 ** chance.uniform(0, 11)
        rates = [top * chance.uniform(0.5, 1) for _ in range(5)]
        rows = chance.randrange(4, 60)
        scale = choose_scale(rates, rows, zoomed=zoomed)
        assert 3 <= scale.rows <= rows
        for tick in scale.ticks:
            assert scale.row(tick) == pytest.approx(round(scale.row(tick)), abs=1e-6)
        assert all(scale.holds(rate) for rate in rates)
        assert scale.rows > rows * 0.6


@for_each("width", [80, 120, 200, 34])
@for_each("name", SETS)
def test_few_lines_give_bars_as_long_as_their_values(width: int, name: str, look: str):
    form = run_form(series(SETS[name], link_bits_per_second=None))
    chart = rates_chart(form, width, 9, colour=False)
    assert "average" in chart, "a line is named where there is one"
    shown = {row.label + ("◆" if row.unusual else ""): row.measures.bytes_per_second or 0.0 for row in form.all_rows}
    bars = {line.split()[0]: line for line in chart.split("\n") if line.split()[0] in shown}
    left = max(map(len, bars)) + 1
    right = max(len(line.split()[-1]) for line in bars.values()) + 1
    cells, highest = width - left - right, max(shown.values())
    step = 0.125 if look == "braille" else 1.0
    for label, line in bars.items():
        assert abs(bar_length(line[left:-right]) - cells * shown[label] / highest) <= step / 2 + SLACK
        assert len(line) == width


@pytest.mark.usefixtures("look")
def test_the_average_is_seen_beside_shorter_bars_and_inside_longer_ones():
    form = run_form(series([100e6, 50e6, 100e6, 75e6], link_bits_per_second=None))
    lines = rates_chart(form, 60, 9, colour=False).split("\n")
    bars = {line.split()[0]: line for line in lines[:-1]}
    signs = {label: [at for at, sign in enumerate(line) if sign in "│|"] for label, line in bars.items()}
    (column,) = signs["1"]
    assert signs["2"] == signs["3"] == [column]
    start, end = bars["1"].index("█" if "█" in bars["1"] else "#"), len(bars["1"].rpartition(" ")[0])
    assert abs((column + 0.5 - start) / (end - start) - 81.25 / 100) <= 0.5 / (end - start) + SLACK
    coloured = rates_chart(form, 60, 9, colour=True)
    assert f"\x1b[38;5;{AVERAGE}m" in coloured.split("\n")[0], "it has the average's colour there"
