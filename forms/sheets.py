"""The sheets of what the notebook holds: series, comparisons, experiments, saved worksheets."""

from __future__ import annotations

from collections.abc import Sequence

from forms.comparison_sheet import comparison_sheets
from forms.ladder_sheet import experiment_sheet
from forms.run_form import run_form
from forms.run_sheet import run_sheet
from forms.sheet import Sheet
from forms.worksheets.saved import worksheet_sheet
from storage.records import Series

__all__ = ["comparison_sheets", "experiment_sheet", "run_sheets", "worksheet_sheet"]


def run_sheets(series: Sequence[Series]) -> list[Sheet]:
    """The filled run form of each series."""
    return [run_sheet(run_form(one)) for one in series]
