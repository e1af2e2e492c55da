"""What is drawn is what was measured: each chart read back from its cells, at the sizes of real terminals."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest

from app.charts.scale import choose_scale
from app.charts.series_charts import curve_chart, rates_chart, runs_chart
from forms.report import Bar, Chart, Level
from forms.series.summary import run_form
from tests.app.charts.reading import DrawnChart, plain, read_chart
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


def sweep(*rates: float, base: float) -> Chart:
    bars = tuple(Bar(name=f"{4**n}K", value=rate, interval=(rate * 0.9, rate * 1.1)) for n, rate in enumerate(rates, 1))
    return Chart(title="t", unit="bytes/sec", bars=bars, levels=(Level(name="as it was", value=base),), is_curve=True)


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


@for_each("size", SIZES)
@for_each("zoomed", [False, True])
@pytest.mark.usefixtures("look")
def test_the_curve_of_many_runs_and_its_average_lie_at_their_values(size: tuple[int, int], zoomed: bool):
    form = run_form(series(SETS["60 runs"], link_bits_per_second=None))
    found = drawn(rates_chart(form, *size, colour=False, zoomed=zoomed), 0.5, len(form.all_rows) + 0.5)
    assert form.average_rate is not None
    assert found.off_line(form.average_rate) <= 0.5 + SLACK
    rates = [row.measures.bytes_per_second or 0.0 for row in form.all_rows]
    assert found.strangers([form.average_rate], [(min(rates), max(rates))]) == []


@for_each("size", SIZES)
@pytest.mark.usefixtures("look")
def test_the_points_of_a_sweep_and_what_was_there_lie_at_their_values(size: tuple[int, int]):
    rates = [40e6, 55.5e6, 51e6]
    found = drawn(curve_chart(sweep(*rates, base=47e6), *size, colour=False), 0.5, 3.5)
    for place, rate in enumerate(rates, 1):
        assert found.off(place, rate, around=1) <= 0.5 + SLACK
        assert found.off(place, rate * 0.9, around=1) <= 0.5 + SLACK
        assert found.off(place, rate * 1.1, around=1) <= 0.5 + SLACK
    assert found.off(0.7, 47e6, around=3) <= 0.5 + SLACK


DOTS = {
    "slower": ([-12.1, -14.0, -12.9], (-13.7, -12.2)),
    "no difference": ([1.5, -0.5, 0.8], (-0.9, 2.1)),
    "faster": ([41.0, 43.5, 42.0], (40.0, 44.0)),
    "equal": ([0.0, 0.0, 0.0], (0.0, 0.0)),
}


@for_each("size", SIZES)
@for_each("zoomed", [False, True])
@for_each("name", list(DOTS))
def test_the_changes_of_pairs_lie_at_their_values_on_both_sides_of_0(
    size: tuple[int, int], zoomed: bool, name: str, look: str
):
    changes, (low, high) = DOTS[name]
    bars = [Bar(name=str(pair), value=change) for pair, change in enumerate(changes, 1)]
    bars.append(Bar(name="All", value=changes[2], interval=(low, high)))
    level = Level(name="no change", value=0.0)
    chart = Chart(title="t", unit="%", bars=tuple(bars), levels=(level,), is_dots=True)
    text = curve_chart(chart, *size, colour=False, zoomed=zoomed)
    found = read_chart(text)
    check_axis(found)
    for place, change in enumerate([*changes, changes[2]], 1):
        column = round((place - 0.5) / 4 * (found.inside - 1))
        at = [row for row, line in enumerate(found.rows) if set(line[column - 1 : column + 2]) & {"●", "o"}]
        assert len(at) == 1, "one point"
        centre = found.value(at[0], 0) - (found.heights - 1) / 2 * found.per_sub_cell
        assert abs(centre - change) <= 0.51 * found.per_row
    ends = [value for column in (column - 1, column, column + 1) for value in found.values(column)]
    if high - low > 2 * found.per_row:
        assert min(abs(end - high) for end in ends) <= found.per_row, "the interval reaches its upper end"
        assert min(abs(end - low) for end in ends) <= found.per_row, "and its lower one"
    has_0 = min(found.ticks.values()) <= 0 <= max(found.ticks.values())
    assert has_0 or not zoomed, "z shows what they are against no change"
    assert ("no change" in text) == has_0
    assert ("≈" in text or "~" in text) != has_0
    assert ("●" in text) == (look == "braille")


@for_each("size", SIZES)
@pytest.mark.usefixtures("look")
def test_the_curve_within_a_run_passes_through_its_rates(size: tuple[int, int]):
    progress, moved = [], 0
    for tenth in range(1, 41):
        moved += 10**7 if tenth <= 20 else 4 * 10**6
        progress.append((tenth / 10, moved))
    found = drawn(plain(runs_chart([("0 s", progress)], *size)), 0.0, 4.0)
    assert found.off(1.0, 100e6) <= 0.5 + SLACK
    assert found.off(3.0, 40e6) <= 0.5 + SLACK


@for_each("size", SIZES)
@for_each("zoomed", [False, True])
@pytest.mark.usefixtures("look")
def test_the_area_of_several_runs_lies_at_their_rates_and_is_filled(size: tuple[int, int], zoomed: bool):
    runs = [
        (name, [(0.5, rate // 2), (1.0, rate), (2.0, 2 * rate)]) for name, rate in (("W1", 10**8), ("1", 8 * 10**7))
    ]
    chart = runs_chart(runs, *size, until_seconds=8.0, zoomed=zoomed)
    found = read_chart(plain(chart))
    for seconds, megabytes in ((1.0, 100), (3.0, 80)):
        values = found.values(round(seconds / 8 * (found.inside - 1)))
        assert abs(max(values) - megabytes) <= (0.5 + SLACK) * found.per_sub_cell
        assert min(values) <= min(found.ticks.values()) + found.per_sub_cell, "it is filled down to the axis"
    assert found.values(round(6 / 8 * (found.inside - 1))) == [], "nothing has been measured there yet"
    assert ("≈─" in plain(chart) or "~─" in plain(chart)) == zoomed
    assert re.search("W1 +1 +8 s", plain(chart))


def test_colour_changes_no_sign_of_any_chart():
    forms = [run_form(series(SETS[name])) for name in ("steady", "60 runs")]

    def drawings(*, colour: bool) -> list[str]:
        return [
            *(rates_chart(forms[0], 80, height, colour=colour) for height in (24, 8)),
            rates_chart(forms[1], 80, 24, colour=colour),
            curve_chart(sweep(1e6, base=2e6), 80, 24, colour=colour),
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


@for_each("name", ["one pair", "two that nearly agree", "two that differ"])
@for_each("zoomed", [False, True])
def test_what_has_one_value_is_not_zoomed(zoomed: bool, name: str):
    """From 1 part in 10,000 on values differ."""
    other = {"one pair": -13.5, "two that nearly agree": -13.5013, "two that differ": -13.5014}[name]
    chart = Chart(title="t", unit="%", bars=(Bar(name="1", value=-13.5), Bar(name="All", value=other)), is_dots=True)
    found = read_chart(curve_chart(chart, 80, 24, colour=False, zoomed=zoomed))
    is_zoomed = name == "two that differ" and not zoomed
    assert (max(found.ticks.values()) == 0) is not is_zoomed
    assert all(len(label) <= 5 for label in map(str, found.ticks.values())) is not is_zoomed


def test_a_negative_tick_has_the_minus_of_the_tables():
    chart = Chart(title="t", unit="%", bars=(Bar(name="1", value=-13.5), Bar(name="2", value=-3.0)), is_dots=True)
    text = curve_chart(chart, 80, 24, colour=False, zoomed=True)
    assert "−15" in text or "−14" in text
    assert "-1" not in text
