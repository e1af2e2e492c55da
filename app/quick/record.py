"""Measures a quick test and stores each line as it ends; commands and screens show the events.

`record_events` has the `Recorder` write what `_writes_of_event` names for an event, before it passes the event on, and
at the end what `_writes_of_end` names; then it releases the lease.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from app.quick import measurement
from app.quick.spec import QuickRequest
from app.recording import process, writer
from app.recording.rescue import notebook_to_measure_into
from storage.notebook import Notebook
from storage.quick.records import Quick, recording_of_quick


def record_quick(
    request: QuickRequest, notebook_path: Path, control: process.SeriesControl
) -> Iterator[measurement.QuickEvent]:
    """Measure a quick test. Raises SharebenchError where it cannot begin."""
    with notebook_to_measure_into(notebook_path) as notebook:
        recorder = writer.Recorder(notebook, control)
        steps = measurement.measure(request, control)
        closed = yield from writer.record_events(recorder, steps, partial(_writes_of_event, recorder), _writes_of_end)
        yield closed


def _writes_of_event(recorder: writer.Recorder, event: measurement.MeasurementEvent) -> Iterator[writer.Write]:
    match event:
        case measurement.QuickOpened(quick=quick):
            recorder.begin(quick.id, stored=False)
            yield partial(_add, quick)
        case measurement.QuickChanged(quick=quick):
            yield partial(_update, quick)


def _writes_of_end(closed: measurement.QuickClosed) -> Iterator[writer.Write]:
    yield partial(_update, closed.quick)


def _add(quick: Quick, notebook: Notebook) -> None:
    writer.add_once(notebook, quick.id, partial(notebook.add_recording, recording_of_quick(quick)))


def _update(quick: Quick, notebook: Notebook) -> None:
    notebook.update_recording(recording_of_quick(quick))
