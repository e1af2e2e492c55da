"""F1 help: what the widget with the focus is for, the keys that work there, and the words of sharebench."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from app.base.user_files import config_file
from app.tui.frame import base, commands
from app.tui.frame.dialogs import CLOSES
from forms.layout import wrap

_WIDEST = 90
_LEAST_WIDTH = 20
_AROUND = 12
"""Columns of the screen that the box does not have: its border, padding and margin."""

_GAP_AFTER_KEYS = 2
_EVERYWHERE = {"app.help", "app.palette", "app.quit"}
_KEYS_THAT_ARE_TYPED = {"space", "slash", "question_mark"}

_ABOUT_STOCK_WIDGETS = {
    "Input": "A line of text. Type; Enter takes it, Ctrl+U clears it to the left.",
    "Button": "A button. Enter presses it.",
    "OptionList": "A list. Up and Down move in it; Enter takes the marked line.",
    "TextArea": "Several lines of text.",
    "VerticalScroll": "Text. Up and down scroll.",
}


class KeyRow(NamedTuple):
    keys: str
    text: str


class HelpDialog(base.BaseDialog[None]):
    KEYS: ClassVar = commands.keys("help.close")

    def __init__(self, screen: Screen[object]) -> None:
        """``screen`` is the one below, whose keys are told."""
        super().__init__()
        self.helped_screen = screen

    def compose(self) -> ComposeResult:
        width = min(_WIDEST, self.app.size.width - _AROUND)
        own_keys = f'Your own keys: {config_file()}, with lines such as "guide.next" = "n" under [keys].'

        with VerticalScroll(classes="dialog-box help-box") as box:
            box.border_title = "Help"
            box.border_subtitle = f"end Words  {CLOSES}"
            yield Static(Content("\n\n".join(explanations(self.helped_screen))))
            yield Static(Content("\n").join(self._draw_keys(width)), id="help-keys")
            yield Static(Content(own_keys))
            yield Static(Content("\n").join(_draw_words(max(_LEAST_WIDTH, width))), id="help-words")

    def _draw_keys(self, width: int) -> list[Content]:
        rows = self._key_rows()
        indent = _GAP_AFTER_KEYS + max((len(row.keys) for row in rows), default=0)
        room = max(_LEAST_WIDTH, width - indent)
        line_break = "\n" + " " * indent
        return [
            Content.assemble((row.keys.ljust(indent), "bold"), line_break.join(wrap(row.text, room))) for row in rows
        ]

    def _key_rows(self) -> list[KeyRow]:
        shown_commands = [offer.command for offer in commands.offered(self.helped_screen)]

        if self.helped_screen.is_modal:  # in a dialog no key leads to another screen
            shown_commands = [
                command
                for command in shown_commands
                if command.id in _EVERYWHERE or not command.action.startswith("app.")
            ]
        # The guide ``takes_text`` where each letter begins a target, though no line of text has the focus.
        if isinstance(self.helped_screen.focused, Input | TextArea) or getattr(self.helped_screen, "takes_text", False):
            shown_commands = [command for command in shown_commands if self._works_where_text_is_typed(command)]

        chosen = self.sharebench_app.chosen_keys
        pairs = [(commands.keys_in_use(self.app, command, chosen), command) for command in shown_commands]
        return list(_merge_rows(pairs))

    def _works_where_text_is_typed(self, command: commands.KeyCommand) -> bool:
        keys = self.sharebench_app.chosen_keys.get(command.id, command.keys)
        return any(not _is_typed(key.strip()) for key in keys.split(","))

    def on_key(self, event: events.Key) -> None:
        box = self.query_one(VerticalScroll)
        top_of_words = self.query_one("#help-words").virtual_region.y
        if event.key == "end" and box.scroll_y < min(top_of_words, box.max_scroll_y):
            event.stop()  # else it would go on to the last of the words
            box.scroll_to(y=top_of_words, animate=False)


def _draw_words(room: int) -> Iterator[Content]:
    yield Content.styled("Words", "bold")
    for line in commands.table_lines("words.txt"):
        word, _, meaning = line.partition(": ")
        first_line, *other_lines = wrap(f"{word}: {meaning}", room - 2)
        text = "\n  ".join([first_line.removeprefix(word), *other_lines])
        yield Content.assemble((word, "bold"), text)


def _is_typed(key: str) -> bool:
    """Whether it is part of a text, where text is typed, and does not do what it is for."""
    return len(key) <= 1 or key in _KEYS_THAT_ARE_TYPED


def _merge_rows(pairs: Sequence[tuple[str, commands.KeyCommand]]) -> Iterator[KeyRow]:
    """A row for each command; one for all, where neighbours do alike, such as the keys of numbered choices."""
    for help_text, group in groupby(pairs, key=_help_of_pair):
        keys: list[str] = []
        names: list[str] = []
        for shown_keys, command in group:
            keys.append(shown_keys)
            names.append(command.name)

        name = names[0] if len(names) == 1 else names[0].rstrip(" 0123456789")
        is_row_of_digits = len(keys) > 2 and keys == [str(number) for number in range(1, len(keys) + 1)]
        all_keys = f"{keys[0]}-{keys[-1]}" if is_row_of_digits else " ".join(keys)
        yield KeyRow(all_keys, f"{name}: {help_text}")


def _help_of_pair(pair: tuple[str, commands.KeyCommand]) -> str:
    _, command = pair
    return command.help


def explanations(screen: Screen[object]) -> list[str]:
    """What the widget with the focus and those around it are for, from the inside out."""
    start: DOMNode = screen.focused or screen
    texts: list[str] = []
    for node in start.ancestors_with_self:
        text = _explanation(node, screen)
        if not text and node is start:
            text = _explanation_of_stock(node)
        if text and text not in texts:
            texts.append(text)
    return texts


def _explanation(node: DOMNode, screen: Screen[object]) -> str:
    hints = screen.HINTS if isinstance(screen, base.ScreenBase) else {}
    hint = hints.get(node.id or "", "") if isinstance(node, Widget) else ""
    if hint:
        return hint
    return node.about_now() if isinstance(node, commands.Commanded) else ""


def _explanation_of_stock(node: DOMNode) -> str:
    for kind in type(node).__mro__:
        if kind.__name__ in _ABOUT_STOCK_WIDGETS:
            return _ABOUT_STOCK_WIDGETS[kind.__name__]
    return ""
