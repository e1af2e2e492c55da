"""The runs of a series on paper (Using Samba, table B-7), with the formulas of a spreadsheet; and their chart."""

from collections.abc import Sequence
from dataclasses import replace

from forms import report, wording
from forms.series.summary import RunMeasures, RunRow, SeriesSummary
from forms.series.wording import column_names
from storage.recommended import DEFAULT_RUNS
from storage.records import Phase, RunStatus

LINK = "Link"
"""The name of the field that has the link's speed, which formulas refer to."""

BLANK_ROWS = DEFAULT_RUNS
"""The blank form has a row for each recommended run, as the paper form."""

_COLUMN_KINDS = (
    report.ReportKind.TEXT,
    report.ReportKind.WHOLE,
    report.ReportKind.SECONDS,
    report.ReportKind.WHOLE,
    report.ReportKind.WHOLE,
    report.ReportKind.PERCENT,
)
# The columns, from 0: the first has the number of the run.

_SIZE = 1
_TIME = 2
_RATE = 3
_BITS = 4
_MEASURE_COLUMNS = range(1, 6)
"""Those of figures: size, time, bytes and bits per second, percent of the link."""


def run_columns(link_bits_per_second: int | None) -> tuple[report.Column, ...]:
    """The columns of the table; the last heading names the link's speed."""
    return report.columns_of(*zip(column_names(link_bits_per_second), _COLUMN_KINDS, strict=True))


def run_table(series_summary: SeriesSummary) -> report.Table:
    """The runs with their averages and deviations; the last column only where the link's speed is known."""
    rows = [_run_row(row, index) for index, row in enumerate(series_summary.all_rows)]
    has_link = any(row.measures.percent_of_link is not None for row in series_summary.all_rows)
    column_count = len(_COLUMN_KINDS) if has_link else len(_COLUMN_KINDS) - 1
    # The rows of the measured runs, which follow the warm-up runs. A spreadsheet has the status of each run, "valid" or
    # another, in the column behind the figures.
    first = len(series_summary.warm_ups)
    last = len(rows) - 1

    def formulas(template: str, *, array: bool = False) -> list[report.Formula]:
        return _column_formulas(template, first, last, column_count, array=array)

    if series_summary.average:
        averages = formulas('AVERAGEIF({1},"valid",{0})') if series_summary.rows else None
        rows.append(_statistic_row("Average:", series_summary.average, averages))
    if series_summary.deviation:
        deviations = formulas('STDEV(IF({1}="valid",{0}))', array=True)
        rows.append(_statistic_row("Deviation:", series_summary.deviation, deviations))
    if series_summary.average_with_rejected:
        rows.append(report.heading_row("With the rejected runs:"))
        averages = formulas('AVERAGEIF({1},"<>failed",{0})')
        rows.append(_statistic_row("Average:", series_summary.average_with_rejected, averages))
    if series_summary.deviation_with_rejected:
        deviations = formulas('STDEV(IF({1}<>"failed",{0}))', array=True)
        rows.append(_statistic_row("Deviation:", series_summary.deviation_with_rejected, deviations))

    return report.Table(
        columns=run_columns(series_summary.series.link_bits_per_second)[:column_count],
        rows=tuple(replace(row, cells=row.cells[:column_count]) for row in rows),
        marked=True,
        entry="run {}".format,
    )


def blank_run_table(link_bits_per_second: int | None) -> report.Table:
    empty_cells = [None] * len(_MEASURE_COLUMNS)
    rows = [report.row_of(str(number), *empty_cells) for number in range(1, BLANK_ROWS + 1)]
    rows += [report.row_of(f"{name}:", *empty_cells, role=report.Role.RESULT) for name in ("Average", "Deviation")]
    return report.Table(columns=run_columns(link_bits_per_second), rows=tuple(rows), marked=True, entry="run {}".format)


def _run_row(row: RunRow, index: int) -> report.Row:
    formulas = _run_formulas(index, has_link=row.measures.percent_of_link is not None)
    if row.run.status is RunStatus.FAILED:
        formulas = [None] * len(_MEASURE_COLUMNS)
    cells = [
        report.Cell(value=value, formula=formula)
        for value, formula in zip(_values(row.measures), formulas, strict=True)
    ]
    return report.Row(cells=(report.Cell(value=row.label), *cells), mark=mark_of(row), remark=_remark(row))


def _values(measures: RunMeasures) -> list[float | None]:
    """The measures in the order of their columns."""
    return [
        measures.size_bytes,
        measures.seconds,
        measures.bytes_per_second,
        measures.bits_per_second,
        measures.percent_of_link,
    ]


def _remark(row: RunRow) -> str:
    if row.run.status is RunStatus.FAILED:
        return row.run.error or ""
    if row.run.reason:
        return row.run.reason
    return wording.unusual_text(row.unusual) if row.unusual else ""


def mark_of(row: RunRow) -> report.Mark:
    if row.run.status is RunStatus.FAILED:
        return report.Mark.FAILED
    if row.run.status is RunStatus.REJECTED:
        return report.Mark.REJECTED
    if row.run.phase is Phase.WARM_UP:
        return report.Mark.WARM_UP
    return report.Mark.UNUSUAL if row.unusual else report.Mark.NONE


def _run_formulas(row: int, *, has_link: bool) -> list[report.Formula | None]:
    """By size and time, which were measured: rate, bits and percent of the link."""
    rate = report.Formula(template="{0}/{1}", references=(report.cell_at(_SIZE, row), report.cell_at(_TIME, row)))
    bits = report.Formula(template="8*{0}", references=(report.cell_at(_RATE, row),))
    percent = report.Formula(
        template="100*{0}/{1}", references=(report.cell_at(_BITS, row), report.FieldReference(name=LINK))
    )
    return [None, None, rate, bits, percent if has_link else None]


def _statistic_row(name: str, measures: RunMeasures, formulas: Sequence[report.Formula] | None) -> report.Row:
    cells = []
    for place, value in enumerate(_values(measures)):
        formula = formulas[place] if formulas and value is not None else None
        cells.append(report.Cell(value=value, formula=formula))
    return report.row_of(name, *cells, role=report.Role.RESULT)


def _column_formulas(template: str, first: int, last: int, status: int, *, array: bool) -> list[report.Formula]:
    """A formula of each column's runs, ``{0}``, and their status, ``{1}``, in the column behind them."""
    statuses = report.ColumnGroup(column=status, first=first, last=last)
    groups = [report.ColumnGroup(column=column, first=first, last=last) for column in _MEASURE_COLUMNS]
    return [report.Formula(template=template, references=(group, statuses), array=array) for group in groups]


def runs_chart(series_summary: SeriesSummary) -> report.Chart:
    """A bar for the rate of each measured run, with the average and the speed of the link across them."""
    bars = []
    for row in series_summary.rows:
        mark = mark_of(row)
        value = None if mark is report.Mark.FAILED else row.measures.bytes_per_second
        bars.append(report.Bar(name=row.label, value=value, mark=mark))

    levels = []
    if series_summary.average_rate is not None:
        levels.append(report.Level(name="average", value=series_summary.average_rate, of_bars=True))
    link = series_summary.series.link_bits_per_second
    if link:
        levels.append(report.Level(name="link", value=link / 8))
    return report.Chart(
        title="Throughput of each run",
        unit="bytes/sec",
        bars=tuple(bars),
        levels=tuple(levels),
        band=("one deviation", *series_summary.band) if series_summary.band else None,
        source=(0, _RATE),
    )
