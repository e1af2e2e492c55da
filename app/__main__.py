"""The ``sharebench`` command: the command line, and the TUI where no command is given."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from app.cli.main import run  # noqa: PLC0415  `python -m app` and the installed command start here alike
    from app.tui.start import open_tui  # noqa: PLC0415  light: it loads Textual when it is called

    sys.exit(run(sys.argv[1:], open_tui))


if __name__ == "__main__":
    main()
