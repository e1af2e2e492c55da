"""A worksheet's result as text, for a screen."""

from dataclasses import replace

from forms.exporters.text import report_text
from forms.report import Report


def draw_result(report: Report, width: int, _height: int) -> str:
    """The answer first, and below it the way to it."""
    answer = report_text(replace(report, fields=(), tables=()), width=width, ansi=True)
    way = report_text(replace(report, title="", results=(), advice=(), drawn=()), width=width, ansi=True)
    return f"{answer}\n{way.lstrip()}"
