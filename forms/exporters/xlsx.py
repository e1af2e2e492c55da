"""Forms as XLSX: a sheet each, with formulas in place of what is computed, and a chart.

So an average follows when somebody changes the status of a run. A formula names cells by what they are (a column of a
table, a field); the sheet knows their addresses once they are written.
"""

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
    report.ReportKind.MILLISECONDS: "#,##0.000",
    report.ReportKind.PERCENT: "#,##0.00",
    report.ReportKind.DECIMAL: "#,##0.0",
    report.ReportKind.RATIO: "0.000",
    report.ReportKind.SIGNED: '+#,##0.0" %";-#,##0.0" %"',
}
_PAPERS = {"A4": 9, "Letter": 1}
"""The numbers of the papers in Excel's files."""
_LINES_ON_A_PAGE = 45
"""A sheet of fewer is printed on one page."""

_LINE_POINTS = 15
"""Height of a line of text."""

_LINES_OF_A_CHART = 16
"""Rows of the sheet that a chart lies over."""
_FRACTIONS_BELOW = 1000
"""A number from this on is shown without its fraction."""

_LEAST_ACROSS = 5
"""The last column, from 0, that a long text reaches at least, however few columns the tables have."""


def render(reports: Sequence[report.Report], *, paper: str) -> bytes:
    file = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, options) as book:
        book.set_properties({"title": clean(reports[0].title), "comments": "sharebench"})
        book.set_calc_mode("auto")

        # A cell's look is an object of the workbook: one for each set of properties.
        @cache
        def format_of(**properties: Any) -> Any:
            return book.add_format(properties)

        names = sheet_names([form.name for form in reports])
        for form, name in zip(reports, names, strict=True):
            _SheetWriter(book, name, form, format_of).write(_PAPERS.get(paper, _PAPERS["A4"]))
    return file.getvalue()


