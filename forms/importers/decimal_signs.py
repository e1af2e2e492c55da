"""Which decimal sign a file's numbers have: decided by all of them together, or refused.

A cell such as ``2,3`` or ``1.812.898`` can be read in one way only, and decides. Where each cell with a sign has three
digits behind it (``4,488``), what stands beside it may tell: whether size, time and rate agree, whether the file groups
thousands at all, what separates its cells. A file that leaves it open is refused, since a wrong guess is wrong by a
factor of 1000.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from forms.importers import form_fields
from forms.importers.form_lines import FilledForm
from forms.importers.form_rows import RowNumbers
from forms.importers.numerals import DecimalSign, Readings, readings_of
from forms.importers.paper_columns import PaperColumn
from storage import json_reader

_AGREEING_FACTOR = 3.0
"""Cells of a row that tell its speed agree within this factor, misprints too; a misread sign makes it 1000."""

_FAR_FACTOR = 30.0
"""Runs of one form do not differ by as much; a misread sign makes it 1000."""

SLOWEST = 10_000.0
"""Bytes per second; a file server over a modem is faster, and a misread sign makes 1 MB/s 1 kB/s."""

_DECIMAL_SIGN_BESIDE = {";": DecimalSign.COMMA, ",": DecimalSign.POINT}
"""By what separates the cells: spreadsheets write semicolons where the comma stands before decimals."""

_WHOLE_COLUMNS = frozenset({PaperColumn.RATE, PaperColumn.BITS})
"""Forms on paper have whole numbers there; computed ones need not."""


@dataclass(frozen=True, slots=True)
class _NumberCell:
    """A cell of a table that holds a number, however it is written."""

    line: int
    column: PaperColumn
    readings: Readings
    is_of_run: bool
    """Whether it is a run's; else it is an average or a deviation."""
    is_scaled: bool
    """Whether its unit is another one than the form's, so that it may have decimals in any column."""

    @property
    def only_sign(self) -> DecimalSign | None:
        """The one sign that makes a number of it that its column may have."""
        is_whole = self.is_of_run and self.column is PaperColumn.SIZE and not self.is_scaled
        if self.readings.is_ambiguous and is_whole:
            # A file has no part of a byte, so that the sign groups.
            return self.readings.sign.other
        return self.readings.only_sign

    @property
    def is_open(self) -> bool:
        return self.readings.is_ambiguous and self.only_sign is None

    def value_with(self, sign: DecimalSign) -> float:
        """The number with this decimal sign; 0 for none."""
        value = self.readings.with_point if sign is DecimalSign.POINT else self.readings.with_comma
        return value or 0.0

    def is_grouped_with(self, sign: DecimalSign) -> bool:
        """Whether it is open, and the sign in it groups thousands if this one stands before decimals."""
        return self.is_open and self.readings.sign is not sign


def settle_decimal_sign(forms: Sequence[FilledForm], chosen_sign: DecimalSign | None, size_bytes: int | None) -> None:
    """Give the forms of a file their decimal sign; ``chosen_sign`` is for a file that leaves it open.

    ``size_bytes`` is that of runs whose form says none.

    Raises DocumentError for a file that leaves it open where none was chosen, or that has both signs.
    """
    decided_by: dict[DecimalSign, _NumberCell] = {}
    open_cells: list[_NumberCell] = []
    grouping = _Grouping()
    for cell in _number_cells(forms):
        only_sign = cell.only_sign
        if only_sign is not None:
            decided_by.setdefault(only_sign, cell)
        if cell.is_open:
            open_cells.append(cell)
        grouping.see(cell.readings.text)

    if len(decided_by) == len(DecimalSign):
        raise _both_signs(sorted(decided_by.values(), key=_line_of))

    if chosen_sign and chosen_sign.other in decided_by and open_cells:
        raise _denied(decided_by[chosen_sign.other], chosen_sign)
    sign = next(iter(decided_by), None) or chosen_sign
    if sign is None and open_cells:
        sign = _sign_beside(forms, open_cells, grouping, size_bytes)
        if sign is None:
            raise _open(open_cells[0])
    for form in forms:
        form.decimal_sign = sign
        if sign is not None and open_cells:
            _check_slips(form, sign)
            if chosen_sign is not sign:
                _check_speeds(form, sign, size_bytes)


