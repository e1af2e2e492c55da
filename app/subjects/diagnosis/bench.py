"""What the stages share: connections that can be aborted, processes that work side by side, and our own folder."""

import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from app.child_process import die_with_parent
from app.clients.base import MAX_BLOCK_BYTES, Content, Meter
from app.clients.smb import wire
from app.clients.smb.client import SMBClient, SMBLink
from app.clients.smb.files import SMBFiles
from app.clients.smb.share import Share, Window, read_file
from app.clients.smb.wire import OpenedFile
from app.errors import CancelledError, MeasurementError, SharebenchError
from app.load.file_set import place, removals, remove_all
from app.subjects.diagnosis.plan import DiagnosisPlan, FolderMade, Sizes
from storage.looks import Stage, StageName
from storage.plan import Settings
from storage.records import ClientFacts, FactValue

BULK, LONG = "f0000000", "f0000001"
"""Names in our folder; ``clean`` knows their form."""
_LOOK_SECONDS = 0.2
_REMOVERS = 8
_MANY = 64
_Connection = TypeVar("_Connection", bound=SMBLink)


class Bench:
    def __init__(self, plan: DiagnosisPlan, emit: Callable[[object], None], cancelled: threading.Event) -> None:
        self.plan = plan
        self.target = plan.target
        self.client_facts: ClientFacts | None = None
        self.cancelled = cancelled
        self._emit = emit
        self._open: list[SMBLink] = []
        self._made = self._has_bulk = False
        self._sizes: Sizes | None = None

    @property
    def sizes(self) -> Sizes:
        if self._sizes is None:
            with self.connection(SMBFiles) as files:
                free = files.free_bytes(self.target.path)
            own_folders = self.plan.folder is None
            self._sizes = self.plan.sizes.within(free, self.plan.stages, own_folders=own_folders)
        return self._sizes

    @contextmanager
    def connection(self, kind: type[_Connection], **settings: object) -> Iterator[_Connection]:
        """A connected client; :meth:`abort` interrupts it."""
        made = self.make(kind, **settings)
        self._open.append(made)
        try:
            self.check()
            made.connect()
            yield made
        finally:
            self._open.remove(made)
            made.close()

    def make(self, kind: type[_Connection], **settings: object) -> _Connection:
        changed: Settings = replace(self.plan.settings, **settings)  # type: ignore[arg-type]
        return kind(self.target, self.plan.secrets, changed)

    def check(self) -> None:
        if self.cancelled.is_set():
            raise CancelledError("cancelled")

    def abort(self) -> None:
        for one in tuple(self._open):
            one.abort()

    def path(self, name: str = "") -> str:
        return place(self.target, self.plan.own_folder, name)

    def make_folder(self, files: SMBFiles) -> None:
        if not self._made:
            self._emit(FolderMade(path=self.path()))
            self._made = True
            files.make_folder(self.path())

    def bulk(self) -> str:
        path, size = self.path(BULK), self.sizes.bulk_bytes
        if not self._has_bulk:
            with self.connection(SMBFiles) as files:
                self.make_folder(files)
            with self.connection(SMBClient) as client:
                client.put(path, Content(size), Meter(self.cancelled))
                client.get(path, Meter(self.cancelled))
                self.client_facts = client.facts()
            self._has_bulk = True
        return path

    def remove(self) -> None:
        if not self._made:
            return
        try:
            with self.connection(SMBFiles) as files:
                jobs = removals(files, self.path())
            if len(jobs) > _MANY:
                self.side_by_side(
                    min(_REMOVERS, len(jobs)), SMBFiles, lambda at, by: [job(by) for job in jobs[at::_REMOVERS]]
                )
            with self.connection(SMBFiles) as files:
                remove_all(files, self.path())
        except SharebenchError as error:
            raise MeasurementError(f"{self.path()} is still on the share ({error}); remove it there") from error
        self._made = self._has_bulk = False

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
            self._hear(workers, lambda said: said.startswith(b"\n"))
            os.close(go_write)
            go_write = -1
            self._hear(workers, lambda said: said.endswith(b"}\n"))
        finally:
            for end in {go_read, go_write, *workers} - {-1}:
                os.close(end)
            for pid, _ in workers.values():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        told = [json.loads(said) for _, said in workers.values()]
        return float(max(one["ended"] for one in told) - min(one["began"] for one in told))

    def _worker(
        self, number: int, kind: type[_Connection], work: Callable[[int, _Connection], object],
        settings: dict[str, object], go: int, answer: int,
    ) -> None:  # fmt: skip
        told: dict[str, object]
        try:
            die_with_parent()
            connection = self.make(kind, **settings)
            connection.connect()
            os.write(answer, b"\n")
            os.read(go, 1)
            began = time.monotonic()
            work(number, connection)
            told = {"began": began, "ended": time.monotonic()}
            connection.close()
        except SharebenchError as error:
            told = {"error": str(error)}
        except BaseException as error:  # noqa: BLE001  this process must never return into its parent's code
            told = {"error": f"{type(error).__name__}: {error}"}
        os.write(answer, b"\n" + json.dumps(told).encode() + b"\n")
        os._exit(0)

    def _hear(self, workers: dict[int, tuple[int, bytearray]], whole: Callable[[bytearray], bool]) -> None:
        waiting = {end for end, (_, said) in workers.items() if not whole(said)}
        while waiting:
            self.check()
            for end in select.select(waiting, [], [], _LOOK_SECONDS)[0]:
                said, data = workers[end][1], os.read(end, 65536)
                said += data
                if not data and not whole(said):
                    raise MeasurementError("a process that works beside others died; measure again")
                if b'"error"' in said and said.endswith(b"\n"):
                    raise MeasurementError(str(json.loads(said)["error"]))
                if whole(said):
                    waiting.discard(end)


def measured(name: StageName, samples: Mapping[str, Sequence[float]], facts: Mapping[str, FactValue]) -> Stage:
    return Stage(name=name, samples={name: tuple(values) for name, values in samples.items()}, facts=dict(facts))


def read_part(share: Share, file: OpenedFile, size_bytes: int, window: Window, meter: Meter) -> float:
    """Bytes per second of the first ``size_bytes`` of an open file."""
    part = OpenedFile(file.file_id, min(size_bytes, file.size_bytes), is_folder=False)
    return part.size_bytes / read_file(share.channel, share.tree_id, part, window, meter, None)


def echo_seconds(share: Share, count: int) -> tuple[float, ...]:
    found = []
    for _ in range(count):
        began = time.perf_counter()
        share.channel.ask(wire.echo_frame())
        found.append(time.perf_counter() - began)
    return tuple(found)


LARGEST_WINDOW_BYTES = 2 * MAX_BLOCK_BYTES
