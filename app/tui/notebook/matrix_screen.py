"""Several series against the first of them: the verdicts, and the matrix of protocols and commands."""

from __future__ import annotations

from collections.abc import Sequence

from app.tui.report_screen import ReportScreen
from forms.comparison.report import comparison_report


class TableScreen(ReportScreen):
    """More than two series as a matrix of commands and protocols, and the verdict on each."""

    ABOUT = (
        "Several series: get and put down, the protocols across, each with its share of FTP; then a verdict for each:"
        " gets against the first get marked, puts against the first put. Up and down scroll."
    )

    def __init__(self, ids: Sequence[str]) -> None:
        """``ids`` are the series, the base first."""
        super().__init__("Compare", lambda notebook: comparison_report([notebook.series(each) for each in ids]))
        self.ids = tuple(ids)
