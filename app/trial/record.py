"""Measures a trial or a sweep into a notebook: a setting is changed, measured value by value, and restored.

`run_trial` is what the command line and the screen call. The change has an entry in the notebook's journal
(`app.trial.change_journal`); it is opened before anything is written on the server, renewed while this process is at
work on it, and closed when everything is restored. Each event is stored before it is told.

The trial's ``failure`` is why measuring ended early, such as a run that failed; it is raised once the result so far has
been told. Its ``problem`` is graver, and raised at once: the setting may not be restored, or sharebench has a fault.
"""

from collections.abc import Generator
from functools import partial
from operator import methodcaller
from pathlib import Path

from app.recording.process import SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.writer import Recorder, record_events
from app.server.changes.script import new_change_id
from app.trial import spec as trial_order
from app.trial import trial_writes
from app.trial.change_journal import begin_change
from app.trial.engine import yardstick_of
from app.trial.server_setting import ServerSetting
from app.trial.target import check_target
from app.trial.trial_series import begin_all_series, ceiling_in
from app.trial.under_way import TrialUnderWay


def run_trial(
    order: trial_order.TrialOrder, notebook_path: Path, control: SeriesControl
) -> Generator[trial_order.TrialEvent, None, None]:
    """Carry out or resume a trial; last come SettingRestored and Judged. Raises ChangeFailedError, MeasurementError."""
    check_target(order.request)
    change = order.setting.plan(new_change_id(), order.plan.values)
    yardstick = yardstick_of(order.request, control, order.plan.load)

    with notebook_to_measure_into(notebook_path) as notebook, yardstick:
        recorder = Recorder(notebook, control)
        try:
            writers = begin_all_series(order, notebook, recorder)
            entry = begin_change(change, order.setting, order.experiment.name, notebook)
            # Opened by now; should the trial go on in another notebook, the entry is needed there as well.
            recorder.was_written(methodcaller("open_journal", entry))
        except BaseException:
            recorder.let_go()
            raise

        trial = TrialUnderWay(
            order=order,
            yardstick=yardstick,
            server_setting=ServerSetting(
                setting=order.setting,
                change=change,
                entry=entry,
                values=(None, *order.plan.values),
                request=order.request,
            ),
            writers=writers,
            slots=notebook.slots(order.experiment.name),
            ceiling=ceiling_in(notebook, recorder),
        )
        yield from _record_trial(trial, recorder)

        if any(writer.stored for writer in writers):
            yield trial_order.Judged(trial.result_so_far())
        yield from yardstick.finish()
        if trial.failure:
            raise trial.failure


def _record_trial(trial: TrialUnderWay, recorder: Recorder) -> Generator[trial_order.TrialEvent, None, None]:
    """Measure and restore, each event stored before it is told. Raises the problem of the trial, if there is one."""
    writes_of_event = partial(trial_writes.writes_of_event, trial, recorder)
    try:
        yield from record_events(recorder, trial.measure(), writes_of_event, trial_writes.writes_of_ended_trial)
    except BaseException:
        # A setting that may still stand on the server matters more than, say, a notebook that cannot be written.
        _raise_problem_of(trial)
        raise
    _raise_problem_of(trial)


def _raise_problem_of(trial: TrialUnderWay) -> None:
    if trial.problem:
        raise trial.problem
