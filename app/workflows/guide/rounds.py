"""Rounds of the method that begin elsewhere: with a change from the catalogue, or from a series in the notebook."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.errors import UsageError
from app.workflows.guide.after_run import changed
from app.workflows.guide.choices import MEMORY_KEY, GuideChoices, MethodStep, choices_of, from_there, measured_again
from app.workflows.guide.known import begin_round, keep, recall
from forms.findings.series_warnings import MANY_RUNS
from storage.notebook import Notebook
from storage.records import ExperimentKind, SeriesStatus, Target


def take_change(notebook: Notebook, practice: Sequence[Target], name: str, value: str) -> GuideChoices:
    """The next round with that one change, remembered; its base is the series that the guide measured last.

    Raises UsageError where there is no such series, or where the value is none that this program could set.
    """
    choices, known = recall(notebook, practice)
    if known.series is None:
        raise UsageError(
            "there is no series to start from: measure one with the guide (F3) as things are now, then take the change"
        )
    try:
        following = changed(choices, known.series, name, value)
    except ValueError as error:
        raise UsageError(f"{name} = {value}: a whole number is needed") from error
    begin_round(notebook, following)
    keep(notebook, following, known)
    return following


def measured_share(notebook: Notebook, practice: Sequence[Target]) -> str | None:
    """The share that the guide measures; None where it is none."""
    choices, _ = recall(notebook, practice)
    return choices.target.share if choices.target is not None else None


def measure_again(notebook: Notebook, series_id: str) -> GuideChoices:
    """The guide at the run, with the choices of a series, remembered; one that is not complete is resumed."""
    series = notebook.series(series_id)
    if series.status is SeriesStatus.INTERRUPTED:
        choices = replace(choices_of(series), step=MethodStep.RUN, series_id=series.id)
    else:
        choices = replace(measured_again(choices_of(series), series, None), label="")
    return _remembered(notebook, choices)


def repeat_of(notebook: Notebook, series_id: str) -> GuideChoices:
    """The guide at the run, with the settings of a step that is to be measured again; remembered."""
    series = notebook.series(series_id)
    return _remembered(notebook, measured_again(choices_of(series), series, series.id if series.change else None))


def measured_better(notebook: Notebook, series_id: str, advised: str) -> GuideChoices:
    """The guide with the choices of a series, one as the advice of that key says; remembered."""
    series = notebook.series(series_id)
    choices = measured_again(choices_of(series), series, series.id if series.change else None)
    return _remembered(notebook, BETTER[advised][1](choices) if advised in BETTER else choices)


def _larger(choices: GuideChoices) -> GuideChoices:
    if choices.size_bytes is not None:
        return replace(choices, size_bytes=4 * choices.size_bytes)
    return replace(choices, step=MethodStep.FILE)


_WAIT = ("Measure again, and wait for a quiet time first", lambda choices: replace(choices, quiet="wait"))
_RUNS = ("Measure again with more runs", lambda choices: replace(choices, runs=max(MANY_RUNS, 2 * choices.runs)))
_WARMUPS = ("Measure again with more warm-up runs", lambda choices: replace(choices, warmups=choices.warmups + 3))
BETTER: dict[str, tuple[str, Callable[[GuideChoices], GuideChoices]]] = {
    "busy": _WAIT, "short": ("Measure again with a larger file", _larger), "scatter": _RUNS, "single": _RUNS,
    "until": _RUNS, "warm-up": _WARMUPS, "drift": _WARMUPS,
}  # fmt: skip
"""What the advice of that key leads to, and how it changes the choices."""


def branch_from(notebook: Notebook, series_id: str) -> GuideChoices:
    """The guide at the change, the series being the base of the next round; remembered."""
    return _remembered(notebook, from_there(notebook.series(series_id)))


def _remembered(notebook: Notebook, choices: GuideChoices) -> GuideChoices:
    """The choices, remembered; a survey or a self-test that the series is part of takes no further ones."""
    known = notebook.experiment_called(choices.experiment) if choices.experiment else None
    if known is not None and known.kind is not ExperimentKind.STEPS:
        choices = replace(choices, experiment=None)
    notebook.remember(MEMORY_KEY, choices.to_memory())
    return choices
