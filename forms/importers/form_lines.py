"""Finds the forms in a CSV file, and puts each of their lines where it belongs.

Files come from our own export and from people's spreadsheets: cells may be separated by commas, semicolons or tabs.
Each form begins with a line ``Form,run form``, or, as people write it, with what stands above its table. Above the
table stand fields (``Target,…``), below its headings the runs, their average and their deviation.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from forms.exporters import csv as csv_form
from forms.importers import form_rows, pasted, units
from forms.importers.numerals import DecimalSign
from forms.importers.paper_columns import PaperColumn
from forms.importers.run_names import run_name_in
from forms.layout import visible
from forms.series.report import FORM as RUN_FORM
from storage import json_reader

_STATISTICS = {
    "Average": "average avg mean",
    "Deviation": "deviation standarddeviation stddev stdev stddeviation sd",
}
"""Names of rows below the runs as people write them, in small letters without blanks and signs."""

_FIELDS = {
    csv_form.TITLE: "title",
    "Label": "label",
    "Command": "command",
    "Target": "target",
    "Client": "client",
    "Link": "link linkspeed",
    "Measured": "measured measuredon measuredat date datum fecha when",
    "Experiment": "experiment",
    "Ended by": "endedby",
    "Note": "note notes remark remarks comment comments",
}
"""Names of fields above the table as people write them, in small letters without blanks and signs."""

_FIELDS_OF_ONE_CELL = frozenset({csv_form.TITLE, "Label", "Command", "Target", "Client", "Experiment", "Ended by"})
"""Fields of which people write nothing in further cells."""

_MOST_LINES_ABOVE = 200
_MOST_BYTES_ABOVE = 2**20
"""How far down the headings of the table are looked for, to know what separates the cells."""

_DELIMITERS = ",;\t"
_NAMES_OF_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}

TABLE_EXPECTED = "a table with the headings Run No, Size in Bytes, and Time (sec) or Bytes/sec"
"""What a form needs, for errors."""

MOST_LINES = 2_000_000
_MOST_CELLS = 10_000
"""In one line."""

_LONGEST_TITLE = 200
"""Characters of a first line that is taken for the form's title."""
_LONGEST_CITED = 40
"""Characters of a cell in an answer."""

_SERIES_ID = re.compile(r"series ([0-9a-f]{12})\b")
"""As a field says it to people; version 0.1.0 wrote no facts beside it, and a workbook has none."""

_END_OF_DOS = "\x1a"
"""Ctrl+Z, with which DOS ends a text."""
_BLANKS = f" \t\r\n\u00a0{_END_OF_DOS}"

_EXCELS_DELIMITER = re.compile(r"sep=.?", re.IGNORECASE)
"""A line with which a file tells Excel what separates its cells."""


