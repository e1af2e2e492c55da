"""The client for local paths."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.errors import AccessDeniedError, CancelledError, NoSpaceError, NoSuchFileError, NotAFileError
from app.clients.base import Content, Meter, Secrets
from app.clients.local import LocalClient
from app.clients.local_files import mount_facts
from storage.plan import Settings
from storage.records import Target
from tests.app.fakes import meter, offset_in_page
from tests.servers.process import OTHER_USER

ODD_NAMES = ["with space", "quo'te\"s", "[brackets]", "Grüße 你好", "100%", "%41", "-dash", "*?"]


def client(path, **settings):
    return LocalClient(Target(protocol="file", path=str(path)), Secrets(), Settings(**settings))


@pytest.mark.parametrize("drop_cache", [False, True])
def test_get_reads_every_byte(tmp_path, drop_cache):
    content = os.urandom(3_000_001)
    (tmp_path / "file").write_bytes(content)
    seen = bytearray(len(content))

    def sink(offset, block):
        seen[offset : offset + len(block)] = block

    done = client(tmp_path, block_bytes=65536, drop_cache=drop_cache).get(str(tmp_path / "file"), meter(), sink)
    assert bytes(seen) == content
    assert done.size_bytes == len(content)
    assert done.seconds > 0


def test_what_a_dropped_cache_takes_is_no_part_of_opening(tmp_path, monkeypatch):
    class Clock:
        now = 0.0

    monkeypatch.setattr(time, "perf_counter", lambda: Clock.now)
    monkeypatch.setattr(os, "fsync", lambda _file: setattr(Clock, "now", Clock.now + 60))
    (tmp_path / "file").write_bytes(bytes(1000))
    done = client(tmp_path, drop_cache=True).get(str(tmp_path / "file"), meter())
    assert (Clock.now, done.open_seconds) == (60, 0)


def test_what_is_received_starts_a_page_or_some_processors_copy_at_a_fifth(tmp_path):
    (tmp_path / "file").write_bytes(bytes(300_000))
    offsets = set()
    client(tmp_path, block_bytes=65536).get(
        str(tmp_path / "file"), meter(), lambda _, block: offsets.add(offset_in_page(block))
    )
    assert offsets == {0}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_put_writes_what_it_is_given_under_any_name(tmp_path, name):
    content, path = Content(9_000_001), str(tmp_path / name)
    it = client(tmp_path)
    assert it.put(path, content, meter()).size_bytes == 9_000_001
    assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == content.digest() == it.digest(path)
    assert [(e.name, e.size_bytes, e.is_folder) for e in it.list(str(tmp_path))] == [(name, 9_000_001, False)]
    assert it.size(path) == 9_000_001
    it.remove(path)
    it.remove(path)
    assert it.list(str(tmp_path)) == []


def test_put_replaces_nothing(tmp_path):
    (tmp_path / "file").write_bytes(b"precious")
    with pytest.raises(AccessDeniedError, match="none is replaced"):
        client(tmp_path).put(str(tmp_path / "file"), Content(10), meter())
    assert (tmp_path / "file").read_bytes() == b"precious"


def test_put_into_a_full_disk_says_so(small_disk):
    it, path = client(small_disk), str(small_disk / "file")
    with pytest.raises(NoSpaceError, match="disk is full"):
        it.put(path, Content(8 << 20), meter())
    it.remove(path)
    assert it.list(str(small_disk)) == []


def test_what_is_no_file_is_refused(tmp_path):
    it = client(tmp_path)
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoSuchFileError, match="no such file"):
        it.size(str(tmp_path / "missing"))
    with pytest.raises(NoSuchFileError, match="no such folder"):
        it.put(str(tmp_path / "missing" / "file"), Content(10), meter())
    for path in (tmp_path, tmp_path / "empty", tmp_path / "pipe"):
        with pytest.raises(NotAFileError):
            it.get(str(path), meter())
    with pytest.raises(NotAFileError, match="folder"):
        it.size(str(tmp_path))


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    with pytest.raises(NoSuchFileError):
        client(tmp_path).size("/a\0b")


@pytest.fixture
def powerless() -> Iterator[None]:
    """Root may write everywhere, so that a test of what may not be written is run as another user."""
    was_root = os.geteuid() == 0
    if was_root:
        os.seteuid(OTHER_USER)
    yield
    if was_root:
        os.seteuid(0)


def test_a_folder_that_cannot_be_written_is_named(powerless: None):
    with pytest.raises(AccessDeniedError):
        client("/").put("/sharebench-test", Content(10), meter())
    assert not Path("/sharebench-test").exists()


def test_cancelling_ends_a_transfer(tmp_path):
    (tmp_path / "file").write_bytes(bytes(1_000_000))
    stop = threading.Event()
    stop.set()
    with pytest.raises(CancelledError):
        client(tmp_path, block_bytes=4096).get(str(tmp_path / "file"), Meter(stop, interval_seconds=0))


def test_the_mount_is_told():
    mounts = "/dev/vda / ext4 rw 0 0\n//srv/share /mnt/my\\040share cifs rw,vers=3.1.1 0 0\ntmpfs /mnt tmpfs rw 0 0\n"
    assert mount_facts("/mnt/my share/file", mounts) == {
        "mount.source": "//srv/share",
        "mount.folder": "/mnt/my share",
        "mount.type": "cifs",
        "mount.options": "rw,vers=3.1.1",
    }
    assert mount_facts("/mnt/my sharefile", mounts)["mount.type"] == "tmpfs"
    assert mount_facts("/srv", mounts)["mount.type"] == "ext4"


def test_a_mount_whose_folder_is_not_ascii_is_found():
    mounts = "/dev/sda1 / ext4 rw 0 0\n//srv/share /mnt/Bücher\\040\\134neu cifs rw 0 0\n"
    assert mount_facts("/mnt/Bücher \\neu/file", mounts)["mount.type"] == "cifs"
