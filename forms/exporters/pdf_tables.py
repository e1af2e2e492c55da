"""Draws a table of a form on the pages of a PDF, in letters as large as its columns allow.

A table takes the whole width of the page. Its letters become smaller until all columns fit as they are; long texts are
wrapped before letters become too small. A row stays on one page.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import cast

from fpdf import FPDF, enums
from fpdf.fonts import FontFace

from forms import layout
from forms.exporters.pdf_look import GREY, INK, TEXT, WARN
from forms.report import SIGNS, Mark, ReportKind, Role, Row, Table, cell_text

_COLOURS = {Mark.REJECTED: WARN, Mark.RESTORED: WARN, Mark.FAILED: WARN, Mark.WARM_UP: GREY}
_SIZES = (9.0, 8.0, 7.0, 6.0)
"""Of letters, in points, as all lengths here; the first that fits is taken."""

_TABLE_LEADING = 1.25
"""Height of a line, in heights of a letter."""

# Above and below the text of a row, in heights of a letter.
_WIDE_SPACE = 0.3
_NARROW_SPACE = 0.12

_PADDING = 5.0
"""Left and right of a cell's text."""

_BY_HAND_HEIGHT = 26.0
"""Of a row that is filled in by hand."""

_LEAST_TEXT = 60.0
"""Width that a column of text keeps however narrow the page is."""

# From this size down, texts of that width are wrapped before letters become smaller.
_WRAPPED_FROM = 8.0
_WRAPPED_TEXT = 95.0
_NARROW_TEXT = 190.0
"""Width beyond which a column of text is wrapped in any case."""

_MOST_LINES = 40
"""Of one row: a longer one is parted, as a row must fit on a page."""

_HEADING_CELLS = 120
"""Characters of a heading that are kept."""


class _Rules(enums.TableBordersLayout):
    """Thin rules around all cells, and a thick one below the headings and where the rows' role changes."""

    def __init__(self, starts: set[int]) -> None:
        """``starts``: the rows above which there is a thick one; the headings are row 0."""
        self.starts = starts

    def cell_style_getter(self, row_idx: int, *_: int, **_places: int) -> enums.TableCellStyle:
        thick = enums.TableBorderStyle(1.2, INK)
        top = thick if row_idx in self.starts else row_idx == 0
        return enums.TableCellStyle(left=True, right=True, top=top, bottom=True if row_idx else thick)


def table_on(pdf: FPDF, table: Table, *, blank: bool = False) -> None:
    """Draw the table, beginning at ``y`` of the page; ``blank``: with rows high enough to be filled in by hand."""
    texts = [_row_texts(table, row) for row in table.rows]
    size, widths = _fit_columns(pdf, table, texts)
    rows: list[tuple[Row, tuple[str, ...]]] = []
    for row, row_texts in zip(table.rows, texts, strict=True):
        rows += [(row, part) for part in _parts(pdf, row_texts, widths)]

    roles = [row.role for row, _ in rows]
    starts = {index + 1 for index in range(1, len(roles)) if roles[index] is not roles[index - 1]}
    pdf.set_font(TEXT, "", size)
    pdf.set_text_color(INK)
    with pdf.table(
        borders_layout=_Rules(starts),
        col_widths=widths,
        line_height=size * _TABLE_LEADING,
        min_row_height=_BY_HAND_HEIGHT if blank else None,
        padding=(size * _between_rows(pdf, size, len(rows)), _PADDING),
        text_align=tuple("LEFT" if column.kind is ReportKind.TEXT else "RIGHT" for column in table.columns),
        v_align=enums.VAlign.T,
    ) as page_table:
        page_table.row([layout.cut(layout.visible(column.heading), _HEADING_CELLS) for column in table.columns])
        for row, part in rows:
            is_bold = row.role is Role.RESULT or row.mark in {Mark.UNUSUAL, Mark.BOTTLENECK}
            emphasis = ("B" if is_bold else "") + ("S" if row.struck else "")
            line = page_table.row(style=FontFace(emphasis=emphasis, color=_COLOURS.get(row.mark, INK)))
            if row.role is Role.HEADING:
                line.cell(part[0], colspan=len(widths))
            else:
                for text in part:
                    line.cell(text)


