"""The recorder: runs a plan, stores each run the moment it ended, and hands the events on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app import errors
from app.clients.base import Secrets
from app.measure.control import SeriesControl
from app.measure.events import Event, Failed, PathSeen, RunFinished, ScratchMade, ScratchRemoved, Started
from app.measure.plan import MeasurementPlan
from app.measure.reader import MeasuringProcess
from app.recorder.change_check import base_of_next, check_kind
from app.recorder.request import SeriesRequest, request_to_resume
from app.recorder.series_monitor import SeriesMonitor
from app.targets import format_target
from storage.errors import NotebookFileError
from storage.notebook import Notebook
from storage.records import (
    Change,
    ClientFacts,
    Phase,
    Run,
    RunStatus,
    Series,
    SeriesStatus,
    new_series_id,
    utc_now,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOpened:
    """The series is in the notebook."""

    series_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesClosed:
    """The series is over and everything is stored; always the last event."""

    series_id: str
    status: SeriesStatus
    failure: Failed | None = None


RecorderEvent = Event | SeriesOpened | SeriesClosed


def open_notebook(path: Path) -> Notebook:
    """The notebook at ``path``. Raises NotebookError."""
    try:
        return Notebook(path)
    except NotebookFileError as error:
        raise errors.NotebookError(str(error)) from error


def record(order: SeriesRequest, notebook_path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:
    """Measure a new series; every finished run is stored before its event is seen. Raises NotebookError."""
    with open_notebook(notebook_path) as notebook:
        yield from recording(order, notebook, control)


def recording(order: SeriesRequest, notebook: Notebook, control: SeriesControl) -> Iterator[RecorderEvent]:
    """As :func:`record`, in a notebook that is open."""
    plan, experiment = order.plan, order.experiment
    if experiment:
        check_kind(experiment, notebook)
    series = Series(
        id=new_series_id(),
        created_at=utc_now(),
        title=order.title or default_title(plan),
        label=order.label,
        note=order.note,
        experiment=experiment.name if experiment else None,
        base_id=order.base_id or base_of_next(experiment, plan.command, notebook),
        change=Change(name=order.change_name, value=order.change_value) if order.change_name else None,
        command=plan.command,
        target=plan.target,
        client=ClientFacts(name=plan.client or "sharebench"),
        link_bits_per_second=order.link_bits_per_second,
        plan=order.stored_plan(),
    )
    if series.change and not series.base_id:
        raise errors.UsageError(
            "there is no series yet that the change could be compared with: measure one without --change first"
        )
    if experiment:
        notebook.add_experiment(experiment)
    notebook.add(series)
    yield from _measure(series, order, notebook, control)


def resume(series_id: str, secrets: Secrets, notebook_path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:
    """Complete an interrupted or failed series: its missing runs, after its warm-up. Raises NotebookError."""
    with open_notebook(notebook_path) as notebook:
        yield from resuming(series_id, secrets, notebook, control)


def resuming(
    series_id: str, secrets: Secrets, notebook: Notebook, control: SeriesControl, *, stepped: bool = False
) -> Iterator[RecorderEvent]:
    """As :func:`resume`, in a notebook that is open."""
    series = notebook.series(series_id)
    order = request_to_resume(series, replace(plan_to_resume(series, secrets), stepped=stepped))
    yield from _measure(series, order, notebook, control)


def plan_to_resume(series: Series, secrets: Secrets) -> MeasurementPlan:
    """The plan of a stored series, with what is done already taken off. Raises UsageError where nothing is missing."""
    plan = MeasurementPlan.of(series.plan, series.command, series.target)
    finished = [run for run in series.runs if run.status is not RunStatus.FAILED]
    done = [run for run in finished if run.phase is Phase.MEASURED]
    if series.status is SeriesStatus.COMPLETE:
        raise errors.UsageError(f"series {series.id} is complete; measure a new one with `sharebench run`")
    return replace(
        plan,
        secrets=secrets,
        done_warmups=sum(run.phase is Phase.WARM_UP for run in finished),
        done_runs=max((run.number for run in done), default=0),
        done_rates=tuple(run.bytes_per_second for run in series.measured() if run.bytes_per_second),
        scratch_path=series.scratch_path,
    )


def default_title(plan: MeasurementPlan) -> str:
    """What stands over a form that was given no title, such as ``SMB get: smb://HOST/SHARE/PATH``."""
    return f"{plan.target.protocol.upper()} {plan.command}: {format_target(plan.target)}"