class _SheetWriter:
    """Writes one form into a sheet, from the top downwards.

    A line, a row or a column of the sheet has a number from 0, as xlsxwriter counts. ``$B$4`` counts from 1, as Excel.
    """

    def __init__(self, book: Any, name: str, form: report.Report, format_of: Callable[..., Any]) -> None:
        self.book = book
        self.form = form
        self.format_of = format_of
        self.page = book.add_worksheet(name)
        self.line = 0
        """The next line that is free, from 0."""
        self.field_cells: dict[str, str] = {}
        """Where each field's number stands, for the formulas: ``$B$4``."""
        self.table_lines: list[int] = []
        """The first line of each table's rows."""
        self.widths = _column_widths(form)
        """Of each column, in letters."""

    def write(self, paper: int) -> None:
        """Write all of the form; ``paper`` is the number of `_PAPERS`."""
        self._write_text(0, 0, self.form.title, bold=True, font_size=14)
        self.line = 1
        self._write_fields(self.form.fields)
        for table in self.form.tables:
            self._write_table(table)
        if self.form.results:
            self.line += 1
            self._write_fields(self.form.results)
        if self.form.advice:
            self.line += 1
            for text in self.form.advice:
                self._write_across(0, text)
                self.line += 1
        for index, chart in enumerate(self.form.charts):
            self._insert_chart(chart, self.line + 1 + index * _LINES_OF_A_CHART)

        for column, cells in enumerate(self.widths):
            self.page.set_column(column, column, cells)
        self.page.set_paper(paper)
        self.page.set_landscape()
        # As many pages below each other as it takes, but one page wide.
        lines = self.line + _LINES_OF_A_CHART * max(0, len(self.form.charts) - 1)
        self.page.fit_to_pages(1, 1 if lines < _LINES_ON_A_PAGE else 0)
        if len(self.table_lines) == 1:
            heading_line = self.table_lines[0] - 1
            self.page.repeat_rows(heading_line)  # on each printed page

    def _write_text(self, line: int, column: int, text: str, **properties: Any) -> None:
        if text:
            self.page.write_string(line, column, clean(text), self.format_of(num_format="@", **properties))
        else:
            self.page.write_blank(line, column, None, self.format_of(**properties))

    def _write_fields(self, fields: Sequence[report.Field]) -> None:
        """Write each field: its name, then its number and unit where it has one, and its text."""
        for field in fields:
            self._write_text(self.line, 0, field.name, font_color="#595959", valign="top")
            if field.number is not None and field.unit:
                is_whole = field.number == round(field.number) or abs(field.number) >= _FRACTIONS_BELOW
                number_format = self.format_of(num_format="#,##0" if is_whole else "General", align="left")
                self.page.write_number(self.line, 1, field.number, number_format)
                self._write_text(self.line, 2, field.unit)
                if field.text != f"{field.number:,.0f} {field.unit}":
                    self._write_across(3, field.text)
                # Formulas of the tables refer to this cell.
                self.field_cells[field.name] = f"$B${self.line + 1}"
            elif self.form.blank:
                # A line to write on by hand, as long as the form is wide.
                for column in range(1, 6):
                    self._write_text(self.line, column, field.text if column == 1 else "", bottom=1)
            else:
                self._write_across(1, field.text)
            self.line += 1

    def _write_across(self, first: int, text: str) -> None:
        """Write a text from a column on; a long one wrapped in merged cells, since it would shrink the whole print."""
        last = max(_LEAST_ACROSS, len(self.widths) - 1)
        cells = int(sum(self.widths[first : last + 1])) - 2  # what the edges of a cell take
        lines = sum(len(wrap(line, cells)) for line in lines_of(text))
        if lines < 2 and len(text.splitlines()) < 2:
            self._write_text(self.line, first, text)
            return

        wrapping = self.format_of(num_format="@", text_wrap=True, valign="top")
        self.page.merge_range(self.line, first, self.line, last, "", wrapping)
        self.page.write_string(self.line, first, clean(text), wrapping)
        self.page.set_row(self.line, _LINE_POINTS * lines)

    def _write_table(self, table: report.Table) -> None:
        self.line += 1
        if table.caption:
            self._write_text(self.line, 0, table.caption, font_color="#595959")
            self.line += 1

        columns = list(table.columns)
        if table.marked:
            columns += [_STATUS, _REMARK]
        for index, column in enumerate(columns):
            align = "left" if column.kind is report.ReportKind.TEXT else "right"
            self._write_text(
                self.line, index, column.heading, align=align, bold=True, border=1, text_wrap=True, valign="bottom"
            )
        self._heighten([column.heading for column in columns])
        self.line += 1

        first = self.line
        self.table_lines.append(first)
        for row in table.rows:
            self._write_row(table, row, first)
            self.line += 1

    def _write_row(self, table: report.Table, row: report.Row, first_line: int) -> None:
        """Write a row of the table; ``first_line`` is the sheet's line of its first row: formulas count from there.

        In a marked table status and remark stand in two columns behind its own, for an entry (a run) only.
        """
        look = _look(row)
        count = len(table.columns)
        for index, (cell, column) in enumerate(table.cells(row)):
            self._write_cell(index, cell, column, look, first_line)

        is_entry = row.role is report.Role.ENTRY
        if table.marked:
            status = report.status_text(row) if is_entry and not self.form.blank else ""
            remark = report.own_remark(row) if is_entry else ""
            self._write_text(self.line, count, status, border=1, valign="top")
            self._write_text(self.line, count + 1, remark, border=1, text_wrap=True, valign="top")
            texts_before_remark = [""] * (count + 1)
            self._heighten([*texts_before_remark, remark])
        elif is_entry:
            self._heighten([cell.value if isinstance(cell.value, str) else "" for cell in row.cells])

    def _heighten(self, texts: Sequence[str]) -> None:
        """Make the line as high as the text needs that wraps most.

        The texts are those of the columns from the first one on; an empty one takes one line.
        """
        most_lines = 1
        for column, text in enumerate(texts):
            if text:
                cells = int(self.widths[column]) - 3
                lines = sum(len(wrap(line, cells)) for line in lines_of(text))
                most_lines = max(most_lines, lines)
        if most_lines > 1:
            self.page.set_row(self.line, _LINE_POINTS * most_lines)

    def _write_cell(
        self, index: int, cell: report.Cell, column: report.Column, look: Mapping[str, Any], first_line: int
    ) -> None:
        value = cell.value
        if value is None or isinstance(value, str):
            properties = dict(look)
            if value and width(value) > self.widths[index] - 3:
                properties["text_wrap"] = True
            self._write_text(self.line, index, value or "", border=1, valign="top", **properties)
            return

        cell_format = self.format_of(num_format=_NUMBER_FORMATS[column.kind], border=1, valign="top", **look)
        if cell.formula is None:
            self.page.write_number(self.line, index, value, cell_format)
            return

        # The value is written beside the formula, for programs that show a sheet without computing it.
        formula = cell.formula
        text = formula.template.format(*(self._address(reference, first_line) for reference in formula.references))
        if formula.array:
            self.page.write_array_formula(self.line, index, self.line, index, f"{{={text}}}", cell_format, value)
        else:
            self.page.write_formula(self.line, index, f"={text}", cell_format, value)

    def _address(self, reference: report.ColumnGroup | report.FieldReference, first_line: int) -> str:
        """Where what a formula refers to stands: ``$B$4``, ``C12:C16``."""
        if isinstance(reference, report.FieldReference):
            return self.field_cells[reference.name]
        begin = first_line if reference.table is None else self.table_lines[reference.table]
        cells: str = xl_range(begin + reference.first, reference.column, begin + reference.last, reference.column)
        return cells

    def _insert_chart(self, chart: report.Chart, line: int) -> None:
        """Insert a chart of a table's column; of a chart that no table has the numbers of there is none."""
        if chart.source is None:
            return
        table, column = chart.source
        # The rows that the chart draws, by their lines in the sheet: runs, but no warm-ups and no averages.
        entries = {
            self.table_lines[table] + index: row
            for index, row in enumerate(self.form.tables[table].rows)
            if row.role is report.Role.ENTRY and row.mark is not report.Mark.WARM_UP
        }
        # The chart may leave out the first rows of the table.
        lines = [*entries][chart.rows_before :]
        rows = [*entries.values()][chart.rows_before :]
        name = self.page.get_name()
        heading = clean(self.form.tables[table].columns[column].heading)
        drawing = self.book.add_chart({"type": "line" if chart.is_curve else "column"})

        # A look of its own for each point makes a large file. None is the look of the whole series of points.
        points = []
        if len(rows) <= _MOST_HATCHED:
            points = [_HATCHED if row.mark is report.Mark.REJECTED else None for row in rows]
        series: dict[str, Any] = {
            "name": heading,
            "categories": [name, lines[0], 0, lines[-1], 0],
            "values": [name, lines[0], column, lines[-1], column],
            "fill": {"color": "#2F5F98"},
            "points": points,
        }
        if chart.is_curve:
            series |= {"line": {"color": "#2F5F98"}, "marker": {"type": "square"}}
        if chart.has_intervals:
            series["y_error_bars"] = _error_bars(chart)
        drawing.add_series(series)

        axis: dict[str, Any] = {"num_format": "#,##0", "major_gridlines": {"visible": True}}
        if not chart.is_dots:
            axis["min"] = 0
        drawing.set_title({"name": heading, "name_font": {"size": 11}})
        drawing.set_y_axis(axis)
        drawing.set_legend({"none": True})
        self.page.insert_chart(line, 0, drawing, {"x_scale": 1.5, "description": heading})


