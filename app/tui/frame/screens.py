"""The table of the screens by name (``screens.txt``): a screen's module is loaded when the screen is opened."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple, cast

from app.tui.frame import base, commands
from forms.recommended import with_recommended_numbers


class ScreenEntry(NamedTuple):
    """A screen by name, with the module that is loaded for it; a tuple, since that is made four times as fast."""

    name: str
    home: str
    """``module:class`` of a :class:`~app.tui.frame.base.BaseScreen`."""
    title: str
    help: str
    """What the screen is for."""
    key: str = ""
    """As in :class:`~app.tui.frame.commands.KeyCommand`; empty where no key leads to it."""
    needs_linux: bool = False
    measures: bool = False
    """Whether it measures, so that it does not open while another one does."""

    def load(self) -> type[base.BaseScreen]:
        module, _, name = self.home.partition(":")
        return cast("type[base.BaseScreen]", getattr(import_module(module), name))

    def make(self, arguments: Mapping[str, object]) -> base.BaseScreen:
        """A new screen; the arguments are those that its class takes."""
        make_screen: Callable[..., base.BaseScreen] = self.load()
        return make_screen(**arguments)

    def command(self) -> commands.KeyCommand:
        is_function_key = self.key.startswith("f")
        return commands.KeyCommand(
            f"screen.{self.name}",
            self.key,
            self.title,
            self.help,
            action=f"app.visit('{self.name}')",
            hidden=not is_function_key,
            priority=is_function_key,  # what other keys do in a line of text is done there
        )


def _screen_of_line(line: str) -> ScreenEntry:
    """A line of screens.txt; at its end ``measures`` or ``reads``, what the screen does on Linux only."""
    name, home, title, about, *options = with_recommended_numbers(line).split(" | ")
    key = options[0] if options else ""
    on_linux_only = options[1] if len(options) > 1 else ""
    return ScreenEntry(
        name,
        home,
        title,
        about,
        key,
        needs_linux=bool(on_linux_only),
        measures=on_linux_only == "measures",
    )


SCREENS = tuple(map(_screen_of_line, commands.table_lines("screens.txt")))
"""In the order of the footer; the first is where the TUI opens."""


def screen_called(name: str) -> ScreenEntry:
    return {entry.name: entry for entry in SCREENS}[name]
