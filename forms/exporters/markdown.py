"""Forms as Markdown: GitHub's tables and strike-through, everything else CommonMark."""

import re
from collections.abc import Sequence
from functools import cache

from jinja2 import Template

from forms.exporters import template
from forms.layout import lines_of, visible
from forms.report import Mark, Report, Role, Row, Table, cell_text, remark_text

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~&$@]|:(?=[/a-zA-Z+-])|(?<=www)\.")
_BLOCK_START = re.compile(r"^(\s*)([-+=])|^(\s*\d+)([.)])(?=\s|$)")


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    return _page().render(reports=reports).encode(errors="replace")


def escaped(text: str) -> str:
    """One line of plain text: no markup, link, mention or formula."""
    return _BLOCK_START.sub(r"\1\3\\\2\4", _SPECIAL.sub(r"\\\g<0>", visible(text)))


@cache
def _page() -> Template:
    return template("page.md.jinja", escaped=escaped, written=_row_texts, remark=remark_text, lines=_escaped_lines)


def _escaped_lines(text: str) -> list[str]:
    return [escaped(line) or "&nbsp;" for line in lines_of(text)]


def _row_texts(row: Row, table: Table) -> list[str]:
    texts = [
        escaped(cell.value) if isinstance(cell.value, str) else cell_text(cell, column.kind)
        for cell, column in table.cells(row)
    ]
    sign = "~~" if row.struck else ""
    if row.role is not Role.ENTRY or row.mark is Mark.BOTTLENECK:
        sign = "**"
    return [f"{sign}{text}{sign}" if text else "" for text in texts]
