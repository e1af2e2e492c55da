"""Record a series: have its runs measured, store each as it ends, and pass the events on."""

import contextlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app.base.errors import CancelledError, ChildDiedError, MeasurementError, UsageError
from app.clients.base import Secrets
from app.recording import process
from app.recording.process import MeasuringOrder, MeasuringProcess, SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.resuming import resumable
from app.recording.series_writer import SeriesWriter
from app.recording.spec import SeriesRequest
from app.recording.writer import Recorder, record_events
from app.series.events import RecorderEvent, SeriesClosed, SeriesOpened, SeriesStored
from app.series.monitor import SeriesMonitor, dialect_before, lowered_text
from app.series.requests import spec_of
from forms import wording
from forms.experiments.ways import next_base
from forms.tuning.differences import differences_before, differences_prose
from storage import records
from storage.notebook import Notebook
from storage.plan import QuietTime
from storage.recordings import SERIES


def record(request: SeriesRequest, notebook_path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:
    """Measure a new series; each run is stored before its event. Raises NotebookError."""
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from record_into(notebook, request, control)


def record_into(
    notebook: Notebook, request: SeriesRequest, control: SeriesControl, *, stepped: bool = False
) -> Iterator[RecorderEvent]:
    """As :func:`record`; ``stepped``: each run waits for its turn."""
    lineage = request.spec.lineage
    experiment = request.experiment
    _check_kind(experiment, notebook)
    series = new_series(
        request,
        base_id=lineage.base_id or _base_of_next(experiment, request.spec.command, notebook),
        change=records.Change(name=lineage.change_name, value=lineage.change_value) if lineage.change_name else None,
    )
    if series.change and not series.base_id:
        raise UsageError(
            "there is no series yet that the change could be compared with: measure one without a change first"
        )

    writer = SeriesWriter(series, Recorder(notebook, control), stored=False, experiment=experiment)
    order = MeasuringOrder.of_request(request, stepped=stepped)
    closed = yield from record_events(writer.recorder, _record_series(writer, order, notebook, control))
    yield closed


def new_series(
    request: SeriesRequest, *, base_id: str | None = None, change: records.Change | None = None
) -> records.Series:
    """The series of the request before its first run."""
    spec = request.spec
    return records.Series(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        title=request.title or wording.default_title(spec.command, request.target),
        command=spec.command,
        target=request.target,
        client=records.ClientFacts(name=spec.client or "sharebench"),
        plan=spec.plan,
        flushed=spec.settings.flush,
        label=spec.texts.label,
        note=spec.texts.note,
        question=spec.texts.question,
        link_bits_per_second=spec.link_bits_per_second,
        experiment=request.experiment.name if request.experiment else None,
        base_id=base_id,
        change=change,
    )


def _check_kind(experiment: records.Experiment | None, notebook: Notebook) -> None:
    """Raises UsageError where an experiment of that name, but of another kind, is in the notebook."""
    if experiment is None:
        return
    stored = notebook.experiment_called(experiment.name)
    if stored and stored.kind is not experiment.kind:
        in_use = f"{experiment.name!r} is in use (kind: {stored.kind.word})"
        raise UsageError(f"{in_use}: give the {experiment.kind.word} another name")


def _base_of_next(experiment: records.Experiment | None, command: records.Command, notebook: Notebook) -> str | None:
    """The last complete series of that direction that was kept; None for the first one or outside experiments."""
    if experiment is None or experiment.kind is not records.ExperimentKind.STEPS:
        return None
    base = next_base(notebook.experiment(experiment.name), command)
    return base.id if base else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A stored series to complete; ``confirmed``: the target of an imported one is."""

    series_id: str
    secrets: Secrets
    confirmed: bool = False


def resume(
    series_id: str, secrets: Secrets, notebook_path: Path, control: SeriesControl, *, confirmed: bool = False
) -> Iterator[RecorderEvent]:
    """Measure the missing runs; ``confirmed``: the target of an imported series is. Raises NotebookError."""
    resumption = Resumption(series_id=series_id, secrets=secrets, confirmed=confirmed)
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from resume_into(notebook, resumption, control)


def resume_into(
    notebook: Notebook, resumption: Resumption, control: SeriesControl, *, stepped: bool = False
) -> Iterator[RecorderEvent]:
    """As :func:`resume`; ``stepped``: each run waits for its turn."""
    series = notebook.series(resumable(notebook, resumption.series_id, SERIES, confirmed=True).id)
    if series.imported_at is not None and not resumption.confirmed:
        raise UsageError(
            f"series {series.id} was imported: check its target and confirm it before it is resumed",
            options=f"--resume {series.id} --confirm-target",
        )

    order = replace(order_to_resume(series, resumption.secrets), stepped=stepped)
    writer = SeriesWriter(series, Recorder(notebook, control), stored=True)
    closed = yield from record_events(writer.recorder, _record_series(writer, order, notebook, control))
    yield closed


def order_to_resume(series: records.Series, secrets: Secrets) -> MeasuringOrder:
    """Its missing runs; warm-up runs are measured anew."""
    finished = [run for run in series.runs if run.status is not records.RunStatus.FAILED]
    measured = [run for run in finished if run.phase is records.Phase.MEASURED]
    return MeasuringOrder(
        spec=spec_of(series),
        target=series.target,
        secrets=secrets,
        done_warmups=len(finished) - len(measured),
        done_runs=max((run.number for run in measured), default=0),
        done_rates=tuple(run.bytes_per_second for run in series.measured() if run.bytes_per_second),
        scratch_path=series.scratch_path,
    )


def _record_series(
    writer: SeriesWriter, order: MeasuringOrder, notebook: Notebook, control: SeriesControl
) -> Generator[RecorderEvent, None, SeriesClosed]:
    writer.begin()
    yield SeriesOpened(series_id=writer.series.id)
    if writer.stored:
        yield SeriesStored(series_id=writer.series.id)

    failure = yield from _measure_monitored(writer, order, notebook, control)
    _put_end(writer, failure)
    writer.end()
    return SeriesClosed(series_id=writer.series.id, status=writer.series.status, failure=failure, stored=writer.stored)


def _put_end(writer: SeriesWriter, failure: process.Failed | None) -> None:
    error = failure.text if failure else None
    writer.put(replace(writer.series, status=_status_after(failure), error=error))


def _status_after(failure: process.Failed | None) -> records.SeriesStatus:
    if failure is None:
        return records.SeriesStatus.COMPLETE
    return records.SeriesStatus.INTERRUPTED if failure.kind is CancelledError else records.SeriesStatus.FAILED


def _measure_monitored(
    writer: SeriesWriter, order: MeasuringOrder, notebook: Notebook, control: SeriesControl
) -> Generator[RecorderEvent, None, process.Failed | None]:
    """Measure with a look at the environment before and after; the failure that ended it, None for none."""
    spec = order.spec
    # Before the look at a quiet time, which takes its time: a wrong password is told at once.
    if spec.monitor.quiet_time is not QuietTime.SKIP or spec.lineage.repeats:
        refusal = _try_login(order, writer.series, notebook, control)
        if refusal:
            yield refusal
            return refusal

    failure: process.Failed | None = None
    with contextlib.closing(SeriesMonitor(spec, notebook, writer)) as monitor:
        try:
            yield from monitor.look(control)
            failure = yield from _measure_runs(writer, monitor, monitor.profiled(order), notebook, control)
            _put_end(writer, failure)
            monitor.judge()
        except MeasurementError as error:
            failure = process.Failed.of(error)
            yield failure
    return failure


def _measure_runs(
    writer: SeriesWriter, monitor: SeriesMonitor, order: MeasuringOrder, notebook: Notebook, control: SeriesControl
) -> Generator[RecorderEvent, None, process.Failed | None]:
    """Write down what the measuring process tells, then pass it on; the failure that ended it, None for none."""
    failure: process.Failed | None = None
    earlier_dialect = dialect_before(writer.series, notebook)
    with MeasuringProcess(order, control) as child:
        monitor.set_child(child.pid)
        for event in child.events():
            monitor.see(event)
            was_stored = writer.stored
            writer.see(event)
            if isinstance(event, process.Started) and (text := lowered_text(earlier_dialect, writer.series)):
                writer.put_facts("path", {"smb.dialect_before": earlier_dialect})
                yield process.Warned(text=text)
            if writer.stored and not was_stored:
                yield SeriesStored(series_id=writer.series.id)
            if isinstance(event, process.Failed):
                failure = monitor.explained(event)
                yield failure
            else:
                yield event

    if failure and failure.kind is ChildDiedError and writer.series.scratch_path:
        _clean_after_crash(writer, order)
        if writer.series.scratch_path:
            remains = f"{writer.series.scratch_path} may still be there: remove it, or resume the series"
            failure = replace(failure, text=f"{failure.text}; {remains}")
    return failure


def _try_login(
    order: MeasuringOrder, series: records.Series, notebook: Notebook, control: SeriesControl
) -> process.Failed | None:
    """Why the login fails, or how the session differs from the series to repeat; None where neither is so."""
    no_runs = replace(
        order.spec.counts,
        size_bytes=1,
        make_file=False,
        verify=False,
        runs=0,
        warmups=0,
        until_percent=None,
    )
    # As a put, which reads no file: whether that is there is for the process that measures.
    only_logs_in = MeasuringOrder(
        spec=replace(order.spec, command=records.Command.PUT, counts=no_runs),
        target=order.target,
        secrets=order.secrets,
    )
    with MeasuringProcess(only_logs_in, control, trial=True) as child:
        for event in child.events():
            if isinstance(event, process.Failed):
                return event
            if isinstance(event, process.Started):
                series = _with_session(series, event)

    lineage = order.spec.lineage
    if not lineage.repeats or lineage.base_id is None:
        return None
    differences = differences_before(notebook.series(lineage.base_id), series)
    if not differences:
        return None
    return process.Failed.of(
        UsageError(
            f"this would not be series {lineage.base_id} measured again: {differences_prose(differences)};"
            " restore that, or measure without --again"
        )
    )


def _with_session(series: records.Series, started: process.Started) -> records.Series:
    session = started.client
    client = replace(series.client, dialect=session.dialect, signing=session.signing, encryption=session.encryption)
    return replace(series, client=client, environment={"path": started.path_facts})


def _clean_after_crash(writer: SeriesWriter, order: MeasuringOrder) -> None:
    """Remove the file that a measuring process which died has left, by another one."""
    no_runs = replace(order.spec.counts, runs=0, warmups=0, until_percent=None, verify=False)
    cleaning = replace(
        order,
        spec=replace(order.spec, counts=no_runs),
        done_runs=0,
        scratch_path=writer.series.scratch_path,
    )
    with MeasuringProcess(cleaning, SeriesControl()) as child:
        for event in child.events():
            if isinstance(event, process.ScratchRemoved):
                writer.see(event)
