"""A trial: change a setting, measure it interleaved with the previous value, and restore it, whatever happens."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from operator import methodcaller
from pathlib import Path

from app.recording.ceiling import ceiling_of
from app.recording.process import SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.series_writer import SeriesWriter
from app.recording.writer import Recorder, Write, record_events, take_out
from app.series.record import new_series
from app.server.changes.script import new_change_id
from app.trial import spec as trial_order
from app.trial.engine import LoadYardstick, TransferYardstick, Yardstick
from app.trial.restore import begin_change
from app.trial.target import check_target
from app.trial.under_way import TrialUnderWay
from forms import wording
from storage import records
from storage.changes import Slot, TrialPlan
from storage.notebook import Notebook


def run_trial(
    order: trial_order.TrialOrder, notebook_path: Path, control: SeriesControl
) -> Generator[trial_order.TrialEvent, None, None]:
    """Carry out or resume a trial; last come SettingRestored and Judged. Raises ChangeFailedError, MeasurementError."""
    check_target(order.request)
    change = order.setting.plan(new_change_id(), order.plan.values)
    yardstick = _yardstick_of(order, control)

    with notebook_to_measure_into(notebook_path) as notebook, yardstick:
        recorder = Recorder(notebook, control)
        try:
            writers = [*_begin_series(order, notebook, recorder)]
            slots = notebook.slots(order.experiment.name)
            entry = begin_change(change, order.setting, order.experiment.name, notebook)
            recorder.was_written(methodcaller("open_journal", entry))
        except BaseException:
            recorder.let_go()
            raise

        def ceiling(series: records.Series) -> float | None:
            return ceiling_of(series, notebook, keep=recorder.write).bytes_per_second

        trial = TrialUnderWay(
            order=order,
            yardstick=yardstick,
            change=change,
            entry=entry,
            writers=writers,
            slots=slots,
            ceiling=ceiling,
        )
        try:
            yield from record_events(recorder, trial.measure(), partial(_writes_of, trial))
        finally:
            if trial.problem:
                raise trial.problem

        if any(writer.stored for writer in writers):
            yield trial_order.Judged(trial.standing())
        yield from yardstick.finish()
        if trial.failure:
            raise trial.failure


def _yardstick_of(order: trial_order.TrialOrder, control: SeriesControl) -> Yardstick:
    if order.plan.load:
        return LoadYardstick(order.request, control, order.plan.load)
    return TransferYardstick(order.request, control)


def _begin_series(order: trial_order.TrialOrder, notebook: Notebook, recorder: Recorder) -> Iterator[SeriesWriter]:
    """The series of each value, as it is first. Raises UsageError if another process measures one."""
    stored: dict[str | None, records.Series] = {}
    for series in notebook.experiment(order.experiment.name):
        stored[series.change.value if series.change else None] = series

    name = order.plan.name
    spec = order.request.spec
    for value in (None, *order.plan.values):
        label = f"{name} {trial_order.AS_IT_IS}" if value is None else f"{name} = {value}"
        request = replace(
            order.request,
            spec=replace(spec, texts=replace(spec.texts, label=label, question="")),
            title=f"{name} interleaved: {wording.default_title(spec.command, order.request.target)}",
            experiment=order.experiment,
        )
        change = None
        if value is not None:
            change = records.Change(name=name, value=value, previous=order.plan.previous)
        series = stored.get(value) or new_series(request, change=change)
        writer = SeriesWriter(series, recorder, stored=value in stored, experiment=order.experiment)
        writer.begin()
        yield writer


def _writes_of(trial: TrialUnderWay, event: object) -> Iterator[Write]:
    experiment = trial.order.experiment
    entry = trial.entry
    match event:
        case TrialPlan() as plan:
            yield partial(_take_experiment, trial)
            yield lambda notebook: notebook.set_trial(experiment.name, plan)
        case trial_order.ValueSet():
            yield lambda notebook: notebook.renew_journal(entry.id)
        case Slot() as slot:
            yield lambda notebook: notebook.add_slot(slot)
        case trial_order.SettingRestored():
            yield lambda notebook: notebook.close_journal(entry.id)
        case TrialUnderWay():
            if trial.is_undone:
                yield lambda notebook: notebook.close_journal(entry.id)
            yield lambda notebook: notebook.leave_journal(entry)
            yield lambda notebook: notebook.set_trial(experiment.name, trial.order.plan)
            yield partial(_forget, experiment)


def _take_experiment(trial: TrialUnderWay, notebook: Notebook) -> None:
    """It is running from now on, though none of its series is stored yet."""
    with notebook.at_once():
        texts = trial.order.request.spec.texts
        recording_id = notebook.add_experiment(trial.order.experiment, note=texts.note, question=texts.question)
        if recording_id and recording_id not in notebook.running():
            notebook.take(recording_id)
            trial.writers[0].recorder.leases.append(recording_id)


def _forget(experiment: records.Experiment, notebook: Notebook) -> None:
    stored = notebook.experiment_called(experiment.name)
    if stored and stored.recording_id and not notebook.heads(1, experiment=stored.name):
        take_out(notebook, stored.recording_id)
