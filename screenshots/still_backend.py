"""The outside in the pictures: nothing can be reached, the link is always the same, a series stops in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.clients.base import Secrets
from app.errors import UnreachableError
from app.measure.control import SeriesControl
from app.measure.events import Progressed, RunFinished, RunStarted
from app.recorder.recording import RecorderEvent, SeriesOpened, SeriesStored
from app.recorder.request import SeriesRequest
from app.workflows.guide.state.browsing import BrowsedFolder
from forms.series.file_size import FileSizeContext
from screenshots.scenes import TUNED
from storage.notebook import Notebook
from storage.quiet import Quiet, QuietVerdict
from storage.records import Command, Target
from tests.tui import FakeBackend


class StillBackend(FakeBackend):
    """Answers without looking."""

    def look(self, target: Target, secrets: Secrets, around: FileSizeContext) -> BrowsedFolder:  # noqa: ARG002  the protocol's
        """Reach nothing."""
        raise UnreachableError(f"{target.host} is only invented")

    def quiet(self, target: Target, command: Command) -> Quiet:  # noqa: ARG002  the protocol's
        """Not known."""
        return Quiet(verdict=QuietVerdict.UNKNOWN)

    def record(self, order: SeriesRequest, notebook_path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:  # noqa: ARG002  the protocol's
        """An invented series, as it would be seen a third of the way into one run more."""
        with Notebook(notebook_path) as notebook:
            series = notebook.series(TUNED)
        yield SeriesOpened(series_id=series.id)
        yield SeriesStored(series_id=series.id)
        for run in series.runs:
            yield RunFinished(run=run)
        last = series.runs[-1]
        yield RunStarted(number=last.number + 1, phase=last.phase, of=last.number + 2)
        for seconds, moved in last.progress:
            if seconds <= (last.seconds or 0.0) / 3:
                yield Progressed(seconds=seconds, moved_bytes=moved, size_bytes=last.size_bytes)
