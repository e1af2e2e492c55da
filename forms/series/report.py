"""The run form on paper (Using Samba, tables B-6, B-7 and B-9): filled from a series, or blank."""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.findings.rules import findings_of
from forms.findings.series_warnings import advice
from forms.report import (
    Bar,
    Cell,
    Chart,
    Column,
    ColumnGroup,
    Field,
    FieldReference,
    Formula,
    Level,
    Mark,
    Report,
    ReportKind,
    Role,
    Row,
    Table,
    blank_fields,
    cell_at,
    row_of,
)
from forms.series.document import blank_document, series_document
from forms.series.fields import LINK, head_fields, link_field, result_fields
from forms.series.summary import RunMeasures, RunRow, SeriesSummary, column_names
from storage.records import Phase, RunStatus, Series

FORM = "run form"
BLANK_TITLE = "Measurement form"
BLANK_ROWS = 5
_KINDS = (ReportKind.TEXT, ReportKind.WHOLE, ReportKind.SECONDS, ReportKind.WHOLE, ReportKind.WHOLE, ReportKind.PERCENT)
_MEASURES = tuple(RunMeasures.__dataclass_fields__)
STATUS_COLUMN = len(_KINDS)


def series_report(form: SeriesSummary) -> Report:
    """The sheet of a filled run form."""
    series = form.series
    return Report(
        form=FORM,
        title=series.title or wording.default_title(series.command, series.target),
        name=series.label or series.title or series.id,
        fields=tuple(head_fields(series)),
        tables=(run_table(form),),
        results=tuple(result_fields(form)),
        advice=(*(a.text for a in advice(series)), *_findings(series)),
        chart=_chart(form),
        document=lambda: series_document(series),
    )


_SAID_BY_ADVICE = frozenset({"busy", "client-ceiling"})
"""Findings whose subject the advice has already."""


def _findings(series: Series) -> Iterator[str]:
    for finding in findings_of(series):
        if finding.key not in _SAID_BY_ADVICE:
            yield f"{finding.title}: {finding.evidence} {finding.what_to_do}"


def blank_series_report(link_bits_per_second: int | None = None, *, runs: int = BLANK_ROWS) -> Report:
    """The empty form, to be filled by hand: numbered rows, and the lines above the table to write on."""
    link = link_field(link_bits_per_second) if link_bits_per_second else Field(name=LINK, text="")
    rows = [row_of(str(n + 1), *[None] * 5) for n in range(runs)]
    rows += [row_of(f"{name}:", *[None] * 5, role=Role.RESULT) for name in ("Average", "Deviation")]
    return Report(
        form=FORM,
        title=BLANK_TITLE,
        name=BLANK_TITLE,
        fields=(*blank_fields("Label", "Command", "Target", "Client"), link, *blank_fields("Measured"), _NOTE),
        tables=(
            Table(columns=_columns(column_names(link_bits_per_second)), rows=tuple(rows), marked=True, entry="run"),
        ),
        document=lambda: blank_document(link_bits_per_second, runs),
        blank=True,
    )


_NOTE = Field(name="Note", text="")


def _columns(headings: Sequence[str]) -> tuple[Column, ...]:
    return tuple(Column(heading=heading, kind=kind) for heading, kind in zip(headings, _KINDS, strict=True))


def run_table(form: SeriesSummary) -> Table:
    """The table of a filled run form: a row for each run, then the averages and deviations."""
    rows = [_row(row, index) for index, row in enumerate(form.all_rows)]
    first, last = len(form.warm_ups), len(rows) - 1
    some = bool(form.rows)
    valid = '"valid"'
    if form.average:
        rows.append(_statistic("Average:", form.average, _average(first, last, valid) if some else None))
    if form.deviation:
        rows.append(_statistic("Deviation:", form.deviation, _deviation(first, last, valid)))
    if form.average_with_rejected:
        rows.append(Row(cells=(Cell(value="With the rejected runs:"),), role=Role.HEADING))
        rows.append(_statistic("Average:", form.average_with_rejected, _average(first, last, '"<>failed"')))
    if form.deviation_with_rejected:
        rows.append(
            _statistic("Deviation:", form.deviation_with_rejected, _deviation(first, last, '"failed"', same="<>"))
        )
    return Table(columns=_columns(form.columns), rows=tuple(rows), marked=True, entry="run")


def _row(row: RunRow, index: int) -> Row:
    numbers = [getattr(row.measures, name) for name in _MEASURES]
    failed = row.status is RunStatus.FAILED
    formulas = [None] * 5 if failed else [None, None, *_formulas(index, row.measures.percent_of_link is not None)]
    return Row(
        cells=(
            Cell(value=row.label),
            *(Cell(value=value, formula=formula) for value, formula in zip(numbers, formulas, strict=True)),
        ),
        mark=mark_of(row),
        remark=row.error or "" if failed else row.reason or row.unusual or "",
    )


def mark_of(row: RunRow) -> Mark:
    """Why a run is not like the others."""
    if row.status is RunStatus.FAILED:
        return Mark.FAILED
    if row.status is RunStatus.REJECTED:
        return Mark.REJECTED
    if row.phase is Phase.WARM_UP:
        return Mark.WARM_UP
    return Mark.UNUSUAL if row.unusual else Mark.NONE


def _formulas(index: int, has_link: bool) -> Iterator[Formula | None]:
    size, time, rate, bits = (cell_at(column, index) for column in range(1, 5))
    yield Formula(template="{0}/{1}", references=(size, time))
    yield Formula(template="8*{0}", references=(rate,))
    yield Formula(template="100*{0}/{1}", references=(bits, FieldReference(name=LINK))) if has_link else None


def _statistic(name: str, measures: RunMeasures, formulas: Sequence[Formula] | None) -> Row:
    values = [getattr(measures, field) for field in _MEASURES]
    cells = (
        Cell(value=value, formula=formulas[i] if formulas and value is not None else None)
        for i, value in enumerate(values)
    )
    return row_of(name, *cells, role=Role.RESULT)


def _average(first: int, last: int, condition: str) -> list[Formula]:
    status = ColumnGroup(column=STATUS_COLUMN, first=first, last=last)
    return [
        Formula(
            template=f"AVERAGEIF({{1}},{condition},{{0}})",
            references=(ColumnGroup(column=column, first=first, last=last), status),
        )
        for column in range(1, 6)
    ]


def _deviation(first: int, last: int, word: str, *, same: str = "=") -> list[Formula]:
    status = ColumnGroup(column=STATUS_COLUMN, first=first, last=last)
    return [
        Formula(
            template=f"STDEV(IF({{1}}{same}{word},{{0}}))",
            references=(ColumnGroup(column=column, first=first, last=last), status),
            array=True,
        )
        for column in range(1, 6)
    ]


def _chart(form: SeriesSummary) -> Chart | None:
    bars = tuple(
        Bar(name=row.label, value=None if mark is Mark.FAILED else row.measures.bytes_per_second, mark=mark)
        for row, mark in ((row, mark_of(row)) for row in form.rows)
    )
    if not any(bar.value for bar in bars):
        return None
    average = form.average_rate
    link = form.series.link_bits_per_second
    levels = [Level(name="average", value=average, of_bars=True)] if average is not None else []
    return Chart(
        title="Throughput of each run",
        unit="bytes/sec",
        bars=bars,
        levels=(*levels, *([Level(name="link", value=link / 8)] if link else [])),
        band=(("one deviation", *form.band) if form.band else None),
        source=(0, 3),
    )
