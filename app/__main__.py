"""The ``sharebench`` command: the command line, or the TUI without a command."""

import os
import sys

CANCELLED = 130
_TOLD_SECONDS = 2.0
try:
    import signal  # which loads several others
    import time
    from typing import Any
except KeyboardInterrupt:
    os._exit(CANCELLED)


def main() -> None:
    press_times: list[float] = []

    def leave(*_: object) -> None:
        os._exit(CANCELLED)

    def cancel(*_: object) -> None:
        """Pressed again while that is told, it is ignored; later it ends what hangs."""
        press_times.append(time.monotonic())
        if len(press_times) == 1:
            raise KeyboardInterrupt
        if press_times[-1] - press_times[0] > _TOLD_SECONDS:
            leave()

    def open_screens(*arguments: Any, **options: Any) -> int:
        _at_ctrl_c(signal.default_int_handler)  # the only one that asyncio replaces
        return open_tui(*arguments, **options)

    _at_ctrl_c(leave)  # an import may swallow a KeyboardInterrupt, or make another error of it
    # a stream that was closed (``<&-``, some schedulers) is None in Python: /dev/null takes its place
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace"))
    from app.base.child_process import keep_memory_to_ourselves

    keep_memory_to_ourselves()
    from app.cli.main import run
    from app.tui.start import open_tui

    try:
        _at_ctrl_c(cancel)
        code = run(sys.argv[1:], open_screens)
    except KeyboardInterrupt:  # while something else was being told
        code = CANCELLED
    _at_ctrl_c(signal.SIG_IGN if code == CANCELLED else leave)  # while Python ends
    sys.exit(code)


def _at_ctrl_c(handler: Any) -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as in the background of a script
        signal.signal(signal.SIGINT, handler)


if __name__ == "__main__":
    main()
