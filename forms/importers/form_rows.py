"""The table of a run form: which columns its headings mean, and what a row below them says.

A printed number is kept with its decimals, since it stands for all numbers that would have been rounded to it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forms.exporters.csv import REMARK, STATUS
from forms.importers import units
from forms.importers.numerals import DecimalSign, decimals_of, number_from
from forms.importers.paper_columns import PaperColumn
from storage import json_reader, records

_SPELLINGS = {
    PaperColumn.RUN: "runno run runnumber runnr run# no nr number # test testno trial iteration pass"
    " lauf durchlauf messung versuch essai mesure prueba teste prova próba körning прогон тест",
    PaperColumn.SIZE: "sizeinbytes size sizebytes filesize filesizeinbytes filesizebytes bytes",
    PaperColumn.TIME: "timesec time times timesecs timeinsec timeseconds timeinseconds seconds secs sec s",
    PaperColumn.RATE: "bytessec bytess bytespersec bytespersecond",
    PaperColumn.BITS: "bitssec bitss bitspersec bitspersecond",
}
"""Headings as people write them, in small letters without blanks and most signs."""

_REMARK_SPELLINGS = (
    "remark remarks comment comments note notes bemerkung bemerkungen anmerkung anmerkungen kommentar kommentare notiz"
    " remarque remarques commentaire commentaires nota notas comentario observación opmerking uwagi poznámka примечание"
)

HEADINGS_IN_ERRORS = {
    PaperColumn.SIZE: "Size in Bytes",
    PaperColumn.TIME: "Time (sec)",
    PaperColumn.RATE: "Bytes/sec",
    PaperColumn.BITS: "Bits/sec",
}


def _columns_by_spelling() -> dict[str, PaperColumn]:
    columns: dict[str, PaperColumn] = {}
    for column, spellings in _SPELLINGS.items():
        columns |= dict.fromkeys(spellings.split(), column)
    return columns


_COLUMN_OF_SPELLING = _columns_by_spelling()
_WARM_UP = "warm-up"
"""The status of a warm-up run."""

_LOW_QUOTE = "\N{SINGLE LOW-9 QUOTATION MARK}"
_SINGLE_QUOTES = "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
_OPENING_QUOTES = tuple("\N{LEFT DOUBLE QUOTATION MARK}„»«" + _LOW_QUOTE + _SINGLE_QUOTES[0])
_QUOTES = "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}„»«" + _LOW_QUOTE + _SINGLE_QUOTES
_TYPOGRAPHIC_QUOTES = re.compile(rf"[{_QUOTES}](?P<numeral>[\d.,\s]*\d[\d.,\s]*)[{_QUOTES}]")
"""A numeral in the quotes that a telephone or a text program makes of straight ones."""
_NOT_SEEN = "\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that nobody sees and that are copied with text: of no width, and for the direction of writing."""
_CLOCK_TIME = re.compile(r"\d:\d|\d\s*(?:m|min|h|std)\.?\s*\d", re.IGNORECASE)
"""Minutes and seconds: ``0:12.5``, ``1m23s``."""

_OF_OPEN_UNIT = frozenset({"time", "times", "size", "filesize"})
"""Headings that name no unit: beside one of the same column that does, they mean something else, such as a clock."""

_FLOAT_ROUNDING = 1e-9
"""Share by which numbers may differ that are the same but for the rounding of floats."""


def columns_of_headings(record: Sequence[str]) -> list[str]:
    """Headings with the form's own, in any spelling, replaced by column names: as many as a row below has cells."""
    folded = _folded(record)
    # Each line of a file is looked at, and few have such a heading.
    passed_over = set() if _OF_OPEN_UNIT.isdisjoint(folded) else _passed_over(folded, record)
    known_names = [name for index, name in enumerate(folded) if index not in passed_over]
    by_spelling = {_COLUMN_OF_SPELLING.get(name) for name in known_names}
    headings: list[str] = []
    for index, (name, heading) in enumerate(zip(folded, record, strict=True)):
        if _is_cut_off(folded, index):
            continue

        if index in passed_over:
            headings.append(heading.strip())
        elif name.startswith("%of"):
            headings.append(str(PaperColumn.PERCENT))
        elif name in _REMARK_SPELLINGS.split():
            headings.append(REMARK)
        else:
            headings.append(str(_COLUMN_OF_SPELLING.get(name) or _column_by_unit(heading, by_spelling)))
    return headings


def _folded(record: Sequence[str]) -> list[str]:
    return [folded_heading(heading) for heading in record]


def folded_heading(heading: str) -> str:
    """A heading in small letters without blanks and most signs.

    Letters and digits of any kind stay: "Time (µs)" is not "Time (s)", nor "Bytes (10^6)" "Bytes".
    """
    return re.sub(r"[^\w%#]|_", "", heading.lower())


