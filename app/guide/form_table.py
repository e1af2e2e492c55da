"""The table of a run form alone, as the guide shows it: headings, rows, average and deviation."""

from __future__ import annotations

from forms.exporters.text import table_lines
from forms.run_form import RunForm
from forms.run_sheet import run_sheet


def form_table(form: RunForm, width: int, *, remarks: bool = True) -> str:
    """Lines of at most ``width`` cells, styled by ANSI escapes; every mark is a sign as well.

    Without ``remarks`` it is the table alone, and what its marks mean is left to the review.
    """
    lines = [line for table in run_sheet(form).tables for line in table_lines(table, width, ansi=True)]
    last = max((place for place, line in enumerate(lines) if "Average:" in line or "Deviation:" in line), default=None)
    return "\n".join(lines if remarks or last is None else lines[: last + 1])
