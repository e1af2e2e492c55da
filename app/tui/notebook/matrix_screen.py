"""Several series against the first of them: the verdicts, and the matrix of protocols and commands."""

from collections.abc import Sequence

from app.tui.report_screen import ReportScreen
from app.workflows.compare import sides_to_compare
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons
from forms.report import Report
from storage.notebook import Notebook


class TableScreen(ReportScreen):
    """More than two series as a matrix of commands and protocols, and the verdict on each."""

    ABOUT = (
        "Several series: get and put down, the protocols across, each with its share of FTP; then a verdict for each:"
        " gets against the first get marked, puts against the first put. Up and down scroll."
    )

    def __init__(self, ids: Sequence[str]) -> None:
        """``ids`` are the series, the base first."""
        super().__init__("Compare", lambda notebook: _report(notebook, ids))
        self.ids = tuple(ids)


def _report(notebook: Notebook, ids: Sequence[str]) -> Report:
    shown = [notebook.series(each) for each in ids]
    return comparison_report(shown, comparisons(sides_to_compare(notebook, ids)))
