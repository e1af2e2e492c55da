"""The table of a load's points, and what is told of each: without requests there are sessions alone."""

import pytest

from forms.exporters.text_tables import table_lines
from forms.load.tables import points_table
from forms.load.wording import point_text
from storage.load.records import LoadPoint, RequestKind, Scenario


@pytest.mark.parametrize("width", [80, 72])
def test_the_headings_of_a_load_without_requests_stay_whole(width: int):
    points = [LoadPoint(number=number, users=users, connected=users) for number, users in enumerate((5, 10, 2000))]
    lines = list(table_lines(points_table(points, Scenario(name="idle")), width))
    headings = " ".join(lines[: next(index for index, line in enumerate(lines) if line.startswith("─"))])
    for word in ("Users", "Logged", "Read", "Write", "Errors"):
        assert word in headings


def test_a_point_without_requests_tells_its_sessions():
    point = LoadPoint(number=1, users=5, connected=5)
    assert point_text(point, Scenario(name="idle")) == "5 users: 5 sessions without requests"
    office = Scenario(name="office", requests={RequestKind.READ: 1.0})
    assert point_text(point, office) == "5 users: no request was answered"
