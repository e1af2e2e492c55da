"""Complete a series that was interrupted: measure the runs that it still lacks, and store each as it ends."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app.base.errors import UsageError
from app.base.ssh_address import FROM_OPTION
from app.clients.base import Secrets
from app.recording import process
from app.recording import spec as series_spec
from app.recording import writer as recording_writer
from app.recording.rescue import notebook_to_measure_into
from app.recording.resuming import resumable
from app.recording.series_writer import SeriesWriter
from app.series import requests
from app.series.events import RecorderEvent
from app.series.measuring import measure_series
from storage import records
from storage.notebook import Notebook
from storage.recordings import SERIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A stored series that is to be completed."""

    series_id: str
    secrets: Secrets
    hooks: series_spec.Hooks = series_spec.NO_HOOKS
    """Typed anew: those of the series are text."""
    confirmed: bool = False
    """Whether the user has confirmed the target, where the series was imported: we log in there."""


def resume(
    series_id: str,
    secrets: Secrets,
    notebook_path: Path,
    control: process.SeriesControl,
    *,
    hooks: series_spec.Hooks = series_spec.NO_HOOKS,
    confirmed: bool = False,
) -> Iterator[RecorderEvent]:
    """Measure the missing runs; the last two are as in :class:`Resumption`. Raises NotebookError, UsageError."""
    resumption = Resumption(series_id=series_id, secrets=secrets, hooks=hooks, confirmed=confirmed)
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from resume_into(notebook, resumption, control)


def resume_into(
    notebook: Notebook, resumption: Resumption, control: process.SeriesControl, *, stepped: bool = False
) -> Iterator[RecorderEvent]:
    """As :func:`resume`, into an open notebook; ``stepped``: each run waits for ``ControlMessage.STEP``."""
    series = notebook.series(resumable(notebook, resumption.series_id, SERIES, confirmed=True).id)
    if series.imported_at is not None and not resumption.confirmed:
        raise UsageError(
            f"series {series.id} was imported: check its target and confirm it before it is resumed",
            options=f"--resume {series.id} --confirm-target",
        )

    monitor = series.plan.monitor if series.plan else None
    host = records.measured_from(series.environment)
    if host and (monitor is None or monitor.from_host is None):
        raise UsageError(
            f"series {series.id} was measured from {host}, and is not resumed from here: measure a new one",
            options=f"{FROM_OPTION} {host}",
        )

    requests.check_hooks_typed_again(series, resumption.hooks)
    order = order_to_resume(series, resumption.secrets)
    order = replace(order, spec=replace(order.spec, hooks=resumption.hooks), stepped=stepped)
    requests.check_machines(order.spec, series.target)
    writer = SeriesWriter(series, recording_writer.Recorder(notebook, control), stored=True)
    closed = yield from recording_writer.record_events(
        writer.recorder, measure_series(writer, order, notebook, control)
    )
    yield closed


def order_to_resume(series: records.Series, secrets: Secrets) -> process.MeasuringOrder:
    """The order for the runs that the series lacks; ``secrets`` log in to its target."""
    finished = [run for run in series.runs if run.status is not records.RunStatus.FAILED]
    measured = [run for run in finished if run.phase is records.Phase.MEASURED]
    spec = requests.spec_of(series)
    if series.plan:
        spec = replace(spec, interleaved_with=series.plan.interleaved_with)
    return process.MeasuringOrder(
        spec=spec,
        target=series.target,
        secrets=secrets,
        done_warmups=len(finished) - len(measured),
        done_runs=max((run.number for run in measured), default=0),
        done_rates=tuple(run.bytes_per_second for run in series.measured() if run.bytes_per_second),
        scratch_path=series.scratch_path,
    )
