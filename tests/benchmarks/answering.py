"""How soon the TUI answers: its first paint beside that of a bare Textual app, and a key press during a fast get."""

from __future__ import annotations

import os
import pty
import signal
import struct
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path

from app.base.messages import line_of
from app.guide.run_screen import RunScreen
from app.recording.process import MeasuringOrder
from forms.stats.summary import median
from tests.benchmarks.drawing import PLAN
from tests.benchmarks.pairs import Orders
from tests.benchmarks.times import TimesResult
from tests.specs import varied

ROOT = Path(__file__).resolve().parents[2]
BARE = (
    "from textual.app import App\nfrom textual.widgets import Label\n"
    "class Bare(App):\n    def compose(self):\n        yield Label('painted')\nBare().run()\n"
)
"""As little as a Textual app can be."""
HELP_KEY, ESCAPE, QUIT = b"\x1bOP", b"\x1b", b"\x11"
PATIENCE_SECONDS = 20.0
PRESSES = 10


class Painted:
    """A program in a terminal of 120 by 36, and when it painted what."""

    def __init__(self, *words: str) -> None:
        self.began = time.monotonic()
        self.child, self.terminal = pty.fork()
        if not self.child:
            os.environ["TERM"] = "xterm-256color"
            os.chdir(ROOT)
            ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))  # before anybody asks for it
            os.execv(sys.executable, [sys.executable, *words])
        self._painted = b""
        self._changed = threading.Condition()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        while True:
            try:
                new = os.read(self.terminal, 65536)
            except OSError:
                return
            with self._changed:
                self._painted += new
                self._changed.notify_all()

    def seconds_until(self, text: bytes) -> float:
        """How long it takes from now until the text is painted. Raises TimeoutError."""
        began = time.monotonic()
        with self._changed:
            if not self._changed.wait_for(lambda: text in self._painted, PATIENCE_SECONDS):
                raise TimeoutError(f"{text!r} was not painted within {PATIENCE_SECONDS} s")
        return time.monotonic() - began

    def press(self, key: bytes) -> None:
        """Press a key; what was painted before is forgotten."""
        with self._changed:
            self._painted = b""
        os.write(self.terminal, key)

    def end(self) -> None:
        """End the program, and wait for it."""
        os.kill(self.child, signal.SIGTERM)
        os.waitpid(self.child, 0)
        self._reading.join(PATIENCE_SECONDS)  # or it would read on from the next terminal, which has the same number
        os.close(self.terminal)


@contextmanager
def painted(*words: str) -> Iterator[Painted]:
    """A program in a terminal, ended afterwards."""
    program = Painted(*words)
    try:
        yield program
    finally:
        program.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPaintRow:
    """From the start of the process until there is something to read, in turns with a bare Textual app."""

    pairs: int
    name: str = "first paint"
    needs: tuple[str, ...] = ()
    times: float = 1.4
    """In the median of the pairs."""

    def measure(self) -> TimesResult:
        """Ours, bare, bare, ours …"""
        ours: list[float] = []
        bare: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            words = ("-m", "app", "--db", str(Path(folder) / "notebook.db"))
            for pair in range(self.pairs):
                turns = [(words, b"Notebook", ours), (("-c", BARE), b"painted", bare)]
                for command, text, times in turns if pair % 2 == 0 else reversed(turns):
                    with painted(*command) as program:
                        program.seconds_until(text)
                        times.append(1000 * (time.monotonic() - program.began))
        ratio = median([one / other for one, other in zip(ours, bare, strict=True)]) or 0.0
        return TimesResult(
            name=self.name,
            milliseconds=tuple(ours),
            at_most=self.times * (median(bare) or 0.0),
            what=f"{self.times:g} times a bare Textual app's {median(bare):,.0f} ms; pair by pair {ratio:.2f} times",
            times=ratio,
            most_times=self.times,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPressRow:
    """From a key press until its effect is painted, while a series is measured as fast as it can be."""

    set_up: Callable[[], AbstractContextManager[Orders]]
    name: str = "key press during a get"
    needs: tuple[str, ...] = ("smbd",)
    at_most: float = 65.0

    def measure(self) -> TimesResult:
        """Open the help again and again."""
        found: list[float] = []
        help_words = RunScreen.ABOUT.partition(".")[0].encode()
        with self.set_up() as (ours, _), tempfile.TemporaryDirectory() as folder:
            os.environ[PLAN] = line_of(MeasuringOrder.of_request(varied(ours, runs=1000, warmups=0)))
            with painted("-m", "tests.benchmarks.drawing", str(Path(folder) / "n.db")) as program:
                del os.environ[PLAN]
                program.seconds_until(b"Run No")  # the first run has ended; the number of a run may never be painted
                for _ in range(PRESSES):
                    program.press(HELP_KEY)
                    found.append(1000 * program.seconds_until(help_words))
                    program.press(ESCAPE)
                    time.sleep(0.7)
        return TimesResult(name=self.name, milliseconds=tuple(found), at_most=self.at_most, what="what nobody notices")
