"""The commands that work on every screen, and the names of all commands."""

from __future__ import annotations

from app.tui.frame import screens
from app.tui.frame.commands import Commanded, KeyCommand, keys_of

APP_KEYS = (
    KeyCommand(
        id="app.help",
        keys="f1",
        action="app.help",
        name="Help",
        footer="Help",
        help="What the focused part is for, and the keys that work now.",
        priority=True,
    ),
    *(entry.command() for entry in screens.SCREENS if entry.key),
    KeyCommand(
        id="app.theme", keys="f10", action="app.change_theme", name="Theme", help="Choose light, dark or another theme."
    ),
    KeyCommand(
        id="app.palette",
        keys="ctrl+p",
        action="app.command_palette",
        name="Commands",
        help="Find a command by name.",
        priority=True,
    ),
    KeyCommand(
        id="app.quit",
        keys="ctrl+q",
        action="app.quit",
        name="Quit",
        footer="Quit",
        help="Leave sharebench.",
        priority=True,
    ),
)


def known_commands() -> set[str]:
    """The names of all commands; loads every screen, so it is called only where a keys file is to be checked."""
    for entry in screens.SCREENS:
        entry.load()
    found = {command.id for command in APP_KEYS}
    waiting: list[type[Commanded]] = [Commanded]
    while waiting:
        kind = waiting.pop()
        found.update(command.id for command in keys_of(kind))
        waiting.extend(kind.__subclasses__())
    return found
