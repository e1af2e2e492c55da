"""Forms as CSV (RFC 4180), for spreadsheets and to be imported again.

All records have the same number of cells, and the file begins with a byte order mark, or else spreadsheets guess
wrongly. Text that a spreadsheet would take for a formula gets an apostrophe in front, and so does text that begins
with one: to remove one restores each.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from forms.layout import control_pictures
from forms.report import Cell, Field, Report, Role, own_remark, status_text

FORM = "Form"
TITLE = "Title"
STATUS = "Status"
REMARK = "Remark"
ADVICE = "Advice"
_FORMULA_STARTS = frozenset(
    "=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
_GUARD = "'"
_BLANKS = re.compile("[\\s\u200b\u200c\u200d\u2060\ufeff]*")

Value = str | int | float | None


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    """UTF-8, CR LF, an empty record between forms."""
    records: list[list[Value]] = []
    for report in reports:
        if records:
            records.append([])
        records += _records(report)

    length = max(map(len, records))
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    for record in records:
        filling = [""] * (length - len(record))
        writer.writerow([*map(_cell, record), *filling])
    # Excel takes a file for UTF-8 only behind this mark.
    return b"\xef\xbb\xbf" + file.getvalue().encode(errors="replace")


def guarded(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    # Some spreadsheets look for a formula behind blanks.
    start = _BLANKS.sub("", text, count=1)[:1]
    needs_guard = text[:1] in _FORMULA_STARTS or start in _FORMULA_STARTS or start == _GUARD
    return _GUARD + text if needs_guard else text


def unguarded(text: str) -> str:
    return text.removeprefix(_GUARD)


def _cell(value: Value) -> str:
    if not value and not isinstance(value, (int, float)):
        return ""
    if isinstance(value, str):
        return guarded("\r\n".join(map(control_pictures, value.split("\r\n"))))
    # Beyond 10^15 a float no longer holds each whole number.
    is_whole = value == int(value) and abs(value) < 1e15
    return str(int(value)) if is_whole else repr(value)


def _records(report: Report) -> Iterator[list[Value]]:
    yield [FORM, report.form]
    yield [TITLE, "" if report.blank else report.title]
    yield from map(_field, report.fields)

    for table in report.tables:
        if table.caption:
            yield [table.caption]
        headings: list[Value] = [column.heading for column in table.columns]
        yield headings + ([STATUS, REMARK] if table.marked else [])

        for row in table.rows:
            values = [_value(cell) for cell, _ in table.cells(row)]
            if table.marked and row.role is Role.ENTRY:
                values += [status_text(row), own_remark(row)]
            yield values

    yield from map(_field, report.results)
    for text in report.advice:
        yield [ADVICE, text]


def _value(cell: Cell) -> Value:
    """The last digits of what was computed are rounding, which differs between machines."""
    if cell.formula and isinstance(cell.value, float):
        return float(f"{cell.value:.15g}")
    return cell.value


def _field(field: Field) -> list[Value]:
    values: list[Value] = [field.name, field.text]
    if field.number is not None:
        values += [field.number, field.unit]
    return values + [f"{name}={value}" for name, value in field.facts]
