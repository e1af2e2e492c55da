"""Forms as XLSX: a sheet each, live formulas and a chart; averages follow a run's changed status."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_range

from forms import report
from forms.layout import control_pictures, lines_of, width, wrap

_NUMBER_FORMATS = {
    report.ReportKind.TEXT: "@",
    report.ReportKind.WHOLE: "#,##0",
    report.ReportKind.SECONDS: "#,##0.0000",
    report.ReportKind.PERCENT: "#,##0.00",
    report.ReportKind.DECIMAL: "#,##0.0",
    report.ReportKind.RATIO: "0.000",
    report.ReportKind.SIGNED: '+#,##0.0" %";-#,##0.0" %"',
}
_PAPERS = {"A4": 9, "Letter": 1}
_LINES_ON_A_PAGE, _LINE_POINTS = 45, 15
_LINES_OF_A_CHART = 16
_FRACTIONS_BELOW = 1000
_LEAST_ACROSS = 5


def render(reports: Sequence[report.Report], *, paper: str) -> bytes:
    file = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, options) as book:
        book.set_properties({"title": clean(reports[0].title), "comments": "sharebench"})
        book.set_calc_mode("auto")
        format_of = cache(lambda **properties: book.add_format(properties))
        for form, name in zip(reports, sheet_names([form.name for form in reports]), strict=True):
            _SheetWriter(book, name, form, format_of).write(_PAPERS.get(paper, _PAPERS["A4"]))
    return file.getvalue()


class _SheetWriter:
    def __init__(self, book: Any, name: str, form: report.Report, format_of: Callable[..., Any]) -> None:
        self.book, self.form, self.format_of = book, form, format_of
        self.page = book.add_worksheet(name)
        self.line = 0
        self.field_cells: dict[str, str] = {}
        self.table_lines: list[int] = []
        self.widths = _column_widths(form)

    def write(self, paper: int) -> None:
        self._text(0, 0, self.form.title, bold=True, font_size=14)
        self.line = 1
        self._fields(self.form.fields)
        for table in self.form.tables:
            self._table(table)
        if self.form.results:
            self.line += 1
            self._fields(self.form.results)
        if self.form.advice:
            self.line += 1
            for text in self.form.advice:
                self._across(0, text)
                self.line += 1
        for place, chart in enumerate(self.form.charts):
            self._chart(chart, self.line + 1 + place * _LINES_OF_A_CHART)
        for column, cells in enumerate(self.widths):
            self.page.set_column(column, column, cells)
        self.page.set_paper(paper)
        self.page.set_landscape()
        lines = self.line + _LINES_OF_A_CHART * max(0, len(self.form.charts) - 1)
        self.page.fit_to_pages(1, 1 if lines < _LINES_ON_A_PAGE else 0)
        if len(self.table_lines) == 1:
            self.page.repeat_rows(self.table_lines[0] - 1)

    def _text(self, line: int, column: int, text: str, **properties: Any) -> None:
        if text:
            self.page.write_string(line, column, clean(text), self.format_of(num_format="@", **properties))
        else:
            self.page.write_blank(line, column, None, self.format_of(**properties))

    def _fields(self, fields: Sequence[report.Field]) -> None:
        for field in fields:
            self._text(self.line, 0, field.name, font_color="#595959", valign="top")
            if field.number is not None and field.unit:
                whole = field.number == round(field.number) or abs(field.number) >= _FRACTIONS_BELOW
                shown = self.format_of(num_format="#,##0" if whole else "General", align="left")
                self.page.write_number(self.line, 1, field.number, shown)
                self._text(self.line, 2, field.unit)
                if field.text != f"{field.number:,.0f} {field.unit}":
                    self._across(3, field.text)
                self.field_cells[field.name] = f"$B${self.line + 1}"
            elif self.form.blank:
                for column in range(1, 6):
                    self._text(self.line, column, field.text if column == 1 else "", bottom=1)
            else:
                self._across(1, field.text)
            self.line += 1

    def _across(self, first: int, text: str) -> None:
        """Wrap long or multi-line text: one long sentence would shrink the whole print."""
        last = max(_LEAST_ACROSS, len(self.widths) - 1)
        cells = int(sum(self.widths[first : last + 1])) - 2
        lines = sum(len(wrap(line, cells)) for line in lines_of(text))
        if lines < 2 and len(text.splitlines()) < 2:
            self._text(self.line, first, text)
            return
        wrapped = self.format_of(num_format="@", text_wrap=True, valign="top")
        self.page.merge_range(self.line, first, self.line, last, "", wrapped)
        self.page.write_string(self.line, first, clean(text), wrapped)
        self.page.set_row(self.line, _LINE_POINTS * lines)

    def _table(self, table: report.Table) -> None:
        self.line += 1
        if table.caption:
            self._text(self.line, 0, table.caption, font_color="#595959")
            self.line += 1
        heading = {"bold": True, "border": 1, "text_wrap": True, "valign": "bottom"}
        headings = [*table.columns, *([_STATUS, _REMARK] if table.marked else [])]
        for column, described in enumerate(headings):
            align = "left" if described.kind is report.ReportKind.TEXT else "right"
            self._text(self.line, column, described.heading, align=align, **heading)
        self._heighten([described.heading for described in headings])
        self.line += 1
        first = self.line
        self.table_lines.append(first)
        for row in table.rows:
            self._row(table, row, first)
            self.line += 1

    def _row(self, table: report.Table, row: report.Row, first: int) -> None:
        look = _look(row)
        count = len(table.columns)
        for index, (cell, column) in enumerate(table.cells(row)):
            self._cell(index, cell, column, look, first)
        if table.marked:
            entry = row.role is report.Role.ENTRY
            status, remark = (report.status_text(row), report.own_remark(row)) if entry else ("", "")
            self._text(self.line, count, "" if self.form.blank else status, border=1, valign="top")
            self._text(self.line, count + 1, remark, border=1, text_wrap=True, valign="top")
            self._heighten([*[""] * (count + 1), remark])
        elif row.role is report.Role.ENTRY:
            self._heighten([cell.value if isinstance(cell.value, str) else "" for cell in row.cells])

    def _heighten(self, texts: Sequence[str]) -> None:
        lines = [
            sum(len(wrap(line, int(self.widths[column]) - 3)) for line in lines_of(text))
            for column, text in enumerate(texts)
            if text
        ]
        if max(lines, default=1) > 1:
            self.page.set_row(self.line, _LINE_POINTS * max(lines))

    def _cell(
        self, column: int, cell: report.Cell, described: report.Column, look: Mapping[str, Any], first: int
    ) -> None:
        value = cell.value
        if value is None or isinstance(value, str):
            wrapped = {"text_wrap": True} if value and width(value) > self.widths[column] - 3 else {}
            self._text(self.line, column, value or "", border=1, valign="top", **look, **wrapped)
            return
        form = self.format_of(num_format=_NUMBER_FORMATS[described.kind], border=1, valign="top", **look)
        if cell.formula is None:
            self.page.write_number(self.line, column, value, form)
            return
        formula = cell.formula
        text = formula.template.format(*(self._address(reference, first) for reference in formula.references))
        if formula.array:
            self.page.write_array_formula(self.line, column, self.line, column, f"{{={text}}}", form, value)
        else:
            self.page.write_formula(self.line, column, f"={text}", form, value)

    def _address(self, reference: report.ColumnGroup | report.FieldReference, first: int) -> str:
        if isinstance(reference, report.FieldReference):
            return self.field_cells[reference.name]
        first = first if reference.table is None else self.table_lines[reference.table]
        cells: str = xl_range(first + reference.first, reference.column, first + reference.last, reference.column)
        return cells

    def _chart(self, chart: report.Chart, line: int) -> None:
        if chart.source is None:
            return
        table, column = chart.source
        entries = {
            self.table_lines[table] + index: row
            for index, row in enumerate(self.form.tables[table].rows)
            if row.role is report.Role.ENTRY and row.mark is not report.Mark.WARM_UP
        }
        lines, rows = [*entries][chart.rows_before :], entries.values()
        name = self.page.get_name()
        heading = clean(self.form.tables[table].columns[column].heading)
        drawing = self.book.add_chart({"type": "line" if chart.is_curve else "column"})
        hatched = {"pattern": {"pattern": "wide_upward_diagonal", "fg_color": "#8F1D1D", "bg_color": "#FFFFFF"}}
        drawing.add_series(
            {
                "name": heading,
                "categories": [name, lines[0], 0, lines[-1], 0],
                "values": [name, lines[0], column, lines[-1], column],
                "fill": {"color": "#2F5F98"},
                "points": (
                    [hatched if row.mark is report.Mark.REJECTED else None for row in rows] if len(rows) <= 500 else []
                ),
            }
            | ({"line": {"color": "#2F5F98"}, "marker": {"type": "square"}} if chart.is_curve else {})
            | ({"y_error_bars": _error_bars(chart)} if chart.has_intervals else {})
        )
        least = {} if chart.is_dots else {"min": 0}
        drawing.set_title({"name": heading, "name_font": {"size": 11}})
        drawing.set_y_axis({"num_format": "#,##0", "major_gridlines": {"visible": True}} | least)
        drawing.set_legend({"none": True})
        self.page.insert_chart(line, 0, drawing, {"x_scale": 1.5, "description": heading})


def _error_bars(chart: report.Chart) -> dict[str, Any]:
    low, high = ([one.interval[end] if one.interval else one.value or 0.0 for one in chart.bars] for end in (0, 1))
    values = [one.value or 0.0 for one in chart.bars]
    return {
        "type": "custom",
        "plus_values": [end - value for end, value in zip(high, values, strict=True)],
        "minus_values": [value - end for end, value in zip(low, values, strict=True)],
    }


_STATUS = report.Column(heading="Status", kind=report.ReportKind.TEXT)
_REMARK = report.Column(heading="Remark", kind=report.ReportKind.TEXT)


def _look(row: report.Row) -> dict[str, Any]:
    if row.struck:
        return {"font_strikeout": True, "font_color": "#8F1D1D"}
    if row.mark is report.Mark.FAILED:
        return {"font_color": "#8F1D1D"}
    if row.mark is report.Mark.WARM_UP:
        return {"font_color": "#595959", "italic": True}
    bold = row.role is report.Role.RESULT or row.mark in {report.Mark.UNUSUAL, report.Mark.BOTTLENECK}
    return {"bold": True} if bold else {}


_FIRST_WIDTH, _LEAST_WIDTH, _MOST_WIDTH, _STATUS_WIDTH, REMARK_WIDTH = 20.0, 13.0, 44.0, 11.0, 40.0
_LONGEST_TEXT = 32_767
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")


def sheet_names(wanted: Sequence[str]) -> list[str]:
    """Valid sheet names: at most 31 characters, no brackets, slashes or colons, all different."""
    taken: set[str] = set()
    names: list[str] = []
    for name in wanted:
        base = _FORBIDDEN_IN_NAMES.sub(" ", clean(name)).strip(" '") or "form"
        candidate, count = _shortened(base, ""), 1
        while candidate.lower() in taken or candidate.lower() == "history":
            count += 1
            candidate = _shortened(base, f" ({count})")
        taken.add(candidate.lower())
        names.append(candidate)
    return names


def _shortened(name: str, ending: str) -> str:
    """Excel allows 31 UTF-16 units."""
    while len((name + ending).encode("utf-16-le")) > 62:
        name = name[:-1]
    return name.rstrip(" '") + ending


def clean(text: str) -> str:
    """Text that XML and Excel accept; cut text ends in ``…``."""
    kept = control_pictures(text).encode(errors="replace").decode()
    return kept if len(kept) <= _LONGEST_TEXT else kept[: _LONGEST_TEXT - 1] + "…"


def _column_widths(form: report.Report) -> list[float]:
    named = max((width(one.name) for one in form.results), default=0) + 3
    widths: dict[int, float] = {0: max(_FIRST_WIDTH, named)}
    for table in form.tables:
        for index, column in enumerate(table.columns):
            texts = (report.cell_text(row.cells[index], column.kind) for row in table.rows if index < len(row.cells))
            needed = max((width(text) for text in texts), default=0) + 3
            widths[index] = min(max(widths.get(index, _LEAST_WIDTH), needed), _MOST_WIDTH)
        if table.marked:
            widths[len(table.columns)] = _STATUS_WIDTH
            widths[len(table.columns) + 1] = REMARK_WIDTH
    return [widths[index] for index in sorted(widths)]
