"""One form laid out on paper, as every exporter draws it; (row, column) count from 0, headings not counted."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from forms import wording
from forms.layout import Tone


class ReportKind(StrEnum):
    """What a column holds, and so how its numbers are written."""

    TEXT = "text"
    WHOLE = "whole"
    SECONDS = "seconds"
    PERCENT = "percent"
    DECIMAL = "decimal"
    RATIO = "ratio"
    SIGNED = "signed"


class Mark(StrEnum):
    """Why a row is not like the others."""

    NONE = ""
    WARM_UP = "warm-up"
    UNUSUAL = "unusual"
    REJECTED = "rejected"
    FAILED = "failed"
    PUT_BACK = "put back"
    BOTTLENECK = "bottleneck"


SIGNS: Mapping[Mark, str] = {
    Mark.UNUSUAL: "*",
    Mark.REJECTED: "x",
    Mark.PUT_BACK: "x",
    Mark.FAILED: "!",
    Mark.BOTTLENECK: "<",
}


class Role(StrEnum):
    """What a row is in its table."""

    ENTRY = "entry"
    HEADING = "heading"
    """A line of text across the table: its first cell."""
    RESULT = "result"
    """Computed from the entries: average, deviation, total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGroup:
    """Cells of one column, from one row to another one inclusive, that a formula refers to."""

    column: int
    first: int
    last: int
    table: int | None = None
    """An earlier table of the report; the formula's own where absent."""


def cell_at(column: int, row: int, table: int | None = None) -> ColumnGroup:
    """One cell that a formula refers to."""
    return ColumnGroup(column=column, first=row, last=row, table=table)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReference:
    """The number of a field above the table, by the field's name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """How a spreadsheet computes a cell again: ``template`` has ``{0}``, ``{1}``, … for ``references``."""

    template: str
    references: tuple[ColumnGroup | FieldReference, ...]
    array: bool = False


def change_formula(column: int, base: int, other: int) -> Formula:
    """The change from one row's number to another's, in percent of the first."""
    return Formula(template="100*({1}-{0})/{0}", references=(cell_at(column, base), cell_at(column, other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A text or a number; None is an empty cell. ``formula`` gives the same number."""

    value: str | float | None = None
    formula: Formula | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's heading and what its cells hold."""

    heading: str
    kind: ReportKind = ReportKind.WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table; its first cell names it."""

    cells: tuple[Cell, ...]
    role: Role = Role.ENTRY
    mark: Mark = Mark.NONE
    remark: str = ""
    tone: Tone = Tone.PLAIN

    @property
    def struck(self) -> bool:
        return self.mark in {Mark.REJECTED, Mark.PUT_BACK}

    @property
    def name(self) -> str:
        return str(self.cells[0].value or "") if self.cells else ""


def columns_of(*headings: str | tuple[str, ReportKind]) -> tuple[Column, ...]:
    """Columns of texts, or of what stands beside the heading."""
    pairs = ((heading, ReportKind.TEXT) if isinstance(heading, str) else heading for heading in headings)
    return tuple(Column(heading=heading, kind=kind) for heading, kind in pairs)


def row_of(
    *values: str | float | Cell | None,
    role: Role = Role.ENTRY,
    mark: Mark = Mark.NONE,
    remark: str = "",
    tone: Tone = Tone.PLAIN,
) -> Row:
    """A row of cells, or of what they hold."""
    cells = tuple(value if isinstance(value, Cell) else Cell(value=value) for value in values)
    return Row(cells=cells, role=role, mark=mark, remark=remark, tone=tone)


def blank_rows(columns: tuple[Column, ...], names: Iterable[str | None]) -> tuple[Row, ...]:
    """Rows to be filled by hand, each with what its first cell says."""
    return tuple(row_of(name, *[None] * (len(columns) - 1)) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns and rows; ``marked`` tables have room for a status and a remark beside their rows."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    marked: bool = False
    sentences: bool = False
    """Whether its cells are sentences: plain text, which has no room for them side by side, writes paragraphs."""
    entry: str = "row"
    """What an entry is called in a remark: ``run``."""

    @property
    def signed(self) -> bool:
        return self.marked or any(row.mark in SIGNS for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A named line above or below the tables; ``number`` is its value where a formula or a reader needs it."""

    name: str
    text: str
    number: float | None = None
    unit: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    """What the text says as names and values, for files that are read back."""
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a chart; no value where nothing was measured."""

    name: str
    value: float | None
    mark: Mark = Mark.NONE
    interval: tuple[float, float] | None = None
    """(low, high), drawn as a whisker."""
    start: float = 0.0
    """Where it begins: in a waterfall at the end of the one before it."""
    frame: float | None = None
    """What it could have been: a frame around it up to there."""

    @property
    def ends(self) -> tuple[float, float]:
        other = self.start + (self.value or 0.0)
        return min(self.start, other), max(self.start, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A line across a chart."""

    name: str
    value: float
    of_bars: bool = False
    """Whether it is computed from the bars, and not what they are held against."""


