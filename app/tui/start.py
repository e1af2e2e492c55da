"""The way into the TUI for the command line; nothing of Textual is loaded before it is called."""

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.terminal_state import LEAVE_SCREEN, restored_by_signals
from app.base.this_process import look_for_garbage_seldom
from app.base.user_files import theme_file

if TYPE_CHECKING:
    from app.clients.session_logins import Logins
    from storage.records import Target

ESCAPE_MILLISECONDS = 25
SWITCH_SECONDS = 0.001
"""Seconds until another thread lets the screen's run; Python's own 5 ms add up to a wait that a user notices."""


def answer_keys_soon() -> None:
    """Set how long a key press may wait for Escape's rest, threads and garbage; to be called before Textual loads."""
    look_for_garbage_seldom()
    sys.setswitchinterval(SWITCH_SECONDS)
    os.environ.setdefault("ESCDELAY", str(ESCAPE_MILLISECONDS))


def open_tui(
    notebook_path: Path, *, first: str = "", practice: "tuple[Target, ...]" = (), logins: "Logins | None" = None
) -> int:
    """Run the TUI and give its exit code; ``first`` is the screen to open on, ``practice`` the embedded servers."""
    answer_keys_soon()
    gc.disable()  # until the first screen is painted

    # Textual is loaded when the TUI opens.
    from app.tui.frame.app import SharebenchApp
    from app.tui.frame.context import Context

    context = Context(notebook_path=notebook_path, practice=practice, theme_file=theme_file())
    if logins is not None:
        context.logins = logins
    with restored_by_signals(LEAVE_SCREEN):
        return SharebenchApp(context, first=first).run() or 0
