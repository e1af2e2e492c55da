"""The ``sharebench`` command: the command line, or the TUI without a command.

What Ctrl-C does depends on the phase that the process is in:

1. While modules are loaded: it ends the process at once, without a word.
2. While a command runs: it raises KeyboardInterrupt, which the command line tells in one line. If it is pressed again
   within two seconds, that is ignored, so that the line gets written; later it ends a process that hangs, at once. A
   command that measures has a handler of its own meanwhile, which cancels the measurement.
3. While the screens are open: asyncio has a handler of its own, which it sets only in place of Python's usual one.
4. While Python ends: it is ignored after a cancelled command, whose line was told; else it ends the process at once.

Where Ctrl-C was ignored from the start, as in the background of a script, it is ignored in all phases.
"""

import os
import sys

CANCELLED = 130
"""Exit code: 128, and 2 for SIGINT."""
_TELLING_SECONDS = 2.0
"""After the first Ctrl-C, the time in which a command tells that it was cancelled."""
try:
    import gc
    import signal  # which loads several others
    import time
    from typing import Any
except KeyboardInterrupt:
    os._exit(CANCELLED)


def main() -> None:
    # Phase 1. A KeyboardInterrupt would not do: an import may swallow it, or make another error of it.
    _handle_ctrl_c(_end_at_once)
    _open_missing_streams()
    from app.base.legacy_encoding import substitute_missing_characters
    from app.base.this_process import keep_memory_to_ourselves, look_for_garbage_seldom

    look_for_garbage_seldom()
    keep_memory_to_ourselves()
    substitute_missing_characters()
    from app.cli.main import run
    from app.tui.start import open_tui

    def open_screens(*arguments: Any, **options: Any) -> int:
        _handle_ctrl_c(signal.default_int_handler)  # phase 3
        return open_tui(*arguments, **options)

    # Phase 2.
    try:
        _handle_ctrl_c(_CommandCancelling())
        code = run(sys.argv[1:], open_screens)
    except KeyboardInterrupt:  # pressed while the command line was telling something else
        code = CANCELLED

    # Phase 4. Python would look through all objects for garbage once more, in a process whose memory goes anyway.
    _handle_ctrl_c(signal.SIG_IGN if code == CANCELLED else _end_at_once)
    gc.freeze()
    gc.disable()
    sys.exit(code)


def _handle_ctrl_c(handler: Any) -> None:
    """Have Ctrl-C do that from now on, unless it was ignored from the start."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)


def _end_at_once(*_signal: object) -> None:
    os._exit(CANCELLED)


class _CommandCancelling:
    """The handler of Ctrl-C while a command runs."""

    def __init__(self) -> None:
        self._first_press_at: float | None = None

    def __call__(self, *_signal: object) -> None:
        now = time.monotonic()
        if self._first_press_at is None:
            self._first_press_at = now
            raise KeyboardInterrupt
        if now - self._first_press_at > _TELLING_SECONDS:
            _end_at_once()


def _open_missing_streams() -> None:
    """A stream that was closed (``<&-``, some schedulers) is None in Python: /dev/null takes its place."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace"))


if __name__ == "__main__":
    main()