def blank_fields(*names: str) -> tuple[Field, ...]:
    """Lines to be filled by hand."""
    return tuple(Field(name=name, text="") for name in names)


FAR_ABOVE = 2.5
"""A level that many times above all the bars would squeeze them: it is named instead of drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Bars, or the points of a curve, with level lines and a band behind them, all in one unit."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    levels: tuple[Level, ...] = ()
    band: tuple[str, float, float] | None = None
    """(name, low, high)."""
    source: tuple[int, int] | None = None
    """(table, column) whose numbers a spreadsheet draws."""
    rows_before: int = 0
    is_curve: bool = False
    in_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One form: its title, the lines above, the tables, the lines below, what is advised, and a drawing."""

    form: str
    """Which form it is: ``run form``, ``comparison``, ``ladder``, ``survey``, ``self-test``, …"""
    title: str
    name: str
    """A short name, for a spreadsheet's tab."""
    fields: tuple[Field, ...] = ()
    tables: tuple[Table, ...] = ()
    results: tuple[Field, ...] = ()
    advice: tuple[str, ...] = ()
    chart: Chart | None = None
    more_charts: tuple[Chart, ...] = ()
    document: Callable[[], Any] = field(default=dict, repr=False, compare=False)
    """The form as plain lists, dicts, numbers and strings, for JSON."""
    blank: bool = False
    is_front_page: bool = False
    """Whether it tells nothing that the forms after it do not: what is read back leaves it out."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        return (*([self.chart] if self.chart else []), *self.more_charts)


def cell_text(cell: Cell, kind: ReportKind) -> str:
    """What a cell says, with its number written as the column's kind is; empty for an empty cell."""
    value = cell.value
    if value is None or isinstance(value, str):
        return value or ""
    return _WRITTEN[kind](value)


def remarks(table: Table) -> Iterator[tuple[Row, str]]:
    """The marked rows of a table, each with what is said of it: ``run 3 rejected: the backup ran``."""
    for row in table.rows:
        if row.mark in {Mark.REJECTED, Mark.UNUSUAL, Mark.FAILED}:
            yield row, f"{table.entry} {row.name} {remark_text(row)}"


def remark_text(row: Row) -> str:
    """A row's mark and the reason for it: ``rejected: the backup ran``."""
    return ": ".join(part for part in (row.mark.value, row.remark) if part)


def status_text(row: Row) -> str:
    """Whether a row counts, in the notebook's words: ``valid``, ``rejected``, ``failed`` or ``warm-up``."""
    return row.mark.value if row.mark in {Mark.REJECTED, Mark.FAILED, Mark.WARM_UP} else "valid"


def own_remark(row: Row) -> str:
    """What stands beside a row's status: the reason alone, or that and why it is unusual."""
    return remark_text(row) if row.mark is Mark.UNUSUAL else row.remark


def _decimal(value: float) -> str:
    return f"{value:,.1f}"


def _ratio(value: float) -> str:
    return f"{value:.3f}"


_WRITTEN: Mapping[ReportKind, Callable[[float], str]] = {
    ReportKind.TEXT: str,
    ReportKind.WHOLE: wording.whole,
    ReportKind.SECONDS: wording.cell_seconds,
    ReportKind.PERCENT: wording.cell_percent,
    ReportKind.DECIMAL: _decimal,
    ReportKind.RATIO: _ratio,
    ReportKind.SIGNED: wording.signed_percent,
}
