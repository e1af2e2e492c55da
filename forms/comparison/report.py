"""Comparisons on paper: two series side by side, or several with commands down and protocols across.

The layout for several is that of table B-1 (Using Samba).
"""

from __future__ import annotations

from collections.abc import Sequence

from forms import wording
from forms.comparison.document import comparison_document
from forms.comparison.matrix import FTP, ProtocolMatrix, protocol_matrix, sides_of
from forms.comparison.summary import ComparisonRow, ComparisonSummary, comparisons
from forms.report import Bar, Cell, Chart, Column, ColumnGroup, Field, Formula, Report, ReportKind, Row, Table
from storage.records import Series

FORM = "comparison"
NOT_MEASURED = "n.a."


def comparison_report(shown: Sequence[Series], found: Sequence[ComparisonSummary] | None = None) -> Report:
    """The report of one pair side by side, or of the matrix of all that are shown, the base first.

    ``found`` where they are compared already, with the repeats that the notebook knows.
    """
    found = comparisons(sides_of([(one,) for one in shown])) if found is None else found
    return pair_report(found[0]) if len(found) == 1 else matrix_report(protocol_matrix(shown), found)


def pair_report(form: ComparisonSummary) -> Report:
    """Two series side by side."""
    comparison = form.comparison
    tables = [_averages(form), _properties("Side by side", form.rows)]
    if form.differences:
        tables.append(_properties("What else differs", form.differences))
    return Report(
        form=FORM,
        title=f"Comparison: {comparison.other_name} against {comparison.base_name}",
        name="Comparison",
        fields=(Field(name="Verdict", text=f"[{comparison.sign}] {comparison.sentence}"),),
        tables=tuple(tables),
        advice=form.remarks,
        chart=_chart(form),
        document=lambda: comparison_document(comparison),
    )


def matrix_report(matrix: ProtocolMatrix, found: Sequence[ComparisonSummary]) -> Report:
    """Several series as a matrix of commands and protocols, and the verdict on each."""
    remarks = dict.fromkeys(f"{form.comparison.other_name}: {remark}" for form in found for remark in form.remarks)
    return Report(
        form=FORM,
        title="Comparison of several series",
        name="Comparison",
        tables=(matrix_table(matrix), _verdicts(found)),
        results=tuple(
            Field(
                name=f"{form.comparison.other_name} ({form.other.series.command})",
                text=f"[{form.comparison.sign}] {form.comparison.sentence}",
            )
            for form in found
        ),
        advice=tuple(remarks),
        document=lambda: [comparison_document(form.comparison) for form in found],
    )


def blank_comparison_report(rows: int = 4) -> Report:
    """The matrix to be filled by hand: commands down; FTP, untuned and tuned Samba across (table B-1)."""
    headings = ("FTP, kB/s", "Untuned Samba, kB/s", "Tuned Samba, kB/s", "% of FTP")
    columns = (Column(heading="Command", kind=ReportKind.TEXT), *(Column(heading=heading) for heading in headings))
    return Report(
        form=FORM,
        title="Comparison of several series",
        name="Comparison",
        fields=tuple(Field(name=name, text="") for name in ("Server", "Client", "Date")),
        tables=(Table(columns=columns, rows=tuple(Row(cells=(Cell(),) * len(columns)) for _ in range(rows))),),
        blank=True,
    )


def _averages(form: ComparisonSummary) -> Table:
    rows = []
    for index, (name, filled) in enumerate((("base", form.base), ("other", form.other))):
        average = filled.average.bytes_per_second if filled.average else None
        deviation = filled.deviation.bytes_per_second if filled.deviation else None
        change = form.comparison.change_percent if index else None
        rows.append(
            Row(
                cells=(
                    Cell(value=name),
                    Cell(value=wording.name_of(filled.series)),
                    Cell(value=len(filled.series.measured())),
                    Cell(value=average),
                    Cell(value=deviation),
                    Cell(value=change, formula=_change_of(3, 0, 1) if change is not None else None),
                )
            )
        )
    columns = (
        Column(heading="Side", kind=ReportKind.TEXT),
        Column(heading="Series", kind=ReportKind.TEXT),
        Column(heading="Valid runs"),
        Column(heading="Average, bytes/sec"),
        Column(heading="Deviation, bytes/sec"),
        Column(heading="Change", kind=ReportKind.SIGNED),
    )
    return Table(columns=columns, rows=tuple(rows), caption="Averages of the valid runs", entry="side")


