"""Keys as a terminal sends them, read from a real one."""

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest
from textual.drivers.linux_driver import LinuxDriver

from app.tui.frame import terminal as terminal_module
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.terminal import PARSER_KNOWN_IN, Terminal
from tests.servers.process import require_terminals

ROOT = Path(__file__).parents[4]
CHILD = """
import os
from textual import events
from textual.app import App
from app.tui.frame import terminal

SAYS = int(os.environ["SAYS"])
terminal.textual_version = lambda: os.environ["TEXTUAL"]

class Listener(App):
    def get_driver_class(self):
        return terminal.driver_for(super().get_driver_class())

    def on_ready(self):
        os.write(SAYS, type(self._driver).__name__.encode() + b"\\n")

    def on_key(self, event):
        os.write(SAYS, event.key.encode() + b"\\n")

Listener().run()
"""


LEADER = """
import os, signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: None)
ended = subprocess.run([sys.executable, "-c", os.environ["CHILD"]], pass_fds=[int(os.environ["SAYS"])]).returncode
os.write(int(os.environ["SAYS"]), b"ended by %d\\n" % -ended)
"""
"""What `make` is to the program: it gets the terminal's signal, and waits."""

KNOWN = f"{PARSER_KNOWN_IN}99"
OURS, TEXTUALS = (KNOWN, "Terminal"), ("8.99.0", "LinuxDriver")


@pytest.fixture(params=[OURS], ids=str)
def terminal(request):
    """(what writes to the terminal, what gives the next line that the app says, what closes the terminal)."""
    version, driver, *through = request.param
    program = through[0] if through else CHILD
    require_terminals()
    said, says = os.pipe()
    child, screen = pty.fork()
    if not child:
        os.set_inheritable(says, not child)
        os.chdir(ROOT)
        told = {"TERM": "xterm-256color", "ESCDELAY": "25", "SAYS": str(says), "TEXTUAL": version, "CHILD": CHILD}
        os.execve(sys.executable, [sys.executable, "-c", program], {**os.environ, **told})
    os.close(says)
    waiting = bytearray()
    screens = [screen]

    def close() -> None:
        os.close(screens.pop())

    def line() -> str:
        while b"\n" not in waiting:
            ready, _, _ = select.select([said, *screens], [], [], 30)
            assert ready, "the app says nothing"
            for source in ready:
                read = os.read(source, 65536)
                if source == said:
                    waiting.extend(read)
        text, _, rest = bytes(waiting).partition(b"\n")
        waiting[:] = rest
        return text.decode()

    assert line() == driver
    yield lambda keys: os.write(screen, keys), line, close
    os.kill(child, 9)
    os.waitpid(child, 0)
    for left in screens:
        os.close(left)
    os.close(said)


def test_the_app_reads_its_terminal_so(tmp_path, monkeypatch):
    assert SharebenchApp(Context(notebook_path=tmp_path / "notebook.db")).driver_class is Terminal, "the one installed"
    monkeypatch.setattr(terminal_module, "textual_version", lambda: "9.0.0")
    assert SharebenchApp(Context(notebook_path=tmp_path / "notebook.db")).driver_class is LinuxDriver


@pytest.mark.parametrize("terminal", [OURS, TEXTUALS], ids=str, indirect=True)
def test_keys_come_one_by_one_escape_alone_too(terminal):
    write, line, _ = terminal
    write(b"\x1b[A")
    assert line() == "up"
    write(b"\x1b")
    assert line() == "escape"
    write(b"\x1bOP")
    assert line() == "f1"


def test_bytes_that_are_no_text_do_not_end_the_input(terminal):
    write, line, _ = terminal
    write(b"\xff\xfe")
    write(b"\x1b[B")
    while (key := line()) != "down":
        assert key == "replacement_character"


def test_a_character_that_comes_in_two_halves_is_one(terminal):
    write, line, _ = terminal
    write(b"\xc3")
    time.sleep(0.3)
    write(b"\xa9")
    assert line() == "é"
    write(b"\x1b[A")
    assert line() == "up"


@pytest.mark.parametrize("terminal", [(*OURS, LEADER)], ids=["leader"], indirect=True)
def test_a_terminal_that_is_closed_ends_the_program_whoever_gets_the_signal(terminal):
    _, line, close = terminal
    close()
    assert line() == f"ended by {signal.SIGHUP:d}"
