"""Inputs in which no text steers the terminal: what comes from outside (an import, a paste) is made visible."""

from textual.document._edit import Edit
from textual.widgets import Input, TextArea
from textual.widgets.text_area import EditResult

from forms.layout import control_pictures, visible


class LineInput(Input):
    """One line of text."""

    def validate_value(self, value: str) -> str:
        """The value as it may be drawn."""
        return visible(value)


class LinesInput(TextArea):
    """Several lines of text."""

    def __init__(self, text: str, *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(control_pictures(text), id=id, tab_behavior="focus")

    def edit(self, edit: Edit) -> EditResult:
        """What is typed or pasted, as it may be drawn."""
        edit.text = control_pictures(edit.text)
        return super().edit(edit)


def kept(before: str, shown: str) -> str:
    """What an input is to be taken for: the text before, where nothing but its drawing differs."""
    return before if shown in {visible(before), control_pictures(before)} else shown
