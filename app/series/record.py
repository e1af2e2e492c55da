"""Record a new series: have its runs measured, store each as it ends, and pass the events on.

``record`` is called by commands and by the screens' backend, ``record_into`` by whoever measures several series into
one notebook.
"""

from collections.abc import Iterator
from pathlib import Path

from app.base.errors import UsageError
from app.recording import process
from app.recording.rescue import notebook_to_measure_into
from app.recording.series_writer import SeriesWriter
from app.recording.spec import SeriesRequest
from app.recording.writer import Recorder, record_events
from app.series.events import RecorderEvent
from app.series.measuring import measure_series
from forms import wording
from forms.experiments.ways import next_base
from storage import records
from storage.notebook import Notebook


def record(request: SeriesRequest, notebook_path: Path, control: process.SeriesControl) -> Iterator[RecorderEvent]:
    """Measure a new series; each run is stored before its event. Raises NotebookError."""
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from record_into(notebook, request, control)


def record_into(
    notebook: Notebook, request: SeriesRequest, control: process.SeriesControl, *, stepped: bool = False
) -> Iterator[RecorderEvent]:
    """As :func:`record`, into an open notebook; ``stepped``: each run waits for ``ControlMessage.STEP``."""
    lineage = request.spec.lineage
    experiment = request.experiment
    _check_kind(experiment, notebook)

    base_id = lineage.base_id or _base_of_next(experiment, request.spec.command, notebook)
    change = None
    if lineage.change_name:
        change = records.Change(name=lineage.change_name, value=lineage.change_value)
    series = new_series(request, base_id=base_id, change=change)
    if series.change and not series.base_id:
        raise UsageError(
            "there is no series yet that the change could be compared with: measure one without a change first"
        )

    writer = SeriesWriter(series, Recorder(notebook, control), stored=False, experiment=experiment)
    order = process.MeasuringOrder.of_request(request, stepped=stepped)
    closed = yield from record_events(writer.recorder, measure_series(writer, order, notebook, control))
    yield closed


def new_series(
    request: SeriesRequest, *, base_id: str | None = None, change: records.Change | None = None
) -> records.Series:
    """The series of the request before its first run."""
    spec = request.spec
    return records.Series(
        id=request.series_id or records.new_series_id(),
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
