"""What commands and screens do with stored trials and sweeps: their answer, their documents, their runs, resuming them.

A trial or sweep is stored as a recording (`Recording`, the ``head``) that is made of series, one of each value of the
setting. Its ``head.subject`` is its name, by which its plan and its series are found.
"""

from typing import Any

from app.recording.experiments import stored_change
from app.recording.kind import Document, kind_of, parts_of
from app.recording.made_of_series import MadeOfSeries, Whole
from forms import wording
from forms.layout import Toned
from storage.changes import TrialPlan
from storage.json_reader import JSONNode
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.records import ExperimentKind, RunStatus


class SettingsTriedKind(MadeOfSeries):
    """A trial or sweep: a series of each value of a setting, run by turns and judged by pairs.

    Its methods are those of `Kind`, called by commands and screens. Where the plan is missing, or not every value was
    measured yet, there is no verdict (`stored_change` is None): then a trial is shown as any experiment.
    """

    record: type = TrialPlan
    resume = "try --resume"

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        change = stored_change(notebook, head.subject)
        if change is None:
            return super().answer(notebook, head)

        from forms.trial.changes_report import change_answer

        return change_answer(change)

    def documents(self, notebook: Notebook, head: Recording) -> list[Document]:
        if stored_change(notebook, head.subject) is None:
            return self.documents_of_parts(notebook, head)
        return super().documents(notebook, head)

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        """Pairs of a trial, blocks of a sweep."""
        change = stored_change(notebook, head.subject)
        # The summary of a trial has ``pairs``, each with its figures; that of a sweep the number of its ``blocks``.
        return len(getattr(change, "pairs", ())) or getattr(change, "blocks", 0)

    def what_was_measured(self, notebook: Notebook, head: Recording) -> str:
        plan = notebook.trial(head.subject)
        if plan is None:
            return super().what_was_measured(notebook, head)
        values = [value or "empty" for value in plan.values]
        return wording.plain(f"{plan.name} = {wording.listed(values, 'or')}")

    def judge_run(self, notebook: Notebook, head: Recording, run: str, status: RunStatus, reason: str | None) -> bool:
        """Accept or reject the run of that number in each series; False where one of them has no such run.

        A pair or block is judged whole: the caller stores the judgements of all series in one transaction
        (``Notebook.at_once``), which is rolled back where this is False. So it may stop at the first series without it.
        """
        return all(
            kind_of(series).judge_run(notebook, series, run, status, reason) for series in parts_of(notebook, head)
        )

    def read(self, notebook: Notebook, head: Recording) -> Any:
        """The plan and what is kept of it, to resume it. Raises UsageError."""
        from app.trial.resume import stored_trial

        return stored_trial(notebook, head.id)

    def from_document(self, document: object) -> Whole:
        from forms import importers
        from forms.importers.trial_document import trial_from_document

        trial = trial_from_document(document)
        series = tuple(importers.check(part) for part in trial.series)
        return self.read_whole(JSONNode("", document), trial.experiment, series, trial)


TRIAL_KIND = SettingsTriedKind(ExperimentKind.TRIAL)
SWEEP_KIND = SettingsTriedKind(ExperimentKind.SWEEP)