def _change_of(column: int, base: int, other: int) -> Formula:
    """The change from one row's number to another's, in percent of the first."""
    return Formula(
        template="100*({1}-{0})/{0}",
        references=(
            ColumnGroup(column=column, first=base, last=base),
            ColumnGroup(column=column, first=other, last=other),
        ),
    )


def _properties(caption: str, rows: Sequence[ComparisonRow]) -> Table:
    headings = ("", "Base", "Other", "Differs")
    return Table(
        columns=tuple(Column(heading=heading, kind=ReportKind.TEXT) for heading in headings),
        rows=tuple(
            Row(cells=tuple(Cell(value=text) for text in (r.name, r.base, r.other, "yes" if r.differs else "")))
            for r in rows
            if r.base or r.other
        ),
        caption=caption,
    )


def _chart(form: ComparisonSummary) -> Chart | None:
    bars = tuple(
        Bar(name=name, value=filled.average.bytes_per_second if filled.average else None)
        for name, filled in (("base", form.base), ("other", form.other))
    )
    if any(bar.value is None for bar in bars):
        return None
    return Chart(title="Average throughput", unit="bytes/sec", bars=bars, source=(0, 3))


def matrix_table(matrix: ProtocolMatrix) -> Table:
    """Commands down, protocols across: averages with their deviations, and each column in percent of FTP.

    One unit for all, so that digits stand below each other: MB/s, or kB/s where something is below 1 MB/s.
    """
    rates = [cell.bytes_per_second for row in matrix.rows for cell in row.cells if cell and cell.bytes_per_second]
    factor, unit = (1e3, "kB/s") if rates and min(rates) < 1e6 else (1e6, "MB/s")
    columns = [Column(heading="Command", kind=ReportKind.TEXT)]
    for name in matrix.columns:
        columns += [Column(heading=f"{name}, {unit}", kind=ReportKind.DECIMAL)]
        columns += [Column(heading="±", kind=ReportKind.DECIMAL)]
        if matrix.has_ftp and name != FTP:
            columns.append(Column(heading="% of FTP", kind=ReportKind.DECIMAL))
    return Table(
        columns=tuple(columns),
        rows=tuple(_row(matrix, index, factor) for index in range(len(matrix.rows))),
        caption="Averages and their deviations",
    )


def _row(matrix: ProtocolMatrix, index: int, factor: float) -> Row:
    row = matrix.rows[index]
    cells = [Cell(value=row.name)]
    for name, cell in zip(matrix.columns, row.cells, strict=True):
        rate = cell.bytes_per_second if cell else None
        deviation = cell.deviation_bytes_per_second if cell else None
        here = len(cells)
        cells.append(Cell(value=NOT_MEASURED if rate is None else rate / factor))
        cells.append(Cell(value=None if deviation is None else deviation / factor))
        if matrix.has_ftp and name != FTP:
            share = cell.percent_of_ftp if cell else None
            cells.append(Cell(value=share, formula=None if share is None else _share_of_ftp(here, index)))
    return Row(cells=tuple(cells))


def _share_of_ftp(column: int, row: int) -> Formula:
    """A column's average in percent of FTP's, which is the first after the names."""
    return Formula(
        template="100*{0}/{1}",
        references=(ColumnGroup(column=column, first=row, last=row), ColumnGroup(column=1, first=row, last=row)),
    )


def _verdicts(found: Sequence[ComparisonSummary]) -> Table:
    columns = (
        Column(heading="Series", kind=ReportKind.TEXT),
        Column(heading="Against", kind=ReportKind.TEXT),
        Column(heading="Verdict", kind=ReportKind.TEXT),
        Column(heading="Change", kind=ReportKind.SIGNED),
        Column(heading="from", kind=ReportKind.SIGNED),
        Column(heading="to", kind=ReportKind.SIGNED),
        Column(heading="Runs needed"),
    )
    rows = []
    for form in found:
        c = form.comparison
        low, high = c.interval_percent or (None, None)
        values = (c.other_name, c.base_name, f"[{c.sign}] {c.word}", c.change_percent, low, high, c.needed_runs)
        rows.append(Row(cells=tuple(Cell(value=value) for value in values)))
    return Table(columns=columns, rows=tuple(rows), caption="Verdicts, with the 95 % interval of the change")
