"""What a workbook allows and needs: names of sheets, widths of columns, texts that XML can hold."""

import re
from collections.abc import Sequence

from forms.layout import control_pictures, width
from forms.report import Report, cell_text

_FIRST_WIDTH, _LEAST_WIDTH, _MOST_WIDTH, _STATUS_WIDTH, REMARK_WIDTH = 20.0, 13.0, 44.0, 11.0, 40.0
_LONGEST_TEXT = 32_767
"""Excel's limit for a cell."""
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")


def sheet_names(wanted: Sequence[str]) -> list[str]:
    """Names that Excel takes for sheets: at most 31 characters, no brackets, slashes or colons, all different."""
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
    """Excel counts UTF-16 units, of which it allows 31."""
    while len((name + ending).encode("utf-16-le")) > 62:
        name = name[:-1]
    return name.rstrip(" '") + ending


def clean(text: str) -> str:
    """Text that XML can hold and Excel keeps; one that was cut ends in ``…``."""
    kept = control_pictures(text).encode(errors="replace").decode()
    return kept if len(kept) <= _LONGEST_TEXT else kept[: _LONGEST_TEXT - 1] + "…"


def column_widths(report: Report) -> list[float]:
    """The width of each column in characters: as much as its longest text or number needs, within limits."""
    widths: dict[int, float] = {0: _FIRST_WIDTH}
    for table in report.tables:
        for index, column in enumerate(table.columns):
            texts = (cell_text(row.cells[index], column.kind) for row in table.rows if index < len(row.cells))
            needed = max((width(text) for text in texts), default=0) + 3
            widths[index] = min(max(widths.get(index, _LEAST_WIDTH), needed), _MOST_WIDTH)
        if table.marked:
            widths[len(table.columns)] = _STATUS_WIDTH
            widths[len(table.columns) + 1] = REMARK_WIDTH
    return [widths[index] for index in sorted(widths)]
