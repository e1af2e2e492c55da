"""A trial of the notebook, to be read, exported, or gone on with until it is decided."""

from typing import ClassVar

from app.kinds import stored_change, stored_experiment
from app.tui.frame.commands import KeyCommand
from app.tui.report_screen import ReportScreen
from app.tui.tuning.trial import TrialScreen
from forms.report import Report
from forms.trials.summary import TrialSummary
from storage.notebook import Notebook


class StoredTrialScreen(ReportScreen):
    """The form of one trial."""

    ABOUT = "A trial from the notebook. Up and down scroll; one that is not decided yet can be gone on with."
    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand(
            "trial.go-on", "g", "Go on", "Measure further pairs; what would be written is shown first.", footer="Go on"
        ),
    )

    def __init__(self, name: str) -> None:
        super().__init__(name, self.read_report)
        self.name_of_trial = name
        self.setting = ""
        """NAME = VALUE of a trial that can be gone on with; empty for one that is decided, or was imported."""

    def read_report(self, notebook: Notebook) -> Report:
        """Its form; it is looked at whether it is decided."""
        found = stored_change(notebook, self.name_of_trial)
        ours = all(one.imported_at is None for one in notebook.heads(experiment=self.name_of_trial))
        undecided = isinstance(found, TrialSummary) and not found.complete and ours
        self.setting = f"{found.plan.name} = {found.value}" if undecided and isinstance(found, TrialSummary) else ""
        return stored_experiment(notebook, self.name_of_trial)

    def show(self, report: Report) -> None:
        super().show(report)
        self.refresh_bindings()

    def on_screen_resume(self) -> None:
        """What went on meanwhile is shown as it is now."""
        if self.report is not None:
            self.with_notebook(self.read_report, self.show)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.setting) if action == "go_on" else super().check_action(action, parameters)

    def action_go_on(self) -> None:
        self.app.push_screen(TrialScreen(self.setting, self.name_of_trial))
