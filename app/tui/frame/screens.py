"""The screens of the TUI by name, each loaded when it is first visited."""

from importlib import import_module
from typing import NamedTuple, cast

from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand, table_lines


class ScreenEntry(NamedTuple):
    """A screen by name, with the module that is loaded for it; a tuple, since that is made four times as fast."""

    name: str
    home: str
    """``module:class`` of a BaseScreen in ``app.tui``."""
    title: str
    help: str
    key: str = ""
    measures: bool = False

    def load(self) -> type[BaseScreen]:
        module, _, name = self.home.partition(":")
        return cast("type[BaseScreen]", getattr(import_module(f"app.tui.{module}"), name))

    def command(self) -> KeyCommand:
        return KeyCommand(
            f"screen.{self.name}",
            self.key,
            self.title,
            self.help,
            action=f"app.visit('{self.name}')",
            hidden=not self.key.startswith("f"),
            priority=len(self.key) > 1,  # a letter is typed where text is
        )


def _entry(line: str) -> ScreenEntry:
    name, home, title, about, *rest = line.split(" | ")
    return ScreenEntry(name, home, title, about, rest[0] if rest else "", measures=len(rest) > 1)


SCREENS = tuple(map(_entry, table_lines("screens.txt")))
"""In the order of the footer; the first is where the TUI opens."""


def entry(name: str) -> ScreenEntry:
    """The screen of that name. Raises KeyError."""
    for candidate in SCREENS:
        if candidate.name == name:
            return candidate
    raise KeyError(name)
