"""The ``sharebench`` command: the command line, or the TUI without a command."""

import os
import sys

from app.child_process import keep_memory_to_ourselves

CANCELLED = 130


def main() -> None:
    # a stream that was closed (``<&-``, some schedulers) is None in Python: /dev/null takes its place
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace"))
    keep_memory_to_ourselves()
    try:
        from app.cli.main import run  # noqa: PLC0415  `python -m app` and the installed command start here alike
        from app.tui.start import open_tui  # noqa: PLC0415  light: it loads Textual when it is called
    except KeyboardInterrupt:
        sys.exit(CANCELLED)

    sys.exit(run(sys.argv[1:], open_tui))


if __name__ == "__main__":
    main()
