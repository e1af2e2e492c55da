"""The decimal sign of a file: told by all of its numbers, or refused."""

import csv
import io
import itertools

import pytest

from app.base.targets import parse_target
from forms.importers.filled_form import FormDefaults
from forms.importers.numerals import DecimalSign
from storage.json_reader import DocumentError
from storage.records import Series
from tests.builders import book_series, export, full_series, read_series, series

GIVEN = FormDefaults(target_of=parse_target)
HEADINGS = ("Run No", "Size in Bytes", "Time (sec)", "Bytes/sec")


def table(*rows: tuple[str, ...], delimiter: str = "\t", headings: tuple[str, ...] = HEADINGS) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(headings[: len(rows[0]) + 1])
    writer.writerows([str(number), *row] for number, row in enumerate(rows, start=1))
    return text.getvalue()


def read(text: str, decimal_sign: DecimalSign | None = None) -> Series:
    given = FormDefaults(target_of=parse_target, size_bytes=1000, decimal_sign=decimal_sign)
    (only,) = read_series(text.encode(), given)
    return only


def seconds(text: str, decimal_sign: DecimalSign | None = None) -> list[float | None]:
    return [run.seconds for run in read(text, decimal_sign).runs]


@pytest.mark.parametrize("delimiter", ["\t", ";", ","])
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("268435456", "2,244"), ("", "2,235")], [2.244, 2.235]),
        ([("268435456", "2,24"), ("", "2,235")], [2.24, 2.235]),
        ([("268.435.456", "2,244"), ("", "2,235")], [2.244, 2.235]),
        ([("268,435,456", "2.244"), ("", "2.235")], [2.244, 2.235]),
        ([("268,435,456", "2,244.5"), ("", "2,235")], [2244.5, 2235.0]),
        ([("268.435.456", "2.244,5"), ("", "2.235")], [2244.5, 2235.0]),
        ([("268 435 456", "2,244"), ("", "12,235")], [2.244, 12.235]),
        ([("268\u00a0435\u00a0456", "2,244")], [2.244]),
        ([("268\u202f435\u202f456", "2,244")], [2.244]),
        ([("268\u2019435\u2019456", "2.244"), ("", "2.235")], [2.244, 2.235]),
        ([("268'435'456", "2,244")], [2.244]),
        ([("26,84,35,456", "2,244.5")], [2244.5]),
        ([("1.812", "0,305"), ("", "1.812,0")], [0.305, 1812.0]),
        ([("268435456", "0.305"), ("", "2.235")], [0.305, 2.235]),
    ],
)
def test_numbers_that_can_be_read_in_one_way_tell_the_others(
    delimiter: str, rows: list[tuple[str, ...]], expected: list[float]
):
    assert seconds(table(*rows, delimiter=delimiter)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("", "2,244", "445,632"), 2.244),  # 1000 bytes: 445.632 a second; not 445,632 in 2244 s
        (("1812898", "2,305", "786508"), 2.305),
        (("1812898", "2.305", "786508"), 2.305),
        (("1812898", "2.305", "786"), 2305.0),
        (("1812898", "2,305", "786"), 2305.0),
        (("1812898", "2,305", "786.508"), 2.305),
    ],
)
def test_a_time_is_read_so_that_it_agrees_with_size_and_rate(row: tuple[str, ...], expected: float):
    assert seconds(table(row)) == [pytest.approx(expected, rel=1e-3)]


def test_a_share_of_the_link_tells_too():
    text = "Link\t1 Gb/s\nRun No\tTime (sec)\t% of 1 Gb/s\n1\t4,488\t95,7\n"
    given = FormDefaults(target_of=parse_target, size_bytes=536870912)
    (only,) = read_series(text.encode(), given)
    assert only.runs[0].seconds == pytest.approx(4.488)
    headings = ("Run No", "Size in Bytes", "Time (sec)", "% of 1 Gb/s")
    assert seconds(table(("536 870 912", "4.488", "95"), headings=headings)) == pytest.approx([4.488])
    assert seconds(table(("536 870", "4.488", "0"), headings=headings)) == pytest.approx([4.488])


