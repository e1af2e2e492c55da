"""The tables and charts of a comparison of two sides: averages, and each run.

A side has one or more series, which stand in the order in which they were measured. Averages are those that the
verdict is given by, which leave out runs that stand out.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import NamedTuple

from forms import report
from forms.comparison.comparison import Comparison
from forms.comparison.side_values import counted_rates, pooled_deviation
from forms.comparison.summary import ComparisonSummary
from forms.layout import Tone
from forms.series.run_table import runs_chart
from forms.series.summary import SeriesSummary
from forms.stats.summary import mean

# Columns of the table of averages, from 0: series, runs, those that count where some are left out, average, …

_RUNS = 1
_COUNTED = 2
_AVERAGE = 2
_AVERAGE_OF_COUNTED = 3


class _SideSeries(NamedTuple):
    """One series of a comparison, with what a row or a bar calls it."""

    summary: SeriesSummary
    name: str
    """Of the series, as the whole comparison calls it."""
    tone: Tone


def _all_series(compared: ComparisonSummary) -> list[_SideSeries]:
    comparison = compared.comparison
    return [
        *_series_of_side(compared.bases_in_time, comparison.names, Tone.FAINT),
        *_series_of_side(compared.others_in_time, comparison.names, comparison.tone),
    ]


def _series_of_side(summaries: Sequence[SeriesSummary], names: Mapping[str, str], tone: Tone) -> Iterator[_SideSeries]:
    for summary in summaries:
        yield _SideSeries(summary, names[summary.series.id], tone)


def leaves_out_runs(comparison: Comparison) -> bool:
    """Whether the averages leave out runs; where the old link answers it, all runs count, as in the headline."""
    return bool(comparison.left_out) and not comparison.is_certain_by_link


def side_averages(comparison: Comparison) -> tuple[float | None, float | None]:
    """Those of the base and of the other side, in bytes per second, by the runs that count."""
    if comparison.is_certain_by_link:
        return comparison.base_bytes_per_second, comparison.other_bytes_per_second
    return comparison.counted_base_rate, comparison.counted_other_rate


def counted_rates_of(comparison: Comparison, summaries: Sequence[SeriesSummary]) -> list[list[float]]:
    return counted_rates(summaries, comparison.left_out if leaves_out_runs(comparison) else ())


def confidence_of_counted(comparison: Comparison, summary: SeriesSummary) -> tuple[float, float] | None:
    """The 95 % interval of a series' average, in bytes per second, by the runs that the average is of."""
    if leaves_out_runs(comparison) and summary.counted is not None:
        return summary.counted.confidence
    return summary.confidence


def averages_table(compared: ComparisonSummary) -> report.Table:
    """The average of each series and side, and how many runs count where some are left out."""
    comparison = compared.comparison
    # The last row of each side is the side's: its only series, or the mean of several.
    leaves_out = leaves_out_runs(comparison)
    base_average, other_average = side_averages(comparison)
    all_series = _all_series(compared)
    base_rows = _rows_of_side(
        comparison.base_name,
        all_series[: len(compared.bases)],
        first_row=0,
        average=base_average,
        comparison=comparison,
    )
    other_rows = _rows_of_side(
        comparison.other_name,
        all_series[len(compared.bases) :],
        first_row=len(base_rows),
        average=other_average,
        comparison=comparison,
    )

    # The change stands in the row that the other side's average is in, and is computed from both.
    rows = [*base_rows, *other_rows]
    change = comparison.change_percent
    formula = None
    if change is not None:
        column = _average_column(comparison)
        formula = report.change_formula(column, len(base_rows) - 1, len(rows) - 1)
    rows = [
        *(_with_cell(row, report.Cell()) for row in rows[:-1]),
        _with_cell(rows[-1], report.Cell(value=change, formula=formula)),
    ]

    headings = ["Valid runs", "Average, bytes/sec", "Deviation, bytes/sec"]
    caption = "Averages of the valid runs"
    if leaves_out:
        headings.insert(1, "Counted runs")
        caption = "Averages of the counted runs: the valid ones without those that stand out"
    columns = report.columns_of(
        "Series",
        *((heading, report.ReportKind.WHOLE) for heading in headings),
        ("Change", report.ReportKind.SIGNED),
    )
    return report.Table(columns=columns, rows=tuple(rows), caption=caption)


def _rows_of_side(
    side_name: str,
    all_series: Sequence[_SideSeries],
    *,
    first_row: int,
    average: float | None,
    comparison: Comparison,
) -> list[report.Row]:
    """A row a series, and their mean below where there are several; ``first_row`` is the place of the first of them."""
    rows = [_series_row(series, comparison) for series in all_series]
    if len(rows) > 1:
        name = f"{side_name}, mean of {len(rows)}"
        rows.append(_mean_row(name, rows, first_row, average, comparison))
    return rows


