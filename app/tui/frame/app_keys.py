"""The commands that work on every screen, and the names of all commands."""

from app.tui.frame import screens
from app.tui.frame.commands import Commanded, KeyCommand, keys_of

APP_KEYS = (
    KeyCommand(
        "app.help",
        "f1",
        "Help",
        "What the focused part is for, and the keys that work now.",
        action="app.help",
        footer="Help",
        priority=True,
    ),
    KeyCommand(
        "app.help-sign",
        "question_mark",
        "Help, where no text is typed",
        "What the focused part is for, and the keys that work now.",
        action="app.help",
    ),
    *(entry.command() for entry in screens.SCREENS if entry.key),
    KeyCommand("app.theme", "f10", "Theme", "Choose light, dark or another theme.", action="app.change_theme"),
    KeyCommand("app.density", "ctrl+o", "Density", "Frames around all panes, or titles alone.", action="app.density"),
    KeyCommand(
        "app.palette", "ctrl+p", "Commands", "Find a command by name.", action="app.command_palette", priority=True
    ),
    KeyCommand("app.quit", "ctrl+q", "Quit", "Leave sharebench.", action="app.quit", footer="Quit", priority=True),
    KeyCommand("app.leave", "q", "Quit, where no text is typed", "Leave sharebench.", action="app.quit"),
    KeyCommand(
        "app.suspend", "ctrl+z", "Suspend", "Back to the shell; fg comes back here.", action="app.suspend_process"
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
