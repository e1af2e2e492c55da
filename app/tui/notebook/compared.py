"""The screen of a comparison of recordings whose kind has no comparison screen of its own: its form."""

from collections.abc import Sequence
from functools import partial

from app.tui.notebook.comparing_jobs import comparison_report
from app.tui.widgets.report_screen import ReportScreen


class ComparedScreen(ReportScreen):
    """Shows the comparison of these recordings, the base first."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__("Comparison", partial(comparison_report, ids=ids))
