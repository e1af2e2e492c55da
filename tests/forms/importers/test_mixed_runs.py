"""Runs of several measurements in one table: refused, since their average would be the speed of none."""

import pytest

from app.base.targets import parse_target
from forms.importers.filled_form import FormDefaults
from storage.json_reader import DocumentError
from tests.builders import read_series

GIVEN = FormDefaults(target_of=parse_target)


def table(heading: str, *values: str) -> bytes:
    rows = [f"{number};{value};1000;2,5" for number, value in enumerate(values, start=1)]
    return "\n".join([f"Run No;{heading};Size in Bytes;Time (sec)", *rows]).encode()


@pytest.mark.parametrize(
    ("heading", "values"),
    [
        ("Server", ("old", "new")),
        ("Protokoll", ("SMB", "FTP", "SMB")),
        ("Operation", ("read", "read", "write")),
        ("Test", ("read", "write")),
        ("Phase", ("warm-up", "measured")),
        ("Threads", ("1", "4")),
        ("Cable", ("copper", "fibre", "copper")),
        ("Result", ("ok", "failed", "ok")),
    ],
)
def test_a_column_that_tells_runs_apart_is_refused(heading: str, values: tuple[str, ...]):
    with pytest.raises(DocumentError, match=rf"^line \d: the column '{heading}' has"):
        read_series(table(heading, *values), GIVEN)


@pytest.mark.parametrize(
    ("heading", "values"),
    [
        ("Server", ("old", "OLD", "old")),
        ("Server", ("old", "", "")),
        ("Remark", ("cold", "warm", "cold")),
        ("Bemerkung", ("kalt", "warm", "warm")),
        ("Weekday", ("Monday", "Tuesday", "Monday")),
        ("File", ("a.iso", "b.iso", "c.iso")),
        ("CPU %", ("12", "13", "12")),
    ],
)
def test_other_columns_are_left_out(heading: str, values: tuple[str, ...]):
    (series,) = read_series(table(heading, *values), GIVEN)
    assert len(series.runs) == len(values)


HEADINGS = "Run No;Size in Bytes;Time (sec)"


def test_lines_above_each_group_of_runs_are_refused():
    with pytest.raises(DocumentError, match=r"^line 4: 'by FTP' begins other runs than 'by SMB'"):
        read_series(f"{HEADINGS}\nby SMB;;\n1;1000;2,5\nby FTP;;\n2;1000;4,5\n".encode(), GIVEN)


@pytest.mark.parametrize(
    "lines",
    ["by SMB;;\n1;1000;2,5\n2;1000;2,6", "1;1000;2,5\n(a pause)\n2;1000;2,6", "by SMB\n1;1000;2,5\n2;1000;2,6\ndone"],
)
def test_a_single_line_beside_the_runs_is_a_note(lines: str):
    (series,) = read_series(f"{HEADINGS}\n{lines}\n".encode(), GIVEN)
    assert [run.seconds for run in series.runs] == [2.5, 2.6]
    assert series.note
