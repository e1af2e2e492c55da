"""The way into the TUI for the command line; nothing of Textual is loaded before it is called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.clients.base import Secrets
    from storage.records import Target


def open_tui(
    notebook_path: Path,
    *,
    first: str = "",
    practice: tuple[Target, ...] = (),
    practice_secrets: Mapping[str, Secrets] | None = None,
) -> int:
    """Run the TUI until it is left, and give its exit code.

    ``first`` names the room to open in (``guide`` for the demo), ``practice`` are targets of embedded servers that are
    ready, with their secrets by protocol.
    """
    from app.tui.app import SharebenchApp  # noqa: PLC0415  Textual is loaded when the TUI opens
    from app.tui.context import Context  # noqa: PLC0415  as above

    context = Context(notebook_path=notebook_path, practice=practice, practice_secrets=dict(practice_secrets or {}))
    return SharebenchApp(context, first=first).run() or 0
