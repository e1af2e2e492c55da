"""The files that the users of a load work on: made on each of its targets before the first point, removed at the end.

The engine does that. The folder has the same name on every target; a target may be another address of the same server,
whose files are there already.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial

import gevent
from gevent.pool import Pool

from app.base import errors
from app.clients import base, file_tree, registry
from app.clients.working_folder import check_folder
from app.load import events
from app.load.users import call_in_thread
from storage.load import records
from storage.records import Target, format_target

_CONNECTIONS = 8
"""Over which files are made and removed at the same time."""
_TELL_EVERY = 50
"""Files, between two events that tell how many there are."""


class Preparation:
    """The files of a load, on each of its targets: first :meth:`look`, then :meth:`make`, at the end :meth:`remove`."""

    def __init__(self, plan: events.LoadPlan, emit: Callable[[events.LoadEvent], None]) -> None:
        self._plan = plan
        self._emit = emit
        self._file_set = file_tree.FileSet(plan.scenario)
        self._made_on: list[Target] = []
        """Where the folder of files was made here, so that it is removed there."""

    def look(self) -> None:
        """See that the load is possible, before anything is made. Raises MeasurementError."""
        self._on_each(self._check_target)

    def make(self) -> None:
        """Make the files, or find those of an earlier load. Raises MeasurementError."""
        if self._plan.leftover and self._plan.scenario.needs_files and not self._plan.reuse:
            # From all targets before any gets its files: a folder that is there after that was made here.
            self._on_each(self._remove_leftover)
        self._on_each(self._make_on)

    def _remove_leftover(self, files: base.Files) -> None:
        file_tree.remove_all(files, file_tree.path_within(files.target, self._plan.folder))

    def _on_each(self, job: Callable[[base.Files], None]) -> None:
        for target in self._plan.targets:
            with self._connected(target) as files:
                job(files)

    def _check_target(self, files: base.Files) -> None:
        if records.RequestKind.PRINT in self._plan.scenario.requests:
            check_printer(files)
        if not self._plan.scenario.needs_files:
            return
        self._check_requests(files)
        check_folder(files)
        if not self._plan.reuse and not self._plan.leftover:
            file_tree.check_space(files, self._file_set)

    def _check_requests(self, files: base.Files) -> None:
        """Raises MeasurementError for a request that this protocol cannot make."""
        if files.has_handles:
            return
        for kind in self._plan.scenario.requests:
            if kind in {records.RequestKind.READ_PARTS, records.RequestKind.WRITE_PARTS}:
                raise errors.MeasurementError(f"{files.target.protocol}:// has no open files, which {kind.value} needs")

    def _make_on(self, files: base.Files) -> None:
        if not self._plan.scenario.needs_files:
            return
        target = files.target
        folder = self._plan.folder
        if self._plan.reuse:
            file_tree.check_there(files, folder, self._file_set)
            file_tree.remove_users_own(files, folder)
            return
        if self._made_on and _is_there(files, folder):
            return  # the same share by another of the server's addresses

        file_tree.check_space(files, self._file_set)

        # Noted before anything is made, so that a half-made folder is removed, too.
        self._made_on.append(target)
        self._emit(events.PhaseBegan(phase=events.LoadPhase.FILES, at_seconds=time.monotonic()))
        for subfolder in ("", *self._file_set.folders):
            files.make_folder(file_tree.path_within(target, folder, subfolder))

        jobs: list[Callable[[base.Files], None]] = []
        for file in self._file_set.files:
            path = file_tree.path_within(target, folder, file.path)
            jobs.append(
                partial(file_tree.write_whole, path=path, size_bytes=file.size_bytes, mode=base.OpenMode.CREATE)
            )
        self._work_off(target, jobs)

    def remove(self) -> None:
        """Remove what was made here, unless it is to be kept. Raises MeasurementError for what is still there."""
        if self._plan.keep:
            return

        problems = []
        for target in self._made_on:
            self._emit(events.PhaseBegan(phase=events.LoadPhase.CLEANING, at_seconds=time.monotonic()))
            path = file_tree.path_within(target, self._plan.folder)
            try:
                with self._connected(target) as files:
                    self._work_off(target, file_tree.removals(files, path))
                    file_tree.remove_all(files, path)
            except errors.SharebenchError as error:
                problems.append(f"{path} is still there ({error}); delete it there")

        if problems:
            raise errors.MeasurementError("; ".join(problems))

    def _work_off(self, target: Target, jobs: Sequence[Callable[[base.Files], None]]) -> None:
        """Do all jobs over several connections, each of which takes the next job when it has done one."""
        waiting_jobs = iter(jobs)
        finished = 0

        def work() -> None:
            nonlocal finished
            with self._connected(target) as files:
                for job in waiting_jobs:
                    job(files)
                    finished += 1
                    if finished % _TELL_EVERY == 0:
                        self._emit(events.FilesMade(files=finished, of_files=len(jobs)))
                        gevent.sleep(0)

        pool = Pool(_CONNECTIONS)
        workers = [pool.spawn(work) for _ in range(min(_CONNECTIONS, len(jobs)))]
        try:
            gevent.joinall(workers, raise_error=True)
        finally:
            pool.kill()

    def _connected(self, target: Target) -> AbstractContextManager[base.Files]:
        return registry.connected_files(target, self._plan.secrets, self._plan.settings, call_in_thread)


def check_printer(files: base.Files) -> None:
    """Raises NotAFileError unless the target's share is a printer."""
    if not files.is_printer:
        raise errors.NotAFileError(
            f"{format_target(files.target)} is no printer, so nothing was printed or written; name a printer share,"
            " such as smb://HOST/PRINTER, or take another scenario"
        )


def _is_there(files: base.Files, folder: str) -> bool:
    with suppress(errors.NoSuchFileError, errors.NotAFileError):
        return files.query(file_tree.path_within(files.target, folder)).is_folder
    return False
