"""Leaves the terminal as it was where a signal ends the program while a screen or a hidden question has changed it.

SIGTERM, SIGHUP and SIGQUIT end Python at once: the shell behind would echo nothing, or draw into what is left of the
screen.
"""

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from types import FrameType

try:
    import termios
except ImportError:  # not on Windows, where notebook and forms work all the same
    HAS_TERMINALS = False
else:
    HAS_TERMINALS = True

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP) if HAS_TERMINALS else ()

_RESTORING_SIGNALS = (*ENDING_SIGNALS, signal.SIGQUIT) if HAS_TERMINALS else ()
"""The last one is Ctrl+\\, which a question for a password leaves to the terminal."""

_LOCAL_MODES = 3
"""Where the attributes of a terminal say whether it echoes."""

LEAVE_SCREEN = (
    b"\x1b[?2004l"  # pasted text is no longer marked
    b"\x1b[?7h"  # long lines are wrapped
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"  # the mouse is not reported
    b"\x1b[<u"  # keys are sent as usual (kitty's protocol)
    b"\x1b[?1049l"  # the shell's screen
    b"\x1b[?25h"  # with its cursor
    b"\x1b[?1004l"  # the focus is not reported
)
"""What Textual (8.2) writes at its end."""


class _SavedTerminal:
    """The attributes of this process's terminal, if it has one."""

    def __init__(self, ending: bytes) -> None:
        self._ending = ending
        self._file: int | None = None
        with suppress(OSError, termios.error):
            self._file = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
            self._attributes = termios.tcgetattr(self._file)

    def restore(self) -> None:
        """Restore it, unless it was closed or belongs to another job of the shell now."""
        if self._file is None:
            return
        with suppress(OSError, termios.error):
            if os.tcgetpgrp(self._file) != os.getpgrp():
                return
            # One whose output is stopped (Ctrl-S) takes no text; to wait for it would be for ever.
            if self._ending and select.select([], [self._file], [], 0)[1]:
                os.write(self._file, self._ending)
            termios.tcsetattr(self._file, termios.TCSANOW, self._attributes)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


_saved: list[_SavedTerminal] = []
"""What is to be restored; the last one first."""


def restore_terminal() -> None:
    """Restore what was saved; for those who end the program otherwise, in any thread."""
    for terminal in reversed(_saved):
        terminal.restore()


def hide_typing() -> bool:
    """Stop the echo of the terminal; False where it belongs to another job of the shell, or there is none."""
    with suppress(OSError, termios.error):
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            if os.tcgetpgrp(terminal) != os.getpgrp():
                return False
            attributes = termios.tcgetattr(terminal)
            attributes[_LOCAL_MODES] &= ~termios.ECHO
            termios.tcsetattr(terminal, termios.TCSAFLUSH, attributes)
            return True
        finally:
            os.close(terminal)
    return False


@contextmanager
def restored_by_signals(ending: bytes = b"") -> Iterator[None]:
    """Inside it, a signal that ends the program restores the terminal first, and writes ``ending`` to it.

    Signals that are ignored, or that something else handles, are left as they are.
    """
    if not HAS_TERMINALS or current_thread() is not main_thread():
        yield
        return

    terminal = _SavedTerminal(ending)
    _saved.append(terminal)
    numbers = [number for number in _RESTORING_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        _saved.remove(terminal)
        terminal.close()


def _end(number: int, _frame: FrameType | None) -> None:
    _silence_screen()
    restore_terminal()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _silence_screen() -> None:
    """What another thread goes on writing does not reach the terminal: a screen is drawn by a thread of its own."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for file in (sys.__stdout__, sys.__stderr__):
            if file is not None and file.isatty():
                os.dup2(nowhere, file.fileno())
