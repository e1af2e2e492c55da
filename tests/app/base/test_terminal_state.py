"""A signal that ends the program leaves the terminal as it was: its echo, its screen, its mouse."""

import os
import pty
import resource
import select
import signal
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.base.terminal_state import LEAVE_SCREEN
from tests.servers.process import require_terminals
from tests.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[3]
TUI: tuple[str, ...] = ()
PASSWORD = ("check", "smb://nobody@192.0.2.1/share")


class Program:
    """sharebench on a terminal of its own."""

    def __init__(self, folder: Path, arguments: tuple[str, ...]) -> None:
        environment = {**os.environ, "TERM": "xterm-256color", "HOME": str(folder)}
        environment.pop("SHAREBENCH_PASSWORD", None)
        words = [sys.executable, "-m", "app", "--db", str(folder / "notebook.db"), *arguments]
        # Its end is held open, so that it outlives the program.
        self.terminal, self._end = pty.openpty()
        self.process_id = os.fork()
        if not self.process_id:
            os.login_tty(self._end)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.chdir(ROOT)
            os.execve(sys.executable, words, environment)

        self.attributes = termios.tcgetattr(self._end)
        self.shown = b""
        self.exit_code: int | None = None

    @property
    def own_attributes(self) -> list[Any]:
        """Of the terminal, as it is now."""
        return termios.tcgetattr(self._end)

    def set_attributes(self, attributes: list[Any]) -> None:
        termios.tcsetattr(self._end, termios.TCSANOW, attributes)

    @property
    def has_changed_it(self) -> bool:
        return self.own_attributes != self.attributes

    def read(self, seconds: float) -> None:
        """Read what it shows, and look whether it has ended."""
        if select.select([self.terminal], [], [], seconds)[0]:
            self.shown += os.read(self.terminal, 65536)
        if self.exit_code is None:
            process_id, status = os.waitpid(self.process_id, os.WNOHANG)
            self.exit_code = os.waitstatus_to_exitcode(status) if process_id else None

    def read_all(self) -> None:
        """Read what it showed before it ended, which may be more than one reading takes."""
        while select.select([self.terminal], [], [], 0.2)[0]:
            self.shown += os.read(self.terminal, 65536)

    def close(self) -> None:
        if self.exit_code is None:
            os.kill(self.process_id, signal.SIGKILL)
            os.waitpid(self.process_id, 0)
        os.close(self.terminal)
        os.close(self._end)


@pytest.fixture(params=[TUI, PASSWORD], ids=["screen", "password"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Program]:
    """A program that has changed its terminal."""
    require_terminals()
    program = Program(tmp_path, request.param)
    until = time.monotonic() + HANG_SECONDS
    is_drawn = False
    while not is_drawn:
        assert time.monotonic() < until, program.shown
        program.read(0.2)
        is_drawn = program.has_changed_it and (b"Password" in program.shown or b"\x1b[?1049h" in program.shown)
    yield program
    program.close()


@pytest.mark.varied
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_leaves_the_terminal_as_it_was(program: Program, number: signal.Signals):
    os.kill(program.process_id, number)
    until = time.monotonic() + HANG_SECONDS
    while program.exit_code is None and time.monotonic() < until:
        program.read(0.2)
    program.read_all()
    assert program.exit_code == -number
    assert not program.has_changed_it
    has_screen = b"\x1b[?1049h" in program.shown
    assert program.shown.endswith(LEAVE_SCREEN) is has_screen


def test_nothing_that_is_written_after_a_signal_reaches_the_terminal():
    """As a thread that draws may, which is still there when the terminal has been restored."""
    require_terminals()
    terminal, end = pty.openpty()
    process_id = os.fork()
    if not process_id:
        os.login_tty(end)
        written_late = (
            "import os, signal\n"
            "from app.base import terminal_state\n"
            "with terminal_state.restored_by_signals(b'restored'):\n"
            "    os.kill = lambda *_: (os.write(2, b'late'), os._exit(0))\n"
            "    signal.raise_signal(signal.SIGTERM)\n"
        )
        os.execve(sys.executable, [sys.executable, "-c", written_late], {**os.environ, "PYTHONPATH": str(ROOT)})
    _, status = os.waitpid(process_id, 0)
    shown = os.read(terminal, 65536)
    os.close(terminal)
    os.close(end)
    assert os.waitstatus_to_exitcode(status) == 0
    assert shown.endswith(b"restored")


def has_echo(program: Program) -> bool:
    return bool(program.own_attributes[3] & termios.ECHO)


@pytest.mark.parametrize("program", [PASSWORD], ids=["password"], indirect=True)
def test_a_password_stays_hidden_after_the_program_was_stopped(program: Program):
    """A shell that stops a job takes its own echo back, and gives it to the job that goes on."""
    assert not has_echo(program)
    os.kill(program.process_id, signal.SIGSTOP)
    program.set_attributes(program.attributes)
    assert has_echo(program)

    shown_before = program.shown.count(b"Password")
    os.kill(program.process_id, signal.SIGCONT)
    until = time.monotonic() + HANG_SECONDS
    while program.shown.count(b"Password") == shown_before and time.monotonic() < until:
        program.read(0.2)
    assert not has_echo(program)
    assert program.shown.count(b"Password") == shown_before + 1
