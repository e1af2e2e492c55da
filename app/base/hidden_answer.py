"""Asks for a password on the terminal."""

import getpass
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

from app.base.terminal_state import HAS_TERMINALS, hide_typing, restored_by_signals


def hidden_answer(question: str) -> str:
    """What is typed and not shown; the question goes to stderr where there is no terminal of its own."""
    with restored_by_signals(), _hidden_after_stop(question):
        return getpass.getpass(question, stream=sys.stderr)


@contextmanager
def _hidden_after_stop(question: str) -> Iterator[None]:
    """Inside it, what is typed stays hidden after Ctrl+Z and fg: the shell gives the terminal back with its echo."""
    if not HAS_TERMINALS or current_thread() is not main_thread():
        yield
        return

    def ask_again(_number: int, _frame: FrameType | None) -> None:
        if hide_typing():
            sys.stderr.write(question)
            sys.stderr.flush()

    handler = signal.signal(signal.SIGCONT, ask_again)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, handler)
