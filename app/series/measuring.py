"""Have the runs of one series measured, by a process of its own, with a look at the environment before and after.

``measure_series`` is what a new series (``record``) and one to be completed (``resume``) have in common. Its events are
in this order: SeriesOpened; ProgramCarried, where another machine measures; those of the look (QuietWait); those of the
measuring process, with SeriesStored as soon as the series is in the notebook; Failed where something ended it. What an
event tells was written down before it is passed on.
"""

import contextlib
from collections.abc import Generator
from dataclasses import replace

from app.base import errors
from app.base.child_process import Elsewhere
from app.recording import process, recycle_bin
from app.recording.reaching import reach
from app.recording.series_writer import SeriesWriter
from app.series import events
from app.series.dialect_history import dialect_before, lowered_text
from app.series.monitor import SeriesMonitor
from forms.tuning.differences import differences_before, differences_prose
from storage import records
from storage.notebook import Notebook
from storage.plan import QuietTime


def measure_series(
    writer: SeriesWriter, order: process.MeasuringOrder, notebook: Notebook, control: process.SeriesControl
) -> Generator[events.RecorderEvent, None, events.SeriesClosed]:
    """Measure what the order says, and write it down; returns the last event, which its caller passes on."""
    writer.begin()
    yield events.SeriesOpened(series_id=writer.series.id)
    if writer.stored:
        yield events.SeriesStored(series_id=writer.series.id)

    failure = yield from _measure_monitored(writer, order, notebook, control)
    _put_end(writer, failure)
    writer.end()
    return events.SeriesClosed(
        series_id=writer.series.id, status=writer.series.status, failure=failure, stored=writer.stored
    )


def _put_end(writer: SeriesWriter, failure: process.Failed | None) -> None:
    """Write down how the series ended, and why where that was early."""
    error = failure.text if failure else None
    writer.put(replace(writer.series, status=_status_after(failure), error=error))


def _status_after(failure: process.Failed | None) -> records.SeriesStatus:
    if failure is None:
        return records.SeriesStatus.COMPLETE
    return records.SeriesStatus.INTERRUPTED if failure.kind is errors.CancelledError else records.SeriesStatus.FAILED


def _measure_monitored(
    writer: SeriesWriter, order: process.MeasuringOrder, notebook: Notebook, control: process.SeriesControl
) -> Generator[events.RecorderEvent, None, process.Failed | None]:
    """Log in once, look at the environment, measure, and look again; returns the failure that ended it, or None."""
    spec = order.spec
    elsewhere: Elsewhere | None = None
    if spec.monitor.from_host is not None:
        try:
            place = reach(spec.monitor.from_host, control)
        except errors.SharebenchError as error:
            failure_there = process.Failed.of(error)
            yield failure_there
            return failure_there
        elsewhere = place
        if place.carried_bytes:
            yield events.ProgramCarried(place=place)

    # Before the look at a quiet time, which takes its time: a wrong password is told at once.
    if spec.monitor.quiet_time is not QuietTime.SKIP or spec.lineage.repeats:
        refusal = _try_login(order, writer.series, notebook, control, elsewhere)
        if refusal:
            yield refusal
            return refusal

    failure: process.Failed | None = None
    with contextlib.closing(SeriesMonitor(spec, notebook, writer, elsewhere)) as monitor:
        try:
            yield from monitor.look(control)
            order = monitor.add_profile(order)
            failure = yield from _measure_runs(writer, monitor, order, notebook, control, elsewhere)
            _put_end(writer, failure)
            monitor.judge()
        except errors.MeasurementError as error:
            # What ended the runs was told: a machine that is cut off cannot be looked at after them either.
            if failure is None:
                failure = process.Failed.of(error)
                yield failure
    return failure


def _measure_runs(
    writer: SeriesWriter,
    monitor: SeriesMonitor,
    order: process.MeasuringOrder,
    notebook: Notebook,
    control: process.SeriesControl,
    elsewhere: Elsewhere | None,
) -> Generator[events.RecorderEvent, None, process.Failed | None]:
    """Write down each event of the measuring process, then pass it on; returns the failure that ended it, or None."""
    failure: process.Failed | None = None
    is_bin_told = False
    earlier_dialect = dialect_before(writer.series, notebook)
    with process.MeasuringProcess(order, control, elsewhere=elsewhere) as child:
        for event in child.events():
            monitor.take_event(event)
            was_stored = writer.stored
            writer.see(event)

            if isinstance(event, process.Started) and (text := lowered_text(earlier_dialect, writer.series)):
                writer.put_facts("path", {"smb.dialect_before": earlier_dialect})
                yield process.Warned(text=text)
            if writer.stored and not was_stored:
                yield events.SeriesStored(series_id=writer.series.id)
            if isinstance(event, process.ScratchMade) and not is_bin_told:
                is_bin_told = True
                server = writer.series.environment.get("server", {})
                yield from recycle_bin.kept_warning(writer.series.target, event.path, server)

            if isinstance(event, process.Failed):
                failure = monitor.explain_failure(event)
                yield failure
            else:
                yield event

    if failure and failure.kind is errors.ChildDiedError and writer.series.scratch_path:
        _clean_after_crash(writer, order, elsewhere)
        # The writer forgets the path once the file is removed.
        if writer.series.scratch_path:
            remains = f"{writer.series.scratch_path} may still be there: remove it, or resume the series"
            failure = replace(failure, text=f"{failure.text}; {remains}")
    return failure


def _try_login(
    order: process.MeasuringOrder,
    series: records.Series,
    notebook: Notebook,
    control: process.SeriesControl,
    elsewhere: Elsewhere | None,
) -> process.Failed | None:
    """Log in and out again; returns why that fails, or how the session differs from the series to repeat, or None."""
    no_runs = replace(
        order.spec.counts,
        size_bytes=1,
        make_file=False,
        verify=False,
        runs=0,
        warmups=0,
        until_percent=None,
    )
    # As a put, which reads no file: whether the file of a get is there is found out by the process that measures.
    only_logs_in = process.MeasuringOrder(
        spec=replace(order.spec, command=records.Command.PUT, counts=no_runs),
        target=order.target,
        secrets=order.secrets,
    )
    # ``trial``: what the user asks for meanwhile is kept for the process that measures.
    with process.MeasuringProcess(only_logs_in, control, trial=True, elsewhere=elsewhere) as child:
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
        errors.UsageError(
            f"this would not be series {lineage.base_id} measured again: {differences_prose(differences)};"
            " restore that, or measure a series of its own",
            options="without --again",
        )
    )


def _with_session(series: records.Series, started: process.Started) -> records.Series:
    session = started.client
    client = replace(series.client, dialect=session.dialect, signing=session.signing, encryption=session.encryption)
    return replace(series, client=client, environment={"path": started.path_facts})


def _clean_after_crash(writer: SeriesWriter, order: process.MeasuringOrder, elsewhere: Elsewhere | None) -> None:
    """Remove the file that a measuring process left when it died, by another process, which measures nothing."""
    no_runs = replace(order.spec.counts, runs=0, warmups=0, until_percent=None, verify=False)
    cleaning = replace(
        order,
        spec=replace(order.spec, counts=no_runs),
        stepped=False,
        done_runs=0,
        scratch_path=writer.series.scratch_path,
    )
    with process.MeasuringProcess(cleaning, process.SeriesControl(), elsewhere=elsewhere) as child:
        for event in child.events():
            if isinstance(event, process.ScratchRemoved):
                writer.see(event)
