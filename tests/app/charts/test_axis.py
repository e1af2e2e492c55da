"""The seconds below an area."""

import pytest

from app.charts.series_charts import area_chart
from forms.report import Bar, Chart
from tests.app.charts.reading import plain


@pytest.mark.varied
@pytest.mark.parametrize("until", [0.0072, 0.1071, 1.0, 10.04, 104.26])
def test_no_moment_is_named_twice(until: float):
    places = tuple(until * part / 4 for part in range(5))
    chart = Chart(title="CPU", unit="%", bars=tuple(Bar(name="", value=50.0) for _ in places), places=places)
    for width in range(40, 300, 4):
        seconds = area_chart(chart, width, 12, until=until).splitlines()[-2].replace(" s", "").split()
        assert len(set(seconds)) == len(seconds) > 1


def test_areas_one_below_another_begin_at_the_same_place():
    charts = [
        Chart(title="t", unit="requests/s", bars=(Bar(name="", value=value),) * 2, places=(0.0, 1.0))
        for value in (1.0, 9.4, 987.0, 12_345.0)
    ]
    corners = {plain(area_chart(chart, 80, 12)).splitlines()[-3].index("└") for chart in charts}
    assert corners == {5}
