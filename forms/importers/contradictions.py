"""Cells of a run form that contradict the others beyond what rounding explains.

Each column follows from those before it: bytes and s give bytes/sec = bytes / s; that gives bits/sec = 8 * bytes/sec;
that gives % of the link = 100 * bits/sec / link. A printed number stands for the range that would be rounded to it, so
each derived number is a range too, and a cell is contradicted only where its range and the derived one do not meet.
"""

from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev, stdev
from typing import NamedTuple

from forms.importers.form_rows import PrintedNumber, RowNumbers
from forms.importers.paper_columns import PaperColumn
from forms.tuning.catalogue import misprints_about


class _Range(NamedTuple):
    """What a cell should say by the others, and the ends that their rounding allows."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float, divisor: float = 1) -> "_Range":
        return _Range(factor * self.value / divisor, factor * self.low / divisor, factor * self.high / divisor)

    def meets(self, number: PrintedNumber) -> bool:
        low, high = number.range
        return low <= self.high and self.low <= high


def find_contradictions(
    runs: Sequence[tuple[str, RowNumbers]], average: RowNumbers, deviation: RowNumbers, link: int | None
) -> list[str]:
    """A line for each contradicted cell; ``runs`` are all that count, by name, and ``link`` is in bits per second."""
    lines: list[str] = []
    for name, numbers in runs:
        lines += _check_run(name, numbers, link)

    for column in (PaperColumn.SIZE, PaperColumn.TIME, PaperColumn.RATE, PaperColumn.BITS, PaperColumn.PERCENT):
        lines += _check_statistics(column, [numbers for _, numbers in runs], average, deviation, link)
    return lines


def _check_run(name: str, numbers: RowNumbers, link: int | None) -> Iterator[str]:
    """Each derived cell of a run against what the run's other cells give."""
    for column in (PaperColumn.RATE, PaperColumn.BITS, PaperColumn.PERCENT):
        other_numbers = {other: number for other, number in numbers.items() if other is not column}
        expected = _expected_range(other_numbers, column, link)
        if column in numbers and expected:
            yield from _check_cell(f"run {name}", numbers[column], column, [expected])


def _check_statistics(
    column: PaperColumn, runs: Sequence[RowNumbers], average: RowNumbers, deviation: RowNumbers, link: int | None
) -> Iterator[str]:
    """The printed average and deviation of a column against those of the runs; nothing where a run has no number."""
    expected_ranges = [_expected_range(numbers, column, link) for numbers in runs]
    ranges = [expected for expected in expected_ranges if expected]
    if not ranges or len(ranges) < len(runs):
        return

    values = [expected.value for expected in ranges]
    widest = max(expected.high - expected.low for expected in ranges)
    if column in average:
        # Where each number is off by half of its range at most, so is their average.
        yield from _check_cell("average", average[column], column, [_around(fmean(values), widest / 2)])
    if column in deviation and len(values) > 1:
        # A deviation moves by up to √2 times as much (a sample of two, rounded apart): a whole range covers it.
        # Forms have that of a sample or that of a population, so either will do.
        either = [_around(stdev(values), widest), _around(pstdev(values), widest)]
        yield from _check_cell("deviation", deviation[column], column, either)


def check_times(seconds: Sequence[float], average: RowNumbers, deviation: RowNumbers) -> list[str]:
    """A line for each printed average or deviation of the times that those do not have which the runs are kept with.

    A run's time follows from its size and rate, where the rate has more digits than the printed time.
    """
    column = PaperColumn.TIME
    lines: list[str] = []
    if column in average and seconds:
        lines += _check_cell("average", average[column], column, [_around(fmean(seconds), 0.0)])
    if column in deviation and len(seconds) > 1:
        either = [_around(stdev(seconds), 0.0), _around(pstdev(seconds), 0.0)]
        lines += _check_cell("deviation", deviation[column], column, either)
    return lines


def _around(value: float, slack: float) -> _Range:
    return _Range(value, value - slack, value + slack)


def _check_cell(place: str, number: PrintedNumber, column: PaperColumn, expected: Sequence[_Range]) -> Iterator[str]:
    """A line where the cell meets none of what is expected; it names the first, and whose misprint it copies."""
    if any(expected_range.meets(number) for expected_range in expected):
        return

    computed = PrintedNumber(expected[0].value, number.decimals).text
    misprint = next((misprint for misprint in misprints_about("B-9") if number.value in misprint.numbers), None)
    copied = f" (a misprint of {misprint.source})" if misprint else ""
    yield f"{place}: printed {number.text} {column}, the other cells give {computed}{copied}"


def _expected_range(numbers: RowNumbers, column: PaperColumn, link: int | None) -> _Range | None:
    """The column's own number, or what the columns before it give; None where they do not give it."""
    if column in numbers:
        return _Range(numbers[column].value, *numbers[column].range)

    if column is PaperColumn.RATE and PaperColumn.SIZE in numbers and PaperColumn.TIME in numbers:
        size = numbers[PaperColumn.SIZE].value
        time = numbers[PaperColumn.TIME]
        shortest, longest = time.range
        # A time printed as 0.0 may have been any short one: no rate is too high for it.
        return _Range(size / time.value, size / longest, size / shortest) if shortest > 0 else None

    if column is PaperColumn.BITS:
        rate = _expected_range(numbers, PaperColumn.RATE, link)
        return rate.scaled(8) if rate else None

    if column is PaperColumn.PERCENT and link:
        bits = _expected_range(numbers, PaperColumn.BITS, link)
        return bits.scaled(100, link) if bits else None
    return None