def _names_by_spelling(spellings: dict[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, words in spellings.items():
        names |= dict.fromkeys(words.split(), name)
    return names


_STATISTIC_OF_SPELLING = _names_by_spelling(_STATISTICS)
_FIELD_OF_SPELLING = _names_by_spelling(_FIELDS)


def _folded(text: str) -> str:
    return re.sub(r"[\W_]", "", text[:_LONGEST_TITLE]).lower()


class NoForm(json_reader.DocumentError):
    """A text has no form at all, so that it may be a file of another kind."""


@dataclass
class FilledForm:
    """The cells of one form: its fields by name, and the rows of its table, not read any further."""

    line: int
    """Where it begins, for errors."""
    delimiter: str
    """What separates its cells."""
    decimal_sign: DecimalSign | None = None
    """What stands before the decimals of its numbers; None where no number tells, nor needs it."""
    fields: dict[str, list[str]] = field(default_factory=dict)
    """The cells behind each name above the table: a text, and the facts of what we exported."""
    headings: list[str] = field(default_factory=list)
    """Of the table, as column names with that of the run first; empty until it begins."""
    heading_units: dict[PaperColumn, units.ExactUnit] = field(default_factory=dict)
    """Of the columns whose headings name another unit than the form's: ``Size (MiB)``."""
    printed_headings: list[str] = field(default_factory=list)
    """The headings as they were read."""
    link_heading: str = ""
    """The one that ends in the rate of the link, such as ``% of 1 Gb/s``, as it is printed."""
    runs: list[tuple[int, list[str]]] = field(default_factory=list)
    """With the numbers of their lines."""
    statistics: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    """With the numbers of their lines."""
    texts: list[str] = field(default_factory=list)
    """Lines that no field or row of a form is."""
    lines_between: list[tuple[int, str]] = field(default_factory=list)
    """Those of the texts that stand above a run, below the headings, with the numbers of their lines."""
    left_out: list[str] = field(default_factory=list)
    """Lines with numbers that are no run, in words for people."""
    _run_column: int = 0
    """Where the name of the run stands in a record of the table."""

    @property
    def exported_id(self) -> str:
        """The id of the series that it was exported from; empty for a form that people made."""
        series_id = str(self.facts("Measured").value.get("series", ""))
        match = _SERIES_ID.search(self.text("Measured"))
        return series_id or (match[1] if match else "")

    @property
    def is_exported(self) -> bool:
        return bool(self.exported_id)

    def begin_table(self, record: list[str]) -> None:
        """Take the headings."""
        headings = form_rows.columns_of_headings(record)
        self._run_column = headings.index(PaperColumn.RUN)
        self.headings = self._with_run_first(headings)
        self.heading_units = form_rows.units_of_headings(record)
        self.printed_headings = record
        self.link_heading = next((cell for cell in record if cell.strip().startswith("%")), "")

    def takes_units(self, record: list[str]) -> bool:
        """Whether it took a line of units between its headings and its first run: ``;bytes;ms``."""
        names = [cell.strip() for cell in record]
        are_units = all(units.is_unit(name) for name in names if name)
        if self.runs or self.statistics or not any(names) or not are_units:
            return False

        names += [""] * (len(self.printed_headings) - len(names))
        pairs = zip(self.printed_headings, names, strict=False)
        self.begin_table([f"{heading} ({name})" if name else heading for heading, name in pairs])
        return True

    def check_columns(self) -> None:
        """Raises DocumentError where two columns have one meaning and other numbers: the times of reads and writes."""
        for column, name in form_rows.HEADINGS_IN_ERRORS.items():
            indexes = [index for index, heading in enumerate(self.headings) if heading == column]
            if len(indexes) < 2:
                continue

            for line, record in self.runs:
                numerals = {record[index].strip() for index in indexes if index < len(record)} - {""}
                if len(numerals) > 1:
                    raise json_reader.DocumentError(
                        f"line {line}: two columns are {name}: leave one out, or write each table below the other, with"
                        " headings of its own"
                    )

    def check_units(self) -> None:
        """Raises DocumentError for a column whose cells have several units: ``512 MiB`` above ``512``."""
        cells_by_column: dict[PaperColumn, tuple[float, str]] = {}
        for line, record in self.runs:
            row = self.row(line, record)
            for column in row.number_columns:
                factor = row.unit_factor(column)
                first_factor, first_text = cells_by_column.setdefault(column, (factor, row.text(column).strip()))
                if factor != first_factor:
                    raise json_reader.DocumentError(
                        f"line {line}: {row.text(column).strip()!r} has another unit than {first_text!r} above it:"
                        " write all numbers of a column in one unit"
                    )

    def _with_run_first(self, record: list[str]) -> list[str]:
        column = self._run_column
        return [*record[column : column + 1], *record[:column], *record[column + 1 :]]

    def add_text(self, record: list[str]) -> None:
        """Take a line beside the table: a field, the title, or any other text."""
        name, *cells = _split_at_colon(_from_first_filled(record))
        known_name = _FIELD_OF_SPELLING.get(_folded(name))
        is_told = any(cell.strip() for cell in cells)
        if known_name is None:
            is_title = not is_told and csv_form.TITLE not in self.fields and len(name) <= _LONGEST_TITLE
            if is_title and not self.headings:
                self.fields[csv_form.TITLE] = [name]
                return
            self.fields.setdefault(name.rstrip(":"), cells)
            self.texts.append(_in_one_line([name, *cells]))
            return

        if is_told and self.text(known_name).strip():
            self.texts.append(_in_one_line([name, *cells]))
        elif is_told or known_name not in self.fields:
            self.fields[known_name] = cells
            if known_name in _FIELDS_OF_ONE_CELL and len(cells) > 1:
                self.texts.append(_in_one_line(["", *cells[1:]]))

    def takes_below(self, line: int, record: list[str]) -> bool:
        """Whether it took a line below its headings as a run, or as the average or deviation of all."""
        record = [form_rows.bare_numeral(cell) for cell in self._with_run_first(record)]
        name = record[0].strip() if record else ""
        run_name = run_name_in(name)
        if self._is_commented_out(name):
            run_name = None
        if run_name and self._has_content(line, record):
            self._check_cells_beyond(line, record)
            self._check_lines_inside(line, record)
            self.runs.append((line, record))
            return True
        if run_name and not run_name.mark:
            # A run that was not filled in.
            return True

        statistic = _STATISTIC_OF_SPELLING.get(_folded(name or _from_first_filled(record)[0]))
        if statistic is None:
            return False
        self.statistics.setdefault(statistic, (line, record))
        return True

    def _check_cells_beyond(self, line: int, record: list[str]) -> None:
        """Look at what stands below no heading: the 3 of an unquoted ``2,3`` may be there.

        Raises DocumentError where it may be, so that all cells to its right would be those of the wrong columns.
        """
        headings = [heading.strip() for heading in self.headings]
        headings += [""] * (len(record) - len(headings))
        strangers = [cell.strip() for cell, heading in zip(record, headings, strict=False) if not heading]
        remarks = [cell.strip() for cell, heading in zip(record, headings, strict=False) if heading == csv_form.REMARK]
        row = self.row(line, record)
        has_decimals = any(not row.text(column).strip().isdecimal() for column in row.number_columns)
        may_be_decimals = any(cell.isdecimal() for cell in (*strangers, *remarks))
        if self.delimiter == "," and may_be_decimals and not has_decimals:
            raise json_reader.DocumentError(
                f"line {line}: a number of this row may be cut in two: put numbers with a decimal comma in quotes, as"
                ' in "2,3", or separate the cells with semicolons'
            )
        beyond = [cell.strip() for cell in record[len(self.headings) :] if cell.strip()]
        if beyond:
            self.left_out.append(f"line {line}: {_cited(beyond[0])} stands below no heading")

    def _is_commented_out(self, name: str) -> bool:
        """Whether a ``#`` before its number takes a run out of a table whose first run has none."""
        first_name = self.runs[0][1][0].strip() if self.runs else ""
        return name.startswith("#") and first_name.isdecimal()

    def _check_lines_inside(self, line: int, record: list[str]) -> None:
        """Raises DocumentError for a cell that holds further runs: a quote before them was never closed."""
        if not self.is_exported and pasted.has_rows_inside(record, self.delimiter):
            raise json_reader.DocumentError(
                f"line {line}: the runs above are inside of one cell, behind a quote that nothing closes: remove the"
                ' quote, or write it twice, as in 2.5"" disk'
            )

    def _has_content(self, line: int, record: list[str]) -> bool:
        """Whether a row has more than the name of its run."""
        row = self.row(line, record)
        return bool(row.number_columns or row.text(csv_form.STATUS).strip() or row.text(csv_form.REMARK).strip())

    def add_below(self, line: int, record: list[str], *, is_between_rows: bool) -> None:
        """Take a line below its headings that is no run: one with numbers is left out, and named.

        Below all rows of a form that we exported stands what follows from its runs.
        """
        if self.is_exported and not is_between_rows:
            return
        if _FIELD_OF_SPELLING.get(_folded(_split_at_colon(_from_first_filled(record))[0])):
            self.add_text(record)
            return

        if pasted.is_row_of_other_cells(record):
            raise json_reader.DocumentError(
                f"line {line}: {_cited(_from_first_filled(record)[0])} is one cell: separate its numbers by"
                f" {_NAMES_OF_DELIMITERS[self.delimiter]}, as the headings are"
            )

        record = self._with_run_first(record)
        row = self.row(line, record)
        # "2.3 s" is no number that can be read, and yet one that somebody measured.
        if any(re.search(r"\d", row.text(column)) for column in row.number_columns):
            name = record[0].strip()
            reason = f"{_cited(name)} is no run" if name else "its run has no name"
            self.left_out.append(f"line {line}: {reason}")
            return

        text = _in_one_line(record)
        self.texts.append(text)
        if is_between_rows:
            self.lines_between.append((line, text))

    def unknown_columns(self) -> list[str]:
        """The headings of columns that hold anything in a run, and that no column of a form is."""
        return list(dict.fromkeys(visible(heading[:_LONGEST_CITED]) for _, heading in self.other_columns()))

    def other_columns(self) -> Iterator[tuple[int, str]]:
        """Place and printed heading of each column that holds anything in a run, and that no column of a form is."""
        known: set[str] = {*PaperColumn, csv_form.STATUS, csv_form.REMARK}
        printed = self._with_run_first(form_rows.printed_headings(self.printed_headings))
        for index, heading in enumerate(self.headings):
            is_known = heading in known and self.headings.index(heading) == index
            if not is_known and any("".join(record[index : index + 1]).strip() for _, record in self.runs):
                yield index, printed[index]

    def text(self, name: str) -> str:
        """The first cell of a field, empty where there is none."""
        return next(iter(self.fields.get(name, ())), "")

    def facts(self, name: str) -> json_reader.JSONNode:
        """The cells behind a field's text, each written ``name=value``."""
        pairs = (cell.partition("=") for cell in self.fields.get(name, ())[1:])
        return json_reader.JSONNode(name, {key: value for key, sign, value in pairs if sign})

    def row(self, line: int, record: list[str]) -> form_rows.FormRow:
        sign = self.decimal_sign or DecimalSign.POINT
        return form_rows.FormRow(line, self.headings, record, sign, self.heading_units)

    def statistic(self, name: str) -> form_rows.RowNumbers:
        line, record = self.statistics.get(name, (self.line, []))
        return self.row(line, record).numbers()


def _from_first_filled(record: list[str]) -> list[str]:
    """The cells from the first one on that is not empty: a table may stand further right on its sheet."""
    first = next(index for index, cell in enumerate(record) if cell.strip())
    return record[first:]


def _split_at_colon(cells: list[str]) -> list[str]:
    """The cells of a line, with the name of a field apart that an editor's line has in one cell with its text."""
    name, colon, text = cells[0].partition(":")
    if not colon or not text.strip() or _folded(name) not in _FIELD_OF_SPELLING:
        return cells
    return [name, ", ".join(cell.strip() for cell in (text, *cells[1:]) if cell.strip())]


def _in_one_line(cells: list[str]) -> str:
    """The cells of a line as a text: ``Tester: Ada``; one without a name, if its first cell is empty."""
    name = cells[0].strip().rstrip(":")
    text = ", ".join(cell.strip() for cell in cells[1:] if cell.strip())
    return f"{name}: {text}" if name and text else name or text


def _cited(text: str) -> str:
    return repr(visible(text[:_LONGEST_CITED]))


def forms_in(content: bytes) -> list[FilledForm]:
    """The forms of a CSV file, without their decimal sign. Raises DocumentError, naming the line.

    Where there is none at all, the error is :class:`NoForm`.
    """
    delimiter = _delimiter_of(content)
    if max(content.count(b"\n"), content.count(b"\r")) > MOST_LINES:
        raise json_reader.DocumentError(f"it has more than {MOST_LINES:,} lines: export fewer series to a file")

    reader = _FormReader(delimiter)
    forms = list(reader.forms_of(_records_of(content, delimiter)))
    if not forms:
        raise NoForm(
            reader.uncertain_unit
            or f"line {reader.line_without_times or 1}: expected a form (a record {csv_form.FORM},{RUN_FORM}, or"
            f" {TABLE_EXPECTED}), or a series document"
        )
    return forms


def _delimiter_of(content: bytes) -> str:
    """What separates the headings of the table, or the cells of the first line."""
    text = content[:_MOST_BYTES_ABOVE].decode("utf-8", "replace")
    # A heading may have commas inside: with the comma, fewer of its columns are known.
    known_columns = [_known_columns(text, delimiter) for delimiter in _DELIMITERS]
    if any(known_columns):
        return _DELIMITERS[known_columns.index(max(known_columns))]

    first_line = next(iter(text.splitlines()), "")
    return max(_DELIMITERS, key=first_line.count)


def _known_columns(text: str, delimiter: str) -> int:
    """How many columns of a form the first table has, if this separates cells; 0 where there is no table."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for record in islice(records, _MOST_LINES_ABOVE):
            if _has_table_headings(record):
                return len(
                    {*PaperColumn, csv_form.STATUS, csv_form.REMARK}.intersection(form_rows.columns_of_headings(record))
                )
    except csv.Error:
        # A line of an enormous length; what is wrong with it is told when it is read.
        return 0
    return 0


def _records_of(content: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the line, cells) of each record."""
    # What we exported has notes of any length.
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    lines: Iterable[str] = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    if _is_quoted_by_mail(content):
        lines = pasted.without_quote_marks(lines)
    reader = csv.reader(_short_enough(lines, delimiter), delimiter=delimiter)
    try:
        for record in reader:
            yield reader.line_num, [csv_form.unguarded(value) for value in record]
    except csv.Error as error:
        raise json_reader.DocumentError(f"line {reader.line_num}: not CSV: {error}") from error


def _is_quoted_by_mail(content: bytes) -> bool:
    text = content[:_MOST_BYTES_ABOVE].decode("utf-8", "replace")
    return pasted.has_quote_marks(text, _has_table_headings, _DELIMITERS)


def _short_enough(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """The lines. Raises DocumentError for one of very many cells, before the CSV reader takes memory for them."""
    for number, line in enumerate(lines, start=1):
        if line.count(delimiter) > _MOST_CELLS:
            raise json_reader.DocumentError(f"line {number}: more than {_MOST_CELLS:,} cells, which no form has")
        yield line


class _WaitingLine(NamedTuple):
    """A line above the first table or between two: of the form before, or of the one that comes."""

    number: int
    record: list[str]
    follows_blank: bool
    """Whether an empty line is above it."""


class _FormReader:
    """Finds the forms in the records of a file."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._form: FilledForm | None = None
        self._waiting: list[_WaitingLine] = []
        self.line_without_times = 0
        """Of headings that have runs and no times; 0 for none."""
        self.uncertain_unit = ""
        """Of those headings: what is wrong with a unit without an exact factor; empty for none."""
        self._most_known = 0
        """Columns of a form that those headings have."""

    def forms_of(self, numbered: Iterable[tuple[int, list[str]]]) -> Iterator[FilledForm]:
        """Each form: it begins with its own line (``Form,…``), or, as people write it, with what is above its table."""
        follows_blank = False
        for line, record in numbered:
            filled = [cell.strip(_BLANKS) for cell in record if cell.strip(_BLANKS)]
            if not filled:
                follows_blank = True
                continue

            if record[0].strip() == csv_form.FORM:
                yield from self._ended()
                self._form = self._begin_form(line, record)
            elif _has_table_headings(record):
                yield from self._begin_table(line, record)
            elif len(filled) > 1 or not _is_frame(filled[0]):
                self._take(_WaitingLine(line, record, follows_blank))
            follows_blank = False
        yield from self._ended()

    def _begin_form(self, line: int, record: list[str]) -> FilledForm:
        if record[1:2] != [RUN_FORM]:
            raise json_reader.DocumentError(f"line {line}: expected a {RUN_FORM}, found {' '.join(record[1:2])!r}")
        return FilledForm(line, self._delimiter)

    def _begin_table(self, line: int, record: list[str]) -> Iterator[FilledForm]:
        if self._form is None or self._form.headings:
            # A second table of runs is a form of its own, though no line begins it.
            above = self._take_lines_above()
            yield from self._ended()
            self._form = FilledForm(above[0].number if above else line, self._delimiter)
            for waiting in above:
                self._form.add_text(waiting.record)
        self._form.begin_table(record)

    def _take(self, line: _WaitingLine) -> None:
        if self._form is None:
            known = {*PaperColumn}.intersection(form_rows.columns_of_headings(line.record))
            # A field such as "Label, Test" has a word of a heading, too.
            if PaperColumn.RUN in known and len(known) > self._most_known:
                self._most_known = len(known)
                self.line_without_times = line.number
                reason = units.uncertainty_in(line.record)
                self.uncertain_unit = f"line {line.number}: {reason}" if reason else ""
            self._waiting.append(line)
        elif not self._form.headings:
            self._form.add_text(line.record)
        elif not self._waiting and self._form.takes_units(line.record):
            pass
        elif self._form.takes_below(line.number, line.record):
            self._give_waiting_lines(are_between_rows=True)
        else:
            self._waiting.append(line)

    def _take_lines_above(self) -> list[_WaitingLine]:
        """Those of the waiting lines that are of the table to come, and no longer of the form before.

        They begin behind an empty line: the last one above the first field, or above the table.
        """
        names = [_folded(_from_first_filled(line.record)[0]) for line in self._waiting]
        fields = [index for index, name in enumerate(names) if name in _FIELD_OF_SPELLING]
        last = fields[0] if fields else len(self._waiting) - 1
        starts = [index for index, line in enumerate(self._waiting[: last + 1]) if line.follows_blank]
        first = starts[-1] if starts and self._form is not None else 0

        above = self._waiting[first:]
        del self._waiting[first:]
        return above

    def _give_waiting_lines(self, *, are_between_rows: bool) -> None:
        """Lines between rows, and below the last one, belong to the form."""
        if self._form is not None:
            for line in self._waiting:
                self._form.add_below(line.number, line.record, is_between_rows=are_between_rows)
        self._waiting.clear()

    def _ended(self) -> Iterator[FilledForm]:
        """The form that was read so far, if there is one."""
        self._give_waiting_lines(are_between_rows=False)
        if self._form is not None:
            yield self._form
        self._form = None
        self._waiting.clear()


def _is_frame(text: str) -> bool:
    """Whether a line of one cell is none of the form: it frames a copied text, or is for Excel."""
    return _EXCELS_DELIMITER.fullmatch(text) is not None or pasted.is_fence(text)


def _has_table_headings(record: list[str]) -> bool:
    """Whether a record is the headings of a table of runs."""
    headings = form_rows.columns_of_headings(record)
    has_speeds = not {PaperColumn.TIME, PaperColumn.RATE, PaperColumn.BITS}.isdisjoint(headings)
    return PaperColumn.RUN in headings and has_speeds
