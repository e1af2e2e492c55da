"""Measures a quick test and stores each line as it ends; commands and screens show the events.

`record_events` has the `Recorder` write what `_writes_of_event` names for an event, before it passes the event on, and
at the end what `_writes_of_end` names; then it releases the lease.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.base.errors import SharebenchError
from app.quick import measurement
from app.quick.alike import comparison_with_before
from app.quick.spec import QuickRequest
from app.recording import process, writer
from app.recording.rescue import notebook_to_measure_into
from app.recording.turns import in_turns
from app.series.signing_price import price_of_signing
from storage.notebook import Notebook
from storage.quick.records import Quick, quick_of, recording_of_quick


def record_quick(
    request: QuickRequest, notebook_path: Path, control: process.SeriesControl
) -> Iterator[measurement.QuickEvent]:
    """Measure a quick test. Raises SharebenchError where it cannot begin."""
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from _record_into(notebook, request, control)


def record_places(
    requests: Sequence[QuickRequest], notebook_path: Path, control: process.SeriesControl
) -> Iterator[tuple[int, measurement.QuickEvent | SharebenchError]]:
    """Measure a quick test of each request, interleaved line by line; yields each event with the number of its request.

    Of one that cannot begin, the error. Raises NotebookError.
    """
    with notebook_to_measure_into(notebook_path) as notebook:
        recorders = [partial(_record_into, notebook, request, stepped=True) for request in requests]
        yield from in_turns(recorders, control, _ends_turn)


def _ends_turn(event: measurement.QuickEvent) -> bool:
    """Whether its file was made, or a line was measured."""
    return isinstance(event, measurement.QuickChanged)


def _record_into(
    notebook: Notebook, request: QuickRequest, control: process.SeriesControl, *, stepped: bool = False
) -> Iterator[measurement.QuickEvent]:
    recorder = writer.Recorder(notebook, control)
    steps = measurement.measure(request, control, stepped=stepped)
    closed = yield from writer.record_events(recorder, steps, partial(_writes_of_event, recorder), _writes_of_end)
    quick = quick_of(notebook.recording(closed.quick.id))
    yield replace(closed, quick=quick, since=comparison_with_before(notebook, quick))


def _writes_of_event(recorder: writer.Recorder, event: measurement.MeasurementEvent) -> Iterator[writer.Write]:
    match event:
        case measurement.QuickOpened(quick=quick):
            recorder.begin(quick.id, stored=False)
            yield partial(_add, quick)
        case measurement.QuickChanged(quick=quick):
            yield partial(_update, quick)


def _writes_of_end(closed: measurement.QuickClosed) -> Iterator[writer.Write]:
    yield partial(_close, closed.quick)


def _add(quick: Quick, notebook: Notebook) -> None:
    writer.add_once(notebook, quick.id, partial(notebook.add_recording, recording_of_quick(quick)))


def _update(quick: Quick, notebook: Notebook) -> None:
    notebook.update_recording(recording_of_quick(quick))


def _close(quick: Quick, notebook: Notebook) -> None:
    """Store it as it ended, with what signing costs on this server where a diagnosis has measured that."""
    _update(with_price_of_signing(quick, notebook), notebook)


def with_price_of_signing(quick: Quick, notebook: Notebook) -> Quick:
    if quick.client is None or quick.target is None:
        return quick
    price = price_of_signing(quick.client, quick.target, notebook)
    path_facts = {**quick.environment.get("path", {}), **price}
    return replace(quick, environment={**quick.environment, "path": path_facts})
