"""The reports of what the notebook holds: series, comparisons, experiments, saved worksheets."""

from __future__ import annotations

from collections.abc import Sequence

from forms.comparison.report import comparison_reports
from forms.experiments.ladder_report import experiment_report
from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.worksheets.saved import worksheet_report
from storage.records import Series

__all__ = ["comparison_reports", "experiment_report", "series_reports", "worksheet_report"]


def series_reports(series: Sequence[Series]) -> list[Report]:
    """The filled run form of each series."""
    return [series_report(run_form(one)) for one in series]
