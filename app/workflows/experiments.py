"""Build requests for repeated series, and rename experiments."""

from dataclasses import replace

from app.errors import UsageError
from app.measure.process import SeriesRequest
from app.workflows.guide.choices import MEMORY_KEY, GuideChoices
from storage.errors import did_you_mean
from storage.notebook import Notebook
from storage.recordings import held_text
from storage.records import ExperimentKind, dated_experiment, format_target, kind_told_by

LABELS = ("self-test, first", "self-test, second")


def equal_requests(request: SeriesRequest, times: int = 0) -> list[SeriesRequest]:
    """Two requests of a self-test, to be measured interleaved; or that number, to be measured one after another."""
    target = request.plan.target
    what, kind = ("Repeats", ExperimentKind.REPEATS) if times else ("Self-test", ExperimentKind.SELFTEST)
    title = f"{what} of {request.plan.command}: {format_target(target)}"
    experiment = dated_experiment(kind, target.host or target.path)
    labels = [f"repeat {number}" for number in range(1, times + 1)] if times else LABELS
    return [replace(request, label=label, title=title, experiment=experiment) for label in labels]


def no_experiment(notebook: Notebook, name: str) -> str:
    """An error message with the name that may be meant."""
    meant = did_you_mean(name, (each.experiment.name for each in notebook.experiments()))
    return f"no experiment is called {name!r}; {meant}`sharebench experiment list` shows what there is"


def rename_experiment(notebook: Notebook, name: str, new_name: str) -> None:
    """Rename an experiment, in the guide's choices too. Raises UsageError, or RefusedError for a taken name."""
    experiment = notebook.experiment_called(name)
    if experiment is None:
        raise UsageError(no_experiment(notebook, name))
    if experiment.kind is not ExperimentKind.STEPS:
        raise UsageError(
            f"{name!r} is a {experiment.kind} and named after it: only an experiment's name can be changed"
        )
    if new_name == name:
        return
    if not new_name:
        raise UsageError("an experiment needs a name")
    told = kind_told_by(new_name)
    if told is not ExperimentKind.STEPS:
        raise UsageError(f"{new_name!r} is how a {told} is named: begin the name with another word")
    running = notebook.running()
    for one in notebook.heads(experiment=name):
        if one.id in running:
            raise UsageError(f"{held_text(one.id, running[one.id])}, so {name!r} keeps its name until its end")
    notebook.rename_experiment(name, new_name)
    choices = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
    if choices.experiment == name:
        notebook.remember(MEMORY_KEY, replace(choices, experiment=new_name).to_memory())
