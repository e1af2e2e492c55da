"""An input of several lines, apart: Textual's takes long to load, and the first screen has none."""

from textual.document._edit import Edit
from textual.widgets import TextArea
from textual.widgets.text_area import EditResult

from forms.layout import control_pictures


class LinesInput(TextArea):
    """Several lines of text."""

    def __init__(self, text: str, *, id: str) -> None:  # noqa: A002  Textual's name
        super().__init__(control_pictures(text), id=id, tab_behavior="focus")

    def edit(self, edit: Edit) -> EditResult:
        """What is typed or pasted, as it may be drawn."""
        edit.text = control_pictures(edit.text)
        return super().edit(edit)
