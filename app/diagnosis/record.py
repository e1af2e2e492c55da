"""Measures a diagnosis and stores each stage as it ends; commands and screens show the events.

A `Recorder` leases the diagnosis (``leases`` has its id then), so that no other process measures it. `record_events`
has it write what `_writes_of_event` names for an event, before it passes the event on, and at the end what
`_writes_of_end` names; then it releases the lease.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.base.errors import SharebenchError
from app.diagnosis import events, measurement
from app.diagnosis.spec import DiagnosisRequest
from app.recording import process, writer
from app.recording.ceiling import ceiling_key_of
from app.recording.rescue import notebook_to_measure_into
from app.recording.turns import in_turns
from storage import looks
from storage.notebook import Notebook
from storage.records import Command


def record_diagnosis(
    request: DiagnosisRequest,
    notebook_path: Path,
    control: process.SeriesControl,
    resumed: looks.Diagnosis | None = None,
) -> Iterator[events.DiagnosisEvent]:
    """Measure a diagnosis, or the missing stages of one. Raises SharebenchError where it cannot begin."""
    with notebook_to_measure_into(notebook_path) as notebook:
        yield from _record_into(notebook, request, control, resumed)


def record_places(
    requests: Sequence[DiagnosisRequest], notebook_path: Path, control: process.SeriesControl
) -> Iterator[tuple[int, events.DiagnosisEvent | SharebenchError]]:
    """Measure a diagnosis of each request, interleaved stage by stage; yields each event with its request's number.

    Of one that cannot begin, the error. Raises NotebookError.
    """
    with notebook_to_measure_into(notebook_path) as notebook:
        recorders = [partial(_record_into, notebook, request) for request in requests]
        yield from in_turns(recorders, control, _ends_turn)


def _ends_turn(event: events.DiagnosisEvent) -> bool:
    """Whether a stage has ended."""
    return isinstance(event, events.DiagnosisChanged) and event.stage is not None


def _record_into(
    notebook: Notebook,
    request: DiagnosisRequest,
    control: process.SeriesControl,
    resumed: looks.Diagnosis | None = None,
) -> Iterator[events.DiagnosisEvent]:
    recorder = writer.Recorder(notebook, control)
    if resumed:
        recorder.begin(resumed.id, stored=True)
    steps = measurement.measure(request, control, resumed)
    closed = yield from writer.record_events(recorder, steps, partial(_writes_of_event, recorder), _writes_of_end)
    yield replace(closed, diagnosis=looks.diagnosis_of(notebook.recording(closed.diagnosis.id)))


def _writes_of_event(recorder: writer.Recorder, event: events.MeasurementEvent) -> Iterator[writer.Write]:
    match event:
        case events.DiagnosisOpened(diagnosis=diagnosis):
            is_new = not recorder.leases
            if is_new:
                recorder.begin(diagnosis.id, stored=False)
            yield partial(_add, diagnosis)

        case events.DiagnosisChanged(diagnosis=diagnosis):
            yield partial(_update, diagnosis)


def _writes_of_end(closed: events.DiagnosisClosed) -> Iterator[writer.Write]:
    yield partial(_close, closed.diagnosis)


def _add(diagnosis: looks.Diagnosis, notebook: Notebook) -> None:
    new_recording = looks.recording_of(diagnosis)
    writer.add_once(notebook, diagnosis.id, partial(notebook.add_recording, new_recording))


def _update(diagnosis: looks.Diagnosis, notebook: Notebook) -> None:
    notebook.update_recording(looks.recording_of(diagnosis))


def _close(diagnosis: looks.Diagnosis, notebook: Notebook) -> None:
    """Store it as it ended, with the ceiling of its machine's client where the notebook has one."""
    if diagnosis.client is not None:
        machine = diagnosis.environment.get("client")
        key = ceiling_key_of(diagnosis.client, diagnosis.target.protocol, Command.GET, machine)
        ceiling = notebook.ceiling(key)
        rate = ceiling.bytes_per_second if ceiling is not None else None
        diagnosis = replace(diagnosis, ceiling_bytes_per_second=rate)
    _update(diagnosis, notebook)
