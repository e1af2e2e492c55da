"""The table of a run form alone, as the guide shows it: headings, rows, average and deviation."""

from __future__ import annotations

from forms.exporters.text import table_lines
from forms.run_form import RunForm
from forms.run_sheet import run_sheet


def form_table(form: RunForm, width: int) -> str:
    """Lines of at most ``width`` cells, styled by ANSI escapes; every mark is a sign as well."""
    return "\n".join(line for table in run_sheet(form).tables for line in table_lines(table, width, ansi=True))
