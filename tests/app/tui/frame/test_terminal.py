"""Keys as a terminal sends them, read from a real one."""

import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest

from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context
from app.tui.frame.terminal import Terminal

ROOT = Path(__file__).parents[4]
CHILD = """
import os
from textual import events
from textual.app import App
from app.tui.frame.terminal import Terminal

SAYS = int(os.environ["SAYS"])

class Listener(App):
    def on_ready(self):
        os.write(SAYS, b"ready\\n")

    def on_key(self, event):
        os.write(SAYS, event.key.encode() + b"\\n")

Listener(driver_class=Terminal).run()
"""


@pytest.fixture
def terminal():
    """(what writes to the terminal, what gives the next line that the app says)."""
    said, says = os.pipe()
    child, screen = pty.fork()
    if not child:
        os.set_inheritable(says, not child)
        os.chdir(ROOT)
        told = {"TERM": "xterm-256color", "ESCDELAY": "25", "SAYS": str(says)}
        os.execve(sys.executable, [sys.executable, "-c", CHILD], {**os.environ, **told})
    os.close(says)
    waiting = bytearray()

    def line() -> str:
        while b"\n" not in waiting:
            ready, _, _ = select.select([screen, said], [], [], 30)
            assert ready, "the app says nothing"
            for source in ready:
                read = os.read(source, 65536)
                if source == said:
                    waiting.extend(read)
        text, _, rest = bytes(waiting).partition(b"\n")
        waiting[:] = rest
        return text.decode()

    assert line() == "ready"
    yield lambda keys: os.write(screen, keys), line
    os.kill(child, 9)
    os.waitpid(child, 0)
    os.close(screen)
    os.close(said)


def test_the_app_reads_its_terminal_so(tmp_path):
    assert SharebenchApp(Context(notebook_path=tmp_path / "notebook.db")).driver_class is Terminal


def test_keys_come_one_by_one_escape_alone_too(terminal):
    write, line = terminal
    write(b"\x1b[A")
    assert line() == "up"
    write(b"\x1b")
    assert line() == "escape"
    write(b"\x1bOP")
    assert line() == "f1"


def test_bytes_that_are_no_text_do_not_end_the_input(terminal):
    write, line = terminal
    write(b"\xff\xfe")
    write(b"\x1b[B")
    while (key := line()) != "down":
        assert key == "replacement_character"


def test_a_character_that_comes_in_two_halves_is_one(terminal):
    write, line = terminal
    write(b"\xc3")
    time.sleep(0.3)
    write(b"\xa9")
    assert line() == "é"
    write(b"\x1b[A")
    assert line() == "up"
