"""The recorder against a real smbd: what the notebook holds, whatever becomes of the processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import ChildDiedError, NotQuietError, UsageError
from app.clients.base import Secrets
from app.recording.process import (
    Failed,
    Finished,
    RunFinished,
    RunStarted,
    SeriesControl,
    TimeLimit,
    Warned,
)
from app.recording.spec import SeriesRequest
from app.series.events import QuietWait, SeriesClosed, SeriesOpened
from app.series.interleaved import record_interleaved
from app.series.record import record
from app.series.resume import Resumption, resume
from app.server.quiet_watch import LOOK_SECONDS, QuietWatch
from forms.stats.paired import drawn_order
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime, Settings
from storage.records import Command, Experiment, ExperimentKind, Phase, Quiet, QuietVerdict, RunStatus, SeriesStatus
from tests.builders import all_series, last_series
from tests.servers.smbd import Smbd
from tests.specs import order_with, request_with, varied

MIB = 1024 * 1024


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "notebook.db"


def get_order(server: Smbd, name: str = "file", **choices) -> SeriesRequest:
    plan = order_with(
        command=Command.GET, target=server.target(name), secrets=server.secrets(), warmups=1, runs=2,
        settings=Settings(timeout_seconds=10),
    )  # fmt: skip
    return request_with(
        order=varied(plan, **choices),
        quiet_time=QuietTime.SKIP,
        ceiling=CeilingPolicy.SKIP,
        link_bits_per_second=10**9,
    )


def put_order(server: Smbd, **choices) -> SeriesRequest:
    return get_order(server, "", **{"command": Command.PUT, "size_bytes": MIB} | choices)


def our_children() -> list[int]:
    me, found = os.getpid(), []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if stat.rpartition(")")[2].split()[1] == str(me) and b"app.recording.child" in command:
                found.append(int(entry.name))
    return found


def test_each_run_is_stored_before_it_is_seen(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    seen = 0
    events = []
    for event in record(get_order(smbd), book, SeriesControl()):
        events.append(event)
        if isinstance(event, RunFinished):
            seen += 1
            assert len(last_series(book).runs) == seen
            assert last_series(book).status is SeriesStatus.INTERRUPTED
    assert isinstance(events[0], SeriesOpened)
    assert isinstance(events[-1], SeriesClosed)
    series = last_series(book)
    assert series.status is SeriesStatus.COMPLETE
    assert [(r.phase, r.number, r.status) for r in series.runs] == [
        (Phase.WARM_UP, 1, RunStatus.VALID),
        (Phase.MEASURED, 1, RunStatus.VALID),
        (Phase.MEASURED, 2, RunStatus.VALID),
    ]
    assert series.client.dialect == "3.1.1"
    assert series.link_bits_per_second == 10**9
    assert our_children() == []


def test_no_password_reaches_the_notebook(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    list(record(get_order(smbd), book, SeriesControl()))
    files = [path.read_bytes() for path in book.parent.iterdir()]
    assert files
    assert not any(smbd.password.encode() in content for content in files)


def test_a_killed_measuring_process_fails_the_series_and_leaves_nothing(smbd: Smbd, book: Path):
    before = sorted(smbd.folder.iterdir())
    events = []
    for event in record(put_order(smbd, runs=50, size_bytes=32 * MIB), book, SeriesControl()):
        events.append(event)
        if isinstance(event, RunStarted) and event.phase is Phase.MEASURED and event.number == 2:
            (child,) = our_children()
            os.kill(child, signal.SIGKILL)
    failed = next(event for event in events if isinstance(event, Failed))
    assert failed.kind is ChildDiedError
    assert "SIGKILL" in failed.text
    series = last_series(book)
    assert series.status is SeriesStatus.FAILED
    assert series.error == failed.text
    assert series.scratch_path is None
    assert len(series.measured()) >= 1
    assert sorted(smbd.folder.iterdir()) == before


def test_a_killed_server_fails_the_series_and_keeps_its_runs(make_smbd, book: Path):
    server = make_smbd()
    server.make_file("file", os.urandom(8 * MIB))
    events = []
    for event in record(get_order(server, runs=10_000), book, SeriesControl()):
        events.append(event)
        if isinstance(event, RunFinished) and event.run.phase is Phase.MEASURED and event.run.number == 2:
            server.kill()
    series = last_series(book)
    assert series.status is SeriesStatus.FAILED
    assert len(series.measured()) >= 2
    assert series.error
    assert "\n" not in series.error
    assert server.host in series.error


@pytest.mark.long
def test_cancelling_keeps_runs_and_cleans_up_and_can_be_resumed(smbd: Smbd, book: Path):
    before, runs = sorted(smbd.folder.iterdir()), 200  # seconds more than a starved recorder is behind
    control = SeriesControl()
    for event in record(put_order(smbd, runs=runs, size_bytes=16 * MIB), book, control):
        if isinstance(event, RunStarted) and event.phase is Phase.MEASURED and event.number == 3:
            control.cancel()
    series = last_series(book)
    assert series.status is SeriesStatus.INTERRUPTED
    assert 2 <= len(series.measured()) < runs
    assert sorted(smbd.folder.iterdir()) == before
    list(resume(series.id, smbd.secrets(), book, SeriesControl()))
    done = last_series(book)
    assert done.status is SeriesStatus.COMPLETE
    assert [run.number for run in done.measured()] == list(range(1, runs + 1))
    assert done.runs[: len(series.runs)][0] == series.runs[0]
    assert sorted(smbd.folder.iterdir()) == before


def test_series_take_turns_run_by_run(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    requests = [get_order(smbd, runs=3, warmups=0), put_order(smbd, runs=3, warmups=0)]
    turns = [
        index for index, event in record_interleaved(requests, book, SeriesControl()) if isinstance(event, RunStarted)
    ]
    assert turns == [0, 1, 1, 0, 0, 1]
    with Notebook(book) as notebook:
        assert [(s.command, s.status) for s in notebook.heads()] == [
            (Command.PUT, SeriesStatus.COMPLETE),
            (Command.GET, SeriesStatus.COMPLETE),
        ]


@pytest.mark.parametrize("runs", [(3, 3), (2, 4)])
def test_no_series_ends_before_all_have_their_last_run(smbd: Smbd, book: Path, runs: tuple[int, int]):
    """What follows the runs of a series, such as the calibration of its client, would slow down the others'."""
    smbd.make_file("file", b"x" * MIB)
    requests = [get_order(smbd, runs=count, warmups=0) for count in runs]
    events = [event for _, event in record_interleaved(requests, book, SeriesControl())]
    last_run = max(place for place, event in enumerate(events) if isinstance(event, RunFinished))
    first_end = min(place for place, event in enumerate(events) if isinstance(event, Finished))
    assert last_run < first_end
    assert [series.status for series in all_series(book)] == [SeriesStatus.COMPLETE] * 2
    assert sorted(len(series.measured()) for series in all_series(book)) == sorted(runs)


