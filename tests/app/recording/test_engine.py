"""The engine against a fake client with planned durations: what is told, in which order, and what is left behind."""

from __future__ import annotations

import hashlib
import math
from collections import deque

import pytest

from app.base.errors import (
    AccessDeniedError,
    CancelledError,
    ConnectionLostError,
    CorruptedError,
    MeasurementError,
    NoSuchFileError,
    NotAFileError,
    ProtocolError,
    SharebenchError,
    StalledError,
    UnreachableError,
)
from app.base.messages import line_of, message_of
from app.clients.base import Client, Content, Meter, Transfer
from app.recording.engine import Engine
from app.recording.ordered_digest import OrderedDigest
from app.recording.process import (
    EVENTS,
    ControlMessage,
    Event,
    Failed,
    Finished,
    MeasuringOrder,
    RunFinished,
    RunGate,
    RunStarted,
    ScratchMade,
    ScratchRemoved,
    Started,
    Warned,
)
from app.server.changes.script import StepRunningError
from storage.json_reader import DocumentError
from storage.records import Command, Phase, RunStatus, Target
from tests.app.fakes import FakeClient, FakeServer
from tests.specs import order_with

GET = Target(protocol="file", path="/data/file")
PUT = Target(protocol="file", path="/data")


def measure(plan: MeasuringOrder, server: FakeServer, brake: RunGate | None = None, on_event=None) -> list[Event]:
    events: list[Event] = []

    def emit(event: Event) -> None:
        events.append(message_of(line_of(event), EVENTS))
        if on_event:
            on_event(event)

    def client() -> Client:
        return FakeClient(server, plan.target)

    Engine(plan, client, brake or RunGate(), emit, now=lambda: "2026-01-31T10:00:00.000Z").measure()
    return events


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events if type(event).__name__ != "Progressed"]


def runs(events: list[Event]):
    return [event.run for event in events if isinstance(event, RunFinished)]


def test_get_warms_up_then_measures():
    server = FakeServer(files={"/data/file": 1000}, seconds=deque([9.0, 2.0, 4.0]))
    events = measure(order_with(command=Command.GET, target=GET, warmups=1, runs=2), server)
    assert kinds(events) == ["Started", *["RunStarted", "RunFinished"] * 3, "Finished"]
    assert [(r.phase, r.number, r.seconds, r.bytes_per_second) for r in runs(events)] == [
        (Phase.WARM_UP, 1, 9.0, 1000 / 9),
        (Phase.MEASURED, 1, 2.0, 500.0),
        (Phase.MEASURED, 2, 4.0, 250.0),
    ]
    started = events[0]
    assert isinstance(started, Started)
    assert started.size_bytes == 1000
    assert started.path_facts["credits"] == 512
    assert isinstance(started.path_facts["session.login_seconds"], float)


@pytest.mark.parametrize(("stepped", "connections"), [(False, 1), (True, 4)])
def test_runs_that_take_turns_each_have_a_connection_of_their_own(stepped: bool, connections: int):
    """One connection is lucky or not for all of its runs, so that pairs of two would not tell of the settings."""
    server = FakeServer(files={"/data/file": 1000})
    brake = RunGate()
    for _ in ("a warm-up run", "a run", "a run", "the end"):
        brake.hear(ControlMessage.STEP)
    plan = order_with(command=Command.GET, target=GET, warmups=1, runs=2, stepped=stepped)
    assert len(runs(measure(plan, server, brake))) == 3
    assert server.connections == connections


def test_put_removes_each_file_it_made():
    server = FakeServer(files={"/data/keep": 5})
    events = measure(order_with(command=Command.PUT, target=PUT, warmups=1, runs=1, size_bytes=64), server)
    made = [e.path for e in events if isinstance(e, ScratchMade)]
    assert len(made) == len(set(made)) == 2
    assert all(path.startswith("/data/.sharebench-") for path in made)
    assert [e.path for e in events if isinstance(e, ScratchRemoved)] == made
    assert server.files == {"/data/keep": 5}


def test_make_file_for_a_get_is_removed_at_the_end():
    server = FakeServer()
    plan = order_with(command=Command.GET, target=PUT, warmups=0, runs=2, size_bytes=64, make_file=True)
    events = measure(plan, server)
    assert kinds(events)[0] == "ScratchMade"
    assert kinds(events)[-2:] == ["ScratchRemoved", "Finished"]
    assert [r.size_bytes for r in runs(events)] == [64, 64]
    assert server.files == {}


