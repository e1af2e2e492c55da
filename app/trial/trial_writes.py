"""What is stored of a trial or sweep besides its series: its experiment, its plan, its order and its journal entry.

A write is a function of the notebook, which the recorder calls before the event is told.
"""

from collections.abc import Iterator
from functools import partial
from operator import methodcaller

from app.recording.writer import Recorder, Write, take_out
from app.trial.spec import SettingRestored, TrialEvent, ValueSet
from app.trial.under_way import TrialUnderWay
from storage.changes import Slot, TrialPlan
from storage.notebook import Notebook
from storage.records import Experiment


def writes_of_event(trial: TrialUnderWay, recorder: Recorder, event: TrialEvent) -> Iterator[Write]:
    """What one event of the trial stores."""
    experiment = trial.order.experiment
    entry = trial.server_setting.entry
    match event:
        case TrialPlan() as plan:
            yield partial(_take_experiment, trial, recorder)
            yield methodcaller("set_trial", experiment.name, plan)

        case ValueSet():
            yield methodcaller("renew_journal", entry.id)

        case Slot() as slot:
            yield methodcaller("add_slot", slot)

        case SettingRestored():
            yield methodcaller("close_journal", entry.id)


def writes_of_ended_trial(trial: TrialUnderWay) -> Iterator[Write]:
    """What remains to be stored when all is measured, or nobody listens any more."""
    entry = trial.server_setting.entry
    if trial.server_setting.is_undone:
        # Nobody may have been there to be told SettingRestored, which closes it too.
        yield methodcaller("close_journal", entry.id)
    yield methodcaller("leave_journal", entry)

    experiment = trial.order.experiment
    yield methodcaller("set_trial", experiment.name, trial.order.plan)
    yield partial(_forget_if_empty, experiment)


def _take_experiment(trial: TrialUnderWay, recorder: Recorder, notebook: Notebook) -> None:
    """Mark the experiment as running, though none of its series is stored yet."""
    with notebook.transaction():
        texts = trial.order.request.spec.texts
        recording_id = notebook.add_experiment(trial.order.experiment, note=texts.note, question=texts.question)
        if recording_id and recording_id not in notebook.running():
            notebook.take(recording_id)
            recorder.leases.append(recording_id)


def _forget_if_empty(experiment: Experiment, notebook: Notebook) -> None:
    """Take an experiment out that ended before the first run of any of its values was stored."""
    stored = notebook.experiment_called(experiment.name)
    has_series = bool(notebook.heads(limit=1, experiment=experiment.name))
    if stored and stored.recording_id and not has_series:
        take_out(notebook, stored.recording_id)
