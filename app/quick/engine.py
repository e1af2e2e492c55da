"""Measures a quick test: makes its file, measures the lines one after the other, and removes the file.

All reads come before the first write, so that no read waits for a disk that still writes.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from app.base import errors, own_names, this_process
from app.clients import base, registry
from app.clients.random_client import AsksAtRandom
from app.clients.random_requests import BlockWorkload, RandomWorkload, SequentialWorkload
from app.clients.working_folder import check_folder
from app.quick import plan
from app.recording import process
from app.recording.engine import without_garbage_collection
from forms import wording
from storage import records
from storage.plan import MOST_RANDOM_SECONDS
from storage.quick import records as quick_records
from storage.request_times import merge_request_times

_FILL_SECONDS = 15.0
"""The file ends where it is after this time, unless it is still too small."""
_SHARE_OF_FREE = 2
"""The file takes at most one part in as many of the free space: a full disk harms those who work there."""
_WIDEST = quick_records.ACCESSES[0]
"""For which the session asks for enough credits; all others need fewer."""
_TRIED_SECONDS = 0.01
"""Enough for a few reads, which show whether a file system lets them pass its page cache."""
_CONTENT_BYTES = 2 * base.MAX_BLOCK_BYTES
"""Of what is written: more than the period of a content, so that the blocks of a file differ."""


class QuickEngine:
    """Measures one quick test; call :meth:`measure` once.

    All is done in the caller's thread. Another thread may cancel by the gate, which aborts the client: what that breaks
    off is told as CancelledError.
    """

    def __init__(self, order: plan.QuickOrder, gate: process.RunGate, emit: Callable[[plan.ChildEvent], None]) -> None:
        """``emit`` is told each event, before anything follows."""
        self._order = order
        self._target = order.target
        self._gate = gate
        self._emit = emit
        self._is_direct = self._target.abilities.is_local
        """Whether requests to a local file go past the page cache; found out once the file is there."""
        self._client = self._make_client()
        self._path = ""
        """Of our file; empty while there is none."""

    def measure(self) -> None:
        """Measure all of it and clean up; the last event is Finished or Failed."""
        self._gate.when_cancelled(self._client.abort)
        failure: errors.SharebenchError | None = None
        try:
            self._prepare()
            self._measure_lines()
        except errors.SharebenchError as error:
            failure = error
        finally:
            # The cleaning is not to be broken off.
            self._gate.when_cancelled(None)
            leftover = self._remove_file()
            self._client.close()

        # What fails after the client was aborted follows from that; a wrong order would fail without it, too.
        if self._gate.cancelled.is_set() and not isinstance(failure, errors.UsageError):
            failure = errors.CancelledError("cancelled")
        if failure is not None:
            self._emit(process.Failed.of(failure, f"; {leftover}" if leftover else ""))
            return
        if leftover:
            self._emit(process.Warned(text=leftover))
        self._emit(process.Finished())

    # Before the first run

    def _prepare(self) -> None:
        size_bytes = self._affordable_bytes()
        self._client.connect()
        file_bytes = self._make_file(size_bytes)
        if self._is_direct and not self._passes_page_cache():
            self._is_direct = False
            self._client.close()
            self._client = self._make_client()

        is_local = self._target.abilities.is_local
        self._emit(
            plan.FileReady(
                client=self._client.facts(),
                path_facts=self._client.facts_of_path(),
                file_bytes=file_bytes,
                lacks_room=self._lacks_room(file_bytes, size_bytes),
                past_page_cache=self._is_direct if is_local else None,
            )
        )

    def _affordable_bytes(self) -> int:
        """How large the file may become. Raises an error where the folder cannot be used, or has too little room."""
        with registry.connected_files(self._target, self._order.secrets, self._order.settings) as files:
            check_folder(files)
            free_bytes = files.free_bytes(self._target.path)

        affordable_bytes = self._order.size_bytes
        if free_bytes is not None:
            affordable_bytes = min(affordable_bytes, free_bytes // _SHARE_OF_FREE)
        if affordable_bytes < quick_records.LEAST_FILE_BYTES:
            needed = wording.binary_size(_SHARE_OF_FREE * quick_records.LEAST_FILE_BYTES)
            raise errors.NoSpaceError(
                f"{records.format_target(self._target)} has {wording.binary_size(free_bytes or 0)} of free space: a"
                f" quick test needs {needed}; make room there, or name another folder"
            )
        return affordable_bytes // quick_records.MIB * quick_records.MIB

    def _lacks_room(self, file_bytes: int, affordable_bytes: int) -> bool | None:
        """Whether the free space made the file smaller than was asked for, else the time; None for a whole one."""
        whole_bytes = self._order.size_bytes // quick_records.MIB * quick_records.MIB
        return None if file_bytes >= whole_bytes else file_bytes == affordable_bytes

    def _make_client(self, *, flush: bool = False) -> AsksAtRandom:
        """A client that is not connected yet; with ``flush`` it is the one that makes the file."""
        settings = replace(
            self._order.settings,
            block_bytes=_WIDEST.block_bytes,
            in_flight=_WIDEST.in_flight,
            flush=flush,
            drop_cache=self._is_direct and not flush,
        )
        return cast("AsksAtRandom", registry.make_client(self._target, "", self._order.secrets, settings))

    def _make_file(self, size_bytes: int) -> int:
        """Write the file for as long as it may take, and return its bytes.

        It is flushed: what is still being written would slow the requests to it.
        """
        filler = self._make_client(flush=True)
        self._gate.when_cancelled(filler.abort)
        try:
            filler.connect()
            self._path = own_names.new_scratch_path(self._target)
            # Told before it is made, so that it can be found after a crash.
            self._emit(process.ScratchMade(path=self._path))
            file_bytes = self._fill(filler, size_bytes)
        finally:
            filler.close()
            self._gate.when_cancelled(self._client.abort)

        stored_bytes = self._client.size(self._path)
        if stored_bytes != file_bytes:
            raise errors.CorruptedError(
                f"{self._path}: the file that was made for this has {stored_bytes} of {file_bytes} bytes; look for what"
                " cuts connections in between"
            )
        return file_bytes

    def _fill(self, filler: AsksAtRandom, size_bytes: int) -> int:
        block_bytes = self._request_bytes(_WIDEST, records.Command.PUT, filler)
        # Requests to a local file overtake one another, so that the file would have holes where it ends early.
        in_flight = 1 if self._target.abilities.is_local else _WIDEST.in_flight
        least = SequentialWorkload(
            block_bytes=block_bytes,
            in_flight=in_flight,
            seconds=MOST_RANDOM_SECONDS,
            writes=True,
            end_bytes=quick_records.LEAST_FILE_BYTES,
            creates=True,
        )
        content = base.Content(_CONTENT_BYTES)
        meter = self._meter()
        try:
            first_part = filler.request_blocks(self._path, least, content, meter)
        except errors.AccessDeniedError:
            if not meter.has_begun:  # refused when it was to be made, so that there is none to remove
                self._forget_file()
            raise
        file_bytes = first_part.size_bytes

        seconds_left = _FILL_SECONDS - first_part.seconds
        if file_bytes < size_bytes and seconds_left > 0:
            second_part = replace(
                least, seconds=seconds_left, begin_bytes=file_bytes, end_bytes=size_bytes, creates=False
            )
            file_bytes += filler.request_blocks(self._path, second_part, content, self._meter()).size_bytes
        return file_bytes

    def _passes_page_cache(self) -> bool:
        access = quick_records.ACCESSES[-1]
        trial = RandomWorkload(
            block_bytes=access.block_bytes, in_flight=access.in_flight, seconds=_TRIED_SECONDS, read_percent=100
        )
        try:
            self._client.request_blocks(self._path, trial, base.Content(1), self._meter())
        except errors.UsageError:
            return False
        return True

    # The lines

    def _measure_lines(self) -> None:
        planned = []
        for command in (records.Command.GET, records.Command.PUT):
            planned += [self._planned_line(access, command) for access in quick_records.ACCESSES]

        content = base.Content(_CONTENT_BYTES)
        for number, line in enumerate(planned, start=1):
            self._wait_for_turn()
            self._emit(plan.LineBegan(line=line, number=number, of=len(planned)))
            self._emit(plan.LineMeasured(line=self._measured_line(line, content)))
        # The removal of the file would slow down a line of another quick test.
        self._wait_for_turn()

    def _wait_for_turn(self) -> None:
        """Raises CancelledError."""
        self._gate.wait(stepped=self._order.stepped)
        if self._gate.cancelled.is_set():
            raise errors.CancelledError("cancelled")

    def _planned_line(self, access: quick_records.Access, command: records.Command) -> quick_records.QuickLine:
        request_bytes = self._request_bytes(access, command, self._client)
        return quick_records.QuickLine(
            access=access,
            command=command,
            request_bytes=None if request_bytes == access.block_bytes else request_bytes,
        )

    def _request_bytes(self, access: quick_records.Access, command: records.Command, client: base.Client) -> int:
        """Of one request: a block, or the largest part of one by halves that the server takes."""
        largest_bytes = client.facts().block_bytes or access.block_bytes
        if command is records.Command.PUT:
            put_bytes = client.facts_of_path().get("smb.put_block_bytes")
            largest_bytes = put_bytes if isinstance(put_bytes, int) else largest_bytes

        request_bytes = access.block_bytes
        while request_bytes > largest_bytes:
            request_bytes //= 2
        return request_bytes

    def _measured_line(self, line: quick_records.QuickLine, content: base.Content) -> quick_records.QuickLine:
        runs = []
        times = []
        for number in range(1, self._order.runs + 1):
            workload = self._workload(line, number)
            cpu_before = time.process_time()
            held_before = this_process.held_seconds()
            with without_garbage_collection():
                transfer = self._client.request_blocks(self._path, workload, content, self._meter())
            cpu_seconds = time.process_time() - cpu_before
            held_seconds = this_process.held_seconds() - held_before

            requests = transfer.requests
            if requests is None or not requests.count or transfer.seconds <= 0:
                raise errors.ProtocolError(f"{line.quoted_name}: nothing was answered; look at the server and its log")
            run_times = requests.all
            times.append(run_times)
            runs.append(
                quick_records.QuickRun(
                    seconds=transfer.seconds,
                    moved_bytes=transfer.size_bytes,
                    requests=run_times.count,
                    request_nanoseconds=run_times.total_nanoseconds,
                    cpu_seconds=cpu_seconds,
                    # Requests to a local file are made by other threads than this one.
                    held_seconds=None if self._target.abilities.is_local else held_seconds,
                )
            )
        return replace(line, runs=tuple(runs), times=merge_request_times(times))

    def _workload(self, line: quick_records.QuickLine, number: int) -> BlockWorkload:
        access = line.access
        request_bytes = line.request_bytes or access.block_bytes
        # A client splits a block that the server does not take whole: as many bytes are under way.
        in_flight = access.in_flight * (access.block_bytes // request_bytes)
        if access.random:
            return RandomWorkload(
                block_bytes=request_bytes,
                in_flight=in_flight,
                seconds=self._order.run_seconds,
                read_percent=100 if line.reads else 0,
                run_name=f"{line.name} {number}",
            )

        return SequentialWorkload(
            block_bytes=request_bytes, in_flight=in_flight, seconds=self._order.run_seconds, writes=not line.reads
        )

    def _meter(self) -> base.Meter:
        return base.Meter(self._gate.cancelled)

    # After the last run

    def _remove_file(self) -> str:
        """Remove our file, over a new connection if need be; returns what could not be removed, in words."""
        if not self._path:
            return ""

        self._client.close()  # it may have been aborted
        self._client = self._make_client()
        try:
            self._client.connect()
            self._client.remove(self._path)
        except errors.SharebenchError as error:
            place = records.format_target(self._target)
            return f"{self._path} may still be there ({error}): `sharebench clean {place}` removes it"
        self._forget_file()
        return ""

    def _forget_file(self) -> None:
        self._emit(process.ScratchRemoved(path=self._path))
        self._path = ""
