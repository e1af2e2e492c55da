"""Reads and writes blocks of a local file, with a number of requests under way at once.

Each request that is under way has a thread of its own, which the kernel wakes when the disk has answered. Measured with
32 of them: 87,000 reads a second past the page cache where fio (libaio) made 73,000, and 200,000 from it.
"""

import mmap
import os
import threading
import time
from collections.abc import Iterator

from app.base import errors
from app.clients.base import Content, Meter
from app.clients.random_requests import BlockWorkload
from storage.request_times import RequestTimesBuilder, RunRequests, merge_request_times

_LOOK_SECONDS = 0.1
"""Between two looks at how far the threads are."""
_LEAST_DIRECT_BYTES = 512
"""The smallest sector of a disk: past the page cache only whole ones are moved."""


def check_direct(workload: BlockWorkload) -> None:
    """Raises UsageError for blocks that cannot be moved past the page cache."""
    if workload.block_bytes % _LEAST_DIRECT_BYTES:
        raise errors.UsageError(
            f"past the page cache blocks are whole sectors: a multiple of {_LEAST_DIRECT_BYTES} bytes",
            options="--block SIZE, or leave out --drop-cache",
        )


def direct_error(path: str, workload: BlockWorkload) -> errors.UsageError:
    """The error where the kernel refuses to open or move blocks past the page cache."""
    return errors.UsageError(
        f"{path}: its file system moves no blocks of {workload.block_bytes} bytes past the page cache: ask for larger"
        " ones, such as 4K, or measure through it",
        options="--block SIZE, or leave out --drop-cache",
    )


class LocalRandomRun:
    """The requests of one run, about one open file; used once, for one call of ``run``."""

    def __init__(self, file: int, path: str, size_bytes: int, workload: BlockWorkload, content: Content) -> None:
        """``file`` is the descriptor, ``path`` for errors; what is written comes from ``content``."""
        self.path = path
        self._end_at = 0
        """By the clock of `time.perf_counter_ns`; set earlier to end at once."""
        self._workers = [
            _Worker(self, file, workload, workload.places(size_bytes, number), content)
            for number in range(workload.in_flight)
        ]
        self._seconds = workload.seconds
        self._failures: list[Exception] = []

    def run(self, meter: Meter) -> float:
        """Seconds from the first request until the last answer. Raises the first error of a request, CancelledError."""
        threads = [
            threading.Thread(target=self._work, args=(worker,), name="random requests", daemon=True)
            for worker in self._workers
        ]
        started_at = meter.start()
        self._end_at = time.perf_counter_ns() + round(self._seconds * 1e9)
        for thread in threads:
            thread.start()

        try:
            self._follow(threads, meter)
        finally:
            self._end_at = 0
            for thread in threads:
                thread.join()
        ended_at = meter.clock()
        if self._failures:
            raise self._failures[0]
        return ended_at - started_at

    def _follow(self, threads: list[threading.Thread], meter: Meter) -> None:
        """Tell how far they are until all have ended. Raises CancelledError."""
        for thread in threads:
            while thread.is_alive():
                thread.join(_LOOK_SECONDS)
                meter.advance(self.moved_bytes)

    def _work(self, worker: "_Worker") -> None:
        try:
            worker.work()
        except Exception as error:  # noqa: BLE001  of any kind: it is raised in the caller's thread
            self._failures.append(error)
            self._end_at = 0

    def is_over(self) -> bool:
        return time.perf_counter_ns() >= self._end_at

    @property
    def moved_bytes(self) -> int:
        return sum(worker.moved_bytes for worker in self._workers)

    @property
    def requests(self) -> RunRequests:
        return RunRequests(
            reads=merge_request_times(worker.reads.built() for worker in self._workers),
            writes=merge_request_times(worker.writes.built() for worker in self._workers),
        )


class _Worker:
    """Makes one request after the other."""

    def __init__(
        self,
        run: LocalRandomRun,
        file: int,
        workload: BlockWorkload,
        places: Iterator[tuple[int, bool]],
        content: Content,
    ) -> None:
        self.moved_bytes = 0
        self.reads = RequestTimesBuilder()
        self.writes = RequestTimesBuilder()
        self._run = run
        self._file = file
        self._places = places
        self._block_bytes = workload.block_bytes
        self._content = content
        # It begins a page, as a disk wants it that moves past the page cache.
        self._buffer = memoryview(mmap.mmap(-1, workload.block_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))

    def work(self) -> None:
        """Until the run or the workload is over. Raises OSError, and ProtocolError for a request that moved less.

        One request is made in any case: on a busy machine the time may be over before this thread has a processor.
        """
        for offset, reads in self._places:
            if not reads:
                self._buffer[:] = self._content.block(offset, self._block_bytes)

            sent_at = time.perf_counter_ns()
            if reads:
                moved_bytes = os.preadv(self._file, [self._buffer], offset)
            else:
                moved_bytes = os.pwritev(self._file, [self._buffer], offset)
            answered_at = time.perf_counter_ns()

            if moved_bytes != self._block_bytes:
                raise errors.ProtocolError(
                    f"{self._run.path}: {moved_bytes} bytes were moved where {self._block_bytes} were asked for: the"
                    " file became shorter; leave it alone"
                )
            self.moved_bytes += moved_bytes
            times = self.reads if reads else self.writes
            times.add(answered_at - sent_at)
            if self._run.is_over():
                return
