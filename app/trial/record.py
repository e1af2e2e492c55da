"""A trial: change a setting, measure it interleaved with the previous value, and restore it, whatever happens.

The change has an entry in the notebook's journal of settings that sharebench changed. The entry is opened before
anything is written on the server, renewed while this process is at work on it, and closed when everything is restored.
To leave it means that this process gives it up: what it says may still stand, and another process may restore it.
"""

from collections.abc import Callable, Generator, Iterator
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
            writers = _begin_all_series(order, notebook, recorder)
            entry = begin_change(change, order.setting, order.experiment.name, notebook)
            # Opened by now; should the trial go on in another notebook, the entry is needed there as well.
            recorder.was_written(methodcaller("open_journal", entry))
        except BaseException:
            recorder.let_go()
            raise

        trial = TrialUnderWay(
            order=order,
            yardstick=yardstick,
            change=change,
            entry=entry,
            writers=writers,
            slots=notebook.slots(order.experiment.name),
            ceiling=_ceiling_in(notebook, recorder),
        )
        yield from _record_trial(trial, recorder)

        if any(writer.stored for writer in writers):
            yield trial_order.Judged(trial.standing())
        yield from yardstick.finish()
        if trial.failure:
            raise trial.failure


def _yardstick_of(order: trial_order.TrialOrder, control: SeriesControl) -> Yardstick:
    if order.plan.load:
        return LoadYardstick(order.request, control, order.plan.load)
    return TransferYardstick(order.request, control)


def _ceiling_in(notebook: Notebook, recorder: Recorder) -> Callable[[records.Series], float | None]:
    """What tells how many bytes a second this machine could reach at most; a new measurement of that is stored."""

    def ceiling(series: records.Series) -> float | None:
        return ceiling_of(series, notebook, keep=recorder.write).bytes_per_second

    return ceiling


def _begin_all_series(order: trial_order.TrialOrder, notebook: Notebook, recorder: Recorder) -> list[SeriesWriter]:
    """Begin the series of each value, as it is first. Raises UsageError if another process measures one."""
    stored_by_value: dict[str | None, records.Series] = {}
    for series in notebook.experiment(order.experiment.name):
        stored_by_value[series.change.value if series.change else None] = series

    writers = []
    for value in (None, *order.plan.values):
        stored = stored_by_value.get(value)
        series = stored or _new_series_of_value(order, value)
        writer = SeriesWriter(series, recorder, stored=stored is not None, experiment=order.experiment)
        writer.begin()
        writers.append(writer)
    return writers


def _new_series_of_value(order: trial_order.TrialOrder, value: str | None) -> records.Series:
    """A series of the trial before its first run; ``value`` is None for the setting as it is."""
    name = order.plan.name
    spec = order.request.spec
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
    return new_series(request, change=change)


def _record_trial(trial: TrialUnderWay, recorder: Recorder) -> Generator[trial_order.TrialEvent, None, None]:
    """Measure and restore, each event stored before it is told. Raises the problem of the trial, if there is one."""
    try:
        yield from record_events(
            recorder, trial.measure(), partial(_writes_of_event, trial, recorder), _writes_of_ended_trial
        )
    except BaseException:
        # A setting that may still stand on the server matters more than, say, a notebook that cannot be written.
        _raise_problem_of(trial)
        raise
    _raise_problem_of(trial)


def _raise_problem_of(trial: TrialUnderWay) -> None:
    if trial.problem:
        raise trial.problem


def _writes_of_event(trial: TrialUnderWay, recorder: Recorder, event: trial_order.TrialEvent) -> Iterator[Write]:
    experiment = trial.order.experiment
    match event:
        case TrialPlan() as plan:
            yield partial(_take_experiment, trial, recorder)
            yield methodcaller("set_trial", experiment.name, plan)

        case trial_order.ValueSet():
            yield methodcaller("renew_journal", trial.entry.id)

        case Slot() as slot:
            yield methodcaller("add_slot", slot)

        case trial_order.SettingRestored():
            yield methodcaller("close_journal", trial.entry.id)


def _writes_of_ended_trial(trial: TrialUnderWay) -> Iterator[Write]:
    """What remains to be stored when all is measured, or nobody listens any more."""
    if trial.is_undone:
        # Nobody may have been there to be told SettingRestored, which closes it too.
        yield methodcaller("close_journal", trial.entry.id)
    yield methodcaller("leave_journal", trial.entry)

    experiment = trial.order.experiment
    yield methodcaller("set_trial", experiment.name, trial.order.plan)
    yield partial(_forget_if_empty, experiment)


def _take_experiment(trial: TrialUnderWay, recorder: Recorder, notebook: Notebook) -> None:
    """It is running from now on, though none of its series is stored yet."""
    with notebook.at_once():
        texts = trial.order.request.spec.texts
        recording_id = notebook.add_experiment(trial.order.experiment, note=texts.note, question=texts.question)
        if recording_id and recording_id not in notebook.running():
            notebook.take(recording_id)
            recorder.leases.append(recording_id)


def _forget_if_empty(experiment: records.Experiment, notebook: Notebook) -> None:
    """Take an experiment out that ended before the first run of any of its values was stored."""
    stored = notebook.experiment_called(experiment.name)
    if stored and stored.recording_id and not notebook.heads(1, experiment=stored.name):
        take_out(notebook, stored.recording_id)
