"""Requests at random places: where they go, what is counted of them, and what a server or a disk does not do."""

from __future__ import annotations

import errno
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.base import errors
from app.clients.base import MAX_BLOCK_BYTES, Content, Meter, Secrets
from app.clients.local import LocalClient
from app.clients.random_requests import RandomWorkload
from app.clients.smb.client import SMBClient
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS

KIB = 1024
MIB = 1 << 20


def workload(**values: object) -> RandomWorkload:
    usual: dict[str, object] = {"block_bytes": 4 * KIB, "in_flight": 4, "seconds": 0.2, "read_percent": 100}
    return RandomWorkload(**usual | values)  # type: ignore[arg-type]


def local_client(path: Path, **settings: object) -> LocalClient:
    return LocalClient(Target(protocol="file", path=str(path)), Secrets(), Settings(**settings))  # type: ignore[arg-type]


@pytest.fixture
def share_file(smbd: Smbd) -> Iterator[Path]:
    """An empty file on the share that all may write to."""
    path = smbd.folder / "random"
    path.touch()
    path.chmod(0o666)
    yield path
    path.unlink()


@pytest.fixture
def smb_client(smbd: Smbd) -> Iterator[Callable[..., SMBClient]]:
    """A factory of clients, by the fields of `Settings`."""
    with ExitStack() as stack:

        def make(**settings: object) -> SMBClient:
            client = SMBClient(smbd.target(), smbd.secrets(), Settings(**settings))  # type: ignore[arg-type]
            stack.callback(client.close)
            return client

        yield make


def test_places_are_whole_blocks_inside_the_file_and_reach_each_of_them():
    places = itertools.islice(workload().places(10 * 4 * KIB + 1), 1000)
    offsets = {offset for offset, _reads in places}
    assert offsets == {number * 4 * KIB for number in range(10)}


@pytest.mark.parametrize(("read_percent", "least", "most"), [(100, 1.0, 1.0), (70, 0.68, 0.72), (0, 0.0, 0.0)])
def test_the_share_of_reads_is_as_asked(read_percent: int, least: float, most: float):
    places = list(itertools.islice(workload(read_percent=read_percent).places(MIB), 20_000))
    share = sum(reads for _offset, reads in places) / len(places)
    assert least <= share <= most


def test_both_sides_of_a_comparison_have_one_order_and_each_run_and_worker_another():
    def first_places(run_name: str, worker: int = 0) -> list[tuple[int, bool]]:
        return list(itertools.islice(workload(run_name=run_name).places(64 * MIB, worker), 50))

    assert first_places("measured 1") == first_places("measured 1")
    assert first_places("measured 1") != first_places("measured 2")
    assert first_places("measured 1") != first_places("measured 1", 1)


@pytest.mark.parametrize("size_bytes", [1, 4 * KIB - 1])
def test_a_file_smaller_than_a_block_is_refused_before_anything_is_asked(
    tmp_path: Path, smb_client: Callable[..., SMBClient], share_file: Path, size_bytes: int
):
    path = tmp_path / "small"
    path.write_bytes(bytes(size_bytes))
    with pytest.raises(errors.NotAFileError, match="--block"):
        local_client(path).request_blocks(str(path), workload(), Content(MIB), meter())

    share_file.write_bytes(bytes(size_bytes))
    with pytest.raises(errors.NotAFileError, match="--block"):
        smb_client().request_blocks("random", workload(), Content(MIB), meter())


@pytest.mark.parametrize("in_flight", [1, 4])
@pytest.mark.parametrize("read_percent", [100, 50, 0])
def test_a_local_file_answers_and_each_request_is_counted(tmp_path: Path, read_percent: int, in_flight: int):
    path = tmp_path / "file"
    path.write_bytes(os.urandom(4 * MIB))
    asked = workload(read_percent=read_percent, in_flight=in_flight)
    transfer = local_client(path).request_blocks(str(path), asked, Content(4 * MIB), meter())
    requests = transfer.requests
    assert requests is not None
    assert requests.count * 4 * KIB == transfer.size_bytes > 0
    assert (requests.reads.count > 0) == (read_percent > 0)
    assert (requests.writes.count > 0) == (read_percent < 100)
    assert transfer.seconds >= 0.2
    longest = requests.all.max_seconds
    assert longest is not None
    assert longest <= transfer.seconds
    assert path.stat().st_size == 4 * MIB


@pytest.mark.parametrize("read_percent", [100, 0])
def test_past_the_page_cache_whole_sectors_only(tmp_path: Path, read_percent: int):
    path = tmp_path / "file"
    path.write_bytes(os.urandom(MIB))
    client = local_client(path, drop_cache=True)
    asked = workload(read_percent=read_percent)
    assert client.request_blocks(str(path), asked, Content(MIB), meter()).requests
    with pytest.raises(errors.UsageError) as caught:
        client.request_blocks(str(path), workload(block_bytes=1000), Content(MIB), meter())
    assert "--block" in caught.value.options


