"""F1 help: what the focused widget is for, and every key that works now."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from app.tui.frame.base import BaseDialog, ScreenBase
from app.tui.frame.commands import Commanded, KeyCommand, keys_in_use, offered
from forms.layout import wrap

_WIDEST, _AROUND = 90, 12
"""Cells of a line in the box, and of what is around it where the screen is narrower."""
_STOCK = {
    "Input": "A line of text. Type; Enter takes it, Ctrl+U clears it to the left.",
    "Button": "A button. Enter presses it.",
    "DataTable": "A table. Arrow keys move, Enter opens the row.",
    "OptionList": "A list. Up and down move, Enter chooses.",
    "Select": "A choice. Enter opens it, up and down move, Enter chooses.",
    "Checkbox": "A choice. Enter or space turns it on or off.",
    "Switch": "A switch. Enter turns it on or off.",
    "Tree": "A tree. Up and down move, Enter opens or closes.",
    "TextArea": "Several lines of text.",
    "VerticalScroll": "Text. Up and down scroll.",
}


class HelpDialog(BaseDialog[None]):
    """The help for one screen in the state it is in."""

    ABOUT = "Help. Up and down scroll, Escape closes it."
    KEYS: ClassVar = (KeyCommand("help.close", "enter", "Close help", "Close the help.", footer="Close"),)

    def __init__(self, screen: Screen[object]) -> None:
        super().__init__(classes="dialog")
        self.about = screen

    def compose(self) -> ComposeResult:
        chosen = self.sharebench_app.chosen_keys
        rows = list(
            _together([(keys_in_use(self.app, offer.command, chosen), offer.command) for offer in offered(self.about)])
        )
        beside = max((len(keys) for keys, _ in rows), default=0) + 2
        room = max(20, min(_WIDEST, self.app.size.width - _AROUND) - beside)
        lines = [
            Content.assemble((keys.ljust(beside), "bold"), f"\n{' ' * beside}".join(wrap(text, room)))
            for keys, text in rows
        ]
        own = f'Your own keys: {self.sharebench_app.keys_path}, with lines such as "guide.next" = "n" under [keys].'
        with VerticalScroll(classes="dialog-box help-box") as box:
            box.border_title = "Help"
            yield Static(Content("\n\n".join(explanations(self.about))))
            yield Static(Content("\n").join(lines), id="help-keys")
            yield Static(Content(own))


def _together(rows: Sequence[tuple[str, KeyCommand]]) -> Iterator[tuple[str, str]]:
    """Keys and what they do; neighbours that do the same with a number each, such as the steps, in one row."""
    for help_text, alike in groupby(rows, key=lambda row: row[1].help):
        found = list(alike)
        keys, names = [keys for keys, _ in found], [command.name for _, command in found]
        name = names[0] if len(names) == 1 else names[0].rstrip(" 0123456789")
        in_order = len(keys) > 2 and keys == [str(number) for number in range(1, len(keys) + 1)]
        yield f"{keys[0]}-{keys[-1]}" if in_order else " ".join(keys), f"{name}: {help_text}"


def explanations(screen: Screen[object]) -> list[str]:
    """What the focused widget is for, what contains it and what the screen is for."""
    found: list[str] = []
    start: DOMNode = screen.focused or screen
    hints = screen.HINTS if isinstance(screen, ScreenBase) else {}
    for node in start.ancestors_with_self:
        text = hints.get(node.id or "", "") if isinstance(node, Widget) else ""
        if not text and isinstance(node, Commanded):
            text = node.about_now()
        if not text and node is start:
            text = next((_STOCK[kind.__name__] for kind in type(node).__mro__ if kind.__name__ in _STOCK), "")
        if text and text not in found:
            found.append(text)
    return found
