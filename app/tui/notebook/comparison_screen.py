"""Two recordings that are no series, side by side: the form that their kind makes of both."""

from functools import partial

from app.tui.notebook import comparing_jobs
from app.tui.widgets.report_screen import ReportScreen


class ComparisonScreen(ReportScreen):
    """ReportScreen reads the form in the notebook, and shows it."""

    def __init__(self, base: str, other: str) -> None:
        super().__init__("Comparison", partial(comparing_jobs.comparison_report, ids=[base, other]))
