"""Measures an isolation and stores each run as it ends; before that, restores what killed isolations changed.

A `Recorder` leases the isolation (``leases`` has its id then), so that no other process measures it. `record_events`
has it write what `_writes_of_event` names for an event, before it passes the event on, and at the end what
`_writes_of_end` names; then it releases the lease.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import methodcaller
from pathlib import Path

from app.isolation import rounds
from app.isolation.restoration import restore_after_kills
from app.isolation.spec import IsolationRequest
from app.recording.process import SeriesControl, Warned
from app.recording.rescue import notebook_to_measure_into
from app.recording.resuming import resumable
from app.recording.writer import Recorder, Write, add_once, record_events
from storage.isolation import Isolation
from storage.notebook import Notebook
from storage.paths import is_own_file
from storage.recordings import ISOLATION


def restored_isolations(notebook: Notebook) -> Iterator[str]:
    """Restore what killed isolations changed, and store it with the recorder's patience. Raises NotebookError."""
    # What was restored is not worth another notebook, where this one cannot be written.
    recorder = Recorder(notebook, may_move=False)
    for isolation, sentences in restore_after_kills(notebook.isolations()):
        recorder.write(methodcaller("update_isolation", isolation))
        warnings = [warned.text for warned in recorder.flush()]
        yield from (*warnings, *sentences)
    yield from (warned.text for warned in recorder.finish())


def record_isolation(
    request: IsolationRequest, notebook_path: Path, control: SeriesControl, resumed_id: str | None = None
) -> Iterator[rounds.IsolationEvent]:
    """Restore what killed isolations changed, unless the notebook is another user's; then measure or resume one."""
    with notebook_to_measure_into(notebook_path) as notebook:
        if is_own_file(notebook_path):
            for sentence in restored_isolations(notebook):
                yield Warned(text=sentence)

        resumed = notebook.isolation(resumable(notebook, resumed_id, ISOLATION).id) if resumed_id else None
        recorder = Recorder(notebook, control)
        if resumed:
            recorder.begin(resumed.id, stored=True)
        events = rounds.measure(request, control, resumed)
        closed = yield from record_events(recorder, events, partial(_writes_of_event, recorder), _writes_of_end)
        yield replace(closed, isolation=notebook.isolation(closed.isolation.id))


def _writes_of_event(recorder: Recorder, event: rounds.MeasurementEvent) -> Iterator[Write]:
    match event:
        case rounds.IsolationOpened(isolation=isolation):
            is_new = not recorder.leases
            if is_new:
                recorder.begin(isolation.id, stored=False)
            yield partial(_add, isolation)
            yield methodcaller("update_isolation", isolation)

        case rounds.LayerRunEnded(run=run):
            (isolation_id,) = recorder.leases
            yield methodcaller("add_layer_run", isolation_id, run)


def _writes_of_end(closed: rounds.IsolationClosed) -> Iterator[Write]:
    yield methodcaller("update_isolation", closed.isolation)


def _add(isolation: Isolation, notebook: Notebook) -> None:
    add_once(notebook, isolation.id, partial(notebook.add_isolation, isolation))
