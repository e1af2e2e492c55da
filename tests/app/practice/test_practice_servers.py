"""The practice servers, used through our own clients."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.base.errors import LoginError, NoSuchFileError
from app.clients.base import Content, Secrets
from app.clients.registry import make_client
from app.practice.servers import PracticeServers
from app.practice.serving import Pace
from forms.findings.path import PRACTICE_BYTES_PER_SECOND
from storage.plan import Settings
from tests.app.fakes import meter
from tests.waiting import HANG_SECONDS


@pytest.fixture(scope="module")
def practice():
    with PracticeServers(report_bytes=5_000_001) as servers:
        yield servers


@pytest.fixture(params=["smb", "ftp"])
def client(practice, request):
    made = make_client(getattr(practice, request.param), "", practice.secrets, Settings())
    yield made
    made.close()


def path_of(client, name):
    return name if client.target.protocol == "smb" else f"/{name}"


def test_the_report_arrives_as_it_is(practice, client):
    blocks: dict[int, bytes] = {}
    done = client.get(client.target.path, meter(), lambda offset, block: blocks.__setitem__(offset, bytes(block)))
    assert done.size_bytes == 5_000_001 == client.size(client.target.path)
    assert b"".join(blocks[offset] for offset in sorted(blocks)) == (practice.folder / "report.bin").read_bytes()


@pytest.mark.varied(folder=1)
@pytest.mark.parametrize("folder", ["", "Projects [2026]/", "Grüße/"])
def test_files_can_be_put_and_removed(practice, client, folder):
    content, path = Content(3_000_001), path_of(client, f"{folder}new [1] ü 50%.bin")
    client.put(path, content, meter())
    stored = practice.folder / f"{folder}new [1] ü 50%.bin"
    assert hashlib.sha256(stored.read_bytes()).hexdigest() == content.digest() == client.digest(path)
    client.remove(path)
    assert not stored.exists()
    client.remove(path)


def test_folders_can_be_browsed(client):
    found = {entry.name: entry for entry in client.list(path_of(client, ""))}
    assert {"read me.txt", "Grüße", "Projects [2026]", "report.bin"} <= set(found)
    assert found["Projects [2026]"].is_folder
    assert found["report.bin"].size_bytes == 5_000_001
    assert {e.name for e in client.list(path_of(client, "Projects [2026]"))} == {
        "plan & budget.ods",
        "site photo (1).jpg",
    }


def test_a_missing_file_and_a_wrong_password_are_told(practice, client):
    with pytest.raises(NoSuchFileError):
        client.size(path_of(client, "missing"))
    with pytest.raises(LoginError):
        make_client(client.target, "", Secrets(password="wrong"), Settings()).connect()


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_stays_when_the_parent_is_ended(ending):
    script = (
        "import time\nfrom app.practice.servers import PracticeServers\n"
        "with PracticeServers(report_bytes=1000) as it:\n"
        "    print(it.folder, *(p.pid for p in it._processes), flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        folder, *pids = parent.stdout.readline().split()
        servers = [psutil.Process(int(pid)) for pid in pids]
        assert len(servers) == 2
        os.kill(parent.pid, ending)
        psutil.wait_procs(servers, timeout=HANG_SECONDS)
    assert [s for s in servers if s.is_running() and s.status() != psutil.STATUS_ZOMBIE] == []
    assert not Path(folder).exists()


class Clock:
    """A clock that moves by what is slept."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.seconds += seconds


@pytest.mark.parametrize(
    ("size_bytes", "work_seconds", "expected_seconds"),
    [
        (65536, 0.0, 65536 / PRACTICE_BYTES_PER_SECOND),
        (65536, 0.001, 65536 / PRACTICE_BYTES_PER_SECOND),
        (16384, 0.0, 0.003),
        (65536, 0.02, 0.02),
    ],
)
def test_requests_take_their_time_whatever_the_work_beside_them(size_bytes, work_seconds, expected_seconds):
    clock = Clock()
    pace = Pace(0.003, clock)
    pace.wait(size_bytes)
    began = clock.seconds
    for _ in range(100):
        clock.seconds += work_seconds
        pace.wait(size_bytes)
    assert clock.seconds - began == pytest.approx(100 * expected_seconds, abs=0.051)


def test_a_pause_is_not_made_up_for_by_a_burst():
    clock = Clock()
    pace = Pace(0, clock)
    pace.wait(1)
    clock.seconds += 60
    began = clock.seconds
    for _ in range(50):
        pace.wait(PRACTICE_BYTES_PER_SECOND // 50)
    assert 0.9 < clock.seconds - began <= 1


@pytest.mark.parametrize("pause_seconds", [0.001, 0.05, 60])
@pytest.mark.parametrize("blocks", [1, 32, 256])
def test_a_run_after_a_pause_reaches_at_most_the_link(pause_seconds, blocks):
    clock = Clock()
    pace = Pace(0, clock)
    pace.begin_transfer()
    pace.wait(65536)
    clock.seconds += pause_seconds

    pace.begin_transfer()
    clock.seconds += pause_seconds
    began = clock.seconds
    for _ in range(blocks):
        pace.wait(65536)
    rate = blocks * 65536 / (clock.seconds - began)
    assert rate == pytest.approx(PRACTICE_BYTES_PER_SECOND)


def test_a_delay_within_a_run_is_made_up_for():
    clock = Clock()
    pace = Pace(0, clock)
    pace.begin_transfer()
    began = clock.seconds
    for block in range(64):
        clock.seconds += 0.02 if block % 16 == 8 else 0
        pace.wait(65536)
    assert 64 * 65536 / (clock.seconds - began) == pytest.approx(PRACTICE_BYTES_PER_SECOND)
