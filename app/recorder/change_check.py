"""What a series claims to have changed, held against what it shows beside the series that it was made from."""

from dataclasses import replace

from app.errors import UsageError
from forms.experiments.ladder import next_base
from forms.tuning.change_evidence import judge_change
from storage.notebook import Notebook
from storage.recordings import UnknownReferenceError
from storage.records import Command, Experiment, ExperimentKind, Series


def judged(series: Series, notebook: Notebook) -> Series:
    """The series, whole, with its change judged by what it and its base show; itself where it claims none."""
    if series.change is None:
        return series
    found = judge_change(series.change.name, series.change.value, _base(series, notebook), series)
    return replace(series, change=found)


def check_kind(experiment: Experiment, notebook: Notebook) -> None:
    """Whether an experiment of that name may go on as that kind. Raises UsageError."""
    found = notebook.experiment_called(experiment.name)
    if found and found.kind is not experiment.kind:
        raise UsageError(f"{experiment.name!r} is the name of a {found.kind}: give the {experiment.kind} another one")


def base_of_next(experiment: Experiment | None, command: Command, notebook: Notebook) -> str | None:
    """The series that the next rung of a ladder is made from: the last complete one that was not put back.

    None without a ladder, and for its first series of that direction.
    """
    if experiment is None or experiment.kind is not ExperimentKind.LADDER:
        return None
    found = next_base(notebook.experiment(experiment.name), command)
    return found.id if found else None


def _base(series: Series, notebook: Notebook) -> Series | None:
    try:
        return notebook.series(series.base_id) if series.base_id else None
    except UnknownReferenceError:
        return None
