"""Writes recordings as they are measured, whatever holds the notebook; and the client ceilings beside them."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from operator import methodcaller
from typing import TypeVar

from app.base.child_process import line_of, message_of, own_command, own_environment
from app.base.errors import NotebookError, UsageError
from app.recording import process, rescue
from app.server.host_activity import Wire, between, take_reading
from app.server.host_facts import Ours, client_facts
from app.server.quiet_time import OTHERS_CPU_PERCENT
from storage import records
from storage.database import has_no_room
from storage.errors import (
    LostNotebookError,
    NotebookFileError,
    RefusedError,
    in_one_line,
    is_busy,
    is_damaged,
    is_failing,
    is_full,
    is_read_only,
)
from storage.notebook import Notebook
from storage.programs import run_program

GIVE_UP_SECONDS = 600.0
"""Longest final wait for a locked notebook or a full disk."""
DISK_SECONDS = 10.0
"""Longest final wait for a disk with errors."""
_PATIENCE_SECONDS = 0.25
"""Limit of one attempt to write during runs: the measuring process waits for its reader."""
_BEFORE_SECONDS = 15.0
_AGAIN_SECONDS = 2.0
_RENEW_SECONDS = 30.0
_MOST_SAMPLES = 600

Write = Callable[[Notebook], object]
Told = TypeVar("Told")
Closed = TypeVar("Closed")


class Recorder:
    """The pending writes of recordings that are measured together, in order.

    Where the notebook is lost, or cannot be written for long, the recordings go on in another one, whole.
    """

    def __init__(
        self, notebook: Notebook, control: process.SeriesControl | None = None, *, may_move: bool = True
    ) -> None:
        """``may_move``: what is written is worth a notebook of its own where it cannot be stored."""
        self._notebook = notebook
        self._control = control or process.SeriesControl()
        self._may_move = may_move
        self.leases: list[str] = []
        self._waiting: list[Write] = []
        self._written: list[Write] = []
        """All that another notebook would need; what stands in this one before is copied at the beginning."""
        self._written_to = notebook.path
        self._tried_at = self._renewed_at = time.monotonic()
        self._held_since: float | None = None
        self._is_disk = False

    def begin(self, recording_id: str, *, stored: bool) -> None:
        """Raises UsageError if another process measures one that is ``stored``."""
        self._notebook.be_patient(_BEFORE_SECONDS)
        if stored:
            try:
                self._notebook.take(recording_id)
            except RefusedError as error:
                raise UsageError(str(error), options=error.options) from error
            self.was_written(methodcaller("take_rows", self._notebook.rows_to_move(recording_id)))
        self.leases.append(recording_id)

    def write(self, *writes: Write) -> None:
        self._waiting += writes

    def was_written(self, write: Write) -> None:
        """Stored already by others; another notebook needs it too."""
        self._written.append(write)

    def flush(self) -> Iterator[process.Warned]:
        """Warns when the notebook cannot be written, when it can again, and when it is lost."""
        now = time.monotonic()
        if self._held_since is not None and now - self._tried_at < _AGAIN_SECONDS:
            return
        if now - self._renewed_at >= _RENEW_SECONDS:
            self._renewed_at = now
            self._waiting += [methodcaller("renew", each) for each in self.leases]
        yield from self._try(now)

    def _try(self, now: float) -> Iterator[process.Warned]:
        self._tried_at = now
        self._notebook.be_patient(_PATIENCE_SECONDS)
        try:
            self._notebook.check_file()
            self._write_all()
        except LostNotebookError as error:
            yield from self.move(str(error))
            return
        except sqlite3.DatabaseError as error:
            if is_damaged(error) and self._may_move:
                yield from self.move(f"the notebook {self._notebook.path} became damaged ({in_one_line(error)})")
                return
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
            # It refers to what the lost notebook had, such as the journal of a change.

    def _begin_anew(self) -> None:
        self._waiting = [*self._written, *self._waiting]
        self._written = []
        self._written_to = self._notebook.path

    def _wait_for(self, error: sqlite3.DatabaseError, now: float) -> Iterator[process.Warned]:
        """Warns once that the notebook cannot be written; raises what waiting does not mend."""
        why = self._why_it_waits(error)
        if not why:
            raise error
        if self._held_since is None:
            self._held_since = now
            yield process.Warned(
                text=f"the notebook {why}: what it should store waits in memory until it can be written;"
                " leave this program running"
            )
        self._is_disk = is_failing(error) or is_read_only(error)

    def _why_it_waits(self, error: sqlite3.Error) -> str:
        if is_busy(error):
            return "is held by another program"
        if is_full(error) or (is_failing(error) and has_no_room(self._notebook.path.parent)):
            return "is on a disk that is full"
        if is_read_only(error):
            return "cannot be written any more: it, or its file system, is read-only now"
        return "is on a disk that gives errors" if is_failing(error) else ""

    def move(self, why: str) -> Iterator[process.Warned]:
        """Go on in another notebook, with all of the recordings from their beginning. Raises NotebookError."""
        if not self._may_move:
            raise NotebookError(f"{why}: {len(self._waiting)} entries could not be written")

        rescue.move(self._notebook, why)
        self._begin_anew()
        self._held_since = None
        yield process.Warned(text=f"{why}: {rescue.where_it_goes_on(self._notebook)}")
        yield from self._try(time.monotonic())

    def keep_despite(self, error: Exception) -> Iterator[process.Warned]:
        """Keep what is recorded where reading the notebook met its loss first."""
        if isinstance(error, LostNotebookError) or (isinstance(error, sqlite3.Error) and is_damaged(error)):
            yield from self.move(f"the notebook {self._notebook.path} is damaged ({in_one_line(error)})")

    def finish(self) -> Iterator[process.Warned]:
        """Store what is pending: elsewhere if the notebook cannot be written for minutes, or if somebody cancels the
        wait. Raises NotebookError where that is impossible.
        """
        began = time.monotonic()
        was_cancelled = self._is_cancelled()
        waited = limit = 0.0
        try:
            yield from self._try(began)
            while self._waiting and waited <= limit and self._is_cancelled() == was_cancelled:
                time.sleep(_AGAIN_SECONDS / 4)
                yield from self._try(time.monotonic())
                waited = time.monotonic() - began
                limit = DISK_SECONDS if self._is_disk else GIVE_UP_SECONDS
        except KeyboardInterrupt:  # where it was cancelled before
            if self._held_since is None:
                raise
        if self._waiting:
            where = f"the notebook {self._notebook.path}"
            yield from self.move(f"{where} could not be written for {min(waited, limit):.0f} s at the end")
            if self._waiting:
                raise NotebookError(
                    f"{where} could not be written, nor {self._notebook.path}: {len(self._waiting)} entries of"
                    f" {', '.join(self.leases)} are lost; what was stored before is kept"
                )
        yield from (process.Warned(text=text) for text in rescue.texts_to_print(self._notebook, self.leases))

    def _is_cancelled(self) -> bool:
        """By somebody, not because time is over."""
        return self._control.cancelled.is_set() and not self._control.limit.is_over

    def let_go(self) -> None:
        """Release the leases after one more attempt to write."""
        with contextlib.suppress(sqlite3.Error, RefusedError, NotebookError, NotebookFileError):
            list(self._try(time.monotonic()))
        with contextlib.suppress(sqlite3.Error, NotebookFileError):
            for each in self.leases:
                self._notebook.release(each)


def recorded(
    recorder: Recorder,
    events: Generator[Told, None, Closed],
    writes: Callable[[Told | Closed], Iterable[Write]] = lambda _: (),
) -> Generator[Told | process.Warned, None, Closed]:
    """Pass on events once their ``writes`` are stored or pending, all of them at the end. Raises NotebookError.

    A generator that nobody listens to any more may end as after its last event: what it returns is stored too.
    """
    try:
        while True:
            try:
                event = next(events)
            except StopIteration as ended:
                closed: Closed = ended.value
                break
            except (sqlite3.DatabaseError, NotebookFileError) as error:
                yield from recorder.keep_despite(error)
                raise
            try:
                recorder.write(*writes(event))
                yield from recorder.flush()
                yield event
            except BaseException:
                try:
                    events.throw(GeneratorExit)
                except GeneratorExit:
                    pass
                except StopIteration as ended:
                    recorder.write(*writes(ended.value))
                    list(recorder.finish())
                raise
        recorder.write(*writes(closed))
        yield from recorder.finish()
    finally:
        recorder.let_go()
    return closed


def add_once(notebook: Notebook, recording_id: str, add: Callable[[], object]) -> None:
    """Store and lease a new recording; a disk may give an error after it was written."""
    with notebook.at_once():
        if not notebook.recordings_of([recording_id]):
            add()
            notebook.take(recording_id)


class SeriesWriter:
    """One series and its pending writes; nothing is stored before a run ends well or our file is on the target."""

    def __init__(
        self, series: records.Series, recorder: Recorder, *, stored: bool, experiment: records.Experiment | None = None
    ) -> None:
        self.series = series
        self.stored = stored
        self.recorder = recorder
        self._is_new = not stored
        self._experiment = experiment

    def begin(self) -> None:
        self.recorder.begin(self.series.id, stored=self.stored)

    def put(self, series: records.Series) -> None:
        self.series = series
        if self.stored:
            self.recorder.write(lambda notebook: notebook.update(series))

    def put_facts(self, side: str, facts: records.Facts) -> None:
        if not facts:
            return
        environment = dict(self.series.environment)
        environment[side] = {**environment.get(side, {}), **facts}
        self.series = replace(self.series, environment=environment)
        if self.stored:
            self.recorder.write(lambda notebook: notebook.set_facts(self.series.id, side, facts))

    def see(self, event: process.Event) -> None:
        match event:
            case process.RunFinished(run=run):
                self._add_run(_thinned(run))
            case process.Started(client=client, path_facts=path_facts):
                if not self._is_new:
                    self.put(replace(self.series, status=records.SeriesStatus.INTERRUPTED, error=None))
                    self.series = replace(self.series, resumed_at=(*self.series.resumed_at, records.utc_now()))
                    self.recorder.write(lambda notebook: notebook.add_resumption(self.series.id))
                self.put(replace(self.series, client=client))
                self.put_facts("path", path_facts)
            case process.PathSeen(path_facts=path_facts):
                self.put_facts("path", path_facts)
            case process.ScratchMade(path=path):
                self.put(replace(self.series, scratch_path=path))
                self._store()
            case process.ScratchRemoved(path=path) if path == self.series.scratch_path:
                self.put(replace(self.series, scratch_path=None))

    def reject(self, number: int, reason: str) -> None:
        series, status = self.series, records.RunStatus.REJECTED
        runs = tuple(
            replace(run, status=status, reason=reason)
            if run.phase is records.Phase.MEASURED and run.number == number
            else run
            for run in series.runs
        )
        self.series = replace(series, runs=runs)
        self.recorder.write(lambda notebook: notebook.judge_run(series.id, number, status, reason))

    def _add_run(self, run: records.Run) -> None:
        if run.status is not records.RunStatus.FAILED:
            self._store()
        series = self.series
        again = [r for r in series.runs if (r.phase, r.number) == (run.phase, run.number)]
        runs = (*(r for r in series.runs if r not in again), run)
        self.series = replace(series, runs=runs, failed_attempts=(*series.failed_attempts, *again))
        if self.stored:
            self.recorder.write(lambda notebook: notebook.add_run(self.series.id, run))

    def _store(self) -> None:
        if self.stored:
            return
        self.stored = True
        series, experiment = self.series, self._experiment

        def add(notebook: Notebook) -> None:
            if experiment:
                notebook.add_experiment(experiment, note=series.note, question=series.question)
            notebook.add(series)

        self.recorder.write(lambda notebook: add_once(notebook, series.id, lambda: add(notebook)))

    def end(self) -> None:
        """A new series without results is dropped."""
        has_results = any(run.status is not records.RunStatus.FAILED for run in self.series.runs)
        if self._experiment and self._experiment.kind is records.ExperimentKind.SURVEY:
            self._store()  # a station that failed is part of what the survey found
        elif self._is_new and self.stored and not (self.series.scratch_path or has_results):
            self.recorder.write(lambda notebook: take_out(notebook, self.series.id))
            self.stored = False
        if self.stored:
            self.recorder.write(lambda notebook: notebook.release(self.series.id))


def take_out(notebook: Notebook, recording_id: str) -> None:
    notebook.release(recording_id)
    notebook.remove(recording_id)


def _thinned(run: records.Run) -> records.Run:
    if len(run.progress) <= _MOST_SAMPLES:
        return run
    step = -(-len(run.progress) // _MOST_SAMPLES)
    return replace(run, progress=run.progress[::step])


CALIBRATION_SECONDS = 120


LIFE_DAYS = 30
"""Older ceilings are measured again: kernels, firmware and power settings change."""
BUSY_PERCENT = OTHERS_CPU_PERCENT.busy


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    bytes_per_second: float | None = None
    """None if there is nothing to calibrate against, or other programs disturbed it."""
    others_cpu_percent: float = 0.0

    @property
    def busy(self) -> bool:
        return self.others_cpu_percent > BUSY_PERCENT


def ceiling_of(
    series: records.Series, notebook: Notebook, *, renew: bool = False, keep: Callable[[Write], object] | None = None
) -> Calibration:
    """Calibrates if unknown, old, beaten by the series, or to ``renew``; the best counts. ``keep`` writes it."""
    key = ceiling_key(series)
    known = notebook.ceiling(key)
    reached = max((run.bytes_per_second or 0.0 for run in series.measured()), default=0.0)
    beaten = known is not None and known.bytes_per_second < reached
    oldest = datetime.now(UTC) - timedelta(days=LIFE_DAYS)
    young = known is not None and datetime.fromisoformat(known.measured_at) > oldest
    if known and young and not renew and not beaten:
        return Calibration(bytes_per_second=known.bytes_per_second)
    done = _calibrate(series)
    if done.busy:
        done = _calibrate(series)
    if done.bytes_per_second is None:
        return done
    if done.busy:
        return replace(done, bytes_per_second=known.bytes_per_second if known and not beaten else None)
    best = max(done.bytes_per_second, reached)
    if known and young and known.bytes_per_second >= best:
        return Calibration(bytes_per_second=known.bytes_per_second)
    ceiling = records.Ceiling(key=key, bytes_per_second=best, measured_at=records.utc_now())
    if keep is None:
        notebook.set_ceiling(ceiling)
    else:
        keep(lambda notebook: notebook.set_ceiling(ceiling))
    return replace(done, bytes_per_second=best)


def ceiling_key(series: records.Series) -> str:
    machine = client_facts()
    client = series.client
    parts = {
        "client": f"{client.name} {client.version}",
        "machine": f"{machine.get('cpu.count')} x {machine.get('cpu.model')}, Python {machine.get('python.version')}",
        "protocol": series.target.protocol,
        "command": series.command.value,
        "dialect": client.dialect,
        "signing": client.signing,
        "encryption": client.encryption,
        "block": client.block_bytes,
        "in flight": client.in_flight,
        "method": _METHOD,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


_METHOD = 2
"""Raised when the method changes, which invalidates older ceilings."""


def _calibrate(series: records.Series) -> Calibration:
    order = process.CalibrationOrder(protocol=series.target.protocol, command=series.command, client=series.client)
    before, ours_before = take_reading(Wire(), Ours()), _our_ticks()
    try:
        done = run_program(
            own_command("app.recording.child"),
            seconds=CALIBRATION_SECONDS,
            given=line_of(order).encode(),
            environment=own_environment(),
        )
        rate = message_of(done.text, [process.Calibrated]).bytes_per_second
    except (OSError, ValueError):
        return Calibration()
    after = take_reading(Wire(), Ours())
    others = 0.0
    if before and after:
        ours = _our_ticks() - ours_before
        others = between(replace(before, our_ticks=0), replace(after, our_ticks=ours), Wire()).others_cpu_percent
    return Calibration(bytes_per_second=float(rate) if rate else None, others_cpu_percent=others)


def _our_ticks() -> int:
    times = os.times()
    return round((times.user + times.system + times.children_user + times.children_system) * os.sysconf("SC_CLK_TCK"))
