"""Finds the forms in a CSV file, and puts each of their lines where it belongs.

Files come from our own export and from people's spreadsheets: cells may be separated by commas, semicolons or tabs.
Each form begins with a line ``Form,run form``, or, as people write it, with its table. Above the table stand fields
(``Target,…``), below its headings the runs, their average and their deviation.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from forms.exporters.csv import FORM, unguarded
from forms.importers import form_rows
from forms.importers.form_rows import PaperColumn
from forms.series.report import FORM as RUN_FORM
from storage import json_reader

_STATISTICS = ("Average", "Deviation")
_MOST_LINES_ABOVE = 200
_MOST_BYTES_ABOVE = 2**20
"""How far down the headings of the table are looked for, to know what separates the cells."""

MOST_LINES = 2_000_000
_MOST_CELLS = 10_000
"""In one line."""

RUN_NAME = re.compile(r"([Ww]?)(\d+)")
"""The first cell of a run: ``3``, or ``W1`` for a warm-up run."""


@dataclass
class FilledForm:
    """The cells of one form: its fields by name, and the rows of its table, not read any further."""

    line: int
    """Where it begins, for errors."""
    decimal_comma: bool
    fields: dict[str, list[str]] = field(default_factory=dict)
    """The cells behind each name above the table: a text, and the facts of what we exported."""
    headings: list[str] = field(default_factory=list)
    """Of the table, as column names; empty until it begins."""
    link_heading: str = ""
    """The one that ends in the rate of the link, such as ``% of 1 Gb/s``, as it is printed."""
    runs: list[tuple[int, list[str]]] = field(default_factory=list)
    """With the numbers of their lines."""
    statistics: dict[str, list[str]] = field(default_factory=dict)

    def begin_table(self, headings: list[str], record: list[str]) -> None:
        self.headings = headings
        self.link_heading = next((cell for cell in record if cell.strip().startswith("%")), "")

    def add(self, line: int, record: list[str]) -> None:
        """Take a line that is no heading: a field above the table; below it a run, or a statistic, or nothing."""
        first = record[0].strip()
        name = first.rstrip(":")
        if not self.headings:
            self.fields[name] = record[1:]
        elif RUN_NAME.fullmatch(first):
            self.runs.append((line, record))
        elif name in _STATISTICS:
            self.statistics.setdefault(name, record)

    def text(self, name: str) -> str:
        """The first cell of a field, empty where there is none."""
        return next(iter(self.fields.get(name, ())), "")

    def facts(self, name: str) -> json_reader.JSONNode:
        """The cells behind a field's text, each written ``name=value``."""
        pairs = (cell.partition("=") for cell in self.fields.get(name, ())[1:])
        return json_reader.JSONNode(name, {key: value for key, sign, value in pairs if sign})

    def row(self, line: int, record: list[str]) -> form_rows.FormRow:
        return form_rows.FormRow(line, self.headings, record, self.decimal_comma)

    def statistic(self, name: str) -> form_rows.RowNumbers:
        return self.row(self.line, self.statistics.get(name, [])).numbers()


def forms_in(content: bytes) -> list[FilledForm]:
    """The forms of a CSV file. Raises DocumentError, naming the line, also where there is none."""
    delimiter = _delimiter_of(content)
    if max(content.count(b"\n"), content.count(b"\r")) > MOST_LINES:
        raise json_reader.DocumentError(f"it has more than {MOST_LINES:,} lines: export fewer series to a file")

    # Who separates cells by semicolons writes decimal commas.
    forms = list(_forms(delimiter == ";", _records_of(content, delimiter)))
    if not forms:
        raise json_reader.DocumentError(f"line 1: expected a form (a record {FORM},{RUN_FORM}), or a series document")
    return forms


def _delimiter_of(content: bytes) -> str:
    """What separates the headings of the table, or the cells of the first line."""
    lines = content[:_MOST_BYTES_ABOVE].splitlines() or [b""]
    headings = (line for line in lines[:_MOST_LINES_ABOVE] if re.match(rb"\W*run\b", line, re.IGNORECASE))
    text = next(headings, lines[0]).decode("latin-1")
    return max(",;\t", key=text.count)


def _records_of(content: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the line, cells) of each record."""
    # What we exported has notes of any length.
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader = csv.reader(_short_enough(lines, delimiter), delimiter=delimiter)
    try:
        for record in reader:
            yield reader.line_num, [unguarded(value) for value in record]
    except csv.Error as error:
        raise json_reader.DocumentError(f"line {reader.line_num}: not CSV: {error}") from error


def _short_enough(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """The lines. Raises DocumentError for one of very many cells, before the CSV reader takes memory for them."""
    for number, line in enumerate(lines, start=1):
        if line.count(delimiter) > _MOST_CELLS:
            raise json_reader.DocumentError(f"line {number}: more than {_MOST_CELLS:,} cells, which no form has")
        yield line


def _forms(decimal_comma: bool, numbered: Iterable[tuple[int, list[str]]]) -> Iterator[FilledForm]:
    """The forms in a file: one begins with its own line (``Form,…``), or, as people write it, with its table."""
    form: FilledForm | None = None
    for line, record in numbered:
        first = record[0].strip() if record else ""
        if not first:
            continue

        if first == FORM:
            if form:
                yield form
            form = _begin_form(line, record, decimal_comma)
            continue

        headings = _table_headings(record)
        if headings and form and form.headings:
            # A second table of runs is a form of its own, though no line begins it.
            yield form
            form = None
        if headings:
            form = form or FilledForm(line, decimal_comma)
            form.begin_table(headings, record)
        elif form:
            form.add(line, record)
    if form:
        yield form


def _begin_form(line: int, record: list[str], decimal_comma: bool) -> FilledForm:
    if record[1:2] != [RUN_FORM]:
        raise json_reader.DocumentError(f"line {line}: expected a {RUN_FORM}, found {' '.join(record[1:2])!r}")
    return FilledForm(line, decimal_comma)


def _table_headings(record: list[str]) -> list[str]:
    """The headings of a table of runs; empty for any other record."""
    headings = form_rows.columns_of_headings(record)
    has_times = PaperColumn.TIME in headings or PaperColumn.RATE in headings
    return headings if headings[0] == PaperColumn.RUN and has_times else []