_MOST_HATCHED = 500
"""Points of a chart up to which rejected ones are hatched."""
_HATCHED = {"pattern": {"pattern": "wide_upward_diagonal", "fg_color": "#8F1D1D", "bg_color": "#FFFFFF"}}


def _error_bars(chart: report.Chart) -> dict[str, Any]:
    """The intervals of the bars as xlsxwriter takes them: how far each reaches above and below the bar's value."""
    above = []
    below = []
    for bar in chart.bars:
        value = bar.value or 0.0
        low, high = bar.interval or (value, value)
        above.append(high - value)
        below.append(value - low)
    return {"type": "custom", "plus_values": above, "minus_values": below}


# Columns that a marked table has behind its own.
_STATUS = report.Column(heading="Status", kind=report.ReportKind.TEXT)
_REMARK = report.Column(heading="Remark", kind=report.ReportKind.TEXT)


def _look(row: report.Row) -> dict[str, Any]:
    """The properties of a row's cells by its mark and role."""
    if row.struck:
        return {"font_strikeout": True, "font_color": "#8F1D1D"}
    if row.mark is report.Mark.FAILED:
        return {"font_color": "#8F1D1D"}
    if row.mark is report.Mark.WARM_UP:
        return {"font_color": "#595959", "italic": True}
    bold = row.role is report.Role.RESULT or row.mark in {report.Mark.UNUSUAL, report.Mark.BOTTLENECK}
    return {"bold": True} if bold else {}