def _check_slips(form: FilledForm, sign: DecimalSign) -> None:
    """Raises DocumentError for a cell with the other sign, far from the runs beside it: ``2,305`` below ``2.298``."""
    cells = [cell for cell in _number_cells([form]) if cell.is_of_run]
    for column in {cell.column for cell in cells if cell.is_grouped_with(sign)}:
        of_column = [cell for cell in cells if cell.column is column]
        plain_values = [cell.value_with(sign) for cell in of_column if not cell.is_grouped_with(sign)]
        measured_values = [value for value in plain_values if value > 0]
        if not measured_values:
            continue

        most = _FAR_FACTOR * median(measured_values)
        for cell in of_column:
            is_far = cell.value_with(sign) > most > cell.value_with(sign.other)
            if cell.is_grouped_with(sign) and is_far:
                raise _slip(cell, median(measured_values))


def _check_speeds(form: FilledForm, sign: DecimalSign, size_bytes: int | None) -> None:
    """Raises DocumentError for times that only the sizes decide, and that no server takes: ``1.812.898`` in ``2.305``.

    Sizes copied from a spreadsheet and times from a terminal have different signs, and nothing else would tell.
    """
    times = [cell for cell in _number_cells([form]) if cell.is_of_run and cell.column is PaperColumn.TIME]
    if not all(cell.is_grouped_with(sign) for cell in times):
        return

    size: float | None = size_bytes
    for line, record in form.runs:
        numbers = replace(form, decimal_sign=sign).row(line, record).numbers()
        size = numbers[PaperColumn.SIZE].value if PaperColumn.SIZE in numbers else size
        is_alone = PaperColumn.TIME in numbers and _WHOLE_COLUMNS.isdisjoint(numbers)
        if not size or not is_alone:
            continue

        speed = size / numbers[PaperColumn.TIME].value
        # With the other sign the same time is a thousandth.
        if speed < SLOWEST <= 1000 * speed:
            raise _too_slow(line, form.row(line, record).text(PaperColumn.TIME), numbers[PaperColumn.TIME].value, speed)


def _number_cells(forms: Iterable[FilledForm]) -> Iterator[_NumberCell]:
    for form in forms:
        for is_of_run, lines in ((True, form.runs), (False, form.statistics.values())):
            for line, record in lines:
                row = form.row(line, record)
                for column in row.number_columns:
                    readings = readings_of(row.numeral(column))
                    is_scaled = row.unit_factor(column) != 1
                    yield _NumberCell(line, column, readings, is_of_run, is_scaled)


class _Grouping:
    """How the numbers of a file group their thousands, as far as they tell."""

    def __init__(self) -> None:
        self._most_plain_digits = 0
        """Of the longest number that is not grouped."""
        self._has_blanks = False
        """Whether some are grouped by blanks or apostrophes."""

    def see(self, text: str) -> None:
        """Take a numeral into account."""
        if text.isdecimal():
            self._most_plain_digits = max(self._most_plain_digits, len(text))
        elif text and not any(sign in text for sign in DecimalSign):
            self._has_blanks = True

    def rules_out_grouping(self, text: str) -> bool:
        """Whether a file with these numbers would write a whole number of as many digits in another way."""
        digits = sum(character.isdecimal() for character in text)
        return self._has_blanks or self._most_plain_digits >= digits


def _sign_beside(
    forms: Sequence[FilledForm], open_cells: Sequence[_NumberCell], grouping: _Grouping, size_bytes: int | None
) -> DecimalSign | None:
    """The sign by what stands beside the open cells; None where that tells nothing, or contradicts itself."""
    if all(form.is_exported and form.delimiter == "," for form in forms):
        # Ours, and not saved again by a spreadsheet, which would have written other signs.
        has_points_alone = all(cell.readings.sign is DecimalSign.POINT for cell in open_cells)
        if has_points_alone:
            return DecimalSign.POINT

    by_speed = _signs_by_speed(forms, size_bytes)
    if len(by_speed) == 1:
        return by_speed.pop()

    hints: set[DecimalSign] = set()
    for cell in open_cells:
        sign = cell.readings.sign
        if cell.column in _WHOLE_COLUMNS and not cell.is_scaled:
            hints.add(sign.other)
        elif grouping.rules_out_grouping(cell.readings.text):
            hints.add(sign)
        # That commas separate the cells says nothing about quoted commas inside.
        hints.update(form_sign for form in forms if (form_sign := _DECIMAL_SIGN_BESIDE.get(form.delimiter)) is sign)
    if len(hints) != 1:
        return None

    # What the signs hint at is not believed against what the speeds say.
    sign = hints.pop()
    is_possible = all(all(_agreeing_rows(form, sign, size_bytes)) for form in forms)
    return sign if is_possible else None


