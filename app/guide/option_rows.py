"""A choice of a page as it is drawn in the list of choices."""

from dataclasses import replace

from textual.content import Content

from app.charts import ascii_only
from app.guide.page import Option
from forms import layout, report

ADVISED = "★"
_INDENT = " " * 6
"""Before a hint that stands below its choice."""
_BETWEEN = " " * 2
"""Between a choice and its hint."""
_LOOKS = {
    report.Mark.WARM_UP: "dim",
    report.Mark.UNUSUAL: "$warning",
    report.Mark.REJECTED: "$error strike",
    report.Mark.FAILED: "$error",
}


def option_row(option: Option, cells: int, *, is_pointed: bool) -> Content:
    """The option in one line of that many cells, if its hint has room there.

    If not, the hint stands below the option where the cursor points at it; elsewhere it is left out, or cut where it is
    what holds now.
    """
    if ascii_only():
        option = replace(option, title=option.title.replace("…", "..."), hint=option.hint.replace("…", "..."))
    row = _row(option)
    if row.cell_length <= cells:
        return row

    bare_row = _row(replace(option, hint=""))
    if option.is_value and not is_pointed:
        room = cells - bare_row.cell_length - len(_BETWEEN)
        return _row(replace(option, hint=layout.cut_inside(option.hint, room)))
    hint_lines = layout.wrap(option.hint, cells - len(_INDENT)) if is_pointed else []
    return Content("\n").join([bare_row, *(Content.styled(_INDENT + line, "dim") for line in hint_lines)])


def _row(option: Option) -> Content:
    sign = ADVISED if option.advised else report.SIGNS.get(option.mark, " ")
    title = Content.styled(option.title, "$text bold" if option.result else _LOOKS.get(option.mark, ""))
    hint = f"{_BETWEEN}{option.hint}" if option.hint else ""
    return Content.assemble(f"{sign} ", title, (hint, "dim"))
