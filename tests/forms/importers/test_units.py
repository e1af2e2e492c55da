"""Units in headings and cells: read where they name their factor, refused by name where they do not."""

import pytest

from app.base.targets import parse_target
from forms.importers import units
from forms.importers.filled_form import FormDefaults
from forms.importers.paper_columns import PaperColumn
from forms.series.summary import TIME_ROUNDING
from storage.json_reader import DocumentError
from storage.records import Series
from tests.builders import read_series

GIVEN = FormDefaults(target_of=parse_target)


def read(*lines: str) -> Series:
    (series,) = read_series("\n".join(lines).encode(), GIVEN)
    return series


@pytest.mark.parametrize(
    ("name", "column", "factor"),
    [
        ("MiB", PaperColumn.SIZE, 2**20),
        ("KiB/s", PaperColumn.RATE, 2**10),
        ("GiB/sec", PaperColumn.RATE, 2**30),
        ("10^6 Bytes/s", PaperColumn.RATE, 10**6),
        ("Bytes", PaperColumn.SIZE, 1),
        ("Mbit/s", PaperColumn.BITS, 10**6),
        ("mbit/s", PaperColumn.BITS, 10**6),
        ("Mb/s", PaperColumn.BITS, 10**6),
        ("Gbps", PaperColumn.BITS, 10**9),
        ("Mibit/s", PaperColumn.BITS, 2**20),
        ("ms", PaperColumn.TIME, 1e-3),
        ("\N{GREEK SMALL LETTER MU}s", PaperColumn.TIME, 1e-6),
        ("min", PaperColumn.TIME, 60),
    ],
)
def test_a_unit_with_an_exact_factor(name: str, column: PaperColumn, factor: float):
    assert units.unit_named(name) == units.ExactUnit(column, factor)
    assert not units.is_uncertain(name)


@pytest.mark.parametrize("name", ["MB", "kB", "KB/s", "MB/s", "mb/s", "mbps", "MBps", "GB", "G", "mib", "B/S"])
def test_a_unit_that_programs_understand_in_two_ways(name: str):
    assert units.unit_named(name) is None
    assert units.is_uncertain(name)


@pytest.mark.parametrize(
    ("headings", "row", "size", "seconds"),
    [
        ("Run;Size (MiB);Time (ms)", "1;512;4400", 2**29, 4.4),
        ("Run;Size;Time", "1;512 MiB;4,4 s", 2**29, 4.4),
        ("Run;Size in Bytes;MiB/s", "1;104857600;50,0", 104857600, 2.0),
        ("Run;Size in Bytes;Throughput [Mbit/s]", "1;100000000;400,0", 10**8, 2.0),
        ("Run;Size in Bytes;Bits/sec", "1;100000000;400 Mbps", 10**8, 2.0),
        ("Run;Size in Bytes;min;Time (min)", "1;100000000;9;2", 10**8, 120.0),
        ("Run;Size (MiB);Size in Bytes;Time (sec)", "1;95;100000000;2,0", 10**8, 2.0),
        ("Run;Size;Time\n;MiB;ms", "1;512;4400", 2**29, 4.4),
        ("Run;Size;Duration (s)\n;bytes;", "1;100000000;2,0", 10**8, 2.0),
    ],
)
def test_figures_in_units_are_the_same_run(headings: str, row: str, size: int, seconds: float):
    (run,) = read(headings, row).runs
    assert run.size_bytes == size
    assert run.seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("headings", "row", "named"),
    [
        ("Run;Size (MB);Time (sec)", "1;512;4,4", "'Size .MB.'"),
        ("Run;Size in Bytes;MB/s", "1;100000000;95,3", "'MB/s'"),
        (
            "Run;Size in Bytes;Bytes/sec",
            "1;100000000;95,3 MB/s",
            "line 2: Bytes/sec: MB/s may be 1,000,000 or 1,048,576",
        ),
        ("Run;Size;Time\n;MB;ms", "1;512;4400", "'Size .MB.'"),
        ("Run;Size;Time", "1;512 GB;4400", "1,073,741,824"),
        ("Run;Size (MiB);Time (sec)", "1;51,2;4,4", "is rounded"),
        ("Run;Size;Time", "1;512 MiB;4,4\n2;512;4,4", "line 3: '512' has another unit than '512 MiB'"),
    ],
)
def test_a_figure_whose_factor_is_open_is_refused_by_its_unit(headings: str, row: str, named: str):
    with pytest.raises(DocumentError, match=named):
        read(headings, row)


def test_a_rate_in_an_open_unit_beside_times_is_left_out_by_name():
    series = read("Run;Size in Bytes;Time (sec);Speed (MB/s)", "1;100000000;2,0;50")
    assert series.runs[0].seconds == 2.0
    assert "Speed (MB/s)" in str(series.environment)


@pytest.mark.parametrize(
    ("heading", "size", "is_read"), [("Size", 44_000, True), ("Size", 43_999, False), ("Size in Bytes", 512, True)]
)
def test_a_size_without_a_unit_that_can_hardly_be_bytes_is_asked_for(heading: str, size: int, is_read: bool):
    lines = (f"Run;{heading};Time", f"1;{size};4,4")
    if is_read:
        assert read(*lines).runs[0].size_bytes == size
        return
    with pytest.raises(DocumentError, match="name its unit"):
        read(*lines)


def test_a_rate_is_known_no_better_than_it_is_printed():
    series = read("Run;Size in Bytes;MiB/s", "1;104857600;50", "2;104857600;50")
    assert series.environment["client"][TIME_ROUNDING] == pytest.approx(2.0 * 0.5 / 50)
    assert "client" not in read("Run;Size in Bytes;Bytes/sec", "1;104857600;52428800").environment
