"""The charts of a load: requests/s, the 95th percentile (p95) and the server's processors over the number of users."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from forms.load import summary
from forms.load.comparison import milliseconds
from forms.load.tables import MARKS, point_name
from forms.report import Bar, Chart
from forms.stats.distributions import student_t
from forms.stats.summary import LEVEL, confidence_interval
from storage.load.records import LoadPoint

_ValueWithInterval = tuple[float | None, tuple[float, float] | None]
"""What is drawn of a point: a value, and its 95 % interval; None for what is not known."""


def load_charts(points: Sequence[LoadPoint]) -> Iterator[Chart]:
    """Requests/s, p95 and server CPU over users, with their intervals; charts of one bar are left out."""
    if not any(point.requests for point in points):
        return

    for title, unit, source, value_of in _CHARTS:
        bars = []
        for point in points:
            value, interval = value_of(point)
            bars.append(Bar(name=point_name(point), value=value, interval=interval, mark=MARKS[point.status]))

        drawn = [bar for bar in bars if bar.value]
        if len(drawn) > 1:
            chart = Chart(title=title, unit=unit, bars=tuple(bars), source=source, in_text=True)
            yield replace(chart, title=f"{title}, with 95 % intervals") if chart.has_intervals else chart


def _requests_per_second(point: LoadPoint) -> _ValueWithInterval:
    return point.requests_per_second, confidence_interval(point.slice_rates)


def _p95_milliseconds(point: LoadPoint) -> _ValueWithInterval:
    ends = summary.percentile_interval(point.response, 0.95)
    return milliseconds(point.response, 0.95), ends and (1000 * ends[0], 1000 * ends[1])


def _processors_percent(point: LoadPoint) -> _ValueWithInterval:
    if point.server is None:
        return None, None

    total = point.server.total_percent
    samples = point.server.samples
    # Readings that all agree are of too short a time.
    if not total.deviation or samples < 2:
        return total.mean, None

    half = student_t(LEVEL, samples - 1) * total.deviation / math.sqrt(samples)
    return total.mean, (max(0.0, total.mean - half), min(100.0, total.mean + half))


_CHARTS: tuple[tuple[str, str, tuple[int, int], Callable[[LoadPoint], _ValueWithInterval]], ...] = (
    ("Requests a second over users", "requests/s", (0, 2), _requests_per_second),
    ("p95 of the response over users", "ms", (0, 8), _p95_milliseconds),
    ("The server's processors over users", "%", (1, 3), _processors_percent),
)
"""(title, unit, table and column where the numbers stand, what is drawn of a point)"""