def _measure(
    series: Series, order: SeriesRequest, notebook: Notebook, control: SeriesControl
) -> Iterator[RecorderEvent]:
    yield SeriesOpened(series_id=series.id)
    with contextlib.closing(SeriesMonitor(order, notebook)) as surroundings:
        failure: Failed | None = None
        try:
            series = surroundings.look(series, control)
            with MeasuringProcess(order.plan, control) as child:
                surroundings.child_is(child.pid)
                for event in child.events():
                    surroundings.see(event)
                    series = _stored(series, event, notebook)
                    if isinstance(event, Failed):
                        failure = event
                    yield event
            if failure and failure.kind == "ChildDiedError" and series.scratch_path:
                series = _clean_after_crash(series, order.plan, notebook)
                if series.scratch_path:
                    left = f"{series.scratch_path} may still be there: remove it by hand, or resume the series"
                    failure = replace(failure, text=f"{failure.text}; {left}")
            series = replace(series, status=_status(failure), error=failure.text if failure else None)
            series = surroundings.look_back(series)
        except errors.NotQuietError as error:
            failure = Failed(kind=type(error).__name__, text=str(error))
            series = replace(notebook.series(series.id), status=SeriesStatus.FAILED, error=failure.text)
            notebook.update(series)
            yield failure
    yield SeriesClosed(series_id=series.id, status=series.status, failure=failure)


def _status(failure: Failed | None) -> SeriesStatus:
    if failure is None:
        return SeriesStatus.COMPLETE
    return SeriesStatus.INTERRUPTED if failure.kind == "CancelledError" else SeriesStatus.FAILED


def _stored(series: Series, event: Event, notebook: Notebook) -> Series:
    """The series after the event, with everything the event brought written down."""
    match event:
        case RunFinished(run=run):
            notebook.add_run(series.id, _kept(run))
            return series
        case Started(client=client, path_facts=path_facts):
            series = replace(series, client=client)
            notebook.set_facts(series.id, "path", path_facts)
        case PathSeen(path_facts=path_facts):
            notebook.set_facts(series.id, "path", path_facts)
            return series
        case ScratchMade(path=path):
            series = replace(series, scratch_path=path)
        case ScratchRemoved(path=path) if path == series.scratch_path:
            series = replace(series, scratch_path=None)
        case _:
            return series
    notebook.update(series)
    return series


def _kept(run: Run) -> Run:
    """The run with its progress thinned to what a chart can show."""
    limit = 600
    if len(run.progress) <= limit:
        return run
    step = -(-len(run.progress) // limit)
    return replace(run, progress=run.progress[::step])


def _clean_after_crash(series: Series, plan: MeasurementPlan, notebook: Notebook) -> Series:
    """Remove the file that a killed measuring process left, if the server still lets us."""
    cleaning = replace(
        plan, runs=0, warmups=0, done_runs=0, until_percent=None, verify=False, scratch_path=series.scratch_path
    )
    with MeasuringProcess(cleaning, SeriesControl()) as child:
        for event in child.events():
            series = _stored(series, event, notebook)
    return series


def failure_of(closed: SeriesClosed) -> errors.SharebenchError | None:
    """The error that a closed series ended with, to be raised by a face; None for a complete one."""
    if closed.failure is None:
        return None
    kind = getattr(errors, closed.failure.kind, errors.MeasurementError)
    found: errors.SharebenchError = kind(closed.failure.text)
    return found
