"""The screen of a comparison of recordings whose kind has no comparison screen of its own: its form."""

from collections.abc import Sequence
from functools import partial

from app.method.next_steps import FINISH, NextStep
from app.tui.frame import commands
from app.tui.notebook.comparing_jobs import comparison_report
from app.tui.widgets.reading import RecordingGoesOn
from app.tui.widgets.report_screen import ReportScreen
from forms.layout import Tone


class ComparedScreen(ReportScreen, RecordingGoesOn):
    """Shows the comparison of these recordings, the base first; what can be done next follows the last of them."""

    KEYS = commands.keys("screen.next")

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__("Comparison", partial(comparison_report, ids=ids))
        self.recorded = (ids[-1],)

    def offer(self, steps: list[NextStep]) -> None:
        others = [step for step in steps if step.screen != "compared"]  # it is open
        answer = self.report.answer if self.report is not None else None
        is_all_well = answer is not None and answer.tone is Tone.GOOD
        super().offer([FINISH, *others] if is_all_well else [*others, FINISH])
