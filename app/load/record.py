"""Measures a new load, or resumes one, and stores each step in the notebook before it is told.

Commands and screens call `run_load` and show the steps that it yields; `app.load.measurement` does the measuring. A
`Recorder` holds the lease of the load, from `begin` to `let_go`. `record_events` has it write what `_writes_of_step`
names for a step, before it passes the step on, and at the end what `_writes_of_end` names.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from pathlib import Path

from app.base.child_process import Elsewhere
from app.load import measurement, spec
from app.load.beginning import load_to_resume, new_load
from app.recording import process, writer
from app.recording.rescue import notebook_to_measure_into
from app.series.reached_machine import reach_machine
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
    ready = yield from _make_ready(request, control)
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from _record_new(ready, notebook, control)


def record_into(
    notebook: Notebook, request: spec.LoadRequest, control: process.SeriesControl
) -> Iterator[measurement.LoadStep]:
    """Measure a load as one of several that take turns: its users leave after each point. Raises as `run_load`."""
    spec.check_hosts(request)
    ready = yield from _make_ready(request, control)
    yield from _record_new(ready, notebook, control, takes_turns=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A new load that can begin."""

    load: records.Load
    request: spec.LoadRequest
    elsewhere: Elsewhere | None
    """The machine that makes it; None for this one."""


def _make_ready(
    request: spec.LoadRequest, control: process.SeriesControl
) -> Generator[measurement.MeasurementStep, None, _Ready]:
    """The load, once the machine that makes it is reached and both ends were looked at. Raises SharebenchError."""
    elsewhere, side = yield from _reached(request, control)
    request = _with_generator(request, side)

    # The server's processors are not watched now (``window_seconds``): that is done at each point.
    environment = facts.collect(
        request.targets[0],
        ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        window_seconds=0,
        elsewhere=side,
        from_host=request.choices.from_host,
    )
    spec.check_server_limits(request.choices, environment)

    return _Ready(load=new_load(request, environment), request=request, elsewhere=elsewhere)


def _record_new(
    ready: _Ready, notebook: Notebook, control: process.SeriesControl, *, takes_turns: bool = False
) -> Iterator[measurement.LoadStep]:
    recorder = writer.Recorder(notebook, control)
    recorder.begin(ready.load.id, stored=False)
    recorder.write(partial(_add, ready.load))
    new_measurement = measurement.LoadMeasurement(
        ready.load, ready.request, control, elsewhere=ready.elsewhere, takes_turns=takes_turns
    )
    yield from _record_steps(recorder, notebook, new_measurement.steps())


def _reached(
    request: spec.LoadRequest, control: process.SeriesControl
) -> Generator[measurement.MeasurementStep, None, tuple[Elsewhere | None, facts.ClientSide | None]]:
    """The machine that makes the load, and what it says of itself; None twice for this one. Raises SharebenchError."""
    host = request.choices.from_host
    if host is None:
        return None, None

    return (yield from reach_machine(host, request.target, control))


def _with_generator(request: spec.LoadRequest, side: facts.ClientSide | None) -> spec.LoadRequest:
    """The request with what depends on the machine that makes the load; ``side``: None for this one."""
    if side is None:
        return request

    processes = request.choices.processes or int(side.client.get("cpu.usable", 1))
    is_server = side.link is not None and side.link.loopback
    return replace(
        request,
        choices=replace(request.choices, processes=processes),
        server_ssh=request.server_ssh or (request.choices.from_host if is_server else None),
    )


def resume_load(
    load: records.Load, request: spec.LoadRequest, notebook_path: Path, control: process.SeriesControl
) -> Iterator[measurement.LoadStep]:
    """Resume a load at its next point. Raises UsageError if nothing is missing."""
    spec.check_hosts(request)
    elsewhere, side = yield from _reached(request, control)
    request = _with_generator(request, side)
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = writer.Recorder(notebook, control)
        try:
            recorder.begin(load.id, stored=True)
            # Somebody else may have resumed it since it was read.
            current = load_to_resume(notebook.load(load.id))
        except BaseException:
            recorder.let_go()
            raise

        resumed_measurement = measurement.LoadMeasurement(current, request, control, resumed=load, elsewhere=elsewhere)
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
