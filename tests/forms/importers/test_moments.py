"""Dates as other countries write them: the day that is meant, or refused; never the day of the import."""

import pytest

from app.base.targets import parse_target
from forms.importers.filled_form import FormDefaults
from forms.importers.moments import is_day_first, moment_in
from storage.json_reader import DocumentError
from storage.records import utc_now
from tests.builders import read_series

GIVEN = FormDefaults(target_of=parse_target)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-03-04 10:00", "2025-03-04T10:00"),
        ("2025-3-4", "2025-03-04T00:00"),
        ("2025/03/04 10:00", "2025-03-04T10:00"),
        ("2025.03.04", "2025-03-04T00:00"),
        ("2025-03-04T10:00:30+05:30", "2025-03-04T04:30"),
        ("2025-03-04 23:30 -0200", "2025-03-05T01:30"),
        ("04.03.2025 10:00", "2025-03-04T10:00"),
        ("4. 3. 2025", "2025-03-04T00:00"),
        ("31.03.25 10.15 Uhr", "2025-03-31T10:15"),
        ("24.03.25", None),
        ("25/03/2025", "2025-03-25T00:00"),
        ("3/25/2025 9:05 PM", "2025-03-25T21:05"),
        ("3/25/25 12:05 a.m.", "2025-03-25T00:05"),
        ("25-03-2025 9:05", "2025-03-25T09:05"),
        ("03/03/2025", "2025-03-03T00:00"),
        ("4 Mar 2025", "2025-03-04T00:00"),
        ("4th of March", None),
        ("March 4th, 2025 at 10:00", "2025-03-04T10:00"),
        ("4. März 2025 um 10:00", "2025-03-04T10:00"),
        ("4 mars 2025 à 10h30", "2025-03-04T10:30"),
        ("4 de marzo de 2025", "2025-03-04T00:00"),
        ("04-Okt-2024", "2024-10-04T00:00"),
        ("Tue Mar  4 10:00:12 UTC 2025", "2025-03-04T10:00"),
        ("Tue Mar  4 10:00:12 CET 2025", "2025-03-04T09:00"),
        ("Tue Mar  4 10:00:12 -03 2025", "2025-03-04T13:00"),
        ("Di 4. Mär 10:00:12 MEZ 2025", "2025-03-04T09:00"),
        ("Tue Mar 04 2025 10:00:12 GMT+0100 (Central European Standard Time)", "2025-03-04T09:00"),
        ("2025-03-04 10:00 AM PST", "2025-03-04T18:00"),
        ("2025-03-04 10:00 UTC+1", "2025-03-04T09:00"),
        ("2025-03-04 10:00 +01", "2025-03-04T09:00"),
        ("2025-03-04 10:00 \N{MINUS SIGN}08:00", "2025-03-04T18:00"),
        ("04.03.2025 10:00 Uhr MESZ", "2025-03-04T08:00"),
        ("2025-03-04 10:00 by night", "2025-03-04T10:00"),
        ("2025-03-04 10:00 CST", None),
        ("2025-03-04 10:00 IST", None),
        ("2025-03-04 10:00 Europe/Berlin", None),
        ("2025-03-04 10:00 local time", None),
        ("2025-03-04 10:00 +14:00", "2025-03-03T20:00"),
        ("2025-03-04 10:00 +14:01", None),
        ("2025-03-04 10:00-09:30", "2025-03-04T19:30"),
        ("2025-03-04 10:00-10:00", None),
        ("2025-03-04T10:00-10:00", "2025-03-04T20:00"),
        ("Tuesday, March 4, 2025 10:00:12 AM", "2025-03-04T10:00"),
        ("10:00 04.03.2025", "2025-03-04T10:00"),
        ("11/01/99", None),
        ("31.12.99", "1999-12-31T00:00"),
        ("03/04/2025", None),
        ("3-4-2025", None),
        ("10/11/12", None),
        ("04.13.2025", None),
        ("31.02.2025", None),
        ("2025-13-04", None),
        ("04.03.2025 24:30", None),
        ("04.03.2025 1000", None),
        ("45720", None),
        ("yesterday", None),
        ("March 2025", None),
        ("jui 3, 2025", None),
    ],
)
def test_a_date_is_the_one_that_can_be_meant_or_refused(text: str, moment: str | None):
    form = f'Measured,"{text}"\nRun No,Size in Bytes,Time (sec)\n1,2000,2.5\n'
    if moment is None:
        with pytest.raises(DocumentError, match=r"^Measured: ") as refusal:
            read_series(form.encode(), GIVEN)
        assert "\n" not in str(refusal.value)
        return
    (series,) = read_series(form.encode(), GIVEN)
    assert series.created_at[:16] == moment


@pytest.mark.parametrize(
    ("others", "first"), [(["25/03/2025"], True), (["3/25/2025"], False), (["25.03.2025"], True), ([], None)]
)
def test_another_date_of_the_file_tells_the_order(others: list[str], first: bool | None):
    assert is_day_first(["03/04/2025", *others, "", "05/05/2025"]) is first
    assert is_day_first(["25/03/2025", "3/25/2025"]) is None
    if first is None:
        return
    assert moment_in("03/04/2025", first)[:10] == ("2025-04-03" if first else "2025-03-04")
    table = "Run No;Size in Bytes;Time (sec)\n1;2000;2,5\n"
    form = "\n".join(f"\nDate;{date}\n{table}" for date in ("03/04/2025", *others))
    found = read_series(form.encode(), GIVEN)
    assert [series.created_at[:7] for series in found] == ["2025-04" if first else "2025-03", "2025-03"]


@pytest.mark.parametrize("head", ["", "Measured;", "Measured;-", "Measured;unknown"])
def test_a_form_without_a_date_is_of_now(head: str):
    (series,) = read_series(f"{head}\nRun No;Size in Bytes;Time (sec)\n1;2000;2,5\n".encode(), GIVEN)
    assert series.created_at[:10] == utc_now()[:10]


@pytest.mark.parametrize(
    "line",
    ["Date;04.03.2025", "datum: 04.03.2025", "MEASURED ON;;04.03.2025", "Measured;04.03.2025;10:00", ";Date;4.3.2025"],
)
@pytest.mark.parametrize("where", ["above", "below"])
def test_the_field_of_the_date_however_it_is_written(line: str, where: str):
    table = "Run No;Size in Bytes;Time (sec)\n1;2000;2,5"
    form = f"{line}\n{table}" if where == "above" else f"{table}\n\n{line}"
    (series,) = read_series(form.encode(), GIVEN)
    assert series.created_at[:10] == "2025-03-04"
    assert series.created_at[11:13] == ("10" if "10:00" in line else "00")


@pytest.mark.parametrize("date", ["31/01/2569", "2526-01-31", "1900-01-00", "1899-12-30", "1904-01-01", "31.12.2099"])
def test_a_day_on_which_nobody_measured_is_refused(date: str):
    with pytest.raises(DocumentError, match=r"^Measured: "):
        read_series(f"Measured;{date}\nRun No;Size in Bytes;Time (sec)\n1;1000;2,5\n".encode(), GIVEN)


@pytest.mark.parametrize("date", ["31/01/1999", "1990-01-01"])
def test_a_day_of_the_book_is_read(date: str):
    (series,) = read_series(f"Measured;{date}\nRun No;Size in Bytes;Time (sec)\n1;1000;2,5\n".encode(), GIVEN)
    assert series.created_at[:4] == date.replace("/", "-").split("-")[0 if date.startswith("1990") else 2]
