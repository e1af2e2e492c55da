"""The ``sharebench`` command: the command line, or the TUI without a command."""

import os
import sys

CANCELLED = 130
try:
    import signal  # which loads several others
except KeyboardInterrupt:
    os._exit(CANCELLED)


def main() -> None:
    # an import may swallow a KeyboardInterrupt or make another error of it
    signal.signal(signal.SIGINT, lambda *_: os._exit(CANCELLED))
    # a stream that was closed (``<&-``, some schedulers) is None in Python: /dev/null takes its place
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace"))
    from app.child_process import keep_memory_to_ourselves  # noqa: PLC0415  as all imports here, after the handler

    keep_memory_to_ourselves()
    from app.cli.main import run  # noqa: PLC0415  `python -m app` and the installed command start here alike
    from app.tui.start import open_tui  # noqa: PLC0415  light: it loads Textual when it is called

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        code = run(sys.argv[1:], open_tui)
    except KeyboardInterrupt:  # once more, while the first was being told
        code = CANCELLED
    signal.signal(signal.SIGINT, signal.SIG_IGN if code == CANCELLED else signal.SIG_DFL)
    sys.exit(code)


if __name__ == "__main__":
    main()
