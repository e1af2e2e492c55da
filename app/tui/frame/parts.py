"""Parts of every screen: titled panes, lists, and inputs in which no text steers the terminal."""

from typing import ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Input, OptionList

from app.tui.frame.commands import Commanded, keys
from forms.layout import control_pictures, visible


class Pane(Vertical):
    """Widgets one below the other under a title; what the title names steers no terminal."""

    def __init__(self, title: str = "", *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes="pane")
        self.set_title(title)

    def set_title(self, title: str) -> None:
        self.border_title = Content(visible(title))


class Choices(OptionList, Commanded):
    """A list to choose from, whose keys are in the footer and in F1 help."""

    KEYS: ClassVar = keys("lines.up lines.down lines.choose")


class LineInput(Input):
    """A line of text in which each sign is visible, whatever is pasted."""

    cursor_blink = reactive(default=False, init=False)

    def validate_value(self, value: str) -> str:
        return visible(value)


class FilterLine(LineInput, Commanded):
    """A line above a list, to search it; down leads to the list."""

    KEYS: ClassVar = keys("filter.list filter.down filter.clear")


def text_behind_drawing(before: str, drawn: str) -> str:
    """The text that was meant by what stands in an input.

    An input draws signs that would steer the terminal as other signs. Where nothing else differs, nobody has typed, and
    the text ``before`` it was drawn is meant; so it is stored unchanged.
    """
    drawings_of_before = {visible(before), control_pictures(before)}
    return before if drawn in drawings_of_before else drawn
