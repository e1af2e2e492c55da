"""The driver of the TUI's tests: an app on a notebook, an outside that is made up, waiting, and what is painted."""

import asyncio
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import WorkerCancelled

from app.backend import Backend
from app.base.errors import CancelledError, SharebenchError
from app.clients.base import DirectoryEntry, Secrets
from app.clients.browsing import BrowsedFolder, Item, ItemKind, items
from app.load.measurement import LoadStep
from app.load.spec import LoadRequest
from app.recording.process import Event, Failed, RunFinished, SeriesControl, Started
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent, SeriesClosed, SeriesOpened, SeriesStored
from app.server.machine_meter import MachineNow
from app.trial import prepare, resume
from app.trial import record as trial
from app.trial.resume import StoredTrial
from app.trial.spec import TrialEvent, TrialOrder
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.key_bar import KeyBar
from forms.series.file_size import FileSizeContext
from storage.load.records import Load
from storage.notebook import Notebook
from storage.records import Change, Command, Phase, Quiet, QuietVerdict, Series, SeriesStatus, Target, utc_now
from tests.builders import CLIENT, run_at
from tests.rest import MEASURING, at_rest

SMB = Target(protocol="smb", host="127.0.0.1", port=4450, user="bench")
"""The practice server of the guide's tests."""


def text_of(screen: Screen[Any], selector: str) -> str:
    """The plain text of the labels that the selector finds, a line each."""
    return "\n".join(str(widget.render()) for widget in screen.query(selector).results(Static))


def painted(app: App[Any]) -> str:
    """What the screen shows now, cell by cell, as lines of text."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width] for strip in strips[:height])


async def measured(app: App[Any], pilot: Pilot[Any]) -> None:
    """The series under way is over, and its screen knows."""
    for worker in list(app.workers):
        if worker.group == MEASURING:
            with suppress(WorkerCancelled):  # the app was left while it was waited for
                await worker.wait()
    await settled(app, pilot)


async def press(app: App[Any], pilot: Pilot[Any], *keys: str) -> None:
    """Each key after the one before has had its whole effect."""
    for key in keys:
        await pilot.press(key)
        await settled(app, pilot)


_LOOP_TURNS = 200
"""Far more than a key needs on its way through the queues."""
_KEY_NAMES = {" ": "space", "/": "slash", "@": "at", ".": "full_stop", ":": "colon"}


async def send_at_once(app: App[Any], *keys: str) -> None:
    """The terminal hands on all keys before the first one has had any effect."""
    for key in keys:
        app.post_message(events.Key(_KEY_NAMES.get(key, key), key if len(key) == 1 else None))
    for _ in range(_LOOP_TURNS):
        await asyncio.sleep(0)


async def settled(app: App[Any], _pilot: Pilot[Any]) -> None:
    """Nothing is left to do in the app, and it is painted; a series under way goes on."""
    await at_rest(app)


def footer_of(app: App[Any]) -> str:
    """The rows of the keys that work now, without a break."""
    return "".join(painted(app).splitlines()[-app.screen.query_one(KeyBar).size.height :])


def here(app: App[Any]) -> Any:
    """The screen, by whatever type it has."""
    return app.screen


def shows(app: App[Any], kind: type) -> bool:
    return isinstance(app.screen, kind)


def app_on(path: Path, *, first: str = "", backend: Backend | None = None, **arguments: Any) -> SharebenchApp:
    """The app on a notebook, with no keys file of the user's own."""
    context = Context(notebook_path=path, backend=backend or Backend())
    return SharebenchApp(context, first=first, **arguments)


