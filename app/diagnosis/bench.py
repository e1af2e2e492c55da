"""What the stages share: connections that can be aborted, processes that work side by side, and our own folder."""

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from app.base.child_process import die_with_parent, line_of, message_of
from app.base.errors import CancelledError, MeasurementError, SharebenchError
from app.clients.base import MAX_BLOCK_BYTES, Content, Meter
from app.clients.file_tree import path_within, removals, remove_all
from app.clients.smb import wire
from app.clients.smb.client import SMBClient, SMBLink
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import Share, Window, read_file
from app.clients.smb.wire import OpenedFile
from app.diagnosis.plan import DiagnosisPlan, FolderMade, Sizes
from app.recording.process import Failed
from storage.looks import Stage, StageName
from storage.plan import Settings
from storage.records import ClientFacts, FactValue

BULK = "f0000000"
LONG = "f0000001"
"""Names in our folder; ``clean`` knows their form."""
_LOOK_SECONDS = 0.2
_REMOVERS = 8
_MANY = 64
_Connection = TypeVar("_Connection", bound=SMBLink)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoggedIn:
    """A process that works beside others: it waits for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worked:
    began: float
    ended: float


class Bench:
    """The share of a diagnosis, our folder on it, and the connections to it that are open."""

    def __init__(self, plan: DiagnosisPlan, emit: Callable[[object], None], cancelled: threading.Event) -> None:
        self.plan = plan
        self.target = plan.target
        self.client_facts: ClientFacts | None = None
        self.cancelled = cancelled
        self._emit = emit
        self._open: list[SMBLink] = []
        self._has_folder = False
        self._has_bulk = False
        self._sizes: Sizes | None = None

    @property
    def sizes(self) -> Sizes:
        if self._sizes is None:
            with self.connection(SMBFiles) as files:
                free_bytes = files.free_bytes(self.target.path)
            own_folders = self.plan.folder is None
            self._sizes = self.plan.sizes.within(free_bytes, self.plan.stages, own_folders=own_folders)
        return self._sizes

    @contextmanager
    def connection(self, kind: type[_Connection], **settings: object) -> Iterator[_Connection]:
        """A connected client; :meth:`abort` interrupts it."""
        link = self.make(kind, **settings)
        self._open.append(link)
        try:
            self.check()
            link.connect()
            yield link
        finally:
            self._open.remove(link)
            link.close()

    def make(self, kind: type[_Connection], **settings: object) -> _Connection:
        changed: Settings = replace(self.plan.settings, **settings)  # type: ignore[arg-type]
        return kind(self.target, self.plan.secrets, changed)

    def check(self) -> None:
        if self.cancelled.is_set():
            raise CancelledError("cancelled")

    def abort(self) -> None:
        for link in tuple(self._open):
            link.abort()

    def path(self, name: str = "") -> str:
        return path_within(self.target, self.plan.own_folder, name)

    def make_folder(self, files: SMBFiles) -> None:
        if not self._has_folder:
            # Told before it is made, so that it is found however this process ends.
            self._emit(FolderMade(path=self.path()))
            self._has_folder = True
            files.make_folder(self.path())

    def bulk(self) -> str:
        """The path of a large file, which is written when it is first asked for."""
        path = self.path(BULK)
        if not self._has_bulk:
            with self.connection(SMBFiles) as files:
                self.make_folder(files)
            with self.connection(SMBClient) as client:
                client.put(path, Content(self.sizes.bulk_bytes), Meter(self.cancelled))
                client.get(path, Meter(self.cancelled))
                self.client_facts = client.facts()
            self._has_bulk = True
        return path

    def remove(self) -> None:
        if not self._has_folder:
            return

        def remove_part(number: int, files: SMBFiles) -> None:
            for removal in jobs[number::_REMOVERS]:
                removal(files)

        try:
            with self.connection(SMBFiles) as files:
                jobs = removals(files, self.path())
            if len(jobs) > _MANY:
                self.side_by_side(min(_REMOVERS, len(jobs)), SMBFiles, remove_part)
            with self.connection(SMBFiles) as files:
                remove_all(files, self.path())
        except SharebenchError as error:
            raise MeasurementError(f"{self.path()} is still on the share ({error}); remove it there") from error

        self._has_folder = False
        self._has_bulk = False

    def side_by_side(
        self, count: int, kind: type[_Connection], work: Callable[[int, _Connection], object], **settings: object
    ) -> float:
        """Seconds from the first beginning to the last end of ``work(number, connection)`` in ``count`` processes.

        They log in before any of them begins. Raises MeasurementError.
        """
        go_read, go_write = os.pipe()
        workers: dict[int, tuple[int, bytearray]] = {}
        try:
            for number in range(count):
                answer_read, answer_write = os.pipe()
                pid = os.fork()
                if not pid:
                    os.close(go_write)
                    self._worker(number, kind, work, settings, go_read, answer_write)
                os.close(answer_write)
                workers[answer_read] = (pid, bytearray())

            self._hear(workers, _LoggedIn)
            # All of them wait for the end of this pipe.
            os.close(go_write)
            go_write = -1
            worked: list[_Worked] = self._hear(workers, _Worked)
        finally:
            for end in {go_read, go_write, *workers} - {-1}:
                os.close(end)
            for pid, _ in workers.values():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)

        return max(message.ended for message in worked) - min(message.began for message in worked)

    def _worker(
        self,
        number: int,
        kind: type[_Connection],
        work: Callable[[int, _Connection], object],
        settings: dict[str, object],
        go: int,
        answer: int,
    ) -> None:
        """Do the work in this process, which was forked for it, and end it."""

        def tell(message: object) -> None:
            os.write(answer, f"{line_of(message)}\n".encode())

        try:
            die_with_parent()
            connection = self.make(kind, **settings)
            connection.connect()
            tell(_LoggedIn())

            os.read(go, 1)
            began = time.monotonic()
            work(number, connection)
            ended = time.monotonic()
            connection.close()
            tell(_Worked(began=began, ended=ended))
        except SharebenchError as error:
            tell(Failed.of(error))
        except BaseException as error:  # noqa: BLE001  this process must never return into its parent's code
            tell(Failed(kind=MeasurementError, text=f"{type(error).__name__}: {error}"))
        os._exit(0)

    def _hear(self, workers: dict[int, tuple[int, bytearray]], kind: type) -> list[Any]:
        """The next message of each: one line, as each waits for the others."""
        messages: dict[int, Any] = {}
        while len(messages) < len(workers):
            self.check()
            readable, _, _ = select.select(workers.keys() - messages.keys(), [], [], _LOOK_SECONDS)
            for end in readable:
                _, line = workers[end]
                data = os.read(end, 65536)
                if not data:
                    raise MeasurementError("a process that works beside others died; measure again")
                line += data
                if line.endswith(b"\n"):
                    messages[end] = message_of(line.decode(), [kind, Failed])
                    line.clear()
                    if isinstance(messages[end], Failed):
                        raise messages[end].error
        return [*messages.values()]


def stage_of(name: StageName, samples: Mapping[str, Sequence[float]], facts: Mapping[str, FactValue]) -> Stage:
    return Stage(name=name, samples={key: tuple(values) for key, values in samples.items()}, facts=dict(facts))


def read_part(share: Share, file: OpenedFile, size_bytes: int, window: Window, meter: Meter) -> float:
    """Bytes a second of reading the beginning of a file."""
    part = OpenedFile(file.file_id, min(size_bytes, file.size_bytes), is_folder=False)
    return part.size_bytes / read_file(share.channel, share.tree_id, part, window, meter, None)


def echo_seconds(share: Share, count: int) -> tuple[float, ...]:
    round_trips = []
    for _ in range(count):
        began = time.perf_counter()
        share.channel.ask(wire.frame(*wire.ECHO))
        round_trips.append(time.perf_counter() - began)
    return tuple(round_trips)


LARGEST_WINDOW_BYTES = 2 * MAX_BLOCK_BYTES
