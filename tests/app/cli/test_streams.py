"""Answers that cannot be written, and streams that are closed: one line, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from storage.records import SeriesStatus
from tests.builders import book, last_series, series
from tests.command_line import QUICK, ROOT, Sharebench
from tests.waiting import HANG_SECONDS

_COMMAND = 'S() { "$PYTHON" -m app "$@"; }\n'


def shell(sharebench: Sharebench, line: str) -> subprocess.CompletedProcess[str]:
    """A line of sh in which ``S`` is the command."""
    return subprocess.run(
        ["sh", "-c", f"{_COMMAND}{line}"], cwd=ROOT, text=True, capture_output=True, timeout=HANG_SECONDS, check=False,
        env=sharebench._environment() | {"PYTHON": sys.executable},
    )  # fmt: skip


@pytest.mark.varied
@pytest.mark.parametrize("words", ["catalogue", "list --json", "export --blank", "--help"])
def test_a_full_disk_under_stdout_is_one_line(sharebench: Sharebench, words: str):
    book(sharebench.db)
    done = shell(sharebench, f"S {words} > /dev/full")
    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1
    assert "No space left on device" in done.stderr


def test_a_full_device_as_output_is_one_line(sharebench: Sharebench):
    assert "cannot write /dev/full: No space left" in sharebench.fails(
        4, "export", "--blank", "-o", "/dev/full", "--force"
    )


@pytest.mark.varied
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(sharebench: Sharebench, closed: str):
    book(sharebench.db)
    done = shell(sharebench, f"S list --json {closed}")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_stdin_the_missing_password_is_named(sharebench: Sharebench):
    sharebench.password = None
    done = shell(sharebench, "S run smb://bench@127.0.0.1:1/share/file <&-")
    assert done.returncode == 4
    assert "no password for bench" in done.stderr


def without_reader(sharebench: Sharebench, stream: str, *words: str) -> int:
    """The exit code of the command whose stdout or stderr nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.run(
            [sys.executable, "-m", "app", *words],
            cwd=ROOT, env=sharebench._environment(), timeout=HANG_SECONDS, check=False,
            stdout=writer if stream == "stdout" else nowhere, stderr=writer if stream == "stderr" else nowhere,
        ).returncode  # fmt: skip
    finally:
        os.close(writer)


@pytest.mark.parametrize("words", ["list --json", "--help"])
def test_an_answer_whose_reader_left_is_not_called_slower(sharebench: Sharebench, words: str):
    book(sharebench.db)
    assert without_reader(sharebench, "stdout", *words.split()) == 0


def test_a_verdict_stays_itself_where_nobody_reads_it(sharebench: Sharebench):
    book(sharebench.db, series((118e6, 119e6), id="a" * 12), series((98e6, 99e6), id="b" * 12))
    assert without_reader(sharebench, "stdout", "compare", "a" * 12, "b" * 12) == 3


def test_a_series_is_measured_to_its_end_where_nobody_reads_stderr(sharebench: Sharebench, tmp_path: Path):
    (tmp_path / "file").write_bytes(bytes(100_000))
    assert without_reader(sharebench, "stderr", "run", str(tmp_path / "file"), "--runs", "2", *QUICK) == 0
    assert last_series(sharebench.db).status is SeriesStatus.COMPLETE
