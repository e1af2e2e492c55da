"""Forms as CSV (RFC 4180), all records of one length, UTF-8 with a byte order mark, or spreadsheets guess.
Formula-like text and text with a leading apostrophe get another one, so that removing it restores them.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from forms.layout import control_pictures
from forms.report import Field, Report, Role, own_remark, status_text

FORM = "Form"
TITLE = "Title"
STATUS, REMARK = "Status", "Remark"
ADVICE = "Advice"
_FORMULA_STARTS = frozenset(
    "=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
_GUARD = "'"
_BLANKS = re.compile("[\\s\u200b\u200c\u200d\u2060\ufeff]*")

Value = str | int | float | None


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    """UTF-8, CR LF, an empty record between forms."""
    records = [record for index, report in enumerate(reports) for record in _records(report, first=index == 0)]
    fields = max(map(len, records))
    file = io.StringIO(newline="")
    rows = ([*map(_written, record), *[""] * (fields - len(record))] for record in records)
    csv.writer(file, lineterminator="\r\n").writerows(rows)
    return b"\xef\xbb\xbf" + file.getvalue().encode(errors="replace")


def guarded(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    start = _BLANKS.sub("", text, count=1)[:1]  # some spreadsheets look for a formula behind blanks
    return _GUARD + text if text[:1] in _FORMULA_STARTS or start in _FORMULA_STARTS or start == _GUARD else text


def unguarded(text: str) -> str:
    return text.removeprefix(_GUARD)


def _written(value: Value) -> str:
    if value is None or isinstance(value, str):
        return guarded("\r\n".join(map(control_pictures, value.split("\r\n")))) if value else ""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _records(report: Report, *, first: bool) -> Iterator[list[Value]]:
    if not first:
        yield []
    yield [FORM, report.form]
    yield [TITLE, "" if report.blank else report.title]
    yield from map(_field, report.fields)
    for table in report.tables:
        if table.caption:
            yield [table.caption]
        headings: list[Value] = [column.heading for column in table.columns]
        yield headings + ([STATUS, REMARK] if table.marked else [])
        for row in table.rows:
            beside: list[Value] = [status_text(row), own_remark(row)] if table.marked and row.role is Role.ENTRY else []
            yield [
                float(f"{cell.value:.15g}") if cell.formula and isinstance(cell.value, float) else cell.value
                for cell, _ in table.cells(row)
            ] + beside
    yield from map(_field, report.results)
    for text in report.advice:
        yield [ADVICE, text]


def _field(field: Field) -> list[Value]:
    values: list[Value] = [field.name, field.text]
    if field.number is not None:
        values += [field.number, field.unit]
    return values + [f"{name}={value}" for name, value in field.facts]
