"""Comparisons on paper: two series side by side, or several in the layout of table B-1 (Using Samba)."""

from __future__ import annotations

from collections.abc import Sequence

from forms import wording
from forms.comparison_form import ComparisonForm, ComparisonRow, comparison_form
from forms.comparison_json import comparison_document
from forms.sheet import Bar, Cell, Chart, Column, Field, Formula, Kind, Row, Sheet, Span, Table
from forms.table_b1 import FTP, TableB1, base_of, table_b1
from storage.records import Series

FORM = "comparison"
_KILO = 1000.0


def comparison_sheets(series: Sequence[Series]) -> list[Sheet]:
    """The sheet of a base and the others, the base first: one for two series, one in B-1's layout for more."""
    pairs = [(base_of(series, index), one) for index, one in enumerate(series)]
    forms = [comparison_form(base, one) for base, one in pairs if base is not None]
    return [pair_sheet(forms[0])] if len(series) == 2 else [table_sheet(table_b1(series), forms)]


def pair_sheet(form: ComparisonForm) -> Sheet:
    """Two series side by side."""
    comparison = form.comparison
    tables = [_averages(form), _properties("Side by side", form.rows)]
    if form.differences:
        tables.append(_properties("What else differs", form.differences))
    return Sheet(
        form=FORM,
        title=f"Comparison: {comparison.other_name} against {comparison.base_name}",
        name="Comparison",
        fields=(Field(name="Verdict", text=f"[{comparison.sign}] {comparison.sentence}"),),
        tables=tuple(tables),
        advice=form.remarks,
        chart=_chart(form),
        document=lambda: comparison_document(comparison),
    )


def table_sheet(table: TableB1, forms: Sequence[ComparisonForm]) -> Sheet:
    """Several series as in table B-1, and the verdict on each."""
    remarks = dict.fromkeys(remark for form in forms for remark in form.remarks)
    return Sheet(
        form=FORM,
        title="Comparison of several series",
        name="Comparison",
        tables=(_side_by_side(table), _verdicts(forms)),
        advice=tuple(remarks),
        document=lambda: [comparison_document(form.comparison) for form in forms],
    )


def blank_comparison_sheet(rows: int = 4) -> Sheet:
    """Table B-1 as it is printed: commands down; FTP, untuned and tuned Samba across; to be filled by hand."""
    headings = ("FTP, kB/s", "Untuned Samba, kB/s", "Tuned Samba, kB/s", "% of FTP")
    columns = (Column(heading="Command", kind=Kind.TEXT), *(Column(heading=heading) for heading in headings))
    return Sheet(
        form=FORM,
        title="Comparison of several series",
        name="Comparison",
        fields=tuple(Field(name=name, text="") for name in ("Server", "Client", "Date")),
        tables=(Table(columns=columns, rows=tuple(Row(cells=(Cell(),) * len(columns)) for _ in range(rows))),),
        blank=True,
    )


def _averages(form: ComparisonForm) -> Table:
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
        Column(heading="Side", kind=Kind.TEXT),
        Column(heading="Series", kind=Kind.TEXT),
        Column(heading="Valid runs"),
        Column(heading="Average, bytes/sec"),
        Column(heading="Deviation, bytes/sec"),
        Column(heading="Change", kind=Kind.SIGNED),
    )
    return Table(columns=columns, rows=tuple(rows), caption="Averages of the valid runs", entry="side")


def _change_of(column: int, base: int, other: int) -> Formula:
    """The change from one row's number to another's, in percent of the first."""
    return Formula(
        template="100*({1}-{0})/{0}",
        references=(Span(column=column, first=base, last=base), Span(column=column, first=other, last=other)),
    )


def _properties(caption: str, rows: Sequence[ComparisonRow]) -> Table:
    headings = ("", "Base", "Other", "Differs")
    return Table(
        columns=tuple(Column(heading=heading, kind=Kind.TEXT) for heading in headings),
        rows=tuple(
            Row(cells=tuple(Cell(value=text) for text in (r.name, r.base, r.other, "yes" if r.differs else "")))
            for r in rows
            if r.base or r.other
        ),
        caption=caption,
    )


def _chart(form: ComparisonForm) -> Chart | None:
    bars = tuple(
        Bar(name=name, value=filled.average.bytes_per_second if filled.average else None)
        for name, filled in (("base", form.base), ("other", form.other))
    )
    if any(bar.value is None for bar in bars):
        return None
    return Chart(title="Average throughput", unit="bytes/sec", bars=bars, source=(0, 3))


def _side_by_side(table: TableB1) -> Table:
    columns = [Column(heading="Command", kind=Kind.TEXT)]
    for name in table.columns:
        columns.append(Column(heading=f"{name}, kB/s", kind=Kind.DECIMAL))
        if table.has_ftp and name != FTP:
            columns.append(Column(heading="% of FTP", kind=Kind.PERCENT))
    return Table(
        columns=tuple(columns),
        rows=tuple(_row(table, index) for index in range(len(table.rows))),
        caption="Averages, as in table B-1",
    )


def _row(table: TableB1, index: int) -> Row:
    row = table.rows[index]
    cells = [Cell(value=row.name)]
    for name, cell in zip(table.columns, row.cells, strict=True):
        rate = cell.bytes_per_second if cell else None
        cells.append(Cell(value="n.a." if rate is None else rate / _KILO))
        if table.has_ftp and name != FTP:
            here = len(cells)
            share = cell.percent_of_ftp if cell else None
            cells.append(Cell(value=share, formula=None if share is None else _share_of_ftp(here, index)))
    return Row(cells=tuple(cells))


def _share_of_ftp(column: int, row: int) -> Formula:
    """A column's share is that of the one before it in FTP's, which is the first after the names."""
    return Formula(
        template="100*{0}/{1}",
        references=(Span(column=column - 1, first=row, last=row), Span(column=1, first=row, last=row)),
    )


def _verdicts(forms: Sequence[ComparisonForm]) -> Table:
    columns = (
        Column(heading="Series", kind=Kind.TEXT),
        Column(heading="Against", kind=Kind.TEXT),
        Column(heading="Verdict", kind=Kind.TEXT),
        Column(heading="Change", kind=Kind.SIGNED),
        Column(heading="from", kind=Kind.SIGNED),
        Column(heading="to", kind=Kind.SIGNED),
        Column(heading="Runs needed"),
    )
    rows = []
    for form in forms:
        c = form.comparison
        low, high = c.interval_percent or (None, None)
        values = (c.other_name, c.base_name, f"[{c.sign}] {c.verdict}", c.change_percent, low, high, c.needed_runs)
        rows.append(Row(cells=tuple(Cell(value=value) for value in values)))
    return Table(columns=columns, rows=tuple(rows), caption="Verdicts, with the 95 % interval of the change")
