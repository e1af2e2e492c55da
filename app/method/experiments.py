"""Renames an experiment: in the notebook, and in the round that the guide remembers."""

from app.base.errors import UsageError
from app.method.choices import MEMORY_KEY, GuideChoices, in_experiment
from app.method.rounds import remember
from app.recording.experiments import no_experiment
from storage.notebook import Notebook
from storage.recordings import held_text
from storage.records import ExperimentKind


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

    running = notebook.running()
    for head in notebook.heads(experiment=name):
        if head.id in running:
            raise UsageError(f"{held_text(head.id, running[head.id])}, so {name!r} keeps its name until its end")
    notebook.rename_experiment(name, new_name)

    choices = GuideChoices.from_memory(notebook.remembered(MEMORY_KEY))
    if choices.spec.lineage.experiment == name:
        remember(notebook, in_experiment(choices, new_name))