@pytest.mark.parametrize(
    ("rows", "delimiter"),
    [
        ([("", "2,244")], "\t"),
        ([("", "2.244")], "\t"),
        ([("", "2,244")], ","),
        ([("", "2.244")], ";"),
        ([("100", "2,244")], "\t"),  # a file of small numbers tells nothing about thousands
        ([("1812", "12,244")], "\t"),  # some group from five digits on
        ([("", "2,244", "445.632")], "\t"),
        ([("1812898", "", "788.216")], ","),
        ([("1812898", "", "788,216")], ";"),
    ],
)
def test_a_file_that_leaves_it_open_is_refused_unless_it_is_told(rows: list[tuple[str, ...]], delimiter: str):
    text = table(*rows, delimiter=delimiter)
    with pytest.raises(DocumentError, match=r"line 2: .* may be .*--decimal") as refusal:
        read(text)
    assert "\n" not in str(refusal.value)
    with_point = seconds(text, DecimalSign.POINT)
    with_comma = seconds(text, DecimalSign.COMMA)
    assert with_point != with_comma


def test_the_sign_that_is_told_is_for_what_the_file_leaves_open():
    text = table(("1812898", "2,5"), ("", "2,305"))
    for sign in (None, DecimalSign.COMMA):
        assert seconds(text, sign) == [2.5, 2.305]
    with pytest.raises(DocumentError, match=r"line 2: '2,5' cannot be read with --decimal \."):
        read(text, DecimalSign.POINT)
    assert seconds(table(("1812898", "2,5")), DecimalSign.POINT) == [2.5]
    # Size and separator only hint; who knows better is believed.
    hinted = table(("1812898", "2,305"), delimiter=";")
    assert seconds(hinted) == [2.305]
    assert seconds(hinted, DecimalSign.POINT) == [2305.0]


@pytest.mark.parametrize(
    "rows",
    [
        [("1812898", "2,3"), ("", "2.4")],
        [("1.812.898", "2.3")],
        [("1,812,898", "2,3")],
        [("1.812,5", "2"), ("", "1,812.5")],
    ],
)
def test_numbers_with_both_signs_are_refused(rows: list[tuple[str, ...]]):
    with pytest.raises(DocumentError, match="another decimal sign than"):
        read(table(*rows))


@pytest.mark.parametrize(
    ("times", "is_slip"),
    [
        (("2.29", "2,305", "2.31"), True),
        (("2,29", "2.305", "2,31"), True),
        (("2.2985", "2,305"), True),
        (("229.5", "2,305", "2,200"), False),  # an hour beside minutes
        (("2.29", "2,305.1"), False),
        (("29.5", "1,305"), True),
        (("70.5", "1,305"), False),
    ],
)
def test_a_time_that_is_1000_times_the_others_by_its_sign_is_refused(times: tuple[str, ...], is_slip: bool):
    text = table(*[("1812898", time) for time in times])
    if is_slip:
        with pytest.raises(DocumentError, match=r"line \d: .* is far from the other runs"):
            read(text)
    else:
        assert len(seconds(text)) == len(times)


@pytest.mark.parametrize(
    ("row", "meant", "sign"),
    [
        (("1.812.898", "2.305"), 2305.0, DecimalSign.COMMA),
        (("1,812,898", "2,305"), 2305.0, DecimalSign.POINT),
    ],
)
def test_a_speed_that_no_server_has_is_asked_for(row: tuple[str, ...], meant: float, sign: DecimalSign):
    with pytest.raises(DocumentError, match=r"line 2: .* bytes/sec: if it is meant so"):
        read(table(row))
    assert seconds(table(row), sign) == [meant]
    with pytest.raises(DocumentError, match="cannot be read with --decimal"):
        read(table(row), sign.other)
    # A rate beside it says that it is meant; a larger file takes as long.
    assert seconds(table((*row, f"{1812898 / meant:.0f}"))) == [pytest.approx(meant, rel=1e-2)]
    larger = (row[0] + (".000" if sign is DecimalSign.COMMA else ",000"), row[1])
    assert seconds(table(larger)) == [meant]


