"""The tables and the chart of several comparisons: what each side was, and all verdicts with their intervals.

A change is computed from these averages, which leave out runs that stand out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from forms import report, wording
from forms.comparison.comparison import Comparison
from forms.comparison.several.sides import ComparedSide, pair_of
from forms.comparison.summary import ComparisonSummary
from forms.comparison.wording import verdict_word
from forms.report import ReportKind
from forms.verdict_wording import is_too_wide
from storage.records import to_minute, to_second

# Columns of the table of sides, from 0: name, when, runs, those that count where some are left out, average, deviation.

_AVERAGE = 3
_AVERAGE_OF_COUNTED = 4

_CHANGE = 3
"""The column of the table of verdicts that has the change."""


def sides_table(sides: Sequence[ComparedSide], *, leaves_out: bool) -> report.Table:
    """A row a side; ``leaves_out``: whether some of their runs are left out of the averages."""
    headings = ["Valid runs", "Average, bytes/sec", "Deviation, bytes/sec"]
    caption = "Averages of the valid runs"
    if leaves_out:
        headings.insert(1, "Counted runs")
        caption = "Averages of the counted runs: the valid ones without those that stand out"
    columns = report.columns_of(
        "Series", wording.when_heading(), *((heading, ReportKind.WHOLE) for heading in headings)
    )
    moments = [summary.series.created_at for side in sides for summary in side.summaries]
    has_second = len(set(map(to_minute, moments))) < len(moments)
    written = to_second if has_second else to_minute
    rows = tuple(_side_row(side, written, leaves_out=leaves_out) for side in sides)

    return report.Table(columns=columns, rows=rows, caption=caption)


def _average_column(*, leaves_out: bool) -> int:
    return _AVERAGE_OF_COUNTED if leaves_out else _AVERAGE


def _side_row(side: ComparedSide, written: Callable[[str], str], *, leaves_out: bool) -> report.Row:
    """``written`` writes a moment for people."""
    moments = sorted(written(summary.series.created_at) for summary in side.summaries)
    when = moments[0] if moments[0] == moments[-1] else f"{moments[0]} to {moments[-1]}"
    runs = sum(len(summary.series.measured()) for summary in side.summaries)
    cells: list[float | None] = [runs, side.average, side.deviation]
    if leaves_out:
        cells.insert(1, side.counted_runs)
    count = len(side.summaries)
    name = f"{side.name} ({count} series)" if count > 1 else side.name
    return report.row_of(name, when, *cells)


def verdicts_table(
    comparisons: Sequence[ComparisonSummary],
    neighbours: Sequence[ComparisonSummary],
    *,
    sides: Sequence[ComparedSide],
    table: int,
    leaves_out: bool,
) -> report.Table:
    """A row for each comparison: its verdict, and its change with the interval; those of ``neighbours`` below.

    A pair of neighbours that is one of the comparisons has no second row. ``sides`` are the rows of the table of sides,
    which stands at the place ``table`` of the report.
    """
    columns = report.columns_of(
        "Series",
        "Against",
        "Verdict",
        ("Change", ReportKind.SIGNED),
        ("from", ReportKind.SIGNED),
        ("to", ReportKind.SIGNED),
    )
    compared_pairs = set(map(pair_of, comparisons))
    further = [compared for compared in neighbours if pair_of(compared) not in compared_pairs]
    all_of_them = [compared.comparison for compared in (*comparisons, *further)]
    has_needed_runs = any(comparison.needed_runs for comparison in all_of_them)
    if has_needed_runs:
        columns += report.columns_of(("Runs needed", ReportKind.WHOLE))

    row_of_side = {side.series_id: row for row, side in enumerate(sides)}
    column = _average_column(leaves_out=leaves_out)
    rows = []
    for place, comparison in enumerate(all_of_them):
        if place == len(comparisons):
            rows.append(report.row_of("One after the other", role=report.Role.HEADING))
        row = _verdict_row(comparison, has_needed_runs=has_needed_runs)
        base = report.cell_at(column, row_of_side[comparison.base_id], table)
        other = report.cell_at(column, row_of_side[comparison.other_id], table)
        rows.append(_with_formula(row, comparison, base, other))

    intervals = [comparison.interval_percent for comparison in all_of_them if comparison.interval_percent]
    caption = "Verdicts: the change, and from where to where it may truly lie"
    if any(is_too_wide(*interval) for interval in intervals):
        caption += "; where that is too wide to tell anything it is left out"
    return report.Table(columns=columns, rows=tuple(rows), caption=caption)


def _verdict_row(comparison: Comparison, *, has_needed_runs: bool) -> report.Row:
    low, high = _told_interval(comparison) or (None, None)
    return report.row_of(
        comparison.other_name,
        comparison.base_name,
        f"{comparison.sign} {verdict_word(comparison)}",
        comparison.change_percent,
        low,
        high,
        *([comparison.needed_runs] if has_needed_runs else []),
    )


def _with_formula(
    row: report.Row, comparison: Comparison, base: report.ColumnGroup, other: report.ColumnGroup
) -> report.Row:
    """The row with its change as a formula; interleaved runs are judged pair by pair, of which it has no averages."""
    if comparison.change_percent is None or comparison.interleaved:
        return row
    formula = report.Formula(template="100*({1}-{0})/{0}", references=(base, other))
    cells = list(row.cells)
    cells[_CHANGE] = replace(cells[_CHANGE], formula=formula)
    return replace(row, cells=tuple(cells))


def _told_interval(comparison: Comparison) -> tuple[float, float] | None:
    interval = comparison.interval_percent
    return None if interval is None or is_too_wide(*interval) else interval


def averages_chart(sides: Sequence[ComparedSide], *, table: int, leaves_out: bool) -> report.Chart | None:
    """The average of each side, and where other series like it would lie; ``table`` is the place of that of sides."""
    if any(side.average is None for side in sides):
        return None

    bars = tuple(report.Bar(name=side.name, value=side.average, interval=_series_interval(side)) for side in sides)
    title = "Average throughput"
    if any(bar.interval for bar in bars):
        title = "Averages, and how far equal series may lie apart"
    return report.Chart(
        title=title,
        unit="bytes/sec",
        bars=bars,
        source=(table, _average_column(leaves_out=leaves_out)),
        intervals="19 of 20 such series",
        in_text=True,
    )


def _series_interval(side: ComparedSide) -> tuple[float, float] | None:
    """(low, high) in bytes/s, where 19 of 20 equal series would lie; None where that is not known."""
    if side.apart_percent is None or side.average is None:
        return None
    # A difference of two equal series varies by the root of two times as much as one of them.
    factor = (1 + side.apart_percent / 100) ** 0.5**0.5
    return side.average / factor, side.average * factor
