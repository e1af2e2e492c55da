"""What the notebook holds under the name of an experiment, as a report."""

from __future__ import annotations

from app.errors import UsageError
from forms.experiments.report import experiment_report
from forms.report import Report
from forms.trials.judged import KINDS, judged, report_of
from storage.notebook import Notebook
from storage.records import Experiment, Series


def stored_experiment(notebook: Notebook, name: str, only: str | None = None) -> Report:
    """The ladder, survey or self-test of that name; ``only`` is the kind it must be. Raises UsageError."""
    experiment, series = notebook.experiment_called(name), notebook.experiment(name)
    if experiment is None or not series:
        raise UsageError(f"no experiment is called {name!r}; `sharebench experiment list` shows what there is")
    if only is not None and experiment.kind != only:
        raise UsageError(f"{name!r} is a {experiment.kind}: export it with --form experiment")
    if experiment.kind in KINDS:
        return _stored_trial(notebook, experiment, series)
    try:
        return experiment_report(name, series, experiment.kind)
    except ValueError as error:
        raise UsageError(f"{name!r} was not completed: measure it again with sharebench selftest") from error


def _stored_trial(notebook: Notebook, experiment: Experiment, series: list[Series]) -> Report:
    """A trial or sweep with its plan. Raises UsageError."""
    plan = notebook.trial(experiment.name)
    if plan is None:
        raise UsageError(
            f"{experiment.name!r} was imported without its plan: each of its series can be shown by itself"
        )
    try:
        return report_of(judged(experiment, plan, series, notebook.slots(experiment.name)))
    except ValueError as error:
        raise UsageError(
            f"{experiment.name!r} is not whole ({error}): each of its series can be shown by itself, `sharebench show`"
        ) from error