def _signs_by_speed(forms: Sequence[FilledForm], size_bytes: int | None) -> set[DecimalSign]:
    """The signs that make the cells of a row agree about its speed, where the other does not."""
    signs: set[DecimalSign] = set()
    for form in forms:
        with_point = _agreeing_rows(form, DecimalSign.POINT, size_bytes)
        with_comma = _agreeing_rows(form, DecimalSign.COMMA, size_bytes)
        for agrees_with_point, agrees_with_comma in zip(with_point, with_comma, strict=True):
            if agrees_with_point is not agrees_with_comma:
                signs.add(DecimalSign.POINT if agrees_with_point else DecimalSign.COMMA)
    return signs


def _agreeing_rows(form: FilledForm, sign: DecimalSign, size_bytes: int | None) -> list[bool]:
    """Whether the cells of each run agree about its speed, if read with this sign."""
    form = replace(form, decimal_sign=sign)
    link = form_fields.link_field(form) or form_fields.rate_in_heading(form)
    agreeing: list[bool] = []
    size: float | None = size_bytes
    for line, record in form.runs:
        numbers = form.row(line, record).numbers()
        if PaperColumn.SIZE in numbers:
            size = numbers[PaperColumn.SIZE].value
        speeds = list(_speeds(numbers, size, link))
        agreeing.append(not speeds or max(speeds) <= _AGREEING_FACTOR * min(speeds))
    return agreeing


def _speeds(numbers: RowNumbers, size: float | None, link: int | None) -> Iterator[float]:
    """The bytes per second of a row by each way that its cells give it."""
    values = {column: number.value for column, number in numbers.items() if number.value > 0}
    if size and PaperColumn.TIME in values:
        yield size / values[PaperColumn.TIME]
    if PaperColumn.RATE in values:
        yield values[PaperColumn.RATE]
    if PaperColumn.BITS in values:
        yield values[PaperColumn.BITS] / 8
    if PaperColumn.PERCENT in values and link:
        yield values[PaperColumn.PERCENT] / 100 * link / 8


def _line_of(cell: _NumberCell) -> int:
    return cell.line


def _both_signs(cells: Sequence[_NumberCell]) -> json_reader.DocumentError:
    first, second = cells
    return json_reader.DocumentError(
        f"line {second.line}: {second.readings.text!r} has another decimal sign than {first.readings.text!r} in line"
        f" {first.line}: write all numbers of the file alike"
    )


def _denied(cell: _NumberCell, chosen_sign: DecimalSign) -> json_reader.DocumentError:
    return json_reader.DocumentError(
        f"line {cell.line}: {cell.readings.text!r} cannot be read with --decimal {chosen_sign}: leave it out, or write"
        " all numbers of the file alike"
    )


def _slip(cell: _NumberCell, typical: float) -> json_reader.DocumentError:
    return json_reader.DocumentError(
        f"line {cell.line}: {cell.readings.text!r} is far from the other runs ({typical:.10g}): its sign may be another"
        " than theirs; write all numbers of the file alike"
    )


def _too_slow(line: int, text: str, seconds: float, speed: float) -> json_reader.DocumentError:
    reading = f"{seconds:,.0f} s, {speed:,.0f} bytes/sec"
    return json_reader.DocumentError(
        f"line {line}: {text.strip()!r} beside such sizes is {reading}: if it is meant so, name the decimal sign"
        " by --decimal . or --decimal ,; else write all numbers of the file alike"
    )


def _open(cell: _NumberCell) -> json_reader.DocumentError:
    readings = cell.readings
    either = f"{readings.with_point:.10g} or {readings.with_comma:.10g}"
    return json_reader.DocumentError(
        f"line {cell.line}: {readings.text!r} may be {either}: say which sign stands before decimals, by --decimal . or"
        " --decimal ,"
    )
