"""What was measured stays as it was measured: one measurer at a time, nothing replaced, lost or made up."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from app.base.errors import LoginError, NotebookError, UsageError
from app.clients.base import Secrets
from app.recording import writer
from app.recording.process import (
    ControlMessage,
    Failed,
    RunFinished,
    ScratchMade,
    SeriesControl,
    Warned,
)
from app.recording.rescue import notebook_to_measure_into
from app.recording.resuming import resumable
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent, SeriesClosed
from app.series.monitor import SeriesMonitor
from app.series.record import record, record_into
from app.series.resume import resume
from storage.errors import unusable
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.recordings import SERIES, UnknownReferenceError
from storage.records import Command, Run, RunStatus, Series, SeriesStatus, Target
from tests.builders import one
from tests.recordings import MAKERS
from tests.servers.smbd import Smbd
from tests.specs import order_with, request_with, varied


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "book" / "notebook.db"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "file"
    found.write_bytes(os.urandom(1_000_000))
    return found


def request(file: Path, **choices) -> SeriesRequest:
    plan = order_with(command=Command.GET, target=Target(protocol="file", path=str(file)), warmups=0, runs=4)
    return request_with(
        order=varied(plan, **choices),
        quiet_time=QuietTime.SKIP,
        ceiling=CeilingPolicy.SKIP,
        link_bits_per_second=10**9,
    )


def make_file_order(folder: Path, **choices) -> SeriesRequest:
    return request(folder, **{"make_file": True, "size_bytes": 1_000_000} | choices)


def stored(book: Path) -> Series:
    with Notebook(book) as notebook:
        return notebook.series("last")


class Stepping:
    """A series of which each run waits until it is told to go."""

    def __init__(self, request: SeriesRequest, book: Path) -> None:
        self.control = SeriesControl()
        self.events = self._recorded(request, book)

    def _recorded(self, request: SeriesRequest, book: Path) -> Iterator[RecorderEvent]:
        with notebook_to_measure_into(book) as notebook:
            yield from record_into(notebook, request, self.control, stepped=True)

    def runs(self, count: int) -> list[Run]:
        """The next so many runs; the one after them has not begun."""
        found: list[Run] = []
        while len(found) < count:
            self.control.tell(ControlMessage.STEP)
            found += [event.run for event in self._until_it_waits() if isinstance(event, RunFinished)]
        return found

    def end(self) -> None:
        """Let the series, which has all its runs, end."""
        self.control.tell(ControlMessage.STEP)
        list(self.events)

    def _until_it_waits(self) -> Iterator[RecorderEvent]:
        for event in self.events:
            yield event
            if isinstance(event, RunFinished | SeriesClosed):
                return


def after_runs(events: Iterator[RecorderEvent], count: int) -> list[Run]:
    """The first runs of a series that goes on."""
    found: list[Run] = []
    while len(found) < count:
        event = next(events)
        if isinstance(event, RunFinished):
            found.append(event.run)
    return found


def test_a_series_that_is_being_measured_is_not_taken_up_by_a_second_program(tmp_path: Path, book: Path):
    folder = tmp_path / "share"
    folder.mkdir()
    going = Stepping(make_file_order(folder), book)
    reported = going.runs(2)
    running = stored(book)
    assert running.status is SeriesStatus.INTERRUPTED
    assert running.running_by
    (scratch,) = folder.iterdir()
    with pytest.raises(UsageError, match=f"is being measured by process {os.getpid()}"):
        list(resume(running.id, Secrets(), book, SeriesControl()))
    assert scratch.exists()
    reported += going.runs(2)
    going.end()
    complete = stored(book)
    assert complete.status is SeriesStatus.COMPLETE
    assert complete.running_by is None
    assert [(r.number, r.seconds) for r in complete.runs] == [(r.number, r.seconds) for r in reported]
    assert not complete.resumed_at, "it was stored with the file that was made, before its client was known"
    assert not list(folder.iterdir())


def test_a_reader_that_leaves_in_the_middle_lets_the_series_go(book: Path, file: Path):
    events = record(request(file), book, SeriesControl())
    after_runs(events, 1)
    events.close()  # type: ignore[attr-defined]  # it is a generator
    assert stored(book).running_by is None
    list(resume(stored(book).id, Secrets(), book, SeriesControl()))
    assert stored(book).status is SeriesStatus.COMPLETE


@pytest.mark.varied
@pytest.mark.parametrize(
    "target",
    [
        Target(protocol="file", path="/no/such/file"),
        Target(protocol="smb", host="127.0.0.1", port=1, share="s", path="f"),
        Target(protocol="ftp", host="127.0.0.1", port=1, path="/f"),
    ],
)
def test_what_was_never_measured_leaves_no_series(book: Path, file: Path, target: Target):
    list(record(request(file), book, SeriesControl()))
    before = stored(book)
    puts = [] if target.protocol == "file" else [(Command.PUT, 1000)]
    for command, size_bytes in [(Command.GET, None), *puts]:
        wrong = request(file, target=target, command=command, size_bytes=size_bytes)
        events = list(record(wrong, book, SeriesControl()))
        assert isinstance(events[-1], SeriesClosed)
        assert not events[-1].stored
        assert events[-1].failure
    with Notebook(book) as notebook:
        assert len(notebook.heads()) == 1
        assert notebook.series("last") == before


def test_a_file_that_was_made_and_never_measured_leaves_no_series_either(tmp_path: Path, book: Path):
    folder = tmp_path / "share"
    folder.mkdir()
    going = Stepping(make_file_order(folder), book)
    events = []
    for event in going.events:
        events.append(event)
        if isinstance(event, ScratchMade):
            with Notebook(book) as notebook:
                (head,) = notebook.heads()
            assert head.scratch_path == event.path  # named, should we be killed now
            going.control.cancel()
    assert not any(isinstance(event, RunFinished) for event in events)
    assert not list(folder.iterdir())
    with Notebook(book) as notebook:
        assert not notebook.heads()
        with pytest.raises(UnknownReferenceError):
            notebook.series("last")


def test_the_login_is_tried_before_anything_takes_its_time(smbd: Smbd, book: Path, monkeypatch: pytest.MonkeyPatch):
    def look(*_: object) -> None:
        raise AssertionError("looked around before anybody was let in")

    monkeypatch.setattr(SeriesMonitor, "look", look)
    wrong = request(smbd.folder, target=smbd.target("file"), secrets=Secrets(password="wrong"), runs=1)
    events = list(record(varied(wrong, quiet_time=QuietTime.RECORD), book, SeriesControl()))
    assert any(isinstance(event, Failed) and event.kind is LoginError for event in events)
    with Notebook(book) as notebook:
        assert not notebook.heads()


def test_a_resumed_series_keeps_what_failed_and_says_when_it_went_on(book: Path, file: Path):
    content = file.read_bytes()
    going = Stepping(request(file), book)
    going.runs(1)
    file.unlink()
    going.runs(1)
    list(going.events)
    failed = stored(book)
    assert failed.status is SeriesStatus.FAILED
    lost = failed.runs[-1]
    assert lost.status is RunStatus.FAILED
    list(resume(failed.id, Secrets(), book, SeriesControl()))
    file.write_bytes(content)
    list(resume(failed.id, Secrets(), book, SeriesControl()))
    complete = stored(book)
    assert complete.status is SeriesStatus.COMPLETE
    assert [run.number for run in complete.measured()] == [1, 2, 3, 4]
    assert lost in complete.failed_attempts
    assert complete.resumed_at
    assert complete.runs[0] == failed.runs[0]


class Holding:
    """Another program that holds the notebook, as a backup may, for as long as the block lasts."""

    def __init__(self, book: Path) -> None:
        self._connection = sqlite3.connect(book, isolation_level=None, check_same_thread=False)

    def __enter__(self) -> None:
        self._connection.execute("BEGIN EXCLUSIVE")

    def __exit__(self, *_: object) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(writer, "_PATIENCE_SECONDS", 0.01)


@pytest.mark.usefixtures("hasty")
def test_while_another_program_holds_the_notebook_runs_wait_and_none_is_lost(book: Path, file: Path):
    events = record(request(file, runs=6), book, SeriesControl())
    reported = after_runs(events, 2)
    warned: list[str] = []
    with Holding(book):
        while len(reported) < 5:
            event = next(events)
            if isinstance(event, RunFinished):
                reported.append(event.run)
            if isinstance(event, Warned):
                warned.append(event.text)
    for event in events:
        if isinstance(event, RunFinished):
            reported.append(event.run)
        if isinstance(event, Warned):
            warned.append(event.text)
    complete = stored(book)
    assert complete.status is SeriesStatus.COMPLETE
    assert [(r.number, r.seconds) for r in complete.runs] == [(r.number, r.seconds) for r in reported]
    assert ["waits in memory" in text for text in warned] == [True, False]
    assert "nothing was lost" in warned[-1]


@pytest.mark.usefixtures("hasty")
def test_at_its_end_a_series_waits_for_whoever_holds_the_notebook(book: Path, file: Path):
    events = record(request(file, runs=3), book, SeriesControl())
    after_runs(events, 1)
    holding = Holding(book)
    holding.__enter__()
    released = threading.Timer(3.0, holding.__exit__)
    released.start()
    began = time.monotonic()
    closed = list(events)[-1]
    assert time.monotonic() > began
    released.join()
    assert isinstance(closed, SeriesClosed)
    assert stored(book).status is SeriesStatus.COMPLETE
    assert len(stored(book).runs) == 3


@pytest.mark.usefixtures("hasty")
def test_only_minutes_end_a_series_which_goes_on_in_another_notebook(
    book: Path, file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(writer, "GIVE_UP_SECONDS", 0.3)
    events = record(request(file, runs=3), book, SeriesControl())
    after_runs(events, 1)
    with Holding(book), pytest.raises(NotebookError, match="sharebench import"):
        list(events)
    (saved,) = book.parent.glob(f"{book.stem}-saved-*")
    assert len(stored(saved).runs) == 3
    assert len(stored(book).runs) >= 1
    assert stored(book).running_by is None or stored(book).running_by.process_id == os.getpid()  # type: ignore[union-attr]


def test_what_waits_is_tried_every_two_seconds_and_given_up_in_time_for_an_answer(
    monkeypatch: pytest.MonkeyPatch,
):
    clock, tries = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(writer, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    notebook = mock_notebook()
    for code, limit in ((sqlite3.SQLITE_BUSY, 60.0), (sqlite3.SQLITE_FULL, 30.0), (sqlite3.SQLITE_IOERR, 10.0)):
        recorder = writer.Recorder(notebook, may_move=False)
        recorder.begin("a", stored=False)
        notebook.reset_mock()
        renewed_from = clock[0]
        for seconds, renewals in ((29.75, 0), (30.0, 1), (59.75, 1), (60.0, 2)):
            clock[0] = renewed_from + seconds
            assert list(recorder.flush()) == []
            assert notebook.renew.call_count == renewals, seconds

        def fail(_notebook: Notebook, code: int = code) -> None:
            tries.append(clock[0])
            raise disk_error(code)

        tries.clear()
        recorder.write(fail)
        held_from = clock[0]
        warned = []
        for seconds in (0.0, 1.75, 2.0, 3.75, 4.0):
            clock[0] = held_from + seconds
            warned += list(recorder.flush())
        assert ([at - held_from for at in tries], len(warned)) == ([0.0, 2.0, 4.0], 1)
        with pytest.raises(NotebookError, match=f"after {limit:.0f} s"):
            list(recorder.finish())
        assert clock[0] == held_from + 4.0 + limit + 0.5, "the first attempt beyond the limit is the last"


@pytest.mark.parametrize("before", [False, True])
def test_ctrl_c_ends_the_wait_for_a_full_disk_at_the_end(monkeypatch: pytest.MonkeyPatch, before: bool):
    """It waited ten minutes for what nobody would come to mend."""
    clock, control = [0.0], SeriesControl()

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        if clock[0] == 5.0 and before:
            raise KeyboardInterrupt
        if clock[0] == 5.0:
            control.cancel()

    monkeypatch.setattr(writer, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    recorder = writer.Recorder(mock_notebook(), control, may_move=False)
    recorder.begin("a", stored=False)
    recorder.write(Mock(side_effect=disk_error(sqlite3.SQLITE_FULL)))
    if before:
        control.cancel()
    with pytest.raises(NotebookError, match=r"after [45] s: 1 entries"):
        list(recorder.finish())
    assert clock[0] == 5.0


def test_ctrl_c_while_the_notebook_can_be_written_loses_nothing():
    stored: list[str] = []
    recorder = writer.Recorder(mock_notebook())
    recorder.write(Mock(side_effect=[KeyboardInterrupt, None]), lambda _notebook: stored.append("the rest"))

    def measured() -> Generator[Warned, None, None]:
        yield from ()

    with pytest.raises(KeyboardInterrupt):
        list(writer.record_events(recorder, measured()))
    assert stored == ["the rest"]


def test_time_that_is_over_ends_no_wait_for_the_notebook(monkeypatch: pytest.MonkeyPatch):
    clock, control = [0.0], SeriesControl(60.0)

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        if clock[0] == 5.0:
            control.end_in_time()

    monkeypatch.setattr(writer, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    recorder = writer.Recorder(mock_notebook(), control, may_move=False)
    recorder.write(Mock(side_effect=[*[disk_error(sqlite3.SQLITE_FULL)] * 20, None]))
    list(recorder.finish())
    assert control.cancelled.is_set()


def mock_notebook() -> Mock:
    return Mock(spec=Notebook, path=Path("n.db"), was_moved=False, is_on_disk=True)


def disk_error(code: int = sqlite3.SQLITE_IOERR_FSYNC) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    return error


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("written", [False, True])
def test_a_disk_that_gives_errors_for_a_while_loses_and_doubles_nothing(
    book: Path, file: Path, monkeypatch: pytest.MonkeyPatch, written: bool
):
    store, tries = Notebook.add_run, []

    def fail_twice(notebook: Notebook, series_id: str, run: Run) -> None:
        tries.append(run)
        if len(tries) in {2, 3}:
            if written:
                store(notebook, series_id, run)
            raise disk_error()
        store(notebook, series_id, run)

    monkeypatch.setattr(Notebook, "add_run", fail_twice)
    events = list(record(request(file, runs=4), book, SeriesControl()))
    reported = [event.run for event in events if isinstance(event, RunFinished)]
    warned = [event.text for event in events if isinstance(event, Warned)]
    assert [(r.number, r.seconds) for r in stored(book).runs] == [(r.number, r.seconds) for r in reported]
    assert ["is on a disk that gives errors" in text for text in warned] == [True, False]


@pytest.mark.usefixtures("hasty")
def test_a_disk_that_fails_for_good_ends_a_series_with_what_is_lost(
    book: Path, file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(writer, "DISK_SECONDS", 0.2)

    def fail(*_what: object) -> None:
        raise disk_error()

    events = record(request(file, runs=3), book, SeriesControl())
    after_runs(events, 1)
    monkeypatch.setattr(Notebook, "add_run", fail)
    with pytest.raises(NotebookError, match=r"are lost; what was stored before is kept"):
        list(events)
    assert len(stored(book).runs) == 1


def test_a_disk_that_gives_errors_is_told_with_what_to_do():
    assert "copy the notebook to another disk" in str(unusable(disk_error()))
    assert "cannot be written where it is" in str(unusable(disk_error(sqlite3.SQLITE_READONLY)))


def test_an_imported_series_is_not_resumed_without_a_word_to_its_server(book: Path, file: Path):
    with Notebook(book) as notebook:
        notebook.add_all([one(1, status=SeriesStatus.INTERRUPTED, target=request(file).target)])
    with pytest.raises(UsageError, match="was imported: check its target"):
        list(resume(f"{1:012x}", Secrets(), book, SeriesControl()))


def test_a_series_that_is_being_measured_has_no_plan_to_go_on_with(book: Path):
    with Notebook(book) as notebook:
        notebook.add(one(1, status=SeriesStatus.INTERRUPTED))
        notebook.take(f"{1:012x}")
        with pytest.raises(UsageError, match="is being measured by process"):
            resumable(notebook, "last", SERIES)


@pytest.mark.parametrize("kind", ["series", "load", "isolation"])
def test_what_is_resumed_is_interrupted_and_this_notebooks_own(kind: str, tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as notebook:
        made = MAKERS[kind](notebook)
        assert notebook._db is not None
        notebook._db.execute("UPDATE recordings SET status = 'complete'")
        with pytest.raises(UsageError, match="is complete"):
            resumable(notebook, made, kind)
        notebook._db.execute("UPDATE recordings SET status = 'interrupted'")
        assert resumable(notebook, "last", kind).id == made
        notebook.take(made)
        with pytest.raises(UsageError, match=f"{kind} {made} is being measured"):
            resumable(notebook, made, kind)
        notebook.release(made)
        notebook._db.execute("UPDATE recordings SET imported_at = '2026-01-01T00:00:00.000Z'")
        with pytest.raises(UsageError, match="was imported"):
            resumable(notebook, made, kind)
        assert resumable(notebook, made, kind, confirmed=True).id == made
