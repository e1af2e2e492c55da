"""The forms of experiments: series that were measured together under one name, such as a trial or a sweep.

Trials and sweeps are judged by their plan; of any other experiment the form shows its steps, one a series.
"""

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.recording.kind import RUNNING
from forms.layout import Tone, Toned
from storage import records
from storage.errors import did_you_mean
from storage.notebook import Notebook

if TYPE_CHECKING:
    from forms.report import Field, Report
    from forms.trial.changes_report import ChangeSummary

INTERRUPTED = Toned("Interrupted before each value was measured once.", Tone.CAUTION)


def no_experiment(notebook: Notebook, name: str) -> str:
    hint = did_you_mean(name, (entry.experiment.name for entry in notebook.experiments()))
    return f"no experiment is called {name!r}; {hint}`sharebench experiment list` shows what there is"


def stored_change(notebook: Notebook, name: str) -> "ChangeSummary | None":
    """A trial or sweep; None before each value was measured, without its plan, or for no such one."""
    from forms.trial.changes_report import KINDS, judge_change

    experiment = notebook.experiment_called(name)
    plan = notebook.trial(name)
    if experiment is None or experiment.kind not in KINDS or plan is None:
        return None
    with suppress(ValueError):  # a series is missing
        return judge_change(experiment, plan, notebook.experiment(name), notebook.slots(name))
    return None


def stored_experiment(notebook: Notebook, name: str, only: str | None = None) -> "Report":
    """The form of an experiment; ``only`` is the kind it must be. Raises UsageError."""
    from forms.experiments.kinds_report import experiment_report
    from forms.trial.changes_report import KINDS, change_report
    from forms.trial.plan_fields import server_fields

    experiment = notebook.experiment_called(name)
    series = notebook.experiment(name)
    if experiment is None or not series:
        raise UsageError(no_experiment(notebook, name))
    if only is not None and experiment.kind != only:
        raise UsageError(f"{name!r} is no {only}: export it as an experiment", options="--form experiment")

    try:
        if experiment.kind not in KINDS:
            return experiment_report(name, series, experiment.kind)

        server = tuple(server_fields(notebook.journal(experiment=name)))
        change = stored_change(notebook, name)
        if change is None:
            return _unjudged_report(notebook, experiment, series, server)
        report = change_report(change)
        return replace(report, fields=(*report.fields, *server))
    except ValueError as error:
        raise UsageError(f"{name!r} was not completed: measure it again with sharebench selftest") from error


def _unjudged_report(
    notebook: Notebook, experiment: records.Experiment, series: list[records.Series], server: "tuple[Field, ...]"
) -> "Report":
    """The steps of a trial or sweep that cannot be judged as one, and why."""
    from forms.experiments.kinds_report import experiment_report

    steps = experiment_report(experiment.name, series)
    is_running = any(step.running_by for step in series)
    reason = RUNNING if is_running else INTERRUPTED
    if all(step.status is records.SeriesStatus.COMPLETE for step in series):
        has_plan = notebook.trial(experiment.name) is not None
        lack = "A series of it is missing" if has_plan else "It was imported without its plan"
        reason = Toned(f"{lack}, so it has no verdict of its own.", Tone.CAUTION)

    # The first field of a form is its answer, which here is another than that of the steps.
    answer = replace(steps.fields[0], text=reason.text, tone=reason.tone)
    return replace(steps, fields=(answer, *steps.fields[1:], *server), results=())
