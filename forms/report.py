"""The model of a form, which every exporter draws: on a screen, as text, HTML, Markdown, PDF, CSV or a spreadsheet.

A *report* is one form. From the top it has fields (the answer first), tables, results, advice, and charts. Fields and
results are a name with a text. A cell may have a *formula* beside its value, by which a spreadsheet computes the value
again. Rows and columns count from 0, headings excluded.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, compress, repeat
from typing import Any

from forms import wording
from forms.layout import Tone


class ReportKind(StrEnum):
    """What a column holds, which decides how its numbers are written."""

    TEXT = "text"
    WHOLE = "whole"
    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    PERCENT = "percent"
    DECIMAL = "decimal"
    RATIO = "ratio"
    SIGNED = "signed"


class Mark(StrEnum):
    """What is special of a row or a bar, in one word for people."""

    NONE = ""
    WARM_UP = "warm-up"
    UNUSUAL = "unusual"
    REJECTED = "rejected"
    FAILED = "failed"
    RESTORED = "restored"
    BOTTLENECK = "bottleneck"


SIGNS = {Mark.UNUSUAL: "*", Mark.REJECTED: "x", Mark.RESTORED: "x", Mark.FAILED: "!", Mark.BOTTLENECK: "<"}
"""The letter of a mark; those without one need none."""


class Role(StrEnum):
    """What a row is to its table."""

    ENTRY = "entry"
    HEADING = "heading"
    """A heading within the table."""
    RESULT = "result"
    """A sum or an average of entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGroup:
    """Cells of one column that a formula refers to."""

    column: int
    first: int
    """The first row."""
    last: int
    """The last row, which is one of them."""
    table: int | None = None
    """The place of another table of the report; None for that of the formula."""


