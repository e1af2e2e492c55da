"""Record and find isolations."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.isolation.places import IsolationRequest, restore_after_kills
from app.isolation.rounds import IsolationClosed, IsolationEvent, IsolationOpened, LayerRunEnded, measure
from app.measure.process import SeriesControl, Warned
from app.recorder.recording import open_notebook, resumable
from app.recorder.writer import Recorder, Write, add_once, recorded
from storage.recordings import ISOLATION
from storage.records import is_own_file


def record_isolation(
    request: IsolationRequest, notebook_path: Path, control: SeriesControl, resumed_id: str | None = None
) -> Iterator[IsolationEvent]:
    """Restore what killed isolations changed, unless the notebook is another user's; then measure or resume one."""
    with open_notebook(notebook_path) as notebook:
        if is_own_file(notebook_path):
            for said in restore_after_kills(notebook):
                yield Warned(text=said)
        resumed = notebook.isolation(resumable(notebook, resumed_id, ISOLATION).id) if resumed_id else None
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
            yield lambda notebook: add_once(notebook, isolation.id, lambda: notebook.add_isolation(isolation))
            yield lambda notebook: notebook.update_isolation(isolation)
        case LayerRunEnded(run=run):
            (isolation_id,) = recorder.leases
            yield lambda notebook: notebook.add_layer_run(isolation_id, run)
        case IsolationClosed(isolation=isolation):
            yield lambda notebook: notebook.update_isolation(isolation)
