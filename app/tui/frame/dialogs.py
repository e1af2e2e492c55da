"""Small dialogs: message, question, list, line of text, and F1 help."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Button, Input, Label, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from app.base.user_files import config_file
from app.tui.frame.base import BaseDialog, ScreenBase
from app.tui.frame.commands import Commanded, KeyCommand, keys, keys_in_use, offered, table_lines
from app.tui.frame.parts import LineInput
from forms.layout import lines_of, visible, wrap

_T = TypeVar("_T")


class BoxDialog(BaseDialog[_T], Generic[_T]):
    def __init__(self, heading: str, text: str) -> None:
        super().__init__()
        self.heading, self.text = heading, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(Content(visible(self.heading)), classes="dialog-heading")
            yield Static(Content("\n".join(lines_of(self.text))), classes="dialog-text")
            yield from self.answers()

    def answers(self) -> ComposeResult:
        raise NotImplementedError


class MessageDialog(BoxDialog[None]):
    UNREAD_SECONDS: ClassVar = 0.6
    """An Enter within this time was meant for the screen below."""

    def on_screen_resume(self) -> None:
        self._shown_at = monotonic()

    def answers(self) -> ComposeResult:
        yield Button("OK", id="ok", variant="primary")

    @on(Button.Pressed)
    def _ok(self) -> None:
        if monotonic() - self._shown_at >= self.UNREAD_SECONDS:
            self.dismiss(None)


class ConfirmDialog(BoxDialog[bool]):
    def __init__(self, heading: str, text: str, *, yes: str, no: str = "Cancel", prefer_yes: bool = False) -> None:
        super().__init__(heading, text)
        self.yes, self.no, self.prefer_yes = yes, no, prefer_yes

    def answers(self) -> ComposeResult:
        with Horizontal(classes="dialog-buttons"):
            yield Button(Content(f"{self.yes} (y)"), id="yes", variant="primary" if self.prefer_yes else "default")
            yield Button(Content(f"{self.no} (n)"), id="no", variant="default" if self.prefer_yes else "primary")

    def on_mount(self) -> None:
        self.query_one("#yes" if self.prefer_yes else "#no", Button).focus()

    def enter_now(self) -> str:
        return self.yes if self.query_one("#yes").has_focus else self.no

    def on_key(self, event: events.Key) -> None:
        if event.key in {"left", "right"}:
            self.query_one("#yes" if event.key == "left" else "#no").focus()
        elif event.key in {"y", "n"}:
            event.stop()  # or it would be a key of the screen below as well
            self.dismiss(event.key == "y" and self.query_one("#yes", Button).display)

    def action_close(self) -> None:
        self.dismiss(result=False)

    def withdraw(self, text: str) -> None:
        self.query_one(".dialog-text", Static).update(Content(visible(text)))
        self.query_one("#yes", Button).display = False
        self.query_one("#no", Button).label = self.no = "OK"
        self.query_one("#no", Button).focus()

    @on(Button.Pressed)
    def _answer(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")


class PickDialog(BaseDialog[_T], Generic[_T]):
    """A list to choose from; answers with the value of the row taken. Rows without a value are headings."""

    def __init__(
        self,
        heading: str,
        rows: Sequence[tuple[_T | None, str]],
        *,
        about: str,
        at: int | None = None,
        wide: bool = False,
    ) -> None:
        super().__init__()
        self.heading, self.rows, self.about, self.at, self.wide = heading, rows, about, at, wide

    def about_now(self) -> str:
        return self.about

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box list-box" if self.wide else "dialog-box"):
            yield Label(Content(visible(self.heading)), classes="dialog-heading")
            yield OptionList(*(Option(Content(visible(line)), disabled=value is None) for value, line in self.rows))

    def on_mount(self) -> None:
        if self.at is not None:
            self.query_one(OptionList).highlighted = self.at

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.rows[event.option_index][0])


class AskDialog(BoxDialog[str]):
    def __init__(
        self, heading: str, text: str, *, value: str = "", password: bool = False, needed: bool = False
    ) -> None:
        super().__init__(heading, text)
        self.needed = needed
        self.box = LineInput(value, password=password, id="answer")

    def answers(self) -> ComposeResult:
        yield self.box

    def type_on(self, text: str) -> None:
        self.box.select_on_focus = False
        self.box.value += text
        self.box.cursor_position = len(self.box.value)
        self.box.focus()

    def on_key(self, event: events.Key) -> None:
        if event.character and event.is_printable:
            event.stop()
            self.type_on(event.character)

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        if event.value.strip() or not self.needed:
            self.dismiss(event.value)
        else:
            self.box.placeholder = "empty: type it here, or leave with Escape"


_WIDEST, _AROUND = 90, 12
_CLOSES = "esc Close"
_STOCK = {
    "Input": "A line of text. Type; Enter takes it, Ctrl+U clears it to the left.",
    "Button": "A button. Enter presses it.",
    "OptionList": "A list. Up and down move, Enter chooses.",
    "TextArea": "Several lines of text.",
    "VerticalScroll": "Text. Up and down scroll.",
}


class TextDialog(BoxDialog[None]):
    KEYS: ClassVar = keys("help.close")

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog-box wide-box") as box:
            box.border_title, box.border_subtitle = Content(visible(self.heading)), _CLOSES
            yield Static(Content("\n".join(lines_of(self.text))), classes="dialog-text")


class HelpDialog(BaseDialog[None]):
    KEYS: ClassVar = keys("help.close")

    def on_key(self, event: events.Key) -> None:
        box = self.query_one(VerticalScroll)
        top = self.query_one("#help-words").virtual_region.y
        if event.key == "end" and box.scroll_y < min(top, box.max_scroll_y):
            event.stop()  # else it would go on to the last of the words
            box.scroll_to(y=top, animate=False)

    def __init__(self, screen: Screen[object]) -> None:
        super().__init__()
        self.about = screen

    def compose(self) -> ComposeResult:
        chosen = self.sharebench_app.chosen_keys
        commands = [one.command for one in offered(self.about)]
        if self.about.is_modal:  # in a dialog no key leads to another screen
            everywhere = {"app.help", "app.palette", "app.quit"}
            commands = [one for one in commands if one.id in everywhere or not one.action.startswith("app.")]
        if isinstance(self.about.focused, Input | TextArea) or getattr(self.about, "takes_text", False):
            commands = [one for one in commands if any(map(_is_no_letter, chosen.get(one.id, one.keys).split(",")))]
        rows = list(_together([(keys_in_use(self.app, command, chosen), command) for command in commands]))
        beside = max((len(keys) for keys, _ in rows), default=0) + 2
        widest = min(_WIDEST, self.app.size.width - _AROUND)
        below, room = f"\n{' ' * beside}", max(20, widest - beside)
        lines = [Content.assemble((keys.ljust(beside), "bold"), below.join(wrap(text, room))) for keys, text in rows]
        own = f'Your own keys: {config_file()}, with lines such as "guide.next" = "n" under [keys].'
        with VerticalScroll(classes="dialog-box help-box") as box:
            box.border_title, box.border_subtitle = "Help", f"end Words  {_CLOSES}"
            yield Static(Content("\n\n".join(explanations(self.about))))
            yield Static(Content("\n").join(lines), id="help-keys")
            yield Static(Content(own))
            yield Static(Content("\n").join(_words(max(20, widest))), id="help-words")


def _words(room: int) -> Iterator[Content]:
    yield Content.styled("Words", "bold")
    for word, _, meaning in (line.partition(": ") for line in table_lines("words.txt")):
        first, *rest = wrap(f"{word}: {meaning}", room - 2)
        yield Content.assemble((word, "bold"), "\n  ".join([first.removeprefix(word), *rest]))


def _is_no_letter(key: str) -> bool:
    """Whether it does what it is for where text is typed."""
    return len(key.strip()) > 1 and key.strip() not in {"space", "slash", "question_mark"}


def _together(rows: Sequence[tuple[str, KeyCommand]]) -> Iterator[tuple[str, str]]:
    for help_text, alike in groupby(rows, key=lambda row: row[1].help):
        found = list(alike)
        keys, names = [keys for keys, _ in found], [command.name for _, command in found]
        name = names[0] if len(names) == 1 else names[0].rstrip(" 0123456789")
        in_order = len(keys) > 2 and keys == [str(number) for number in range(1, len(keys) + 1)]
        yield f"{keys[0]}-{keys[-1]}" if in_order else " ".join(keys), f"{name}: {help_text}"


def explanations(screen: Screen[object]) -> list[str]:
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
