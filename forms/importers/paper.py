"""The columns of a filled form as people write them, and which of its cells contradict the others."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, pstdev, stdev

from forms.tuning.misprints import known_misprint
from forms.wording import number_from


class PaperColumn(StrEnum):
    """A column of the run form, by what stands behind its numbers."""

    RUN = "run"
    SIZE = "bytes"
    TIME = "s"
    RATE = "bytes/sec"
    BITS = "bits/sec"
    PERCENT = "% of the link"


_HEADINGS = {
    PaperColumn.RUN: "runno run runnumber no",
    PaperColumn.SIZE: "sizeinbytes size sizebytes filesize filesizeinbytes bytes",
    PaperColumn.TIME: "timesec time times timesecs timeinsec timeseconds timeinseconds seconds secs sec s",
    PaperColumn.RATE: "bytessec bytess bytespersec bytespersecond",
    PaperColumn.BITS: "bitssec bitss bitspersec bitspersecond",
}
"""How each is spelled, letters alone."""
_COLUMN_OF = {heading: column for column, headings in _HEADINGS.items() for heading in headings.split()}
_SAME = 1e-9
"""Relative: what two programs round differently at the end of a number."""


def columns_of_headings(record: Sequence[str]) -> list[str]:
    """The headings with those of the form named by its columns, in any spelling; others stay as they are."""
    found = [_column(heading) or heading.strip() for heading in record]
    for place in range(len(found) - 1, 0, -1):
        if _folded(record[place]) == "sec" and _folded(record[place - 1]) == "time":
            del found[place]  # "Time, sec" without quotes
    return [str(heading) for heading in found]


def _column(heading: str) -> PaperColumn | None:
    folded = _folded(heading)
    return PaperColumn.PERCENT if folded.startswith("%of") else _COLUMN_OF.get(folded)


def _folded(heading: str) -> str:
    return re.sub(r"[^a-z%]", "", heading.lower())


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it stands in a cell."""

    value: float
    decimals: int = 0

    @property
    def unit(self) -> float:
        """One in its last digit."""
        return float(10**-self.decimals)

    @property
    def range(self) -> tuple[float, float]:
        """What it may have been before it was rounded."""
        slack = max(self.unit / 2, abs(self.value) * _SAME)
        return self.value - slack, self.value + slack

    @property
    def text(self) -> str:
        """With thousands apart, such as ``777,310``."""
        return f"{self.value:,.{min(self.decimals, 6)}f}"


def printed(text: str, *, decimal_comma: bool) -> Printed | None:
    """The number in a cell with its precision; None where it is no number."""
    number = number_from(text, decimal_comma=decimal_comma)
    if number is None:
        return None
    _, mark, after = text.strip().rpartition("," if decimal_comma else ".")
    return Printed(number, len(after) if mark and after.isdecimal() else 0)


def finer_seconds(size_bytes: float, time: Printed, rate: Printed) -> float:
    """A run's time by its rate, where that is the same time with more digits, rounded or cut; else the time itself."""
    by_rate = size_bytes / rate.value
    finer = rate.unit / rate.value < time.unit / time.value
    return by_rate if finer and abs(by_rate - time.value) < time.unit * (1 + _SAME) else time.value


Cells = Mapping[PaperColumn, Printed]


@dataclass(frozen=True, slots=True)
class _Expected:
    """What a cell should be, and the least and most that rounding of the others allows."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> "_Expected":
        return _Expected(self.value * factor, self.low * factor, self.high * factor)


def contradictions(
    runs: Sequence[tuple[str, Cells]], average: Cells, deviation: Cells, link_bits_per_second: int | None
) -> list[str]:
    """The cells that are not what the others give, beyond rounding, a line each; ``runs`` are all that count."""
    found = [said for name, cells in runs for said in _of_run(name, cells, link_bits_per_second)]
    for column in (PaperColumn.SIZE, PaperColumn.TIME, PaperColumn.RATE, PaperColumn.BITS, PaperColumn.PERCENT):
        known = [one for _, cells in runs if (one := _expected(cells, column, link_bits_per_second))]
        if not known or len(known) < len(runs):
            continue
        values, slack = [one.value for one in known], max(one.high - one.low for one in known)
        if column in average:
            found += _told("average", average[column], column, [_around(fmean(values), slack / 2)])
        if column in deviation and len(values) > 1:
            either = [_around(stdev(values), slack), _around(pstdev(values), slack)]
            found += _told("deviation", deviation[column], column, either)
    return found


def _around(value: float, slack: float) -> _Expected:
    return _Expected(value, value - slack, value + slack)


def _of_run(name: str, cells: Cells, link: int | None) -> Iterator[str]:
    for column in (PaperColumn.RATE, PaperColumn.BITS, PaperColumn.PERCENT):
        expected = _expected({other: cell for other, cell in cells.items() if other is not column}, column, link)
        if column in cells and expected:
            yield from _told(f"run {name}", cells[column], column, [expected])


def _told(where: str, cell: Printed, column: PaperColumn, expected: Sequence[_Expected]) -> Iterator[str]:
    low, high = cell.range
    if any(low <= one.high and one.low <= high for one in expected):
        return
    given = Printed(expected[0].value, cell.decimals).text
    misprint = known_misprint("B-9", cell.value)
    copied = f" (a misprint of {misprint.source})" if misprint else ""
    yield f"{where}: printed {cell.text} {column}, the other cells give {given}{copied}"


def _expected(cells: Cells, column: PaperColumn, link: int | None) -> _Expected | None:
    """What a cell says itself, or the cells to its left; None where they do not tell."""
    if column in cells:
        return _Expected(cells[column].value, *cells[column].range)
    if column is PaperColumn.RATE and PaperColumn.SIZE in cells and PaperColumn.TIME in cells:
        size, time = cells[PaperColumn.SIZE].value, cells[PaperColumn.TIME]
        shortest, longest = time.range
        return _Expected(size / time.value, size / longest, size / shortest) if shortest > 0 else None
    if column is PaperColumn.BITS and (rate := _expected(cells, PaperColumn.RATE, link)):
        return rate.times(8)
    if column is PaperColumn.PERCENT and link and (bits := _expected(cells, PaperColumn.BITS, link)):
        return bits.times(100 / link)
    return None
