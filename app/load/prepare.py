"""Make the load's files over several connections before the users come; remove them afterwards."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import gevent
from gevent.pool import Pool
from gevent.queue import Queue

from app.clients.base import Files, check_folder
from app.clients.registry import make_files
from app.errors import MeasurementError, NoSuchFileError, NotAFileError, SharebenchError
from app.load.events import FilesMade, LoadEvent, LoadPhase, LoadPlan, PhaseBegan
from app.load.file_requests import CONTENT
from app.load.file_set import (
    FileSet,
    check_space,
    check_there,
    make_file,
    make_folders,
    place,
    removals,
    remove_all,
    remove_users_own,
)
from app.load.users import call_in_thread
from storage.loads.scenario import RequestKind
from storage.records import Target

_CONNECTIONS = 8
_TELL_EVERY = 50


class Preparation:
    """What was made on each target, and must be removed."""

    def __init__(self, plan: LoadPlan, emit: Callable[[LoadEvent], None]) -> None:
        self._plan = plan
        self._emit = emit
        self._set = FileSet(plan.scenario)
        self._made_on: list[Target] = []

    @property
    def needed(self) -> bool:
        return any(kind is not RequestKind.PRINT for kind in self._plan.scenario.requests)

    def look(self) -> None:
        """Check the login and the space on every target. Raises the first problem."""
        self._on_each(self._look_at)

    def make(self) -> None:
        self._on_each(self._make_on)

    def _on_each(self, job: Callable[[Files], None]) -> None:
        for target in self._plan.targets:
            files = self._connect(target)
            try:
                if self.needed:
                    job(files)
            finally:
                files.close()

    def _look_at(self, files: Files) -> None:
        if not files.has_handles:
            for kind in self._plan.scenario.requests:
                if kind.needs_handles:
                    raise MeasurementError(f"{files.target.protocol}:// has no open files, which {kind.value} needs")
        check_folder(files)
        if not self._plan.reuse and not self._plan.leftover:
            check_space(files, self._set)

    def _make_on(self, files: Files) -> None:
        target, folder = files.target, self._plan.folder
        if self._plan.reuse:
            check_there(files, folder, self._set)
            remove_users_own(files, folder)
            return
        if self._made_on and _is_there(files, folder):
            return  # the same share by another of the server's addresses
        if self._plan.leftover and not self._made_on:
            remove_all(files, place(target, folder))
        check_space(files, self._set)
        self._made_on.append(target)
        self._emit(PhaseBegan(phase=LoadPhase.FILES))
        make_folders(files, folder, self._set)
        self._with_several(
            target,
            [lambda by, file=file: make_file(by, folder, file, CONTENT) for file in self._set.files],  # type: ignore[misc]
        )

    def remove(self) -> None:
        """Raises an error that names what is left."""
        if self._plan.keep:
            return
        problems = []
        for target in self._made_on:
            self._emit(PhaseBegan(phase=LoadPhase.CLEANING))
            path = place(target, self._plan.folder)
            try:
                files = self._connect(target)
                try:
                    self._with_several(target, removals(files, path))
                    remove_all(files, path)
                finally:
                    files.close()
            except SharebenchError as error:
                problems.append(f"{path} is still there ({error}); delete it there")
        if problems:
            raise MeasurementError("; ".join(problems))

    def _with_several(self, target: Target, jobs: Sequence[Callable[[Files], None]]) -> None:
        """Raises the first error."""
        if not jobs:
            return
        waiting: Queue[Callable[[Files], None]] = Queue()
        for job in jobs:
            waiting.put(job)
        done = 0

        def work() -> None:
            nonlocal done
            files = self._connect(target)
            try:
                while not waiting.empty():
                    waiting.get()(files)
                    done += 1
                    if done % _TELL_EVERY == 0:
                        self._emit(FilesMade(files=done, of_files=len(jobs)))
                        gevent.sleep(0)
            finally:
                files.close()

        pool = Pool(_CONNECTIONS)
        workers = [pool.spawn(work) for _ in range(min(_CONNECTIONS, len(jobs)))]
        try:
            gevent.joinall(workers, raise_error=True)
        finally:
            pool.kill()

    def _connect(self, target: Target) -> Files:
        files = make_files(target, self._plan.secrets, self._plan.settings, call_in_thread)
        files.connect()
        return files


def _is_there(files: Files, folder: str) -> bool:
    with suppress(NoSuchFileError, NotAFileError):
        return files.query(place(files.target, folder)).is_folder
    return False
