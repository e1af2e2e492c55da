"""The outside in the pictures: nothing can be reached, the link is always the same, a series stops in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event

from app.base.errors import UnreachableError
from app.clients.base import Secrets
from app.clients.browsing import BrowsedFolder
from app.load.events import LoadPhase, PhaseBegan, SecondPassed
from app.load.measurement import LoadChanged, LoadClosed, LoadStep
from app.load.spec import LoadRequest
from app.recording.process import Progressed, RunFinished, RunStarted, SeriesControl
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent, SeriesOpened, SeriesStored
from app.trial.spec import Judged, SettingRestored, TrialEvent, TrialOrder, ValueSet
from forms.series.file_size import FileSizeContext
from screenshots import invented_load, invented_trial
from screenshots.scenes import TUNED
from storage.load.records import Load
from storage.notebook import Notebook
from storage.records import Command, Quiet, QuietVerdict, SeriesStatus, Target
from tests.tui import FakeBackend


class StillBackend(FakeBackend):
    """Answers without looking."""

    def __init__(self) -> None:
        super().__init__()
        self.is_midway = Event()
        """A measurement has told all that it tells, and goes on."""

    def look(self, target: Target, secrets: Secrets, around: FileSizeContext) -> BrowsedFolder:  # noqa: ARG002  the protocol's
        """Reach nothing."""
        raise UnreachableError(f"{target.host} is only invented")

    def quiet(self, target: Target, command: Command) -> Quiet:  # noqa: ARG002  the protocol's
        """Not known."""
        return Quiet(verdict=QuietVerdict.UNKNOWN)

    def record(self, order: SeriesRequest, notebook_path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:  # noqa: ARG002  the protocol's
        """An invented series, as it would be seen a third of the way into its last run."""
        with Notebook(notebook_path) as notebook:
            whole = notebook.series(TUNED)
            *ended, last = whole.runs
            series = replace(whole, id=f"{1:012x}", runs=tuple(ended), status=SeriesStatus.INTERRUPTED)
            notebook.add(series)
        yield SeriesOpened(series_id=series.id)
        yield SeriesStored(series_id=series.id)
        for run in ended:
            yield RunFinished(run=run)
        yield RunStarted(number=last.number, phase=last.phase, of=last.number)
        for seconds, moved in last.progress:
            if seconds <= (last.seconds or 0.0) / 3:
                yield Progressed(seconds=seconds, moved_bytes=moved, size_bytes=last.size_bytes)

    def load(
        self,
        request: LoadRequest,
        notebook_path: Path,  # noqa: ARG002  the protocol's
        control: SeriesControl,
        resumed: Load | None = None,  # noqa: ARG002  the protocol's
    ) -> Iterator[LoadStep]:
        """An invented load: whole where capacity is looked for, else in the middle of its third point."""
        if request.choices.find_capacity:
            yield LoadClosed(load=invented_load.load(5))
            return
        found = invented_load.load(2)
        yield LoadChanged(load=found, point=found.points[-1], done=True)
        dice = Random(3)  # noqa: S311  noise, not secrets
        for point, (users, rate, p95, seconds) in enumerate(
            ((25, 245, 4.9, 40), (50, 490, 5.2, 40), (100, 974, 6.6, 25)), 1
        ):
            yield PhaseBegan(phase=LoadPhase.STEADY, point=point, users=users, seconds=600.0, at_seconds=-600.0)
            for _ in range(seconds):
                now = rate * (1 + dice.gauss(0, 0.03))
                yield SecondPassed(
                    point=point, users=users, connected=users, requests_per_second=now,
                    read_bytes_per_second=84e3 * now, write_bytes_per_second=21e3 * now,
                    errors=0, p95_seconds=p95 / 1e3 * (1 + abs(dice.gauss(0, 0.12))),
                    cpu_percent=now / 45,
                )  # fmt: skip
        self.is_midway.set()
        control.cancelled.wait()

    def order_trial(
        self,
        request: SeriesRequest,
        setting: str,
        *,
        keeps_size: bool,  # noqa: ARG002  the protocol's
        accepted: tuple[str, ...] = (),  # noqa: ARG002  the protocol's
        restart: bool = False,  # noqa: ARG002  the protocol's
    ) -> TrialOrder:
        """Of an invented server."""
        return invented_trial.order(request, setting)

    def carry_out(self, order: TrialOrder, notebook_path: Path, control: SeriesControl) -> Iterator[TrialEvent]:  # noqa: ARG002  the protocol's
        """It is over already."""
        name, value = order.plan.name, order.plan.values[0]
        yield ValueSet(value, 8)
        yield Judged(invented_trial.summary(order))
        yield SettingRestored(f"Restored: {name} is {order.plan.previous} again")