def cell_at(column: int, row: int, table: int | None = None) -> ColumnGroup:
    """A single cell."""
    return ColumnGroup(column=column, first=row, last=row, table=table)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReference:
    """The number of a field that a formula refers to."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """How a spreadsheet computes a cell again: ``template`` has ``{0}``, ``{1}``, … for ``references``."""

    template: str
    references: tuple[ColumnGroup | FieldReference, ...]
    array: bool = False
    """Whether it computes with each cell of a group (a spreadsheet's array formula)."""


def change_formula(column: int, base: int, other: int) -> Formula:
    """The change in percent between two rows of a column."""
    return Formula(template="100*({1}-{0})/{0}", references=(cell_at(column, base), cell_at(column, other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A text or a number; None is an empty cell. ``formula`` gives the same number."""

    value: str | float | None = None
    formula: Formula | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    heading: str
    kind: ReportKind = ReportKind.WHOLE
    is_detail: bool = False
    """What a screen shows only when asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    cells: tuple[Cell, ...]
    role: Role = Role.ENTRY
    mark: Mark = Mark.NONE
    remark: str = ""
    """Why it has its mark."""
    tone: Tone = Tone.PLAIN

    @property
    def struck(self) -> bool:
        """Whether it is struck out."""
        return self.mark in {Mark.REJECTED, Mark.RESTORED}

    @property
    def name(self) -> str:
        """The text of its first cell."""
        return str(self.cells[0].value or "") if self.cells else ""


def columns_of(*headings: str | tuple[str, ReportKind]) -> tuple[Column, ...]:
    """Columns by their headings, of texts where no kind is named."""
    columns = []
    for heading in headings:
        name, kind = (heading, ReportKind.TEXT) if isinstance(heading, str) else heading
        columns.append(Column(heading=name, kind=kind))
    return tuple(columns)


def row_of(
    *values: str | float | Cell | None,
    role: Role = Role.ENTRY,
    mark: Mark = Mark.NONE,
    remark: str = "",
    tone: Tone = Tone.PLAIN,
) -> Row:
    cells = tuple(value if isinstance(value, Cell) else Cell(value=value) for value in values)
    return Row(cells=cells, role=role, mark=mark, remark=remark, tone=tone)


def heading_row(name: str) -> Row:
    """A heading within a table."""
    return Row(cells=(Cell(value=name),), role=Role.HEADING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns and rows."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    marked: bool = False
    """Whether a status and a remark stand beside each row."""
    sentences: bool = False
    """Whether cells hold sentences, which are wrapped."""
    entry: Callable[[str], str] = "row {}".format
    """What a remark calls the row of that name: ``run 3``."""
    is_detail: bool = False
    """Statistics, which a screen shows only when asked."""

    def cells(self, row: Row) -> Iterator[tuple[Cell, Column]]:
        """The cells of a row, each with its column; empty cells where the row is shorter."""
        return zip(chain(row.cells, repeat(Cell())), self.columns, strict=False)

    @property
    def brief(self) -> "Table":
        """The table without columns of details."""
        is_column_kept = [not column.is_detail for column in self.columns]
        rows = [replace(row, cells=tuple(compress(row.cells, is_column_kept))) for row in self.rows]
        return replace(self, columns=tuple(compress(self.columns, is_column_kept)), rows=tuple(rows))

    @property
    def signed(self) -> bool:
        """Whether a column of the marks' letters is shown."""
        return self.marked or any(row.mark in SIGNS for row in self.rows)


class FieldRole(StrEnum):
    """What a field is to the form, for those who look for it, whatever it is called there."""

    OTHER = "other"
    ANSWER = "answer"
    ONE_OF_ANSWERS = "one of answers"
    """What is said of one of several subjects, where the form has no answer on all of them."""
    BASIS = "basis"
    """What the answer is judged by."""
    QUESTION = "question"
    MEASURED = "measured"
    """What was measured, or when."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A line of a form: a name with a text."""

    name: str
    text: str
    role: FieldRole = FieldRole.OTHER
    number: float | None = None
    """The number that the text writes, unrounded, for formulas and files; None without one."""
    unit: str = ""
    """The unit of ``number``."""
    facts: tuple[tuple[str, str], ...] = ()
    """(name, value) of what the text is made of, for programs that read a form again."""
    tone: Tone = Tone.PLAIN
    is_detail: bool = False
    """What a screen shows only when asked."""
    is_known_at_end: bool = False
    """Whether it says nothing true while the recording is being measured."""

    @property
    def is_answer(self) -> bool:
        """Whether it is the answer of the form, or that on one of its subjects; pages write it in bold."""
        return self.role in (FieldRole.ANSWER, FieldRole.ONE_OF_ANSWERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a chart, or a point of a curve."""

    name: str
    value: float | None
    """None where nothing was measured."""
    mark: Mark = Mark.NONE
    interval: tuple[float, float] | None = None
    """(low, high), drawn as a whisker."""
    start: float = 0.0
    """Where it begins; elsewhere than at 0 it stands on another part."""
    frame: float | None = None
    """The end of an empty frame around it, of which the bar is a share; None without one."""
    tone: Tone = Tone.PLAIN
    """How it is meant: a bar with a verdict has the verdict's."""
    signs: str = ""
    """Letters that stand at its place; the chart says what each means."""

    @property
    def ends(self) -> tuple[float, float]:
        """Its two ends, the lower first."""
        other = self.start + (self.value or 0.0)
        return min(self.start, other), max(self.start, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A line across a chart."""

    name: str
    value: float
    of_bars: bool = False
    """Whether it is computed from the bars, as their average is."""


def fields_of(*entries: Field | tuple[str, str | None] | tuple[str, str | None, Tone]) -> tuple[Field, ...]:
    """The fields that have a text, of fields and of names with a text and, where it has one, a tone."""
    fields = []
    for entry in entries:
        new_field = entry if isinstance(entry, Field) else _field_from(*entry)
        if new_field.text:
            fields.append(new_field)
    return tuple(fields)


def _field_from(name: str, text: str | None, tone: Tone = Tone.PLAIN) -> Field:
    return Field(name=name, text=text or "", tone=tone)


def answer_field(text: str, tone: Tone = Tone.PLAIN) -> Field:
    """A sentence to act on; screens show it above the form."""
    return Field(name=wording.ANSWER, text=text, tone=tone, role=FieldRole.ANSWER)


def verdict_field(text: str, tone: Tone = Tone.PLAIN) -> Field:
    """The answer of a comparison."""
    return Field(name=wording.VERDICT, text=text, tone=tone, role=FieldRole.ANSWER)


def basis_field(text: str | None) -> Field:
    return Field(name="Judged by", text=text or "", role=FieldRole.BASIS)


def question_field(text: str) -> Field:
    return Field(name="Question", text=text, role=FieldRole.QUESTION)


def measured_field(text: str, facts: tuple[tuple[str, str], ...] = ()) -> Field:
    return Field(name="Measured", text=text, facts=facts, role=FieldRole.MEASURED)


def blank_fields(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name=name, text="") for name in names)


def changes_table(
    gone_findings: Iterable[tuple[str, str]], new_findings: Iterable[tuple[str, str, Tone]]
) -> list[Table]:
    """The findings that two recordings do not share, as (title, reason); nothing where they share all."""
    rows = [row_of(f"gone: {title}", reason, tone=Tone.GOOD) for title, reason in gone_findings]
    rows += [row_of(f"new: {title}", reason, tone=tone) for title, reason, tone in new_findings]
    if not rows:
        return []
    return [Table(columns=columns_of("Finding", "Why"), rows=tuple(rows), caption="Findings", sentences=True)]


FAR_ABOVE = 2.5
"""A line more than this many times as high as the highest bar is not drawn in place: the bars would be too low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Bars, a curve or dots, with lines across them."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    levels: tuple[Level, ...] = ()
    band: tuple[str, float, float] | None = None
    """(name, low, high) of a stripe behind the bars."""

    # How it is drawn.

    is_curve: bool = False
    is_dots: bool = False
    """Values above and below 0, without a bar to each."""
    places: tuple[float, ...] = ()
    """Of a chart that is drawn as an area over time: the second at which each bar lies; few of its bars have a name."""
    in_text: bool = False
    """Whether a form in plain text shows it too."""
    intervals: str = "95 % interval"
    """What the whiskers of the bars are."""

    # Where its numbers stand in the report.

    source: tuple[int, int] | None = None
    """(table, column) of the numbers that a spreadsheet draws."""
    rows_before: int = 0
    """The number of rows of that table that it leaves out at the top."""

    signs: Mapping[str, str] = field(default_factory=dict)
    """The meaning of each letter in the bars' signs."""

    @property
    def has_intervals(self) -> bool:
        return any(bar.interval for bar in self.bars)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest value that a drawing from 0 has; intervals reach no further than twice a bar."""
        values = [level.value for level in self.levels]
        for bar in self.bars:
            values += bar.ends
        most = 2 * max(map(abs, values), default=0.0)
        least = -most if self.is_dots else 0.0

        for bar in self.bars:
            values += [min(max(end, least), most) for end in bar.interval or ()]
        return min(0.0, *values), max(0.0, *values)

    def signs_at(self, places: Sequence[float], letter: float) -> list[tuple[float, str]]:
        """(place, signs) of the bars that have signs; ``places`` are those of all bars, ``letter`` is a letter's width.

        Signs without room beside the ones before join those.
        """
        placed: list[tuple[float, str]] = []
        for place, bar in zip(places, self.bars, strict=True):
            if not bar.signs:
                continue
            last_place, last_signs = placed[-1] if placed else (None, "")
            if last_place is not None and place < last_place + letter * (len(last_signs) + 1):
                placed[-1] = (last_place, "".join(dict.fromkeys(last_signs + bar.signs)))
            else:
                placed.append((place, bar.signs))
        return placed

    @property
    def legend(self) -> list[str]:
        """The signs that bars have, each with its meaning."""
        used_signs = "".join(bar.signs for bar in self.bars)
        return [f"{sign} {meaning}" for sign, meaning in self.signs.items() if sign in used_signs]

    @property
    def has_something_to_show(self) -> bool:
        return self.is_dots or any(bar.value or bar.frame for bar in self.bars)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One form."""

    form: str
    """What form it is, by the name that files have for it."""
    title: str
    name: str
    """A short name, for a sheet or a file."""

    fields: tuple[Field, ...] = ()
    """The lines above the tables."""
    tables: tuple[Table, ...] = ()
    results: tuple[Field, ...] = ()
    """The lines below the tables."""
    advice: tuple[str, ...] = ()
    """Sentences at the end: warnings, and what to do."""
    drawn: tuple[Chart | None, ...] = ()
    """Charts that have something to show, and others."""

    document: Callable[[], Any] = field(default=dict, repr=False, compare=False)
    """Makes its JSON document."""
    blank: bool = False
    """Whether it is to be filled by hand."""
    is_front_page: bool = False
    """Whether it is an overview of the reports that follow it."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Those that have something to show."""
        return tuple(chart for chart in self.drawn if chart and chart.has_something_to_show)

    @property
    def chart(self) -> Chart | None:
        """The first of them."""
        return next(iter(self.charts), None)

    @property
    def answer(self) -> Field | None:
        return next((field for field in self.fields if field.role is FieldRole.ANSWER), None)

    @property
    def answers(self) -> tuple[Field, ...]:
        """The answer, or those on each of several subjects."""
        if self.answer is not None:
            return (self.answer,)
        return tuple(field for field in self.fields if field.role is FieldRole.ONE_OF_ANSWERS)

    @property
    def brief(self) -> "Report":
        """The report without tables, columns and results of details."""
        tables = tuple(table.brief for table in self.tables if not table.is_detail)
        return replace(self, tables=tables, results=tuple(field for field in self.results if not field.is_detail))


def blank_form(
    form: str, title: str, fields: Sequence[str], columns: tuple[Column, ...], rows: Iterable[str | None]
) -> Report:
    """A form to fill by hand: the names of its fields, and a row for each text of the first column."""
    empty_cells = [None] * (len(columns) - 1)
    table = Table(columns=columns, rows=tuple(row_of(name, *empty_cells) for name in rows))
    return Report(form=form, title=title, name=title, fields=blank_fields(*fields), tables=(table,), blank=True)


def cell_text(cell: Cell, kind: ReportKind) -> str:
    value = cell.value
    if value is None or isinstance(value, str):
        return value or ""
    return _WRITTEN[kind](value)


def remarks(table: Table) -> Iterator[tuple[Row, str]]:
    """The marked rows, each with its remark: ``run 3 rejected: the backup ran``."""
    for row in table.rows:
        if row.mark in {Mark.REJECTED, Mark.UNUSUAL, Mark.FAILED}:
            yield row, f"{table.entry(row.name)} {remark_text(row)}"


def remark_text(row: Row) -> str:
    """``rejected: the backup ran``."""
    return ": ".join(part for part in (row.mark.value, row.remark) if part)


def status_text(row: Row) -> str:
    """The status of a run in a marked table."""
    return row.mark.value if row.mark in {Mark.REJECTED, Mark.FAILED, Mark.WARM_UP} else "valid"


def own_remark(row: Row) -> str:
    """The remark beside a row's status: the reason, and why the row is unusual."""
    return remark_text(row) if row.mark is Mark.UNUSUAL else row.remark


_WRITTEN: Mapping[ReportKind, Callable[[float], str]] = {
    ReportKind.TEXT: str,
    ReportKind.WHOLE: wording.whole,
    ReportKind.SECONDS: wording.cell_seconds,
    ReportKind.MILLISECONDS: wording.cell_milliseconds,
    ReportKind.PERCENT: wording.cell_percent,
    ReportKind.DECIMAL: "{:,.1f}".format,
    ReportKind.RATIO: "{:.3f}".format,
    ReportKind.SIGNED: wording.signed_percent,
}
