"""Forms as plain text, with or without ANSI styles; rejected rows are struck through either way."""

from collections.abc import Iterator, Sequence

from forms import layout
from forms.exporters.text_charts import chart_lines
from forms.exporters.text_styles import BOLD, styled
from forms.exporters.text_tables import table_lines
from forms.report import Field, Report

WIDTH = 80
"""Cells of a line on paper: a cell is the place of a letter, and a wide letter takes two."""


def report_text(report: Report, *, width: int = WIDTH, ansi: bool = False) -> str:
    """The whole form in lines of at most ``width`` cells."""
    return "".join(f"{line.rstrip()}\n" for line in _lines(report, width, ansi))


def answers_text(report: Report, *, width: int = WIDTH, ansi: bool = False) -> str:
    """What the form answers, in the lines of the form; empty where it answers nothing."""
    return "".join(f"{line.rstrip()}\n" for line in _field_lines(report.answers, width, ansi=ansi))


def figures_text(report: Report, *, width: int = WIDTH, ansi: bool = False) -> str:
    """The form for a screen that shows its title and answer already: tables, results and advice, then the other
    fields.
    """
    fields = [field for field in report.fields if field is not report.answer]
    lines = [*_figures(report, width, ansi), "", *_field_lines(fields, width, ansi=ansi)]
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return f"{text}\n" if text else ""


def _lines(report: Report, width: int, ansi: bool) -> Iterator[str]:
    for line in layout.wrap(layout.visible(report.title), width):
        yield styled(line, BOLD, ansi)
    yield from _field_lines(report.fields, width, blank=report.blank, ansi=ansi)
    yield from _figures(report, width, ansi)


def _figures(report: Report, width: int, ansi: bool) -> Iterator[str]:
    for table in report.tables:
        yield ""
        if table.caption:
            yield from layout.wrap(layout.visible(table.caption), width)
        yield from table_lines(table, width, ansi=ansi)

    if report.results:
        yield ""
        yield from _field_lines(report.results, width, ansi=ansi)

    for chart in report.charts:
        if chart.in_text:
            yield ""
            yield from chart_lines(chart, width, ansi=ansi)

    for text in report.advice:
        yield ""
        for line in layout.hanging_from("→ ", text, width):
            yield layout.coloured(line, layout.Tone.CAUTION) if ansi else line


def _field_lines(fields: Sequence[Field], width: int, *, blank: bool = False, ansi: bool = False) -> Iterator[str]:
    names = [layout.cut(layout.visible(field.name), width // 2) for field in fields]
    name_cells = max(map(layout.width, names), default=0) + 2
    for field, name in zip(fields, names, strict=True):
        start = layout.pad(f"{name}:", name_cells)
        text = "_" * (min(width, WIDTH) - name_cells) if blank and not field.text else field.text
        for line in layout.hanging_from(start, text, width):
            yield layout.coloured(line, field.tone) if ansi else line


def render(reports: Sequence[Report], *, paper: str) -> bytes:  # noqa: ARG001 (one signature for every format)
    return f"\n{'═' * WIDTH}\n\n".join(map(report_text, reports)).encode()
