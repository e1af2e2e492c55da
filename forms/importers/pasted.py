"""What stands around a table that was copied from an e-mail, a forum or a chat, and rows that a copy broke."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from forms.importers.run_names import run_name_in

_MOST_LINES_ABOVE = 200
"""How far down the headings of a table are looked for."""

_QUOTE_MARKS = re.compile(r"(?:>[ \u00a0]?)+")
"""With which a program for e-mail begins the lines of an older message."""

_FENCE = re.compile(
    r"(?:```|~~~)\s*[\w+-]*|\[/?code[^\]]*\]|\{(?:code|noformat)[^}]*\}|</?(?:pre|code|quote)>|\[/?quote[^\]]*\]",
    re.IGNORECASE,
)
"""A line that begins or ends a text of fixed width in a forum or a chat."""

_SEPARATED = re.compile(r"\s*[,;\t|]\s*|\s{2,}")
"""What may separate the cells of a row."""
_NUMERAL = re.compile(r"[\d.,' \u00a0\u2009\u202f]*\d")


def is_fence(text: str) -> bool:
    """Whether a line is only the frame around a copied text."""
    return _FENCE.fullmatch(text.strip()) is not None


def has_quote_marks(text: str, is_headings: Callable[[list[str]], bool], delimiters: str) -> bool:
    """Whether the headings of the table stand in a line that an e-mail quotes."""
    for line in islice(text.splitlines(), _MOST_LINES_ABOVE):
        marks = _QUOTE_MARKS.match(line)
        if marks and any(is_headings(line[marks.end() :].split(delimiter)) for delimiter in delimiters):
            return True
    return False


def without_quote_marks(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they stood in the older message."""
    for line in lines:
        marks = _QUOTE_MARKS.match(line)
        yield line[marks.end() :] if marks else line


def is_row_of_other_cells(record: Sequence[str]) -> bool:
    """Whether a line of one cell is a run whose cells something else separates than those of the headings."""
    text, *other_cells = record
    if any(cell.strip() for cell in other_cells):
        return False

    cells = _SEPARATED.split(text.strip())
    # "9,10" may be a number.
    return (len(cells) > 2 or "," not in text) and _is_row(cells)


def has_rows_inside(record: Sequence[str], delimiter: str) -> bool:
    """Whether a cell holds runs, since a quote before them was never closed."""
    for cell in record:
        lines_behind_first = cell.splitlines()[1:]
        if any(_is_row(line.split(delimiter)) for line in lines_behind_first):
            return True
    return False


def _is_row(cells: Sequence[str]) -> bool:
    name, *others = [cell.strip() for cell in cells]
    numerals = [cell for cell in others if cell]
    is_named = name[:1].isdecimal() and run_name_in(name) is not None
    return is_named and bool(numerals) and all(_NUMERAL.fullmatch(cell) for cell in numerals)
