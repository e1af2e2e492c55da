"""Writes recordings into the notebook while they are measured, whatever happens to the notebook meanwhile.

A write is a function of the notebook. Writes wait in memory until they are written, in order: while another program
holds the notebook, or its disk is full, they wait and are tried again. Where the notebook is lost (deleted, damaged, on
a disk that stays unwritable) all of the recordings goes into another notebook, from their beginning.

A recorder of any kind of recording calls :func:`record_events` with the events of its measurement.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from operator import methodcaller
from pathlib import Path
from typing import TypeVar

from app.base.errors import NotebookError, UsageError
from app.recording import process, rescue
from storage import errors
from storage.disk import has_no_room
from storage.errors import LostNotebookError, NotebookFileError, RefusedError
from storage.notebook import Notebook

GIVE_UP_SECONDS = 60.0
"""Longest final wait for a notebook that another program holds: as long as a backup of it takes."""
FULL_SECONDS = 30.0
"""Longest final wait for room on a full disk: what is measured goes elsewhere then, and nobody waits for its answer."""
DISK_SECONDS = 10.0
"""Longest final wait for a disk with errors."""
_PATIENCE_SECONDS = 0.25
"""Limit of one attempt to write during runs: the measuring process waits for its reader."""
_BEFORE_SECONDS = 15.0
"""Limit of one attempt before runs, when nothing waits for us."""
_AGAIN_SECONDS = 2.0
"""From one attempt to the next while the notebook cannot be written."""
_RENEW_SECONDS = 30.0
"""From one renewal of the leases to the next."""

Write = Callable[[Notebook], object]
EventT = TypeVar("EventT")
ResultT = TypeVar("ResultT")


class Recorder:
    """The pending writes of recordings that are measured together, in order.

    :meth:`begin` leases each recording; :meth:`write` adds writes; :meth:`flush` tries them after each event, and
    :meth:`finish` at the end, with more patience. Both yield warnings. At last :meth:`let_go` releases the leases.
    """

    def __init__(
        self, notebook: Notebook, control: process.SeriesControl | None = None, *, may_move: bool = True
    ) -> None:
        """``may_move``: what is written is worth a notebook of its own where it cannot be stored."""
        self._notebook = notebook
        self._control = control or process.SeriesControl()
        self._may_move = may_move
        self.leases: list[str] = []
        """Ids of the recordings that this process measures: no other one may, until they are released."""

        self._waiting: list[Write] = []
        """Not written yet, the oldest first."""
        self._written: list[Write] = []
        """Written already, and all that another notebook would need, in order."""
        self._written_to = notebook.path
        """The notebook that these were written to: another recorder may have moved it since."""

        now = time.monotonic()
        self._tried_at = now
        self._renewed_at = now
        self._why_held = ""
        """The last reason why the notebook could not be written, in words."""
        self._held_since: float | None = None
        """Since when the notebook cannot be written; None while it can."""
        self._longest_wait_seconds = GIVE_UP_SECONDS
        """At the end, for what holds the writes up now."""

    def begin(self, recording_id: str, *, stored: bool) -> None:
        """Lease a recording; a new one, not ``stored`` yet, is leased by the write that adds it.

        Raises UsageError if another process measures it.
        """
        self._notebook.be_patient(_BEFORE_SECONDS)

        if stored:
            try:
                self._notebook.take(recording_id)
            except RefusedError as error:
                raise UsageError(str(error), options=error.options) from error
            # Another notebook would need what stands in this one already.
            self.was_written(methodcaller("take_rows", self._notebook.rows_to_move(recording_id)))

        self.leases.append(recording_id)

    def write(self, *writes: Write) -> None:
        self._waiting += writes

    def was_written(self, write: Write) -> None:
        """Stored already by others; another notebook needs it too."""
        self._written.append(write)

    def flush(self) -> Iterator[process.Warned]:
        """Write what is pending, if it can be written. Warns when it cannot, when it can again, and when it is lost."""
        now = time.monotonic()
        if self._held_since is not None and now - self._tried_at < _AGAIN_SECONDS:
            return

        if now - self._renewed_at >= _RENEW_SECONDS:
            self._renewed_at = now
            self._waiting += [methodcaller("renew", recording_id) for recording_id in self.leases]
        yield from self._try_to_write(now)

    def _try_to_write(self, now: float) -> Iterator[process.Warned]:
        self._tried_at = now
        self._notebook.be_patient(_PATIENCE_SECONDS)

        try:
            self._notebook.check_file()
            self._write_all()
        except LostNotebookError as error:
            yield from self.move(str(error))
            return
        except sqlite3.DatabaseError as error:
            if errors.is_damaged(error) and self._may_move:
                reason = f"the notebook {self._notebook.path} became damaged ({errors.in_one_line(error)})"
                yield from self.move(reason)
            else:
                yield from self._wait_for(error, now)
            return

        if self._held_since is not None:
            self._held_since = None
            yield process.Warned(text="the notebook can be written again: nothing was lost")

    def _write_all(self) -> None:
        if self._notebook.path != self._written_to:  # another recorder, of an interleaved series, has moved it
            self._begin_anew()

        while self._waiting:
            self._write_first()
            self._written.append(self._waiting.pop(0))

    def _write_first(self) -> None:
        try:
            self._waiting[0](self._notebook)
        except (RefusedError, LookupError, sqlite3.IntegrityError):
            if not self._notebook.was_moved:
                raise
            # It refers to what the lost notebook had, such as the journal of a change: skipped, it counts as written.

    def _begin_anew(self) -> None:
        """All that was written waits to be written once more, into the notebook as it is now."""
        self._waiting = [*self._written, *self._waiting]
        self._written = []
        self._written_to = self._notebook.path

    def _wait_for(self, error: sqlite3.DatabaseError, now: float) -> Iterator[process.Warned]:
        """Warns once that the notebook cannot be written; raises what waiting does not mend."""
        reason = self._reason_to_wait(error)
        if not reason:
            raise error
        self._why_held = reason

        if self._held_since is None:
            self._held_since = now
            yield process.Warned(
                text=f"the notebook {reason}: what it should store waits in memory until it can be written;"
                " leave this program running"
            )
        self._longest_wait_seconds = self._patience(error)

    def _patience(self, error: sqlite3.Error) -> float:
        """The longest wait at the end, in seconds."""
        if errors.is_busy(error):
            return GIVE_UP_SECONDS
        if errors.is_full(error) or has_no_room(self._notebook.path.parent):
            return FULL_SECONDS
        return DISK_SECONDS

    def _reason_to_wait(self, error: sqlite3.Error) -> str:
        """What holds the writes up, in words; empty for what waiting does not mend."""
        if errors.is_busy(error):
            return "is held by another program"
        if errors.is_full(error) or (errors.is_failing(error) and has_no_room(self._notebook.path.parent)):
            return "is on a disk that is full"
        if errors.is_read_only(error):
            return "cannot be written any more: it, or its file system, is read-only now"
        if errors.is_failing(error):
            return "is on a disk that gives errors"
        return ""

    def move(self, reason: str) -> Iterator[process.Warned]:
        """Go on in another notebook, with all of the recordings from their beginning. Raises NotebookError."""
        if not self._may_move:
            raise NotebookError(f"{reason}: {len(self._waiting)} entries could not be written")

        rescue.move(self._notebook, reason)
        self._begin_anew()
        self._held_since = None
        yield process.Warned(text=f"{reason}: {rescue.where_it_goes_on(self._notebook)}")
        yield from self._try_to_write(time.monotonic())

    def keep_despite(self, error: Exception) -> Iterator[process.Warned]:
        """Keep what is recorded where reading the notebook met its loss first; any other error moves nothing."""
        if isinstance(error, LostNotebookError):
            yield from self.move(str(error))
        elif isinstance(error, sqlite3.Error) and errors.is_damaged(error):
            yield from self.move(f"the notebook {self._notebook.path} is damaged ({errors.in_one_line(error)})")

    def finish(self) -> Iterator[process.Warned]:
        """Store what is pending: elsewhere if the notebook cannot be written for minutes, or if somebody cancels the
        wait. Raises NotebookError where that is impossible.
        """
        began = time.monotonic()
        was_cancelled_before = self._is_cancelled()
        waited_seconds = 0.0
        try:
            yield from self._try_to_write(began)
            while self._waiting and waited_seconds <= self._longest_wait_seconds:
                # Somebody who cancelled the measuring does not end this wait with it; who cancels now, does.
                if self._is_cancelled() != was_cancelled_before:
                    break
                time.sleep(_AGAIN_SECONDS / 4)
                yield from self._try_to_write(time.monotonic())
                if self._waiting and not waited_seconds:
                    yield process.Warned(text=self._last_wait_text)
                waited_seconds = time.monotonic() - began
        except KeyboardInterrupt:
            # A second Ctrl-C, after the first cancelled the measuring: it ends a wait, and nothing else.
            if self._held_since is None:
                raise

        if self._waiting:
            yield from self._store_elsewhere(min(waited_seconds, self._longest_wait_seconds))
        for text in rescue.texts_to_print(self._notebook, self.leases):
            yield process.Warned(text=text)

    @property
    def _last_wait_text(self) -> str:
        elsewhere = "then it is stored elsewhere" if self._may_move else "then it is given up"
        return (
            f"everything is measured, and the notebook is waited for, {self._longest_wait_seconds:.0f} s at most:"
            f" {elsewhere}; Ctrl-C ends the wait"
        )

    def _store_elsewhere(self, waited_seconds: float) -> Iterator[process.Warned]:
        lost_notebook = f"the notebook {self._notebook.path}"
        yield from self.move(
            f"could not be stored: {lost_notebook} {self._why_held}, also after {waited_seconds:.0f} s"
        )
        if self._waiting:
            raise NotebookError(
                f"{lost_notebook} could not be written, nor {self._notebook.path}: {len(self._waiting)} entries of"
                f" {', '.join(self.leases)} are lost; what was stored before is kept"
            )

    def _is_cancelled(self) -> bool:
        """By somebody, not because time is over."""
        return self._control.cancelled.is_set() and not self._control.limit.is_over

    def let_go(self) -> None:
        """Release the leases after one more attempt to write."""
        with contextlib.suppress(sqlite3.Error, RefusedError, NotebookError, NotebookFileError):
            list(self._try_to_write(time.monotonic()))
        with contextlib.suppress(sqlite3.Error, NotebookFileError):
            for recording_id in self.leases:
                self._notebook.release(recording_id)


def record_events(
    recorder: Recorder,
    events: Generator[EventT, None, ResultT],
    writes_of_event: Callable[[EventT], Iterable[Write]] | None = None,
    writes_of_result: Callable[[ResultT], Iterable[Write]] | None = None,
) -> Generator[EventT | process.Warned, None, ResultT]:
    """Pass on events once their writes are stored or pending, all of them at the end. Raises NotebookError.

    Both functions say what is to be stored: of an event, and of what ``events`` returns at its end; None for nothing,
    since the events are stored by others. Where nobody listens any more, ``events`` may end at once and return as after
    its last event: what it returns is stored then, too.
    """
    writes_of_event = writes_of_event or _no_writes
    writes_of_result = writes_of_result or _no_writes
    try:
        while True:
            try:
                event = next(events)
            except StopIteration as ended:
                result: ResultT = ended.value
                break
            except (sqlite3.DatabaseError, NotebookFileError) as error:
                yield from recorder.keep_despite(error)
                raise

            try:
                # Stored before it is told: who sees it on a screen can rely on it.
                recorder.write(*writes_of_event(event))
                yield from recorder.flush()
                yield event
            except BaseException:
                _end_early(recorder, events, writes_of_result)
                raise

        recorder.write(*writes_of_result(result))
        yield from recorder.finish()
    finally:
        recorder.let_go()
    return result


def _end_early(
    recorder: Recorder,
    events: Generator[EventT, None, ResultT],
    writes_of_result: Callable[[ResultT], Iterable[Write]],
) -> None:
    """Let a measurement end that nobody listens to any more, and store what it returns, if anything."""
    try:
        events.throw(GeneratorExit)
    except GeneratorExit:
        pass
    except StopIteration as ended:
        recorder.write(*writes_of_result(ended.value))
        list(recorder.finish())


def _no_writes(_event_or_result: object) -> tuple[Write, ...]:
    return ()


def store(path: Path, recording_id: str, add: Write) -> Iterator[process.Warned]:
    """Store a recording that is measured already, with its last words: elsewhere where the notebook cannot take it.

    ``add`` is written as that of a new recording (`add_once`). Raises NotebookError.
    """
    with rescue.notebook_to_store_into(path) as notebook:
        recorder = Recorder(notebook)
        recorder.begin(recording_id, stored=False)
        recorder.write(add)
        yield from record_events(recorder, _no_events())


def _no_events() -> Generator[process.Warned, None, None]:
    yield from ()


def add_once(notebook: Notebook, recording_id: str, add: Callable[[], object]) -> None:
    """Store and lease a new recording; a disk may give an error after it was written."""
    with notebook.transaction():
        if not notebook.recordings_of([recording_id]):
            add()
            notebook.take(recording_id)


def take_out(notebook: Notebook, recording_id: str) -> None:
    """Remove a recording that nothing was measured of."""
    notebook.release(recording_id)
    notebook.remove(recording_id)