def _is_cut_off(folded: Sequence[str], index: int) -> bool:
    """Whether a heading is the second half of ``Time, sec`` without quotes: those behind it move up."""
    return folded[max(0, index - 1) : index + 1] == ["time", "sec"]


def printed_headings(record: Sequence[str]) -> list[str]:
    """The headings as they are printed, one for each of :func:`columns_of_headings`."""
    folded = _folded(record)
    return [heading.strip() for index, heading in enumerate(record) if not _is_cut_off(folded, index)]


def _passed_over(folded: Sequence[str], record: Sequence[str]) -> set[int]:
    """The headings without a unit, such as ``Time``, that have one of the same column beside them that names it."""
    of_exact_unit: set[PaperColumn] = set()
    for index, (name, heading) in enumerate(zip(folded, record, strict=True)):
        if _is_cut_off(folded, index) or name in _OF_OPEN_UNIT:
            continue
        unit = units.unit_of_heading(heading)
        column = _COLUMN_OF_SPELLING.get(name) or (unit.column if unit else None)
        if column is not None:
            of_exact_unit.add(column)
    return {
        index
        for index, name in enumerate(folded)
        if name in _OF_OPEN_UNIT and _COLUMN_OF_SPELLING[name] in of_exact_unit
    }


def bare_numeral(cell: str) -> str:
    """A cell without the typographic quotes around its numeral, and without characters that nobody sees."""
    # Most cells are plain digits, and a form may have a million of them.
    if cell.isascii():
        return cell
    text = cell.strip().strip(_NOT_SEEN).strip()
    quoted = _TYPOGRAPHIC_QUOTES.fullmatch(text)
    return quoted["numeral"] if quoted else text


def _column_by_unit(heading: str, by_spelling: set[PaperColumn | None]) -> str:
    """The column of a heading such as ``Size (MiB)``; the heading where it is none, or the same is there in full."""
    unit = units.unit_of_heading(heading)
    return heading.strip() if unit is None or unit.column in by_spelling else str(unit.column)


def units_of_headings(record: Sequence[str]) -> dict[PaperColumn, units.ExactUnit]:
    """The units of the columns whose heading names another one than the form's."""
    units_by_column: dict[PaperColumn, units.ExactUnit] = {}
    for heading, column in zip(record, columns_of_headings(record), strict=False):
        unit = units.unit_of_heading(heading)
        if unit is not None and unit.column == column and unit.column is not PaperColumn.PERCENT:
            units_by_column.setdefault(unit.column, unit)
    return units_by_column


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number of a cell, with as many decimals as it was printed with."""

    value: float
    decimals: int = 0
    unit_factor: float = 1.0
    """Of the unit that it was printed in; the value is in the form's own."""

    @property
    def last_digit(self) -> float:
        """What the last printed digit counts: 0.01 with two decimals."""
        return self.unit_factor * float(10**-self.decimals)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest number that would have been printed so."""
        slack = max(self.last_digit / 2, abs(self.value) * _FLOAT_ROUNDING)
        return self.value - slack, self.value + slack

    @property
    def text(self) -> str:
        """The number as it was printed, to six decimals."""
        decimals = max(0, min(self.decimals, 6))
        return f"{self.value:,.{decimals}f}"


RowNumbers = Mapping[PaperColumn, PrintedNumber]
"""The numbers of a row by column; a cell without one is absent."""


def _finer_seconds(size_bytes: float, time: PrintedNumber, rate: PrintedNumber) -> float:
    """A run's time by its rate where that has more digits of the same time, else the time itself."""
    seconds_by_rate = size_bytes / rate.value
    if math.isclose(seconds_by_rate, time.value, rel_tol=_FLOAT_ROUNDING):
        # A time that was 2.305 s stays so.
        return time.value
    is_finer = rate.last_digit / rate.value < time.last_digit / time.value
    is_same_time = abs(seconds_by_rate - time.value) < time.last_digit * (1 + _FLOAT_ROUNDING)
    return seconds_by_rate if is_finer and is_same_time else time.value