def _between_rows(pdf: FPDF, size: float, rows: int) -> float:
    """The space above and below a row's text, in heights of a letter: the narrow one only where it saves a page."""
    room = pdf.page_break_trigger - pdf.y
    wide = size * (_TABLE_LEADING + 2 * _WIDE_SPACE) * (rows + 1)
    narrow = size * (_TABLE_LEADING + 2 * _NARROW_SPACE) * (rows + 1)
    return _NARROW_SPACE if narrow <= room < wide else _WIDE_SPACE


def _row_texts(table: Table, row: Row) -> list[str]:
    """The texts of a row's cells, the first with the row's sign."""
    cells = [cell_text(cell, column.kind) for cell, column in table.cells(row)]
    texts = [layout.control_pictures(text).replace("\t", " ") for text in cells]
    if row.mark in SIGNS:
        texts[0] = f"{SIGNS[row.mark]} {texts[0]}"
    return texts


def lines_of(pdf: FPDF, text: str, width: float) -> list[str]:
    """The lines that the text is wrapped to."""
    return cast("list[str]", pdf.multi_cell(width, text=text, align="L", dry_run=True, output="LINES"))


def _parts(pdf: FPDF, texts: Sequence[str], widths: Sequence[float]) -> Iterator[tuple[str, ...]]:
    """A row in parts that a page has room for."""
    columns = []
    for text, width in zip(texts, widths, strict=True):
        parts = [text]
        # A text of fewer characters has no more lines: only longer ones are wrapped to count them, which takes time.
        if len(text) > _MOST_LINES:
            lines = lines_of(pdf, text, width - 2 * _PADDING)
            if len(lines) > _MOST_LINES:
                starts = range(0, len(lines), _MOST_LINES)
                parts = ["\n".join(lines[start : start + _MOST_LINES]) for start in starts]
        columns.append(parts)
    yield from zip_longest(*columns, fillvalue="")


def _fit_columns(pdf: FPDF, table: Table, texts: Sequence[Sequence[str]]) -> tuple[float, list[float]]:
    """The size of letters, and the widths of columns, which take all of the page's width."""
    columns = range(len(table.columns))
    text_columns: Sequence[int] = [index for index in columns if table.columns[index].kind is ReportKind.TEXT]
    text_columns = text_columns or columns
    size = _SIZES[0]
    widths = [0.0]
    # Sentences are wrapped anyway, so that they keep the largest letters.
    for size in _SIZES[:1] if table.sentences else _SIZES:
        pdf.set_font(TEXT, "B", size)
        natural = [_natural_width(pdf, table, texts, index) for index in columns]
        widest = _widest_text(natural, text_columns, pdf.epw)
        widths = [min(width, widest) if index in text_columns else width for index, width in enumerate(natural)]
        if sum(natural) <= pdf.epw or (size <= _WRAPPED_FROM and widest >= _WRAPPED_TEXT):
            break

    # What is too much is taken from each column in proportion to its width; what is free goes to all alike.
    excess = sum(widths) - pdf.epw
    return size, [width - max(excess, 0.0) * width / sum(widths) - min(excess, 0.0) / len(widths) for width in widths]


def _widest_text(widths: Sequence[float], text_columns: Sequence[int], room: float) -> float:
    """How wide a column of text may be, if each takes no more than it needs, and what is left is shared by the
    others.
    """
    room -= sum(width for index, width in enumerate(widths) if index not in text_columns)
    text_widths = sorted(widths[index] for index in text_columns)
    for place, width in enumerate(text_widths):
        share = room / (len(text_widths) - place)
        if width > share:
            return max(share, _LEAST_TEXT)
        room -= width
    return max(text_widths)


def _natural_width(pdf: FPDF, table: Table, texts: Sequence[Sequence[str]], index: int) -> float:
    """What a column needs so that nothing in it is wrapped but long texts, and headings between words."""
    column = table.columns[index]
    entries = [
        row_texts[index] for row_texts, row in zip(texts, table.rows, strict=True) if row.role is not Role.HEADING
    ]
    # Measuring takes time, and the widest is among those of the most letters.
    longest = sorted(dict.fromkeys(entries), key=len)[-24:]
    widest = max(map(pdf.get_string_width, longest), default=0.0)
    if column.kind is ReportKind.TEXT:
        widest = min(widest, _NARROW_TEXT)
    return max(widest, *map(pdf.get_string_width, column.heading.split(" "))) + 2 * _PADDING
