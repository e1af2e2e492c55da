"""Finds the trials of a notebook that say something of a change between two sides of a comparison.

A trial is whole when all its runs were measured.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from forms.trial.changes_report import judge_change
from forms.trial.summary import TrialSummary, is_trial_of
from forms.tuning.differences import differences_before, same_path
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.records import Change, ExperimentKind, Series


def trials_since(
    notebook: Notebook, since: str, bases: Sequence[Series], change: Change | None = None
) -> Iterator[TrialSummary]:
    """The whole trials made after that moment, the newest first: of that change, or of any.

    Each was measured on the path and with the settings of one of the bases.
    """
    for head in notebook.recordings(ExperimentKind.TRIAL):
        if head.created_at <= since:
            return
        trial = _whole_trial(notebook, head, change)
        if trial is not None and any(_is_measured_as(base, trial) for base in bases):
            yield trial


def _whole_trial(notebook: Notebook, head: Recording, change: Change | None) -> TrialSummary | None:
    """The trial; None where it is not whole, is of another change, or was made under load."""
    experiment = notebook.experiment_called(head.subject)
    plan = notebook.trial(head.subject)
    if experiment is None or plan is None or plan.load is not None:
        return None
    if change is not None and not is_trial_of(change, plan):
        return None

    with suppress(ValueError):  # raised where a series of it was deleted
        series = notebook.experiment(head.subject)
        trial = judge_change(experiment, plan, series, notebook.slots(head.subject))
        if isinstance(trial, TrialSummary) and trial.complete:
            return trial
    return None


def _is_measured_as(base: Series, trial: TrialSummary) -> bool:
    return same_path(base, trial.base) and not differences_before(base, trial.base)