@dataclass
class FormRow:
    """One line below the headings: a run, or the average or deviation of all."""

    line: int
    """Its number in the file, for errors."""
    headings: list[str]
    """By :func:`columns_of_headings`."""
    record: list[str]
    """The cells."""
    decimal_sign: DecimalSign
    """What stands before the decimals of its numbers."""
    heading_units: Mapping[PaperColumn, units.ExactUnit] = field(default_factory=dict)
    """By :func:`units_of_headings`."""

    def text(self, heading: str) -> str:
        """The cell below a heading, empty where there is none."""
        if heading not in self.headings:
            return ""
        index = self.headings.index(heading)
        return self.record[index] if index < len(self.record) else ""

    def numbers(self) -> RowNumbers:
        """The numbers of all cells that hold one."""
        numbers: dict[PaperColumn, PrintedNumber] = {}
        for column in PaperColumn:
            number = self._read(column)
            if column is not PaperColumn.RUN and number is not None:
                numbers[column] = number
        return numbers

    def number(self, column: PaperColumn, *, zero: bool = False) -> PrintedNumber | None:
        """The number of a cell; None for an empty one. Raises DocumentError, for 0 too unless ``zero`` may be."""
        text = self.text(column).strip()
        if not text:
            return None

        number = self._read(column)
        if number is None or number.value < 0 or (number.value == 0 and not zero):
            heading = HEADINGS_IN_ERRORS[column]
            expected = self._expected(column) if number is None else "expected a number above 0"
            raise json_reader.DocumentError(f"line {self.line}: {heading}: {expected}, found {text!r}")
        if column is PaperColumn.SIZE:
            self._check_whole_bytes(number, text)
        return number

    def _check_whole_bytes(self, number: PrintedNumber, text: str) -> None:
        """Raises DocumentError for a size without its last digits, such as 1,07E+09, or with a part of a byte."""
        place = f"line {self.line}: {HEADINGS_IN_ERRORS[PaperColumn.SIZE]}: {text!r}"
        is_rounded = number.decimals < 0 or (number.unit_factor > 1 and number.decimals > 0)
        if is_rounded:
            raise json_reader.DocumentError(f"{place} is rounded: write its bytes")
        if number.value != int(number.value):
            raise json_reader.DocumentError(
                f"{place} has a part of a byte: write all its bytes, or the unit in the heading, such as Size (MiB)"
            )

    def _expected(self, column: PaperColumn) -> str:
        """What is wrong with a cell that holds no number, or one with another unit."""
        text = self.text(column).strip()
        if text[:1] in _OPENING_QUOTES:
            return f'quotes of typography hold no cell together: write "…" instead of {text[:1]}'
        if column is PaperColumn.TIME and _CLOCK_TIME.search(text):
            return "write the time in seconds alone, such as 83.5"

        _, name = units.without_unit(text)
        if column is not PaperColumn.TIME and units.is_uncertain(name):
            return units.why_uncertain(name)
        return "expected a number above 0 without a unit" if name[:1].isalpha() else "expected a number above 0"

    def numeral(self, column: PaperColumn) -> str:
        """The numeral of a cell, without a unit behind it that the column may have; the whole cell for another one."""
        numeral, _ = self._numeral_and_unit(column)
        return numeral

    def unit_factor(self, column: PaperColumn) -> float:
        """How many of the form's own units the unit of a cell is: by the cell, or by its heading."""
        _, unit = self._numeral_and_unit(column)
        return unit.factor if unit else 1.0

    def _numeral_and_unit(self, column: PaperColumn) -> tuple[str, units.ExactUnit | None]:
        text = self.text(column).strip()
        heading_unit = self.heading_units.get(column)
        numeral, name = units.without_unit(text)
        if not name:
            return numeral, heading_unit
        unit = units.unit_named(name)
        if unit is None or unit.column is not column:
            return text, heading_unit
        return numeral, unit

    def _read(self, column: PaperColumn) -> PrintedNumber | None:
        """The number below the heading; None where there is none."""
        numeral, unit = self._numeral_and_unit(column)
        number = number_from(numeral, self.decimal_sign)
        if number is None:
            return None
        factor = unit.factor if unit else 1.0
        return PrintedNumber(number * factor, decimals_of(numeral, self.decimal_sign), factor)

    @property
    def number_columns(self) -> list[PaperColumn]:
        """The columns of figures with anything in them."""
        columns = [column for column in PaperColumn if column is not PaperColumn.RUN]
        return [column for column in columns if self.text(column).strip()]

    @property
    def is_unfilled(self) -> bool:
        """Whether a run has no number at all."""
        return not self.number_columns

    @property
    def is_warm_up(self) -> bool:
        """Whether the status says so; the name of the run may say so too."""
        return self.text(STATUS).strip().lower() == _WARM_UP

    def seconds(self, size_bytes: int | None) -> float | None:
        """The run's time, or what its rate makes of it."""
        time = self.number(PaperColumn.TIME)
        rate = self.number(PaperColumn.RATE)
        if time:
            return _finer_seconds(size_bytes, time, rate) if rate and size_bytes else time.value
        if not size_bytes:
            return None
        if rate:
            return size_bytes / rate.value

        bits = self.number(PaperColumn.BITS)
        return 8 * size_bytes / bits.value if bits else None

    def status(self) -> records.RunStatus:
        """The run's status: valid where the cell is empty."""
        text = self.text(STATUS).strip().lower()
        if text in {"", _WARM_UP}:
            return records.RunStatus.VALID
        return json_reader.JSONNode(f"line {self.line}: {STATUS}", text).one_of(records.RunStatus)
