"""Measures a new load, or resumes one, and stores each step in the notebook before it is told.

Commands and screens call `run_load` and show the steps that it yields; `app.load.measurement` does the measuring. A
`Recorder` holds the lease of the load, from `begin` to `let_go`. `record_events` has it write what `_writes_of_step`
names for a step, before it passes the step on, and at the end what `_writes_of_end` names.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from operator import methodcaller
from pathlib import Path

from app.load import measurement, spec
from app.load.beginning import load_to_resume, new_load
from app.recording import process, writer
from app.recording.rescue import notebook_to_measure_into
from app.server import facts
from app.worksheets.prediction import prediction_of
from storage.load import records
from storage.notebook import Notebook


def run_load(
    request: spec.LoadRequest, notebook_path: Path, control: process.SeriesControl, resumed: records.Load | None = None
) -> Iterator[measurement.LoadStep]:
    """Measure a load, or resume one; each point is stored before its event. Raises NotebookError, UsageError."""
    if resumed is not None:
        yield from resume_load(resumed, request, notebook_path, control)
        return

    spec.check_hosts(request)
    spec.check_limits(request.choices, request.targets)
    # The server's processors are not watched now (``window_seconds``): that is done at each point.
    environment = facts.collect(request.targets[0], ssh=request.server_ssh, smb_conf=request.smb_conf, window_seconds=0)
    spec.check_server_limits(request.choices, environment)
    load = new_load(request, environment)

    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = writer.Recorder(notebook, control)
        recorder.begin(load.id, stored=False)
        recorder.write(partial(_add, load))
        yield from _record_steps(recorder, notebook, measurement.LoadMeasurement(load, request, control).steps())


def resume_load(
    load: records.Load, request: spec.LoadRequest, notebook_path: Path, control: process.SeriesControl
) -> Iterator[measurement.LoadStep]:
    """Resume a load at its next point. Raises UsageError if nothing is missing."""
    spec.check_hosts(request)
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = writer.Recorder(notebook, control)
        try:
            recorder.begin(load.id, stored=True)
            # Somebody else may have resumed it since it was read.
            current = load_to_resume(notebook.load(load.id))
        except BaseException:
            recorder.let_go()
            raise

        resumed_measurement = measurement.LoadMeasurement(current, request, control, resumed=load)
        yield from _record_steps(recorder, notebook, resumed_measurement.steps())


def _record_steps(
    recorder: writer.Recorder,
    notebook: Notebook,
    steps: Generator[measurement.MeasurementStep, None, measurement.LoadClosed],
) -> Iterator[measurement.LoadStep]:
    closed = yield from writer.record_events(recorder, steps, _writes_of_step, _writes_of_end)
    if closed.stored:
        closed = replace(closed, prediction=prediction_of(notebook, closed.load))
    yield closed


def _writes_of_step(step: measurement.MeasurementStep) -> Iterator[writer.Write]:
    if isinstance(step, measurement.LoadChanged):
        if step.point is not None:
            yield methodcaller("put_point", step.load.id, step.point)
        yield methodcaller("update_load", step.load)


def _writes_of_end(closed: measurement.LoadClosed) -> Iterator[writer.Write]:
    if closed.stored:
        yield methodcaller("update_load", closed.load)
    else:
        yield partial(writer.take_out, recording_id=closed.load.id)


def _add(load: records.Load, notebook: Notebook) -> None:
    writer.add_once(notebook, load.id, partial(notebook.add_load, load))