def test_two_series_are_measured_in_the_order_that_is_drawn(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    requests = [get_order(smbd, runs=4, warmups=1), get_order(smbd, runs=4, warmups=1)]
    turns = record_interleaved(requests, book, SeriesControl(), chance=random.Random(7))
    order = [index for index, event in turns if isinstance(event, RunStarted)]
    drawn = drawn_order(4, random.Random(7))
    assert order[:2] == [0, 1], "the warm-up runs"
    assert order[2:] == [index for base_first in drawn for index in ((0, 1) if base_first else (1, 0))]


class Hands:
    """A clock that somebody moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.long
@pytest.mark.parametrize(("seconds", "runs"), [(80.0, 3), (79.0, 2), (40.0, 1)])
def test_no_round_begins_that_would_not_end_in_time(smbd: Smbd, book: Path, seconds: float, runs: int):
    smbd.make_file("file", b"x" * MIB)
    control, clock, statuses, warnings = SeriesControl(), Hands(), [], []
    control.limit = TimeLimit(seconds, clock)
    control.limit.start()
    for index, event in record_interleaved([get_order(smbd, runs=9), put_order(smbd, runs=9)], book, control):
        if isinstance(event, RunStarted):
            clock.now += 5.0 if index else 15.0
        elif isinstance(event, Warned):
            warnings.append(event.text)
            control.end_in_time()
        elif isinstance(event, SeriesClosed):
            statuses.append(event.status)
    assert [len(one.measured()) for one in all_series(book)] == [runs, runs]
    assert statuses == [SeriesStatus.COMPLETE] * 2
    assert [text.partition(" would")[0] for text in warnings] == ["no further run"]
    assert list(smbd.folder.glob(".sharebench-*")) == []


def test_where_the_time_is_over_before_a_run_is_measured_the_series_can_be_resumed(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    control, clock = SeriesControl(), Hands()
    control.limit = TimeLimit(39.0, clock)
    control.limit.start()
    for _, event in record_interleaved([get_order(smbd), get_order(smbd)], book, control):
        clock.now += 10.0 * isinstance(event, RunStarted)
    assert [(one.status, len(one.runs)) for one in all_series(book)] == [(SeriesStatus.INTERRUPTED, 1)] * 2
    assert control.why_cancelled.startswith("time is over")


def test_one_failing_series_leaves_the_other_going(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    requests = [get_order(smbd, "no such file"), get_order(smbd)]
    closed = {
        index: event.status
        for index, event in record_interleaved(requests, book, SeriesControl())
        if isinstance(event, SeriesClosed)
    }
    assert closed == {0: SeriesStatus.FAILED, 1: SeriesStatus.COMPLETE}


def test_cancelling_turns_ends_all(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    control = SeriesControl()
    statuses = []
    for _, event in record_interleaved([get_order(smbd, runs=500), get_order(smbd, runs=500)], book, control):
        if isinstance(event, RunStarted) and event.number == 3:
            control.cancel()
        if isinstance(event, SeriesClosed):
            statuses.append(event.status)
    assert statuses == [SeriesStatus.INTERRUPTED] * 2
    assert our_children() == []


def test_a_face_that_goes_away_ends_the_child(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    events = record(get_order(smbd, runs=10_000), book, SeriesControl())
    for event in events:
        if isinstance(event, RunFinished):
            break
    events.close()  # type: ignore[attr-defined]
    assert our_children() == []
    assert last_series(book).status is SeriesStatus.INTERRUPTED


@pytest.mark.long
def test_a_busy_time_is_refused_where_a_quiet_one_is_required(smbd: Smbd, book: Path):
    smbd.make_file("file", b"x" * MIB)
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        request = varied(get_order(smbd), quiet_time=QuietTime.REQUIRE)
        events = list(record(request, book, SeriesControl()))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    closed = events[-1]
    assert isinstance(closed, SeriesClosed)
    assert closed.failure
    assert closed.failure.kind is NotQuietError
    assert closed.failure.text.endswith("measure at a quieter one, or wait for one")
    assert closed.failure.options == "--wait SECONDS"
    assert not closed.stored
    assert all_series(book) == []


@pytest.mark.long
def test_a_change_is_judged_by_what_the_server_really_has(make_smbd, book: Path):
    server = make_smbd()
    server.make_file("file", b"x" * MIB)
    base = varied(get_order(server), experiment=Experiment(name="tuning"), smb_conf=str(server.conf))
    list(record(base, book, SeriesControl()))
    server.rewrite_conf(share_options={"strict sync": "no"})
    claimed = varied(base, change_name="strict sync", change_value="no")
    list(record(claimed, book, SeriesControl()))
    first, second = last_series(book).base_id, last_series(book)
    assert first
    assert second.change
    assert (second.change.evidence, second.change.previous, second.change.also_changed) == ("confirmed", "Yes", ())
    list(record(varied(claimed, change_name="strict locking"), book, SeriesControl()))
    third = last_series(book)
    assert third.base_id == second.id
    assert third.change
    assert third.change.evidence == "contradicted"


def test_no_experiment_takes_the_name_of_a_survey(smbd: Smbd, book: Path):
    with Notebook(book) as notebook:
        notebook.add_experiment(Experiment(name="whole picture", kind=ExperimentKind.SURVEY))
    request = replace(get_order(smbd), experiment=Experiment(name="whole picture"))
    with pytest.raises(UsageError, match=r"'whole picture' is in use \(kind: survey\): give the experiment"):
        list(record(request, book, SeriesControl()))
    with Notebook(book) as notebook:
        assert not notebook.heads()


def test_a_change_without_anything_before_it_is_refused(smbd: Smbd, book: Path):
    request = varied(get_order(smbd), experiment=Experiment(name="new"), change_name="strict sync", change_value="no")
    with pytest.raises(UsageError, match="without a change first"):
        list(record(request, book, SeriesControl()))
    with Notebook(book) as notebook:
        assert not notebook.heads()


@pytest.mark.parametrize("command", Command)
def test_a_first_run_that_fails_leaves_no_series(make_smbd, book: Path, command: Command):
    server = make_smbd(share_options={"read only": "yes"})
    server.make_file("file", b"x" * MIB).chmod(0)
    request = put_order(server) if command is Command.PUT else get_order(server)
    closed = list(record(request, book, SeriesControl()))[-1]
    assert isinstance(closed, SeriesClosed)
    assert closed.failure is not None
    assert "denies access" in closed.failure.text
    assert not closed.stored
    assert all_series(book) == []


@pytest.mark.long
def test_a_series_that_is_resumed_in_vain_is_kept(make_smbd, book: Path):
    server = make_smbd()
    file = server.make_file("file", b"x" * MIB)
    control = SeriesControl()
    for event in record(get_order(server, runs=10_000), book, control):
        if isinstance(event, RunFinished):
            control.cancel()
    file.unlink()
    series = last_series(book)
    with Notebook(book) as notebook:
        notebook._db.execute("DELETE FROM runs")
    list(resume(series.id, server.secrets(), book, SeriesControl()))
    assert [one.id for one in all_series(book)] == [series.id]


MIB = 1024 * 1024


def request(server: Smbd, runs: int = 3) -> SeriesRequest:
    plan = order_with(command=Command.GET, target=server.target("file"), secrets=server.secrets(), warmups=1, runs=runs)
    return request_with(order=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP, link_bits_per_second=10**9)


@pytest.mark.long
def test_interrupted_turns_are_taken_up_where_they_were(smbd: Smbd, tmp_path: Path):
    smbd.make_file("file", b"x" * MIB)
    book, control = tmp_path / "notebook.db", SeriesControl()
    for index, event in record_interleaved([request(smbd), request(smbd)], book, control):
        if index == 1 and isinstance(event, RunFinished) and event.run.phase is Phase.MEASURED:
            control.cancel()
    with Notebook(book) as notebook:
        ids = [head.id for head in reversed(notebook.heads())]
        before = [notebook.series(series_id) for series_id in ids]
    assert [one.status for one in before] == [SeriesStatus.INTERRUPTED] * 2
    resumptions = [Resumption(series_id=series_id, secrets=smbd.secrets()) for series_id in ids]
    closed = [
        e.status for _, e in record_interleaved(resumptions, book, SeriesControl()) if isinstance(e, SeriesClosed)
    ]
    assert closed == [SeriesStatus.COMPLETE] * 2
    with Notebook(book) as notebook:
        after = [notebook.series(series_id) for series_id in ids]
        assert len(notebook.heads()) == 2
    for old, new in zip(before, after, strict=True):
        assert [run.number for run in new.measured()] == [1, 2, 3]
        assert set(old.measured()) <= set(new.measured())


def test_what_has_not_begun_is_not_begun_after_cancelling(smbd: Smbd, tmp_path: Path):
    smbd.make_file("file", b"x" * MIB)
    book, control = tmp_path / "notebook.db", SeriesControl()
    for _, event in record_interleaved([request(smbd, runs=50), request(smbd), request(smbd)], book, control):
        if isinstance(event, RunFinished):
            control.cancel()
    with Notebook(book) as notebook:
        assert [head.status for head in notebook.heads()] == [SeriesStatus.INTERRUPTED]


def test_a_login_that_was_refused_is_not_tried_by_the_next_of_it(smbd: Smbd, tmp_path: Path):
    smbd.make_file("file", b"x" * MIB)
    right, wrong = request(smbd, runs=1), request(smbd, runs=1)
    wrong = replace(wrong, secrets=Secrets(password="wrong"))
    turns = record_interleaved([wrong, wrong, right], tmp_path / "notebook.db", SeriesControl(), ["a", "a", "b"])
    closed = [(index, event.status) for index, event in turns if isinstance(event, SeriesClosed)]
    assert closed == [(0, SeriesStatus.FAILED), (2, SeriesStatus.COMPLETE)]


@pytest.mark.varied
@pytest.mark.parametrize(
    ("quiet_time", "seconds", "verdicts", "waits"),
    [
        (QuietTime.SKIP, 600.0, [], False),
        (QuietTime.RECORD, 600.0, [QuietVerdict.TYPICAL], False),
        (QuietTime.RECORD, 600.0, [QuietVerdict.BUSY, QuietVerdict.BUSY, QuietVerdict.QUIET], True),
        (QuietTime.RECORD, 0.0, [QuietVerdict.BUSY], False),
    ],
)
def test_only_what_waits_for_a_quiet_time_says_so(
    smbd: Smbd,
    book: Path,
    monkeypatch: pytest.MonkeyPatch,
    quiet_time: QuietTime,
    seconds: float,
    verdicts: list[QuietVerdict],
    waits: bool,
):
    smbd.make_file("file", b"x")
    looked = [Quiet(verdict=verdict) for verdict in verdicts]
    monkeypatch.setattr("app.server.quiet_watch.QuietWatch.look", lambda *_, **__: looked.pop(0))
    order = varied(get_order(smbd), quiet_time=quiet_time, wait_seconds=seconds)
    events = list(record(order, book, SeriesControl()))
    assert isinstance(events[0], SeriesOpened)
    left = [event.left_seconds for event in events if isinstance(event, QuietWait)]
    assert len(left) == 2 * waits
    assert all(590 < each <= 600 - LOOK_SECONDS for each in left)
    assert not looked


@pytest.mark.parametrize("word", ["waited", "cancelled"])
def test_a_wait_for_a_quiet_time_can_be_ended(smbd: Smbd, book: Path, monkeypatch: pytest.MonkeyPatch, word: str):
    smbd.make_file("file", b"x")
    busy, control = Quiet(verdict=QuietVerdict.BUSY), SeriesControl()
    monkeypatch.setattr("app.server.quiet_watch.QuietWatch.look", lambda *_, **__: busy)
    waits, closed = 0, None
    for event in record(varied(get_order(smbd), quiet_time=QuietTime.RECORD, wait_seconds=600.0), book, control):
        if isinstance(event, QuietWait):
            waits += 1
            assert waits < 3, "it goes on waiting"
            control.cancel() if word == "cancelled" else control.waited_enough.set()
        if isinstance(event, SeriesClosed):
            closed = event.status
    assert waits == 1
    assert closed is (SeriesStatus.INTERRUPTED if word == "cancelled" else SeriesStatus.COMPLETE)


def test_the_first_look_counts_in_the_longest_wait(smbd: Smbd, book: Path, monkeypatch: pytest.MonkeyPatch):
    smbd.make_file("file", b"x")
    limits: list[float] = []
    busy = Quiet(verdict=QuietVerdict.BUSY)
    monkeypatch.setattr("app.server.quiet_watch.QuietWatch.look", lambda *_, **__: busy)

    def until_quiet(_watch: QuietWatch, _seen: Quiet, limit: float, **_: object) -> Iterator[tuple[float, str]]:
        limits.append(limit)
        yield from ()

    monkeypatch.setattr("app.server.quiet_watch.QuietWatch.until_quiet", until_quiet)
    list(record(varied(get_order(smbd), quiet_time=QuietTime.RECORD, wait_seconds=600.0), book, SeriesControl()))
    assert limits == [600.0 - LOOK_SECONDS]
