"""Copying: to the clipboard of the user's own terminal, and to a file, since not every terminal hands it on."""

from pathlib import Path
from typing import ClassVar

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand

FILE_NAME = "copied.txt"
"""Beside the notebook: what was copied last."""


class Copies(BaseScreen):
    """A screen whose form can be copied as text."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand(
            "screen.copy",
            "y,ctrl+y",
            "Copy",
            "Copy the form as text to the terminal's clipboard (OSC 52), and to a file whose path is shown.",
            footer="Copy",
        ),
    )

    def text_to_copy(self) -> str:
        """What is copied; empty while there is nothing."""
        raise NotImplementedError

    def action_copy(self) -> None:
        text = self.text_to_copy()
        if not text:
            return
        self.app.copy_to_clipboard(text)
        path = self.context.notebook_path.with_name(FILE_NAME)
        self.in_background(lambda: _write(path, text), self._copied, group="copy")

    def _copied(self, path: Path) -> None:
        self.notify(f"To the clipboard, and to {path}", title="Copied", markup=False)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
