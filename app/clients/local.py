"""The client for ``file://``: a local disk, or a share that the system has mounted."""

import builtins
import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from app import __version__
from app.base import errors
from app.clients import base, local_files, local_random
from app.clients.random_requests import BlockWorkload
from app.clients.tcp import file_error
from storage import records
from storage.plan import Settings
from storage.request_times import RunRequests

DEFAULT_BLOCK_BYTES = 1024 * 1024
"""Measured: block sizes from 128 KiB to 8 MiB are equally fast in the page cache."""


_FLAGS = {
    base.OpenMode.READ: os.O_RDONLY,
    base.OpenMode.UPDATE: os.O_RDWR,
    base.OpenMode.CREATE: os.O_RDWR | os.O_CREAT | os.O_EXCL,
    base.OpenMode.REPLACE: os.O_RDWR | os.O_CREAT | os.O_TRUNC,
}


class LocalClient(base.OneByOne):
    """Moves one file in large blocks through the page cache.

    ``get`` and ``put`` are the timed transfers of a series, in the caller's own thread. Operations on folders and on
    files that are open may be those of users of a load, who share one thread: they go through ``call``. An OSError
    becomes one of our errors.
    """

    has_handles = True
    """That files can be opened and then read and written in parts (``open`` to ``close_file``)."""

    def __init__(
        self, target: records.Target, _secrets: base.Secrets, settings: Settings, call: base.Caller = base.call_here
    ) -> None:
        self._call = call
        self.target = target
        self._settings = settings
        self._block_bytes = min(settings.block_bytes or DEFAULT_BLOCK_BYTES, base.MAX_BLOCK_BYTES)
        self._buffer: memoryview | None = None
        """What a get reads into, made by the first one and used again."""

    def connect(self) -> None:
        """Nothing to connect; a missing folder is reported when it is used."""

    def facts(self) -> records.ClientFacts:
        return records.ClientFacts(name="sharebench", version=__version__, block_bytes=self._block_bytes, in_flight=1)

    def list(self, path: str) -> builtins.list[base.DirectoryEntry]:
        entries: builtins.list[base.DirectoryEntry] = self._do(path, local_files.list_entries, path)
        return entries

    def size(self, path: str) -> int:
        with self._mapped(path):
            return local_files.regular_size(path, Path(path).stat())

    def get(self, path: str, meter: base.Meter, into: base.Sink | None = None) -> base.Transfer:
        """Timed from the first read to the last; ``into`` is given each block with its place, to verify it."""
        buffer = self._buffer = self._buffer or base.receive_buffer(self._block_bytes)

        def move(file: int) -> tuple[float, int, float]:
            size_bytes = local_files.regular_size(path, os.fstat(file))
            if not size_bytes:
                raise errors.NotAFileError(f"{path}: the file is empty; name one with something in it")
            if self._settings.drop_cache:
                os.fsync(file)  # the kernel drops only clean pages
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)

            started_at = meter.start()
            moved_bytes = 0
            # A file that was cut meanwhile ends earlier: a read of nothing.
            while moved_bytes < size_bytes and (read_bytes := os.preadv(file, [buffer], moved_bytes)):
                if into is not None:
                    into(moved_bytes, buffer[:read_bytes])
                moved_bytes += read_bytes
                meter.advance(moved_bytes)
            return started_at, moved_bytes, meter.clock()

        # Without O_NONBLOCK a pipe that nobody writes to would be waited for, and never found to be no file.
        return self._transfer(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK, move)

    def put(self, path: str, content: base.Content, meter: base.Meter) -> base.Transfer:
        """Timed until the kernel has taken the last block; with ``flush`` until the disk or the server has it."""

        def move(file: int) -> tuple[float, int, float]:
            started_at = meter.start()
            moved_bytes = 0
            while moved_bytes < content.size_bytes:
                length = min(self._block_bytes, content.size_bytes - moved_bytes)
                moved_bytes += os.pwrite(file, content.block(moved_bytes, length), moved_bytes)
                meter.advance(moved_bytes)
            if self._settings.flush:
                os.fsync(file)
            return started_at, moved_bytes, meter.clock()

        return self._transfer(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, move)

    def request_blocks(
        self, path: str, workload: BlockWorkload, content: base.Content, meter: base.Meter
    ) -> base.Transfer:
        """With ``drop_cache`` all requests go past the page cache; with ``flush`` the writes end on the disk."""
        is_direct = self._settings.drop_cache
        flags = os.O_RDWR if workload.writes else os.O_RDONLY
        if workload.creates:
            flags |= os.O_CREAT | os.O_EXCL
        if is_direct:
            local_random.check_direct(workload)
            flags |= os.O_DIRECT
        requests = RunRequests()

        def move(file: int) -> tuple[float, int, float]:
            nonlocal requests
            size_bytes = local_files.regular_size(path, os.fstat(file))
            workload.check_size(size_bytes, path)
            run = local_random.LocalRandomRun(file, path, size_bytes, workload, content)
            started_at = meter.clock()
            seconds = run.run(meter)
            if self._settings.flush and workload.writes:
                flushing_at = meter.clock()
                os.fsync(file)
                seconds += meter.clock() - flushing_at
            requests = run.requests
            return started_at, run.moved_bytes, started_at + seconds

        try:
            timed = self._transfer(path, flags | os.O_NOCTTY | os.O_NONBLOCK, move)
        except errors.MeasurementError as error:
            if is_direct and isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EINVAL:
                raise local_random.direct_error(path, workload) from error
            raise
        return replace(timed, requests=requests)

    def _transfer(self, path: str, flags: int, move: Callable[[int], tuple[float, int, float]]) -> base.Transfer:
        """Open the file, ``move`` it and close it, each timed by itself.

        ``move`` takes the descriptor, and returns when it began, how many bytes it moved and when it ended (by the
        meter's clock).
        """
        with self._mapped(path):
            opening_at = time.perf_counter()
            try:
                file = os.open(path, flags | os.O_CLOEXEC, 0o600)
            except FileNotFoundError as error:
                if not flags & os.O_CREAT:
                    raise
                folder = Path(path).parent
                raise errors.NoSuchFileError(
                    f"{folder}: there is no such folder; make it, or name another one"
                ) from error

            opened_at = time.perf_counter()
            try:
                started_at, moved_bytes, ended_at = move(file)
            finally:
                closing_at = time.perf_counter()
                os.close(file)
        return base.Transfer(
            size_bytes=moved_bytes,
            seconds=ended_at - started_at,
            open_seconds=opened_at - opening_at,
            close_seconds=time.perf_counter() - closing_at,
        )

    def digest(self, path: str) -> str:
        with self._mapped(path):
            return local_files.digest(path)

    def remove(self, path: str) -> None:
        with contextlib.suppress(errors.NoSuchFileError):
            self._do(path, os.unlink, path)

    def facts_of_path(self) -> dict[str, str | int | float]:
        try:
            mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return {}
        return local_files.mount_facts(os.path.realpath(self.target.path), mounts)

    def open(self, path: str, mode: base.OpenMode = base.OpenMode.READ) -> base.FileHandle:
        # The handle's token is the descriptor.
        file = self._do(path, os.open, path, _FLAGS[mode] | os.O_CLOEXEC | os.O_NOCTTY, 0o600)
        return base.FileHandle(path, os.fstat(file).st_size, is_folder=False, token=file)

    def read_at(self, handle: base.FileHandle, offset: int, length: int) -> int:
        """Bytes that were read: fewer than ``length`` at the end of the file. The kernel may give them in parts."""
        position = offset
        end = offset + length
        while position < end:
            data = self._do(handle.path, os.pread, handle.token, end - position, position)
            if not data:
                break
            position += len(data)
        return position - offset

    def write_at(self, handle: base.FileHandle, offset: int, data: memoryview) -> None:
        written_bytes = 0
        while written_bytes < len(data):
            written_bytes += self._do(
                handle.path, os.pwrite, handle.token, data[written_bytes:], offset + written_bytes
            )

    def close_file(self, handle: base.FileHandle) -> None:
        self._do(handle.path, os.close, handle.token)

    def query(self, path: str) -> base.FileStatus:
        status: base.FileStatus = self._do(path, local_files.file_status, path)
        return status

    def free_bytes(self, path: str) -> int | None:
        file_system = self._do(path, os.statvfs, path)
        return int(file_system.f_bavail * file_system.f_frsize)

    def rename(self, path: str, new_path: str) -> None:
        self._do(path, local_files.rename, path, new_path)

    def make_folder(self, path: str) -> None:
        self._do(path, os.mkdir, path, 0o700)

    def remove_folder(self, path: str) -> None:
        with contextlib.suppress(errors.NoSuchFileError):
            self._do(path, os.rmdir, path)

    def read_file(self, path: str, size_bytes: int) -> int:
        with base.opened_file(self, path) as handle:
            return self.read_at(handle, 0, size_bytes)

    def write_file(self, path: str, data: memoryview, mode: base.OpenMode = base.OpenMode.CREATE) -> None:
        with base.opened_file(self, path, mode) as handle:
            self.write_at(handle, 0, data)
            if self._settings.flush:
                self._do(path, os.fsync, handle.token)

    def _do(self, path: str, function: Any, *arguments: Any) -> Any:
        """Call a function of the system that may block; errors are told of ``path``."""
        with self._mapped(path):
            return self._call(function, *arguments)

    def abort(self) -> None:
        """A read or write in the kernel cannot be interrupted."""

    def close(self) -> None:
        self._buffer = None

    @contextlib.contextmanager
    def _mapped(self, path: str) -> Iterator[None]:
        """Raises our own error for what the system raises within; a name with a NUL byte is a ValueError."""
        try:
            yield
        except OSError as error:
            raise file_error(error, path) from error
        except ValueError as error:
            raise errors.NoSuchFileError(f"{path!r}: no file can have such a name; check the name") from error
