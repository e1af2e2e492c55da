"""Record and find isolations."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.errors import UsageError
from app.isolation.folders import put_back_after_kills
from app.isolation.request import IsolationRequest
from app.isolation.rounds import IsolationClosed, IsolationEvent, IsolationOpened, LayerRunEnded, measure
from app.measure.control import SeriesControl
from app.measure.events import Warned
from app.recorder.recording import open_notebook
from app.recorder.writer import Recorder, Write, recorded
from storage.isolations import Isolation
from storage.notebook import Notebook
from storage.ownership import is_own_file
from storage.recordings import UnknownReferenceError
from storage.records import SeriesStatus


def record_isolation(
    request: IsolationRequest, notebook_path: Path, control: SeriesControl, resumed_id: str | None = None
) -> Iterator[IsolationEvent]:
    """Restore what killed isolations changed, unless the notebook is another user's; then measure or resume one."""
    with open_notebook(notebook_path) as notebook:
        if is_own_file(notebook_path):
            for said in put_back_after_kills(notebook):
                yield Warned(text=said)
        resumed = resumable(notebook, resumed_id) if resumed_id else None
        recorder = Recorder(notebook)
        if resumed:
            recorder.begin(resumed.id, stored=True)
        writes = partial(_writes, recorder)
        closed = yield from recorded(recorder, measure(request, control, resumed), writes)
        yield replace(closed, isolation=notebook.isolation(closed.isolation.id))


def _writes(recorder: Recorder, event: IsolationEvent) -> Iterator[Write]:
    match event:
        case IsolationOpened(isolation=isolation):
            if not recorder.leases:
                recorder.begin(isolation.id, stored=False)
            yield lambda notebook: _add(isolation, notebook)
        case LayerRunEnded(run=run):
            (isolation_id,) = recorder.leases
            yield lambda notebook: notebook.add_layer_run(isolation_id, run)
        case IsolationClosed(isolation=isolation):
            yield lambda notebook: notebook.update_isolation(isolation)
        case _:
            pass


def _add(isolation: Isolation, notebook: Notebook) -> None:
    with notebook.at_once():
        if not notebook.recordings_of([isolation.id]):
            notebook.add_isolation(isolation)
            notebook.take(isolation.id)
        notebook.update_isolation(isolation)


def isolation_called(notebook: Notebook, reference: str) -> Isolation:
    """The isolation with that id or unique prefix; ``last`` is the newest. Raises UsageError."""
    try:
        return notebook.isolation(reference)
    except UnknownReferenceError as error:
        raise UsageError(str(error)) from error


def resumable(notebook: Notebook, reference: str) -> Isolation:
    """The isolation to resume. Raises UsageError if it is complete, running, or another user's."""
    found = isolation_called(notebook, reference)
    if found.running:
        raise UsageError(f"isolation {found.id} is being measured right now: wait for its end")
    if found.status is SeriesStatus.COMPLETE:
        raise UsageError(f"isolation {found.id} is complete: measure a new one")
    if found.imported_at:
        raise UsageError(f"isolation {found.id} was imported: measure a new one")
    return found