@pytest.mark.parametrize("text", ["2 3", "1,23,4", "1.2.3", "12 34", "1'2", "1,,234", "2.3 x", "1_000", "1,2345,678"])
def test_what_no_country_writes_is_no_number(text: str):
    with pytest.raises(DocumentError, match="expected a number above 0"):
        read(table(("1812898", text)))


@pytest.mark.parametrize("delimiter", ["\t", ";", ","])
def test_a_semicolon_and_a_comma_in_a_heading_or_a_title_decide_nothing(delimiter: str):
    head = f"One, two; three\nNote{delimiter}fast; cheap\n"
    assert seconds(head + table(("1812898", "2,5"), ("", "2,305"), delimiter=delimiter)) == [2.5, 2.305]


def test_what_we_exported_is_read_with_points_whatever_its_decimals():
    for times in itertools.product((2.305, 12.125, 100.75, 3.0), repeat=2):
        exported = series([1_000_000 / time for time in times], size_bytes=1_000_000, warmups=0)
        (again,) = read_series(export([exported], "csv"), GIVEN)
        assert [run.seconds for run in again.runs] == [run.seconds for run in exported.runs]
    for exported in (full_series(), book_series()):
        (again,) = read_series(export([exported], "csv"), GIVEN)
        assert [run.seconds for run in again.runs] == [run.seconds for run in exported.runs]


def test_our_form_saved_again_by_a_german_spreadsheet_has_its_numbers():
    lines = csv.reader(io.StringIO(export([book_series()], "csv").decode("utf-8-sig")))
    saved = io.StringIO()
    writer = csv.writer(saved, delimiter=";")
    for line in lines:
        is_row = line and line[0].strip(":") in {"1", "2", "3", "4", "5", "Average", "Deviation"}
        writer.writerow([cell.replace(".", ",") for cell in line] if is_row else line)
    (again,) = read_series(saved.getvalue().encode(), GIVEN)
    assert [run.seconds for run in again.runs] == [run.seconds for run in book_series().runs]
    assert again.link_bits_per_second == 10**7


@pytest.mark.parametrize(
    ("link", "row", "bits_per_second"),
    [
        ("2.5 Gb/s", ("1812898", "2,5"), 2_500_000_000),
        ("2,5 Gb/s", ("1812898", "2.5"), 2_500_000_000),
        ("1.000 Mb/s", ("1812898", "2,5"), 1_000_000_000),
        ("1,000 Mb/s", ("1812898", "2.5"), 1_000_000_000),
        ("1.000 Gb/s", ("1812898", "2.5"), 1_000_000_000),
        ("1 000 Mb/s", ("1812898", "2"), 1_000_000_000),
        ("1.000.000.000", ("1812898", "2"), 1_000_000_000),
        ("1000000000", ("1812898", "2,5"), 1_000_000_000),
    ],
)
def test_the_link_is_read_by_itself_or_as_the_table(link: str, row: tuple[str, ...], bits_per_second: int):
    assert read(f"Link\t{link}\n" + table(row)).link_bits_per_second == bits_per_second


def test_a_link_that_may_be_two_is_refused():
    with pytest.raises(DocumentError, match="may be two rates"):
        read("Link\t1,000 Mb/s\n" + table(("1812898", "2")))


@pytest.mark.parametrize(
    ("heading", "answer"),
    [
        ("Bytes (10^6)", "expected a form"),
        ("Bytes/sec x1000", "expected a form"),
        ("Time (1/10 s)", "expected a form"),
        ("MB/s", "MB/s may be 1,000,000 or 1,048,576 bytes"),
    ],
)
def test_a_heading_in_an_unknown_unit_is_none_of_the_form(heading: str, answer: str):
    with pytest.raises(DocumentError, match=answer):
        read(f"Run No\tSize in Bytes\t{heading}\n1\t1812898\t2.3\n")
    kept = read(f"Run No\tSize in Bytes\tTime (sec)\t{heading}\n1\t1812898\t2.3\t99\n")
    assert heading in str(kept.environment)