def test_a_failed_run_is_told_and_ends_the_series():
    server = FakeServer(files={"/data/file": 1000}, fail_at={2: ConnectionLostError("the server went away")})
    events = measure(order_with(command=Command.GET, target=GET, warmups=0, runs=3), server)
    assert [(r.status, r.seconds) for r in runs(events)] == [(RunStatus.VALID, 1.0), (RunStatus.FAILED, None)]
    assert events[-1] == Failed(kind=ConnectionLostError, text="the server went away")


def test_a_lost_put_is_cleaned_up_over_a_new_connection():
    server = FakeServer(fail_at={1: ConnectionLostError("gone")})
    original = FakeClient.remove
    lost = []

    def remove(self, path):
        if self.server.connections == 1:
            lost.append(path)
            raise ConnectionLostError("gone")
        original(self, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeClient, "remove", remove)
        events = measure(order_with(command=Command.PUT, target=PUT, warmups=0, runs=2, size_bytes=64), server)
    assert lost
    assert server.connections == 2
    assert server.files == {}
    assert kinds(events)[-2:] == ["ScratchRemoved", "Failed"]


def test_what_could_not_be_removed_is_named():
    server = FakeServer(fail_at={1: ConnectionLostError("gone")})

    def remove(self, path):
        raise AccessDeniedError("not allowed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeClient, "remove", remove)
        events = measure(order_with(command=Command.PUT, target=PUT, warmups=0, runs=1, size_bytes=64), server)
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert f"{next(iter(server.files))} may still be there" in failed.text


def test_no_connection_fails_before_any_run():
    server = FakeServer(refuse_connections=UnreachableError("nobody there"))
    assert measure(order_with(command=Command.GET, target=GET), server) == [
        Failed(kind=UnreachableError, text="nobody there")
    ]


def test_what_the_command_line_would_add_to_an_error_goes_with_it():
    server = FakeServer(refuse_connections=UnreachableError("leave signing out", options="--sign"))
    failed = measure(order_with(command=Command.GET, target=GET), server)[-1]
    assert isinstance(failed, Failed)
    assert message_of(line_of(failed), EVENTS) == failed
    told = failed.error
    assert (type(told), str(told), told.options) == (UnreachableError, "leave signing out", "--sign")


def test_an_error_of_another_module_is_told_as_the_kind_above_it():
    failed = Failed.of(StepRunningError("noon", "7"))
    assert (failed.kind, message_of(line_of(failed), EVENTS)) == (MeasurementError, failed)


@pytest.mark.parametrize("kind", ["ClassVar", "Exception", "lower", ""])
def test_a_process_that_names_no_error_of_ours_is_not_believed(kind: str):
    line = line_of(Failed(kind=MeasurementError, text="")).replace("MeasurementError", kind)
    with pytest.raises(DocumentError, match="kind: expected a known error"):
        message_of(line, EVENTS)


def test_no_file_fails_before_any_run():
    events = measure(order_with(command=Command.GET, target=GET), FakeServer())
    assert events == [Failed(kind=NoSuchFileError, text="no file /data/file on fake")]


def test_cancelling_keeps_what_is_done_and_cleans_up():
    server = FakeServer()
    brake = RunGate()

    def cancel_in_second_run(event: Event) -> None:
        if isinstance(event, RunStarted) and event.number == 2:
            brake.cancel()

    server.fail_at = {2: ConnectionLostError("aborted")}
    plan = order_with(command=Command.PUT, target=PUT, warmups=0, runs=5, size_bytes=64)
    events = measure(plan, server, brake, cancel_in_second_run)
    assert len(runs(events)) == 1
    assert events[-1] == Failed(kind=CancelledError, text="cancelled")
    assert server.files == {}


def test_finishing_after_a_run_ends_well():
    server = FakeServer(files={"/data/file": 1000})
    brake = RunGate()

    def finish(event: Event) -> None:
        if isinstance(event, RunStarted) and event.number == 2:
            brake.hear(ControlMessage.FINISH)

    events = measure(order_with(command=Command.GET, target=GET, warmups=0, runs=5), server, brake, finish)
    assert [r.number for r in runs(events)] == [1, 2]
    assert events[-1] == Finished()


def test_until_measures_on_to_the_interval():
    server = FakeServer(files={"/data/file": 1000}, seconds=deque([1.0, 1.2, 1.1, *[1.1] * 40]))
    events = measure(
        order_with(command=Command.GET, target=GET, warmups=0, runs=3, until_percent=2.0, max_runs=40), server
    )
    assert events[-1] == Finished()
    assert 3 < len(runs(events)) < 40


@pytest.mark.parametrize(("planned", "most", "made"), [(8, 40, 8), (3, 40, 3), (8, 5, 5)])
def test_until_makes_the_planned_runs_also_where_fewer_would_do(planned: int, most: int, made: int):
    server = FakeServer(files={"/data/file": 1000}, seconds=deque([1.0] * 40))
    plan = order_with(command=Command.GET, target=GET, warmups=0, runs=planned, until_percent=2.0, max_runs=most)
    assert len(runs(measure(plan, server))) == made


def test_until_stops_at_the_maximum():
    server = FakeServer(files={"/data/file": 1000}, seconds=deque([1.0, 2.0] * 10))
    events = measure(order_with(command=Command.GET, target=GET, warmups=0, until_percent=1.0, max_runs=6), server)
    assert events[-1] == Finished()
    assert len(runs(events)) == 6


def test_a_resumed_series_numbers_on_and_makes_only_what_is_missing():
    server = FakeServer(files={"/data/file": 1000, "/data/file/.sharebench-0123456789ab": 7})
    plan = order_with(
        command=Command.GET, target=GET, warmups=1, runs=4, done_warmups=2, done_runs=3, done_rates=(1.0, 2.0, 3.0),
        scratch_path="/data/file/.sharebench-0123456789ab",
    )  # fmt: skip
    events = measure(plan, server)
    assert [(r.phase, r.number) for r in runs(events)] == [(Phase.WARM_UP, 3), (Phase.MEASURED, 4)]
    assert "/data/file/.sharebench-0123456789ab" not in server.files


def test_a_changed_size_is_warned_of():
    server = FakeServer(files={"/data/file": 1000})

    def grow(event: Event) -> None:
        if isinstance(event, RunStarted) and event.number == 2:
            server.files["/data/file"] = 1500

    events = measure(order_with(command=Command.GET, target=GET, warmups=0, runs=2), server, on_event=grow)
    assert [r.size_bytes for r in runs(events)] == [1000, 1500]
    assert any(isinstance(event, Warned) and "changed its size" in event.text for event in events)


@pytest.mark.parametrize(("digest", "ends"), [(hashlib.sha256(b"got").hexdigest(), "Finished"), ("0" * 64, "Failed")])
def test_verify_compares_what_two_ways_read(digest: str, ends: str):
    server = FakeServer(files={"/data/file": 3}, digests=deque([digest]))
    events = measure(order_with(command=Command.GET, target=GET, warmups=0, runs=1, verify=True), server)
    assert kinds(events)[-1] == ends
    if ends == "Failed":
        assert isinstance(events[-1], Failed)
        assert events[-1].kind is CorruptedError


def test_ordered_digest_takes_blocks_in_any_order():
    digest = OrderedDigest()
    for offset, block in ((3, b"def"), (6, b"g"), (0, b"abc")):
        digest(offset, memoryview(block))
    assert digest.hexdigest() == hashlib.sha256(b"abcdefg").hexdigest()


def test_a_block_that_is_held_back_does_not_fill_the_memory_with_the_others():
    digest = OrderedDigest(most_early_bytes=6)
    digest(3, memoryview(b"def"))
    digest(6, memoryview(b"ghi"))
    with pytest.raises(ProtocolError, match="holds back"):
        digest(9, memoryview(b"j"))

    in_order = OrderedDigest(most_early_bytes=6)
    for offset in range(0, 30, 3):
        in_order(offset, memoryview(b"abc"))
    assert in_order.hexdigest() == hashlib.sha256(b"abc" * 10).hexdigest()


def test_a_complete_series_names_the_file_that_it_could_not_remove(monkeypatch: pytest.MonkeyPatch):
    def refuse(_client: FakeClient, path: str) -> None:
        raise AccessDeniedError(f"{path} may not be removed")

    monkeypatch.setattr(FakeClient, "remove", refuse)
    server = FakeServer()
    plan = order_with(command=Command.GET, target=PUT, make_file=True, size_bytes=64, warmups=0, runs=1)
    events = measure(plan, server)
    warned, finished = events[-2:]
    (left,) = server.files
    assert isinstance(finished, Finished)
    assert isinstance(warned, Warned)
    assert warned.text == f"{left} may still be there ({left} may not be removed): remove it by hand"


def test_a_path_that_is_none_of_ours_is_never_removed():
    for path in ("/data/file/precious.doc", "/other/.sharebench-0123456789ab", "/data/file/../.sharebench-0123456789ab",
                 "/data/file/.sharebench-0123456789abc", "/data/file/.sharebench-../precious.doc"):  # fmt: skip
        server = FakeServer(files={"/data/file": 1000, path: 7})
        events = measure(order_with(command=Command.GET, target=GET, warmups=0, runs=1, scratch_path=path), server)
        assert path in server.files
        assert isinstance(events[-1], Failed)
        assert "left as it is" in events[-1].text


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize("command", [Command.GET, Command.PUT])
def test_seconds_that_cannot_be_end_the_series(command: Command, seconds: float):
    server = FakeServer(files={"/data/file": 1000}, seconds=deque([1.0, seconds]))
    target = GET if command is Command.GET else PUT
    events = measure(order_with(command=command, target=target, warmups=0, runs=3, size_bytes=64), server)
    assert [run.status for run in runs(events)] == [RunStatus.VALID, RunStatus.FAILED]
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert failed.kind is ProtocolError
    assert "cannot be" in failed.text
    assert server.files == {"/data/file": 1000}


def test_a_put_that_moved_another_size_ends_the_series(monkeypatch: pytest.MonkeyPatch):
    part = FakeClient._transfer
    monkeypatch.setattr(FakeClient, "_transfer", lambda self, size, meter: part(self, size // 2, meter))
    server = FakeServer()
    events = measure(order_with(command=Command.PUT, target=PUT, warmups=0, runs=3, size_bytes=64), server)
    assert [run.status for run in runs(events)] == [RunStatus.FAILED]
    assert server.files == {}


@pytest.mark.parametrize(("size", "kind"), [(0, NotAFileError), (-5, ProtocolError), (10**30, ProtocolError)])
def test_a_size_that_cannot_be_measured_ends_before_any_run(size: int, kind: type[SharebenchError]):
    events = measure(order_with(command=Command.GET, target=GET), FakeServer(files={"/data/file": size}))
    assert kinds(events) == ["Failed"]
    assert isinstance(events[0], Failed)
    assert events[0].kind is kind
    assert "/data/file" in events[0].text


def test_a_file_that_was_made_and_has_another_size_is_not_measured(monkeypatch: pytest.MonkeyPatch):
    def half(self: FakeClient, path: str, content: Content, meter: Meter) -> Transfer:
        self.server.files[path] = content.size_bytes // 2
        return self._transfer(content.size_bytes, meter)

    monkeypatch.setattr(FakeClient, "put", half)
    server = FakeServer()
    events = measure(order_with(command=Command.GET, target=PUT, make_file=True, size_bytes=64), server)
    assert not runs(events)
    assert isinstance(events[-1], Failed)
    assert "32 of 64 bytes" in events[-1].text
    assert server.files == {}


def test_a_server_that_stalls_is_asked_to_remove_once(monkeypatch: pytest.MonkeyPatch):
    """A second attempt over a new connection would only wait as long again."""
    asked: list[str] = []

    def stall(_client: FakeClient, path: str) -> None:
        asked.append(path)
        raise StalledError("nothing moved")

    monkeypatch.setattr(FakeClient, "remove", stall)
    server = FakeServer(fail_at={1: StalledError("nothing moved")})
    measure(order_with(command=Command.PUT, target=PUT, warmups=0, runs=1, size_bytes=64), server)
    assert len(asked) == 1


@pytest.mark.parametrize(("begun", "left"), [(False, False), (True, True)])
def test_a_file_that_may_not_be_opened_was_never_made(begun: bool, left: bool, monkeypatch: pytest.MonkeyPatch):
    """Seen in a folder that could be neither written nor listed: each later command told of a file there."""

    def refuse(_client: FakeClient, path: str, content: Content, meter: Meter) -> Transfer:
        if begun:
            meter.start()
        raise AccessDeniedError("not allowed")

    def deny(_client: FakeClient, path: str) -> None:
        raise AccessDeniedError(f"{path} may not be removed")

    monkeypatch.setattr(FakeClient, "put", refuse)
    monkeypatch.setattr(FakeClient, "remove", deny)
    plan = order_with(command=Command.PUT, target=PUT, warmups=0, runs=1, size_bytes=64)
    events = measure(plan, FakeServer())
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert failed.kind is AccessDeniedError
    assert ("may still be there" in failed.text) == left
    assert ("ScratchRemoved" in kinds(events)) != left
