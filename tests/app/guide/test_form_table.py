"""The table of the form while it fills in."""

import pytest

from app.guide.form_table import filling_table
from forms.exporters.text_tables import table_lines
from forms.series.run_table import run_table
from forms.series.summary import run_form
from tests.builders import series

MANY = run_form(series([1e8 + n for n in range(50)]))


def test_all_of_a_short_series_is_shown():
    few = run_form(series([1e8, 1.1e8]))
    assert filling_table(few, 110, 12).splitlines() == [*table_lines(run_table(few), 110, ansi=True)]


@pytest.mark.parametrize("height", [5, 8, 14, 40])
def test_the_oldest_runs_give_way_and_say_so(height):
    lines = filling_table(MANY, 110, height).splitlines()
    assert len(lines) == height
    assert "Bytes/sec" in lines[0]
    assert lines[2] == "⋮"
    assert "Deviation:" in lines[-1]
    if height > 6:
        assert lines[-4].lstrip().startswith("50 "), "the newest run stays"


def test_the_average_is_that_of_all_runs():
    average = next(line for line in table_lines(run_table(MANY), 110) if "Average:" in line)
    assert average.split() == next(x for x in filling_table(MANY, 110, 9).splitlines() if "Average:" in x).split()


def test_no_height_is_too_small():
    for height in (0, 1, 2, 3):
        assert filling_table(MANY, 110, height)
