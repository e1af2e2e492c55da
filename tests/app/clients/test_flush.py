"""When a put ends: at the answer to its last write, or at a flush where that was asked for."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from app.base.errors import AccessDeniedError, StalledError
from app.clients.base import Content, FileMove, Meter, Secrets
from app.clients.local import LocalClient
from app.clients.registry import make_files
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.client import SMBClient
from app.clients.smb.transfer import FLUSH_TIMEOUTS
from app.clients.tree_client import TreeClient
from app.recording.child import measure_series
from app.recording.process import Event, Failed, RunGate
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter
from tests.builders import all_series
from tests.command_line import QUICK, Inside
from tests.servers.smbd import Smbd
from tests.specs import order_with

MIB = 1 << 20
_COMMAND = slice(wire.FRAME_BYTES + 12, wire.FRAME_BYTES + 14)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The command of each SMB request of its own, in the order of sending."""
    commands: list[int] = []
    send = Channel.send

    def noted(self: Channel, message: bytearray, *rest: object, **more: object) -> object:
        commands.append(int.from_bytes(message[_COMMAND], "little"))
        return send(self, message, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Channel, "send", noted)
    return commands


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each file had when it was synced."""
    sizes: list[int] = []
    fsync = os.fsync

    def noted(file: int) -> None:
        sizes.append(os.fstat(file).st_size)
        fsync(file)

    monkeypatch.setattr(os, "fsync", noted)
    return sizes


@pytest.fixture
def put(smbd: Smbd) -> Iterator[Callable[..., None]]:
    with ExitStack() as stack:

        def put_one(name: str, size_bytes: int, **settings: object) -> None:
            client = SMBClient(smbd.target(), smbd.secrets(), Settings(**settings))  # type: ignore[arg-type]
            stack.callback(client.close)
            client.put(name, Content(size_bytes), meter())
            client.remove(name)

        yield put_one


def test_smbd_is_asked_once_a_put_to_flush_between_the_last_write_and_the_close(
    put: Callable[..., None], sent: list[int]
):
    put("flushed", 5 * MIB + 1, flush=True, block_bytes=MIB)
    assert sent.count(wire.Opcode.FLUSH) == 1
    at = sent.index(wire.Opcode.FLUSH)
    assert wire.Opcode.WRITE not in sent[at:]
    assert sent[at - 1] == wire.Opcode.WRITE
    assert sent[at + 1] == wire.Opcode.CLOSE


def test_without_the_option_smbd_is_not_asked_to_flush(put: Callable[..., None], sent: list[int]):
    put("answered", 5 * MIB + 1)
    assert wire.Opcode.WRITE in sent
    assert wire.Opcode.FLUSH not in sent


@pytest.mark.parametrize("flush", [False, True])
def test_the_time_of_a_put_includes_its_flush(smbd: Smbd, monkeypatch: pytest.MonkeyPatch, flush: bool):
    now = 0.0
    ask = Channel.ask

    def slow(self: Channel, message: bytearray, **more: object) -> object:
        nonlocal now
        answer = ask(self, message, **more)  # type: ignore[arg-type]
        if int.from_bytes(message[_COMMAND], "little") == wire.Opcode.FLUSH:
            now += 1000.0
        return answer

    monkeypatch.setattr(Channel, "ask", slow)
    with closing(SMBClient(smbd.target(), smbd.secrets(), Settings(flush=flush))) as client:
        done = client.put("timed", Content(MIB), Meter(threading.Event(), clock=lambda: now))
        client.remove("timed")
    assert done.seconds == (1000.0 if flush else 0.0)


def test_a_server_may_take_longer_for_a_flush_than_for_what_moves(smbd: Smbd, monkeypatch: pytest.MonkeyPatch):
    patience = dict[int, float]()
    ask = Channel.ask

    def noted(self: Channel, message: bytearray, **more: object) -> object:
        patience[int.from_bytes(message[_COMMAND], "little")] = self.stall.seconds
        return ask(self, message, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Channel, "ask", noted)
    with closing(SMBClient(smbd.target(), smbd.secrets(), Settings(flush=True, timeout_seconds=7.0))) as client:
        client.put("patient", Content(MIB), meter())
        client.remove("patient")
    assert patience[wire.Opcode.FLUSH] == 7.0 * FLUSH_TIMEOUTS
    assert patience[wire.Opcode.CLOSE] == 7.0


def test_a_flush_that_the_server_refuses_fails_the_put(smbd: Smbd, monkeypatch: pytest.MonkeyPatch):
    of_no_file = wire.Opcode.FLUSH, wire.flush(bytes(16))[1]
    monkeypatch.setattr(wire, "flush", lambda _file_id: of_no_file)
    with closing(SMBClient(smbd.target(), smbd.secrets(), Settings(flush=True))) as client:
        with pytest.raises(Exception) as raised:
            client.put("flush-refused", Content(MIB), meter())
        assert not isinstance(raised.value, AccessDeniedError | StalledError)
        client.remove("flush-refused")


@pytest.mark.parametrize("flush", [False, True])
def test_each_file_of_a_tree_on_smbd_is_flushed_once(smbd: Smbd, sent: list[int], flush: bool):
    settings = Settings(flush=flush)
    client = SMBClient(smbd.target(), smbd.secrets(), settings)
    with closing(TreeClient(client, make_files(smbd.target(), smbd.secrets(), settings), 20)) as tree:
        tree.connect()
        tree.put("tree", Content(20 * 16384), meter())
        assert sent.count(wire.Opcode.FLUSH) == (20 if flush else 0)
        assert tree.size("tree") == 20 * 16384
        tree.remove("tree")


@pytest.mark.parametrize("size_bytes", [1, 65536, 65537, 300_000])
def test_flushed_files_of_any_size_arrive_whole(smbd: Smbd, size_bytes: int):
    data = memoryview(os.urandom(size_bytes))
    with closing(make_files(smbd.target(), smbd.secrets(), Settings(flush=True, block_bytes=65536))) as files:
        files.connect()
        files.move_files([FileMove("whole", size_bytes, data)], lambda *_: None)
        assert (smbd.folder / "whole").read_bytes() == data
        files.remove("whole")


def local(path: Path, **settings: object) -> LocalClient:
    return LocalClient(Target(protocol="file", path=str(path)), Secrets(), Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(("flush", "sizes"), [(False, []), (True, [3 * MIB + 1])])
def test_a_local_put_is_synced_once_when_all_of_it_is_written(
    tmp_path: Path, synced: list[int], flush: bool, sizes: list[int]
):
    local(tmp_path, flush=flush).put(str(tmp_path / "file"), Content(3 * MIB + 1), meter())
    assert synced == sizes


@pytest.mark.parametrize(("flush", "times"), [(False, 0), (True, 5)])
def test_each_file_of_a_local_tree_is_synced_once(tmp_path: Path, synced: list[int], flush: bool, times: int):
    client = local(tmp_path, flush=flush)
    TreeClient(client, client, 5).put(str(tmp_path / "tree"), Content(5 * 4096), meter())
    assert synced == [4096] * times


def test_a_local_file_that_was_made_to_be_read_is_synced_before(tmp_path: Path, synced: list[int]):
    target = Target(protocol="file", path=str(tmp_path))
    order = order_with(target=target, client="sharebench", size_bytes=MIB, make_file=True, runs=2, warmups=1)
    events: list[Event] = []
    measure_series(order, RunGate(), events.append)
    assert not [event for event in events if isinstance(event, Failed)]
    assert synced == [MIB]


PUT = ("--put", "--size", "1M", "--runs", "2", "--warmup", "0", *QUICK)


@pytest.mark.parametrize(("words", "flushed"), [((), False), (("--flush",), True)])
def test_a_series_says_whether_it_was_flushed_and_keeps_it_when_it_is_measured_again(
    inside: Inside, tmp_path: Path, words: tuple[str, ...], flushed: bool
):
    document = inside.json("run", f"file://{tmp_path}", *PUT, *words, "--json")
    again = inside.json("run", "--again", document["id"], "--json")
    for found in (document, again):
        assert found["flushed"] is flushed
        assert found["plan"]["settings"]["flush"] is flushed


def test_one_flushed_and_one_not_can_be_interleaved(inside: Inside, tmp_path: Path):
    # Two runs a side are inconclusive, whatever they show.
    done = inside("run", f"file://{tmp_path}", *PUT, "--versus", "--flush", "--json")
    assert done.returncode == 3, done.stderr
    assert sorted(one.flushed for one in all_series(inside.db)) == [False, True]


def test_the_users_of_a_load_in_a_trial_flush_nothing(tmp_path: Path):
    inside = Inside(tmp_path / "notebook.db")
    told = inside.fails(2, "try", "strict sync=no", "smb://127.0.0.1:1/share", "--load", "2", "--flush")
    assert "--flush" in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("smb://127.0.0.1:1/share/file",),
        ("--put", "smb://127.0.0.1:1/share", "--client", "smbclient"),
        ("--put", "smb://127.0.0.1:1/share", "--client", "smbclient-ng"),
        ("--put", "ftp://127.0.0.1:1/"),
        ("--put", "ftp://127.0.0.1:1/", "--client", "curl"),
        ("--put", "iperf3://127.0.0.1:1"),
        ("--put", "smb://127.0.0.1:1/share", "--versus", "--client smbclient"),
    ],
)
def test_what_cannot_flush_is_refused_in_a_line_before_anything_is_measured(tmp_path: Path, words: tuple[str, ...]):
    inside = Inside(tmp_path / "notebook.db")
    told = inside.fails(2, "run", *words, "--flush")
    assert "--flush" in told
    assert len(told.splitlines()) == 1
    assert not inside.db.exists()
