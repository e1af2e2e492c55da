"""The sheets of what the notebook holds: series, comparisons, experiments, saved worksheets."""

from __future__ import annotations

from collections.abc import Sequence

from forms.comparison.report import comparison_sheets
from forms.experiments.ladder_report import experiment_sheet
from forms.report import Report
from forms.series.report import run_sheet
from forms.series.summary import run_form
from forms.worksheets.saved import worksheet_sheet
from storage.records import Series

__all__ = ["comparison_sheets", "experiment_sheet", "run_sheets", "worksheet_sheet"]


def run_sheets(series: Sequence[Series]) -> list[Report]:
    """The filled run form of each series."""
    return [run_sheet(run_form(one)) for one in series]
