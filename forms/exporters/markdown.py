"""Forms as Markdown: GitHub's tables and strike-through, everything else CommonMark."""

import re
from collections.abc import Iterator, Sequence

from forms.layout import lines_of, visible
from forms.report import Field, Mark, Report, ReportKind, Role, Row, Table, cell_text, remark_text

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~&$@]|:(?=[/a-zA-Z+-])|(?<=www)\.")
_BLOCK_START = re.compile(r"^(\s*)([-+=])|^(\s*\d+)([.)])(?=\s|$)")


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    """The forms in UTF-8, a rule between two of them."""
    return "\n---\n\n".join(report_markdown(report) for report in reports).encode(errors="replace")


def report_markdown(report: Report) -> str:
    """One form, ending in a line end."""
    return "".join(f"{line}\n" for line in _lines(report))


def escaped(text: str) -> str:
    """One line of plain text: no markup, link, mention or formula."""
    return _BLOCK_START.sub(r"\1\3\\\2\4", _SPECIAL.sub(r"\\\g<0>", visible(text)))


def _lines(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.title)}"
    yield ""
    yield from _field_lines(report.fields)
    for table in report.tables:
        yield ""
        if table.caption:
            yield f"**{escaped(table.caption)}**"
            yield ""
        yield from _table_lines(table)
    if report.results:
        yield ""
        yield from _field_lines(report.results)
    if report.advice:
        yield ""
        for text in report.advice:
            yield f"- {escaped(text)}"


def _field_lines(fields: Sequence[Field]) -> Iterator[str]:
    for field in fields:
        first, *more = [escaped(line) or "&nbsp;" for line in lines_of(field.text)]
        start = f"- **{escaped(field.name)}**: {first}"
        for line in more:
            yield f"{start}\\"
            start = f"  {line}"
        yield start


def _table_lines(table: Table) -> Iterator[str]:
    remarks = table.marked and any(row.mark is not Mark.NONE for row in table.rows)
    yield _piped([*(escaped(column.heading) for column in table.columns), *(["Remark"] if remarks else [])])
    yield _piped(
        [
            *(":---" if column.kind is ReportKind.TEXT else "---:" for column in table.columns),
            *([":---"] if remarks else []),
        ]
    )
    for row in table.rows:
        yield _piped([*_row_texts(table, row), *([escaped(remark_text(row))] if remarks else [])])


def _row_texts(table: Table, row: Row) -> list[str]:
    texts = [
        escaped(cell.value) if isinstance(cell.value, str) else cell_text(cell, column.kind)
        for cell, column in table.cells(row)
    ]
    sign = "~~" if row.struck else ""
    if row.role is not Role.ENTRY or row.mark is Mark.BOTTLENECK:
        sign = "**"
    return [f"{sign}{text}{sign}" if text else "" for text in texts]


def _piped(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