# Widths of columns, in letters.
_FIRST_WIDTH = 20.0
_LEAST_WIDTH = 13.0
_MOST_WIDTH = 44.0
_STATUS_WIDTH = 11.0
REMARK_WIDTH = 40.0

_LONGEST_TEXT = 32_767
"""Characters of a cell, by Excel."""
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")


def sheet_names(form_names: Sequence[str]) -> list[str]:
    """Valid sheet names: at most 31 characters, no brackets, slashes or colons, all different."""
    # Excel keeps this name for itself.
    used_names = {"history"}
    names: list[str] = []
    for form_name in form_names:
        base = _FORBIDDEN_IN_NAMES.sub(" ", clean(form_name)).strip(" '") or "form"

        name = _shortened(base, "")
        count = 1
        while name.lower() in used_names:
            count += 1
            name = _shortened(base, f" ({count})")
        used_names.add(name.lower())
        names.append(name)
    return names


def _shortened(name: str, ending: str) -> str:
    """The name with the ending, cut so that both together fit: Excel allows 31 UTF-16 units, which are 62 bytes."""
    while len((name + ending).encode("utf-16-le")) > 62:
        name = name[:-1]
    return name.rstrip(" '") + ending


def clean(text: str) -> str:
    """Text that XML and Excel accept; cut text ends in ``…``."""
    valid_text = control_pictures(text).encode(errors="replace").decode()
    if len(valid_text) <= _LONGEST_TEXT:
        return valid_text
    return valid_text[: _LONGEST_TEXT - 1] + "…"


def _column_widths(form: report.Report) -> list[float]:
    """As wide as the widest cell of any table in that column, within limits, and 3 letters for the cell's edges.

    The first column also holds the names of the results.
    """
    result_width = max((width(result.name) for result in form.results), default=0) + 3
    widths: dict[int, float] = {0: max(_FIRST_WIDTH, result_width)}
    for table in form.tables:
        for index, column in enumerate(table.columns):
            texts = (report.cell_text(row.cells[index], column.kind) for row in table.rows if index < len(row.cells))
            needed = max((width(text) for text in texts), default=0) + 3
            widths[index] = min(max(widths.get(index, _LEAST_WIDTH), needed), _MOST_WIDTH)
        if table.marked:
            widths[len(table.columns)] = _STATUS_WIDTH
            widths[len(table.columns) + 1] = REMARK_WIDTH
    return [widths[index] for index in sorted(widths)]
