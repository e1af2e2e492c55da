"""The keys that work on every screen, and the names of all commands of the TUI."""

from importlib import import_module

from app.tui.frame import commands, screens

APP_KEYS = (
    *commands.keys("app.help app.help-sign"),
    *(entry.command() for entry in screens.SCREENS if entry.key),
    *commands.keys("app.sweep app.tune app.theme app.palette app.quit app.leave app.suspend"),
)


def known_commands() -> set[str]:
    """The names of all commands; loads every screen, so it is called only where a keys file is to be checked."""
    for entry in screens.SCREENS:
        entry.load()
    import_module("app.guide.run_screen")  # the guide loads it when it measures

    names = {command.id for command in APP_KEYS}
    waiting: list[type[commands.Commanded]] = [commands.Commanded]
    while waiting:
        kind = waiting.pop()
        names.update(command.id for command in commands.keys_of(kind))
        waiting.extend(kind.__subclasses__())
    return names