def test_a_file_system_without_a_way_past_the_page_cache_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "file"
    path.write_bytes(bytes(MIB))

    def refuse(*_arguments: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "preadv", refuse)
    with pytest.raises(errors.UsageError) as caught:
        local_client(path, drop_cache=True).request_blocks(str(path), workload(), Content(MIB), meter())
    assert "--drop-cache" in caught.value.options


def test_a_disk_error_of_one_thread_ends_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "file"
    path.write_bytes(bytes(MIB))
    calls = itertools.count()
    read = os.preadv

    def fail_later(*arguments: object) -> int:
        if next(calls) == 50:
            raise OSError(errno.EIO, "Input/output error")
        return read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "preadv", fail_later)
    began_at = time.monotonic()
    with pytest.raises(errors.MeasurementError):
        local_client(path).request_blocks(str(path), workload(seconds=2 * HANG_SECONDS), Content(MIB), meter())
    assert time.monotonic() - began_at < HANG_SECONDS


def test_a_local_file_that_is_cut_meanwhile_fails_the_run(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(bytes(MIB))
    threading.Timer(0.1, os.truncate, (path, 0)).start()
    with pytest.raises(errors.ProtocolError, match="file"):
        local_client(path).request_blocks(str(path), workload(seconds=30), Content(MIB), meter())


@pytest.mark.varied
@pytest.mark.parametrize("settings", [{}, {"sign": True}, {"encrypt": True}], ids=["plain", "signed", "encrypted"])
@pytest.mark.parametrize("read_percent", [100, 50, 0])
def test_smbd_answers_and_each_request_is_counted(
    smb_client: Callable[..., SMBClient], share_file: Path, settings: dict[str, object], read_percent: int
):
    before = os.urandom(4 * MIB)
    client = smb_client(**settings)
    share_file.write_bytes(before)
    content = Content(4 * MIB)
    asked = workload(read_percent=read_percent, in_flight=16)
    transfer = client.request_blocks("random", asked, content, meter())

    requests = transfer.requests
    assert requests is not None
    assert requests.count * 4 * KIB == transfer.size_bytes > 0
    assert (requests.reads.count > 0) == (read_percent > 0)
    assert (requests.writes.count > 0) == (read_percent < 100)

    # Each block of the file is what was there, or what was to be written there.
    after = share_file.read_bytes()
    assert len(after) == 4 * MIB
    written = 0
    for offset in range(0, 4 * MIB, 4 * KIB):
        block = after[offset : offset + 4 * KIB]
        if block != before[offset : offset + 4 * KIB]:
            written += 1
            assert block == content.block(offset, 4 * KIB)
    assert (written > 0) == (read_percent < 100)


def test_blocks_of_several_credits_are_asked_for_as_the_credits_allow(
    smb_client: Callable[..., SMBClient], share_file: Path
):
    share_file.write_bytes(bytes(16 * MIB))
    client = smb_client(block_bytes=MIB, in_flight=8)
    transfer = client.request_blocks("random", workload(block_bytes=MIB, in_flight=8), Content(MIB), meter())
    assert transfer.requests
    assert transfer.size_bytes == transfer.requests.count * MIB


def test_a_server_that_takes_smaller_requests_only_is_told(smb_client: Callable[..., SMBClient], share_file: Path):
    share_file.write_bytes(bytes(16 * MIB))
    client = smb_client(block_bytes=MAX_BLOCK_BYTES)
    largest = client.facts_of_path()["smb.max_read_bytes"]
    assert isinstance(largest, int)
    with pytest.raises(errors.UsageError) as caught:
        client.request_blocks("random", workload(block_bytes=largest + 1), Content(MIB), meter())
    assert "--block" in caught.value.options


def test_a_file_that_is_cut_on_the_server_fails_the_run_and_the_next_one_works(
    smb_client: Callable[..., SMBClient], share_file: Path
):
    share_file.write_bytes(bytes(MIB))
    client = smb_client()
    threading.Timer(0.2, os.truncate, (share_file, 0)).start()
    with pytest.raises(errors.ProtocolError):
        client.request_blocks("random", workload(seconds=30), Content(MIB), meter())
    assert client.size("random") == 0


def test_a_run_over_smb_can_be_cancelled(smb_client: Callable[..., SMBClient], share_file: Path):
    share_file.write_bytes(bytes(MIB))
    client = smb_client()
    _assert_ends_when_cancelled(client, "random")


def test_a_run_on_a_local_file_can_be_cancelled(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(bytes(MIB))
    _assert_ends_when_cancelled(local_client(path), str(path))


def _assert_ends_when_cancelled(client: SMBClient | LocalClient, path: str) -> None:
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    began_at = time.monotonic()
    with pytest.raises(errors.CancelledError):
        client.request_blocks(path, workload(seconds=2 * HANG_SECONDS), Content(MIB), Meter(cancelled))
    assert time.monotonic() - began_at < HANG_SECONDS