def _average_column(comparison: Comparison) -> int:
    return _AVERAGE_OF_COUNTED if leaves_out_runs(comparison) else _AVERAGE


def _series_row(side_series: _SideSeries, comparison: Comparison) -> report.Row:
    summary = side_series.summary
    (rates,) = counted_rates_of(comparison, [summary])
    cells: list[float | None] = [
        len(summary.series.measured()),
        _series_average(comparison, summary),
        pooled_deviation([rates]),
    ]
    if leaves_out_runs(comparison):
        cells.insert(1, len(rates))
    return report.row_of(side_series.name, *cells)


def _mean_row(
    name: str,
    rows: Sequence[report.Row],
    first_row: int,
    average: float | None,
    comparison: Comparison,
) -> report.Row:
    """The mean of a side's series, by formulas of the rows above."""
    counts = [_sum_of_column(rows, _RUNS)]
    if leaves_out_runs(comparison):
        counts.append(_sum_of_column(rows, _COUNTED))
    places = range(first_row, first_row + len(rows))
    cells = [_mean_cell(_average_column(comparison), places, average), report.Cell()]
    return report.row_of(name, *counts, *cells, role=report.Role.RESULT)


def _sum_of_column(rows: Sequence[report.Row], column: int) -> int:
    return sum(int(row.cells[column].value or 0) for row in rows)


def _mean_cell(column: int, rows: Sequence[int], mean: float | None) -> report.Cell:
    if mean is None:
        return report.Cell()
    # The template's {0}, {1}, … stand for the cells of the series' rows.
    summed = "+".join(f"{{{place}}}" for place in range(len(rows)))
    references = tuple(report.cell_at(column, row) for row in rows)
    return report.Cell(value=mean, formula=report.Formula(template=f"({summed})/{len(rows)}", references=references))


def _with_cell(row: report.Row, cell: report.Cell) -> report.Row:
    return replace(row, cells=(*row.cells, cell))


def averages_chart(compared: ComparisonSummary, *, table: int) -> report.Chart | None:
    """The averages of all series; ``table`` is the place of their table among those of the report."""
    bars = tuple(
        report.Bar(
            name=side_series.name,
            value=_series_average(compared.comparison, side_series.summary),
            interval=interval_of(compared.comparison, side_series.summary),
            tone=side_series.tone,
        )
        for side_series in _all_series(compared)
    )
    if any(bar.value is None for bar in bars):
        return None

    column = _average_column(compared.comparison)
    title = "Averages, with their 95 % intervals"
    intervals = "95 % interval"
    # Of whole series the scatter between equal series counts, which a single series does not show.
    if compared.comparison.apart_percent:
        title = "Averages, and how far equal series may lie apart"
        intervals = "19 of 20 such series"
    return report.Chart(title=title, unit="bytes/sec", bars=bars, source=(table, column), intervals=intervals)


def _series_average(comparison: Comparison, summary: SeriesSummary) -> float | None:
    """In bytes per second, by the runs that count."""
    (rates,) = counted_rates_of(comparison, [summary])
    return mean(rates)


def interval_of(comparison: Comparison, summary: SeriesSummary) -> tuple[float, float] | None:
    """(low, high) in bytes/s: where 19 of 20 equal series would lie; if interleaved, the interval of the average."""
    average = _series_average(comparison, summary)
    if comparison.apart_percent is None or average is None:
        return summary.confidence
    # A difference of two equal series varies by the root of two times as much as one of them.
    factor = (1 + comparison.apart_percent / 100) ** math.sqrt(0.5)
    return average / factor, average * factor


def runs_of_both(compared: ComparisonSummary) -> report.Chart:
    """Each run of all series: a run of the first, one of the second, and so on."""
    sides = []
    for side_series in _all_series(compared):
        bars = runs_chart(side_series.summary).bars
        # The number first: a name that is too long for the chart loses its end.
        named_bars = [replace(bar, name=f"{bar.name} {side_series.name}", tone=side_series.tone) for bar in bars]
        sides.append(named_bars)
    return alternating_runs(sides)


def alternating_runs(sides: Iterable[Sequence[report.Bar]]) -> report.Chart:
    """The runs of both sides alternate, so that a chart that is too low for all shows as many of either side."""
    bars = chain.from_iterable(zip_longest(*sides))
    # A side of fewer runs than the other has no bar in the last turns.
    return report.Chart(title="Rate of each run", unit="bytes/sec", bars=tuple(bar for bar in bars if bar))
