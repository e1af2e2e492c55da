"""Answers that cannot be written, and streams that are closed: one line, no traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.builders import book
from tests.command_line import ROOT, Sharebench


def shell(sharebench: Sharebench, line: str) -> subprocess.CompletedProcess[str]:
    """A line of sh in which ``$S`` is the command."""
    return subprocess.run(
        ["sh", "-c", line], cwd=ROOT, text=True, capture_output=True, timeout=60, check=False,
        env=sharebench._environment() | {"S": f"{sys.executable} -m app"},
    )  # fmt: skip


@pytest.mark.parametrize("words", ["catalogue", "list --json", "export --blank", "--help"])
def test_a_full_disk_under_stdout_is_one_line(sharebench: Sharebench, words: str):
    book(sharebench.db)
    done = shell(sharebench, f"$S {words} > /dev/full")
    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1
    assert "No space left on device" in done.stderr


def test_a_full_device_as_output_is_one_line(sharebench: Sharebench):
    assert "cannot write /dev/full: No space left" in sharebench.fails(
        4, "export", "--blank", "-o", "/dev/full", "--force"
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(sharebench: Sharebench, closed: str):
    book(sharebench.db)
    done = shell(sharebench, f"$S list --json {closed}")
    assert (done.returncode, done.stderr) == (0, "")


def test_without_stdin_the_missing_password_is_named(sharebench: Sharebench):
    sharebench.password = None
    done = shell(sharebench, "$S run smb://bench@127.0.0.1:1/share/file <&-")
    assert done.returncode == 4
    assert "no password for bench" in done.stderr
