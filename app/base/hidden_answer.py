"""Asks for a password on the terminal."""

import getpass
import sys

from app.base.terminal_state import restored_by_signals


def hidden_answer(question: str) -> str:
    """What is typed and not shown; the question goes to stderr where there is no terminal of its own."""
    with restored_by_signals():
        return getpass.getpass(question, stream=sys.stderr)
