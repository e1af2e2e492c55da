"""What the stages of a diagnosis work on: connections that can be aborted, and our own folder on the share."""

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

from app.base import errors
from app.clients import base, file_tree
from app.clients.smb import client as smb_client
from app.clients.smb import packet_sizes
from app.clients.smb.files import SMBFiles
from app.clients.smb.link import SMBLink
from app.diagnosis import plan as diagnosis_plan
from app.diagnosis.side_by_side import Workers
from storage import records
from storage.plan import Settings

BULK = "f0000000"
LONG = "f0000001"
"""The large file that several stages read, and that of the long run, in our folder; ``clean`` knows their form."""
_FIRST_OF_PACKETS = 2
"""The number of the first file by which large packets are tried: the stalled try leaves its own."""
LARGE_PACKETS_LOST = "large packets do not arrive"
"""The error of the stages that wait for them."""
_REMOVERS = 8
"""Processes that remove files at the same time."""
_MANY_FILES = 64
"""More files than that are removed by several processes."""
_Connection = TypeVar("_Connection", bound=SMBLink)


class Bench:
    """The share of a diagnosis, our folder on it, and the connections to it that are open.

    Stages make our folder with :meth:`make_folder` before they write; at the end :meth:`remove` removes it.
    """

    def __init__(
        self, plan: diagnosis_plan.DiagnosisPlan, emit: Callable[[object], None], cancelled: threading.Event
    ) -> None:
        self.plan = plan
        self.target = plan.target
        self.client_facts: records.ClientFacts | None = None
        """What was negotiated; None before the bulk file was read."""
        self.cancelled = cancelled
        self._emit = emit
        self._open: list[SMBLink] = []
        self._has_folder = False
        self._folder_refusal: errors.AccessDeniedError | None = None
        self._has_bulk = False
        self._affordable_sizes: diagnosis_plan.Sizes | None = None
        self._numbers_of_packets = itertools.count(_FIRST_OF_PACKETS)
        self._loses_large_packets: bool | None = None
        """None where no stage has stalled yet."""

    @property
    def affordable_sizes(self) -> diagnosis_plan.Sizes:
        """The plan's sizes as far as the free space allows, which the share is asked for once."""
        if self._affordable_sizes is None:
            with self.connection(SMBFiles) as files:
                free_bytes = files.free_bytes(self.target.path)
            own_folders = self.plan.folder is None
            self._affordable_sizes = self.plan.sizes.within(free_bytes, self.plan.stages, own_folders=own_folders)
        return self._affordable_sizes

    @contextmanager
    def connection(self, kind: type[_Connection], settings: Settings | None = None) -> Iterator[_Connection]:
        """A client connected with these settings, or with those of the plan; :meth:`abort` interrupts it."""
        link = self._make(kind, settings or self.plan.settings)
        self._open.append(link)
        try:
            self.check()
            link.connect()
            yield link
        finally:
            self._open.remove(link)
            link.close()

    def _make(self, kind: type[_Connection], settings: Settings) -> _Connection:
        return kind(self.target, self.plan.secrets, settings)

    def check(self) -> None:
        """Raises CancelledError where the diagnosis was cancelled."""
        if self.cancelled.is_set():
            raise errors.CancelledError("cancelled")

    def abort(self) -> None:
        """Interrupt all connections; called from the thread that hears of the cancellation."""
        for link in tuple(self._open):
            link.abort()

    def path(self, name: str = "") -> str:
        """The path of a name in our folder, or of the folder."""
        return file_tree.path_within(self.target, self.plan.own_folder, name)

    def make_folder(self, files: SMBFiles) -> None:
        """Raises for each stage the refusal with which the server has denied it: none would find it there."""
        if self._folder_refusal is not None:
            raise self._folder_refusal
        if self._has_folder:
            return

        # Told before it is made, so that it is found however this process ends.
        self._emit(diagnosis_plan.FolderMade(path=self.path()))
        self._has_folder = True
        try:
            files.make_folder(self.path())
        except errors.AccessDeniedError as error:
            self._folder_refusal = error
            raise

    def bulk(self) -> str:
        """The path of a large file, which is written when it is first asked for."""
        path = self.path(BULK)
        if not self._has_bulk:
            with self.connection(SMBFiles) as files:
                self.make_folder(files)
            with self.connection(smb_client.SMBClient) as client:
                client.put(path, base.Content(self.affordable_sizes.bulk_bytes), base.Meter(self.cancelled))
                client.get(path, base.Meter(self.cancelled))
                self.client_facts = client.facts()
            self._has_bulk = True
        return path

    def are_large_packets_lost(self) -> bool:
        """Whether a file can be written and read with small packets only; known once it was tried."""
        if self._loses_large_packets is None:
            self._loses_large_packets = False
            with suppress(errors.MeasurementError):
                self._loses_large_packets = packet_sizes.are_large_packets_lost(
                    self.connection, self.plan.settings, self._write_and_read
                )
        return self._loses_large_packets

    def check_packets(self) -> None:
        """Raises StalledError where large packets are known to get lost: each further stage would wait in vain."""
        if self._loses_large_packets:
            raise errors.StalledError(LARGE_PACKETS_LOST)

    def _write_and_read(self, files: SMBFiles) -> None:
        self.make_folder(files)
        path = self.path(f"f{next(self._numbers_of_packets):07}")
        size_bytes = packet_sizes.TRIED_BYTES
        handle = files.open(path, base.OpenMode.CREATE)
        files.write_at(handle, 0, base.Content(size_bytes).block(0, size_bytes))
        files.close_file(handle)

        handle = files.open(path, base.OpenMode.READ)
        files.read_at(handle, 0, size_bytes)
        files.close_file(handle)

    def remove(self) -> None:
        """Remove our folder, if there is one. Raises MeasurementError where it is still there."""
        if not self._has_folder:
            return

        def remove_part(number: int, files: SMBFiles) -> None:
            for removal in jobs[number::_REMOVERS]:
                removal(files)

        try:
            with self.connection(SMBFiles) as files:
                jobs = file_tree.removals(files, self.path())
            if len(jobs) > _MANY_FILES:
                self.side_by_side(min(_REMOVERS, len(jobs)), SMBFiles, remove_part)
            with self.connection(SMBFiles) as files:
                file_tree.remove_all(files, self.path())
        except errors.SharebenchError as error:
            raise errors.MeasurementError(f"{self.path()} is still on the share ({error}); remove it there") from error

        self._has_folder = False
        self._has_bulk = False

    def side_by_side(self, count: int, kind: type[_Connection], work: Callable[[int, _Connection], object]) -> float:
        """Seconds from the first beginning to the last end of ``work(number, connection)`` in ``count`` processes.

        They log in before any of them begins. Raises MeasurementError.
        """
        return Workers(partial(self._make, kind, self.plan.settings), work, self.check).measure(count)
