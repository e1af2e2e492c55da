"""``sharebench quick`` on a real smbd and a real disk: what it answers, stores, refuses and leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app.base.child_process import ChildProcess
from app.quick.plan import QuickOrder
from storage.notebook import Notebook
from storage.quick.records import QUICK, quick_of
from storage.records import SeriesStatus, format_target
from tests.app.quick.leftovers import left_on
from tests.command_line import Done, Inside
from tests.servers.smbd import Smbd
from tests.servers.vsftpd import Vsftpd
from tests.waiting import HANG_SECONDS

SHORT = ("--size", "64M", "--seconds", "0.2", "--timeout", "10")


@pytest.fixture
def inside(tmp_path: Path, smbd: Smbd) -> Inside:
    return Inside(tmp_path / "notebook.db", smbd.password)


def measured(inside: Inside, target: str, *options: str) -> Any:
    done = inside("quick", target, *SHORT, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_table_is_printed_and_the_recording_is_kept(inside: Inside, smbd: Smbd):
    target = format_target(smbd.target())
    done: Done = inside("quick", target, *SHORT, "--label", "switch", "--note", "old cable")
    assert done.returncode == 0, done.stderr
    assert "SEQ1M Q8T1" in done.stdout
    assert "RND4K Q1T1" in done.stdout
    with Notebook(inside.db) as notebook:
        head = notebook.recording("last", QUICK)
        quick = quick_of(head)
    assert (head.label, head.note, head.status) == ("switch", "old cable", SeriesStatus.COMPLETE)
    assert len(quick.lines) == 8
    assert quick.scratch_path is None
    assert quick.loopback
    assert "host.name" in quick.environment["client"]
    assert left_on(smbd) == []
    assert "old cable" in inside("show", "last").stdout


@pytest.mark.long
def test_the_link_and_the_client_are_those_that_were_asked_for(inside: Inside, smbd: Smbd):
    made = measured(inside, format_target(smbd.target()), "--link", "10G", "--like", "windows-11-24h2")
    assert made["link_bits_per_second"] == 10_000_000_000
    assert made["settings"]["like"] == "windows-11-24h2"
    assert made["client"]["signing"] == "aes-gmac"
    for figures in made["figures"]:
        assert figures["percent_of_link"] == pytest.approx(figures["bytes_per_second"] * 8e-8)
        assert figures["limit"] in {"link", "client", "round trip", "path", "server"}


@pytest.mark.long
def test_a_local_folder_is_measured_past_the_page_cache(inside: Inside, tmp_path: Path):
    folder = tmp_path / "disk"
    folder.mkdir()
    made = measured(inside, f"file://{folder}")
    assert made["past_page_cache"] in {True, False}
    assert list(folder.iterdir()) == []


def test_ftp_is_refused_in_a_line(inside: Inside, vsftpd: Vsftpd):
    done = inside("quick", f"ftp://127.0.0.1:{vsftpd.port}/")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "smb://" in done.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("smb://127.0.0.1/",), 2),
        (("file:///tmp", "--size", "63M"), 2),
        (("file:///tmp", "--seconds", "0"), 2),
        (("file:///tmp", "--like", "windows-10"), 2),
        (("file:///nowhere/at/all",), 4),
    ],
)
def test_what_cannot_be_measured_is_refused_and_not_stored(inside: Inside, words: tuple[str, ...], code: int):
    done = inside("quick", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    with Notebook(inside.db) as notebook:
        assert notebook.recordings() == []


def test_a_wrong_password_is_told_and_not_stored(tmp_path: Path, smbd: Smbd):
    done = Inside(tmp_path / "notebook.db", "wrong")("quick", format_target(smbd.target()), *SHORT)
    assert done.returncode == 4
    with Notebook(tmp_path / "notebook.db") as notebook:
        assert notebook.recordings() == []


@pytest.mark.varied(number=1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_keeps_what_was_measured_and_removes_the_file(inside: Inside, smbd: Smbd, number: signal.Signals):
    command = [sys.executable, "-m", "app", "--db", str(inside.db), "quick", format_target(smbd.target())]
    environment = {**os.environ, "SHAREBENCH_PASSWORD": smbd.password}
    with subprocess.Popen(
        [*command, "--size", "64M", "--seconds", "0.3"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stderr
        while b"SEQ1M Q1T1 read" not in running.stderr.readline():
            assert running.poll() is None
        running.send_signal(number)
        running.communicate(timeout=HANG_SECONDS)
    assert running.returncode == 130
    assert left_on(smbd) == []
    with Notebook(inside.db) as notebook:
        quick = quick_of(notebook.recording("last"))
    assert quick.status is SeriesStatus.INTERRUPTED
    assert 2 <= len(quick.lines) < 8
    assert quick.scratch_path is None


def test_the_file_of_a_measuring_process_that_was_killed_is_removed(inside: Inside, smbd: Smbd, monkeypatch):
    said = ChildProcess.say

    def kill_later(child: ChildProcess, order: object) -> None:
        said(child, order)
        if not isinstance(order, QuickOrder):
            return  # of the process that removes the file
        while not left_on(smbd):
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)

    monkeypatch.setattr(ChildProcess, "say", kill_later)
    done = inside("quick", format_target(smbd.target()), *SHORT)
    assert done.returncode == 4
    assert left_on(smbd) == []