class FakeBackend(Backend):
    """Answers from what the test put into it."""

    def __init__(self) -> None:
        self.shares: list[str] = ["data", "IPC$"]
        self.folders: dict[str, Sequence[DirectoryEntry]] = {
            "": [DirectoryEntry(name="big.bin", is_folder=False, size_bytes=1 << 30)]
        }
        self.errors: list[SharebenchError] = []
        """Raised by the next looks, one each."""
        self.logins: list[Secrets] = []
        """The secrets of every look."""
        self.password: str | None = None
        self.requests: list[SeriesRequest] = []
        self.resumed: list[str] = []
        self.rates: list[float] = [100e6, 101e6, 99e6, 100e6, 100.5e6]
        self.script: queue.Queue[Event | SharebenchError | None] | None = None
        """Events that the test hands out one by one, None for the end; absent for a series that runs by itself."""
        self.control: SeriesControl | None = None

    def look(self, target: Target, secrets: Secrets, around: FileSizeContext) -> BrowsedFolder:
        """From the dictionaries."""
        self.logins.append(secrets)
        if self.errors:
            raise self.errors.pop(0)
        if target.protocol == "iperf3":
            return BrowsedFolder(target=target, items=())
        if target.protocol == "smb" and not target.share:
            return BrowsedFolder(target=target, items=tuple(Item(ItemKind.SHARE, name, name) for name in self.shares))
        return BrowsedFolder(target=target, items=items(target, self.folders[target.path], around))

    def link(self, target: Target) -> tuple[int | None, str]:
        """A gigabit."""
        return 1_000_000_000, "eth0 runs at this rate"

    def memory_bytes(self, target: Target) -> int | None:
        """Not known."""
        return None

    def load(
        self, request: LoadRequest, notebook_path: Path, control: SeriesControl, resumed: Load | None = None
    ) -> Iterator[LoadStep]:
        """None was asked for."""
        raise AssertionError("no load was asked for")

    def order_trial(
        self,
        request: SeriesRequest,
        setting: str,
        *,
        keeps_size: bool,
        accepted: tuple[str, ...] = (),
        restart: bool = False,
    ) -> TrialOrder:
        """As the program does."""
        return prepare.order_of(request, setting, keeps_size=keeps_size, accepted=accepted, restart=restart)

    def resume_trial(self, stored: StoredTrial, secrets: Secrets) -> TrialOrder:
        """As the program does."""
        return resume.order_to_resume(stored, secrets)

    def carry_out(self, order: TrialOrder, notebook_path: Path, control: SeriesControl) -> Iterator[TrialEvent]:
        """As the program does."""
        return trial.run_trial(order, notebook_path, control)

    def quiet(self, target: Target, command: Command) -> Quiet:
        """Somebody makes a backup."""
        return Quiet(verdict=QuietVerdict.BUSY, reasons=("others moved 40 MB/s over [eth0]",))

    def meter(self, target: Target | None) -> Callable[[], MachineNow | None]:
        """Half busy."""
        return lambda: MachineNow(
            cpu_percent=50.0,
            interface="eth0",
            received_bytes_per_second=118e6,
            sent_bytes_per_second=1.2e6,
            retransmitted=3,
        )

    def record(self, request: SeriesRequest, notebook_path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:
        """Store what the recorder would store."""
        self.requests.append(request)
        spec = request.spec
        lineage = spec.lineage
        change = Change(name=lineage.change_name, value=lineage.change_value) if lineage.change_name else None
        with Notebook(notebook_path) as notebook:
            series = Series(
                id=f"{len(self.requests):012x}",
                created_at=utc_now(),
                title="a series",
                label=spec.texts.label,
                experiment=request.experiment.name if request.experiment else None,
                base_id=spec.lineage.base_id,
                change=change,
                command=spec.command,
                target=request.target,
                client=CLIENT,
                link_bits_per_second=spec.link_bits_per_second or 1_000_000_000,
                plan=spec.plan,
            )
            notebook.add(series)
            yield from self._measure(series, notebook, control, spec.counts.warmups, spec.counts.runs)

    def resume(
        self, series_id: str, secrets: Secrets, notebook_path: Path, control: SeriesControl, *, confirmed: bool
    ) -> Iterator[RecorderEvent]:
        """The missing runs."""
        self.resumed.append(series_id)
        with Notebook(notebook_path) as notebook:
            series = notebook.series(series_id)
            assert confirmed or series.imported_at is None, "as the recorder refuses it"
            have = len(series.measured())
            yield from self._measure(series, notebook, control, 0, len(self.rates) - have, first=have + 1)

    def _measure(
        self, series: Series, notebook: Notebook, control: SeriesControl, warmups: int, runs: int, first: int = 1
    ) -> Iterator[RecorderEvent]:
        self.control = control
        yield SeriesOpened(series_id=series.id)
        yield SeriesStored(series_id=series.id)
        status, failure = SeriesStatus.COMPLETE, None
        events = self._scripted(control) if self.script else self._by_itself(warmups, runs, first)
        for event in events:
            if isinstance(event, RunFinished):
                notebook.add_run(series.id, event.run)
            if isinstance(event, Failed):
                failure = event
                status = SeriesStatus.INTERRUPTED if event.kind is CancelledError else SeriesStatus.FAILED
            yield event
        notebook.update(replace(series, status=status, error=failure.text if failure else None))
        yield SeriesClosed(series_id=series.id, status=status, failure=failure)

    def _by_itself(self, warmups: int, runs: int, first: int) -> Iterator[Event]:
        yield Started(client=CLIENT, size_bytes=1 << 30)
        for number in range(1, warmups + 1):
            yield RunFinished(run=run_at(number, self.rates[0], phase=Phase.WARM_UP))
        for number in range(first, first + runs):
            yield RunFinished(run=run_at(number, self.rates[(number - 1) % len(self.rates)]))

    def _scripted(self, control: SeriesControl) -> Iterator[Event]:
        """What the test hands out; a cancel ends it as the engine would."""
        assert self.script is not None
        while True:
            if control.cancelled.is_set():
                yield Failed(kind=CancelledError, text="cancelled")
                return
            try:
                event = self.script.get(timeout=0.02)
            except queue.Empty:
                continue
            if event is None:
                self.script.task_done()
                return
            if isinstance(event, SharebenchError):
                self.script.task_done()
                raise event
            yield event
            self.script.task_done()


def folder_of(files: Mapping[str, int]) -> list[DirectoryEntry]:
    """A folder with files of these sizes in bytes."""
    return [DirectoryEntry(name=name, is_folder=False, size_bytes=size) for name, size in files.items()]
