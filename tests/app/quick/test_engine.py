"""The measuring part of a quick test: its file, its lines, and that the file is gone however it ends."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.base import errors
from app.clients.base import MAX_BLOCK_BYTES, Content, Meter, Secrets
from app.clients.local import LocalClient
from app.clients.random_requests import SequentialWorkload
from app.clients.smb.client import SMBClient
from app.quick import engine as quick_engine
from app.quick import plan
from app.quick.engine import QuickEngine
from app.quick.spec import RUN_SECONDS, RUNS
from app.recording import process
from app.tui.frame.screens import screen_called
from storage.plan import Settings
from storage.quick.records import ACCESSES, LEAST_FILE_BYTES, MIB, Quick, QuickLine
from storage.records import Command, Target
from tests.app.fakes import meter
from tests.app.quick.leftovers import left_on
from tests.servers.smbd import Smbd

OPENED_BY_OTHERS = b"left as it is"


def measured(target: Target, secrets: Secrets | None = None, **values: Any) -> list[plan.ChildEvent]:
    """The events of a very short quick test."""
    told: list[plan.ChildEvent] = []
    gate = process.RunGate()
    on_event: Callable[[plan.ChildEvent, process.RunGate], None] | None = values.pop("on_event", None)

    def emit(event: plan.ChildEvent) -> None:
        told.append(event)
        if on_event is not None:
            on_event(event, gate)

    usual: dict[str, Any] = {"size_bytes": LEAST_FILE_BYTES, "runs": 3, "run_seconds": 0.2}
    order = plan.QuickOrder(target=target, secrets=secrets or Secrets(), **usual | values)
    QuickEngine(order, gate, emit).measure()
    return told


def lines_of(told: list[plan.ChildEvent]) -> list[QuickLine]:
    return [event.line for event in told if isinstance(event, plan.LineMeasured)]


def ready_of(told: list[plan.ChildEvent]) -> plan.FileReady:
    (ready,) = [event for event in told if isinstance(event, plan.FileReady)]
    return ready


def made(target: Target, **values: Any) -> plan.FileReady:
    """The file of a quick test that is cancelled once it is made: the lines would take seconds."""

    def cancel(event: plan.ChildEvent, gate: process.RunGate) -> None:
        if isinstance(event, plan.FileReady):
            gate.cancel()

    return ready_of(measured(target, on_event=cancel, **values))


def local(folder: Path) -> Target:
    return Target(protocol="file", path=str(folder))


def test_blocks_follow_one_another_once_and_each_worker_has_every_nth():
    workload = SequentialWorkload(block_bytes=10, in_flight=3, seconds=1, writes=False)
    assert [offset for offset, _reads in workload.places(59)] == [0, 10, 20, 30, 40]
    of_workers = [[offset for offset, _reads in workload.places(60, worker)] for worker in range(3)]
    assert of_workers == [[0, 30], [10, 40], [20, 50]]
    part = SequentialWorkload(block_bytes=10, in_flight=3, seconds=1, writes=True, begin_bytes=20, end_bytes=50)
    assert list(part.places(0)) == [(20, False), (30, False), (40, False)]


def test_a_file_that_is_created_must_not_be_there(tmp_path: Path, smbd: Smbd):
    workload = SequentialWorkload(block_bytes=MIB, in_flight=2, seconds=5, writes=True, end_bytes=3 * MIB, creates=True)
    content = Content(2 * MAX_BLOCK_BYTES)
    path = tmp_path / "file"
    client = LocalClient(local(path), Secrets(), Settings())
    assert client.request_blocks(str(path), workload, content, meter()).size_bytes == path.stat().st_size == 3 * MIB
    with pytest.raises(errors.MeasurementError):
        client.request_blocks(str(path), workload, content, meter())

    smb = SMBClient(smbd.target(), smbd.secrets(), Settings())
    smb.connect()
    try:
        assert smb.request_blocks("made", workload, content, meter()).size_bytes == 3 * MIB
        with pytest.raises(errors.MeasurementError):
            smb.request_blocks("made", workload, content, meter())
    finally:
        smb.remove("made")
        smb.close()


def test_each_worker_makes_a_request_however_soon_the_time_is_over(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(bytes(4 * MIB))
    client = LocalClient(local(path), Secrets(), Settings())
    workload = SequentialWorkload(block_bytes=MIB, in_flight=2, seconds=1e-9, writes=False)
    moved = client.request_blocks(str(path), workload, Content(MIB), meter())
    assert moved.requests is not None
    assert moved.requests.count == 2


def test_eight_lines_of_three_runs_are_measured_and_the_file_is_gone(tmp_path: Path):
    other = tmp_path / "other"
    other.write_bytes(OPENED_BY_OTHERS)
    told = measured(local(tmp_path))
    assert [line.name for line in lines_of(told)] == [
        *(f"{name} read" for name in ("SEQ1M Q8", "SEQ1M Q1", "RND4K Q32", "RND4K Q1")),
        *(f"{name} write" for name in ("SEQ1M Q8", "SEQ1M Q1", "RND4K Q32", "RND4K Q1")),
    ]
    for line in lines_of(told):
        assert len(line.runs) == 3
        for run in line.runs:
            assert run.moved_bytes == run.requests * line.access.block_bytes
        assert line.times.count == sum(run.requests for run in line.runs)
    assert ready_of(told).file_bytes == LEAST_FILE_BYTES
    assert isinstance(told[-1], process.Finished)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert other.read_bytes() == OPENED_BY_OTHERS


def test_over_smb_the_requests_are_those_of_the_line(smbd: Smbd):
    told = measured(smbd.target(), smbd.secrets())
    ready = ready_of(told)
    assert ready.past_page_cache is None
    assert (ready.client.block_bytes, ready.client.in_flight) == (MIB, 8)
    assert "request.least_round_trip_seconds" in ready.path_facts
    assert len(lines_of(told)) == 8
    assert [line.request_bytes for line in lines_of(told)] == [None] * 8
    assert left_on(smbd) == []


@pytest.mark.long
def test_where_the_server_takes_less_than_a_block_it_is_asked_in_parts(make_smbd):
    smbd = make_smbd({"smb2 max read": "65536", "smb2 max write": "262144", "smb2 max trans": "65536"})
    lines = lines_of(measured(smbd.target(), smbd.secrets()))
    sizes = [line.request_bytes for line in lines if not line.access.random]
    assert sizes == [65536, 65536, 262144, 262144]
    assert all(line.request_bytes is None for line in lines if line.access.random)


@pytest.mark.varied
@pytest.mark.parametrize(("asked", "bytes_made"), [(65 * MIB, 65 * MIB), (65 * MIB + 5, 65 * MIB)])
def test_the_file_has_the_size_that_was_asked_for_in_whole_blocks(tmp_path: Path, asked: int, bytes_made: int):
    ready = made(local(tmp_path), size_bytes=asked)
    assert (ready.file_bytes, ready.lacks_room) == (bytes_made, None)


@pytest.mark.long
def test_the_file_ends_where_the_time_does_but_not_before_its_least_size(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(quick_engine, "_FILL_SECONDS", 0.0)
    ready = made(local(tmp_path), size_bytes=1 << 30)
    assert (ready.file_bytes, ready.lacks_room) == (LEAST_FILE_BYTES, False)
    monkeypatch.setattr(quick_engine, "_FILL_SECONDS", 15.0)
    assert made(local(tmp_path), size_bytes=70 * MIB).file_bytes == 70 * MIB


@pytest.mark.varied
@pytest.mark.parametrize(
    ("free_bytes", "file_bytes", "lacks_room"),
    [(2 * LEAST_FILE_BYTES, LEAST_FILE_BYTES, True), (1 << 40, 66 * MIB, None)],
)
def test_it_takes_at_most_half_of_the_free_space(
    tmp_path: Path, monkeypatch, free_bytes: int, file_bytes: int, lacks_room: bool | None
):
    monkeypatch.setattr(LocalClient, "free_bytes", lambda *_: free_bytes)
    ready = made(local(tmp_path), size_bytes=66 * MIB)
    assert (ready.file_bytes, ready.lacks_room) == (file_bytes, lacks_room)


def test_the_list_of_screens_tells_about_how_long_it_takes():
    """File and runs at most, and little else; within half."""
    runs_seconds = 2 * len(ACCESSES) * RUNS * RUN_SECONDS
    minutes = (quick_engine._FILL_SECONDS + runs_seconds) / 60
    assert "(1½ minutes)" in screen_called("quick").help
    assert 1.5 / 1.5 < minutes < 1.5 * 1.5


def test_without_room_for_the_least_file_nothing_is_made(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(LocalClient, "free_bytes", lambda *_: 2 * LEAST_FILE_BYTES - 1)
    (failed,) = measured(local(tmp_path))
    assert isinstance(failed, process.Failed)
    assert isinstance(failed.error, errors.NoSpaceError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_file_system_without_direct_requests_is_asked_through_its_cache(tmp_path: Path, monkeypatch):
    opened = os.open

    def refuse_direct(path: str, flags: int, *mode: int) -> int:
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return opened(path, flags, *mode)

    monkeypatch.setattr("app.clients.local.os.open", refuse_direct)
    told = measured(local(tmp_path))
    assert ready_of(told).past_page_cache is False
    assert len(lines_of(told)) == 8


@pytest.mark.varied
@pytest.mark.parametrize("when", [process.ScratchMade, plan.FileReady, plan.LineBegan])
def test_a_cancelled_one_removes_its_file(smbd: Smbd, when: type):
    def cancel(event: plan.ChildEvent, gate: process.RunGate) -> None:
        if isinstance(event, when):
            gate.cancel()

    told = measured(smbd.target(), smbd.secrets(), on_event=cancel)
    last = told[-1]
    assert isinstance(last, process.Failed)
    assert isinstance(last.error, errors.CancelledError)
    assert any(isinstance(event, process.ScratchRemoved) for event in told)
    assert left_on(smbd) == []


def test_a_run_that_fails_removes_the_file(smbd: Smbd, monkeypatch):
    request_blocks = SMBClient.request_blocks

    def fail_after_the_file(self: SMBClient, path: str, workload: Any, content: Content, meter: Meter) -> Any:
        if workload.writes:
            return request_blocks(self, path, workload, content, meter)
        raise errors.ConnectionLostError("the cable")

    monkeypatch.setattr(SMBClient, "request_blocks", fail_after_the_file)
    told = measured(smbd.target(), smbd.secrets())
    assert isinstance(told[-1], process.Failed)
    assert left_on(smbd) == []


def test_where_no_file_may_be_made_none_is_said_to_be_left(make_smbd):
    smbd = make_smbd(None, {"read only": "yes"})
    told = measured(smbd.target(), smbd.secrets())
    last = told[-1]
    assert isinstance(last, process.Failed)
    assert isinstance(last.error, errors.AccessDeniedError)
    assert "may still be there" not in last.text
    assert isinstance(told[-2], process.ScratchRemoved)


@pytest.mark.long
def test_a_file_that_cannot_be_removed_is_named(tmp_path: Path, monkeypatch):
    def refuse(_client: LocalClient, path: str) -> None:
        raise errors.AccessDeniedError(f"{path}: not allowed")

    monkeypatch.setattr(LocalClient, "remove", refuse)
    told = measured(local(tmp_path))
    warned = told[-2]
    assert isinstance(warned, process.Warned)
    (left,) = tmp_path.iterdir()
    assert left.name in warned.text
    assert "sharebench clean" in warned.text


def test_a_quick_test_of_a_stored_line_takes_its_place():
    quick = Quick(id="a", created_at="2026-01-31T10:00:00.000Z")
    line = QuickLine(access=quick_engine._WIDEST, command=Command.GET)
    once = quick.with_line(line)
    assert len(once.with_line(line).lines) == 1


def test_a_stepped_one_measures_each_line_and_ends_only_in_its_turn(tmp_path: Path):
    target = Target(protocol="file", path=str(tmp_path))
    waits: list[bool] = []

    def give_turn(event: plan.ChildEvent, gate: process.RunGate) -> None:
        if isinstance(event, plan.FileReady | plan.LineMeasured):
            waits.append(gate.must_wait(stepped=True))
            gate.hear(process.ControlMessage.STEP)

    told = measured(target, stepped=True, run_seconds=0.01, on_event=give_turn)
    assert waits == [True] * 9, "the file, and each of eight lines"
    assert len(lines_of(told)) == 8
    assert isinstance(told[-1], process.Finished)


def test_a_stepped_one_that_is_cancelled_while_it_waits_removes_its_file(tmp_path: Path):
    target = Target(protocol="file", path=str(tmp_path))

    def cancel(event: plan.ChildEvent, gate: process.RunGate) -> None:
        if isinstance(event, plan.FileReady):
            gate.cancel()

    told = measured(target, stepped=True, on_event=cancel)
    assert lines_of(told) == []
    assert isinstance(told[-1], process.Failed)
    assert told[-1].kind is errors.CancelledError
    assert list(tmp_path.iterdir()) == []
