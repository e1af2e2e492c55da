"""Signals that end a series that is measured on a terminal: what is kept, what is left, and how the terminal is."""

import os
import pty
import resource
import select
import signal
import sqlite3
import sys
import termios
import time
from pathlib import Path

import pytest

from storage.records import format_target
from tests.command_line import QUICK, ROOT
from tests.servers.process import require_terminals
from tests.servers.smbd import Smbd
from tests.waiting import HANG_SECONDS


def answer_of_notebook(notebook: Path, question: str) -> int | str | None:
    """None where the notebook has no tables yet."""
    try:
        with sqlite3.connect(f"file:{notebook}?mode=ro", uri=True) as connection:
            value: int | str = connection.execute(question).fetchone()[0]
            return value
    except sqlite3.OperationalError:
        return None


def measured_runs(notebook: Path) -> int:
    return int(answer_of_notebook(notebook, "SELECT count(*) FROM runs WHERE phase = 'measured'") or 0)


@pytest.mark.varied
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_keeps_the_runs_cleans_the_server_and_leaves_the_terminal(
    tmp_path: Path, smbd: Smbd, number: signal.Signals
):
    require_terminals()
    notebook = tmp_path / "notebook.db"
    words = ("run", format_target(smbd.target()), "--put", "--size", "1M", "--runs", "100000", *QUICK)
    terminal, end = pty.openpty()
    attributes = termios.tcgetattr(end)
    process_id = os.fork()
    if not process_id:
        os.login_tty(end)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(ROOT)
        environment = {**os.environ, "TERM": "xterm", "SHAREBENCH_DB": str(notebook)}
        environment |= {"HOME": str(tmp_path), "SHAREBENCH_PASSWORD": smbd.password}
        os.execve(sys.executable, [sys.executable, "-m", "app", *words], environment)

    exit_code = None
    is_sent = False
    until = time.monotonic() + HANG_SECONDS
    try:
        while exit_code is None and time.monotonic() < until:
            if select.select([terminal], [], [], 0.1)[0]:
                os.read(terminal, 65536)
            if not is_sent and measured_runs(notebook) >= 2:
                os.kill(process_id, number)
                is_sent = True
            ended_id, wait_status = os.waitpid(process_id, os.WNOHANG)
            exit_code = os.waitstatus_to_exitcode(wait_status) if ended_id else None
        assert exit_code == 130
        assert termios.tcgetattr(end) == attributes
    finally:
        if exit_code is None:
            os.kill(process_id, signal.SIGKILL)
            os.waitpid(process_id, 0)
        os.close(terminal)
        os.close(end)

    assert answer_of_notebook(notebook, "SELECT status FROM recordings") == "interrupted"
    assert measured_runs(notebook) >= 2
    assert list(smbd.folder.glob(".sharebench-*")) == []
