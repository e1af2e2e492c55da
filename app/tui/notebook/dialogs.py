"""Two dialogs of the notebook: one for the label and the note of recordings, one for their names as a baseline.

Both open at once, while what they show is still read: ``fill`` and ``offer`` are called when it is there. A baseline is
a recording, or several, with a name of the user's, to compare others with.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.document._edit import Edit
from textual.widgets import Input, Label, OptionList, Static, TextArea
from textual.widgets.option_list import Option
from textual.widgets.text_area import EditResult

from app.tui.frame import parts as frame_parts
from app.tui.frame.base import BaseDialog
from app.tui.frame.commands import keys
from forms import wording
from forms.layout import control_pictures

_NOTE_ROWS = 6


@dataclass(frozen=True, slots=True)
class SeriesTexts:
    label: str
    note: str


class EditDialog(BaseDialog[SeriesTexts]):
    """The label and the note of a series; it opens at once, since what is typed next is meant for it."""

    KEYS = keys("edit.save")
    ENTER = "Save"

    def __init__(self, marked: str = "") -> None:
        """``marked`` says whose texts they are, where they are not those of the row with the cursor."""
        super().__init__()
        self.before = SeriesTexts("", "")
        self.marked = marked

    def fill(self, before: SeriesTexts) -> None:
        """Show the stored texts, but in no box in which something was typed meanwhile."""
        if not self.query("#note"):
            return  # it is closed by now

        label = self.query_one("#label", frame_parts.LineInput)
        note = self.query_one("#note", LinesInput)
        self.before = SeriesTexts("" if label.value else before.label, "" if note.text else before.note)
        if not label.value:
            label.value = before.label
            label.select_all()
        note.text = note.text or control_pictures(before.note)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(f"Label and note{self.marked}", classes="dialog-heading")
            yield Label("Label")
            yield frame_parts.LineInput(id="label")
            yield Label("Note")
            note = LinesInput(id="note", tab_behavior="focus")
            note.styles.height = _NOTE_ROWS
            yield note
            yield Static("Enter in the label saves, in the note Ctrl+S; Esc cancels.")

    @on(Input.Submitted)
    def action_save(self) -> None:
        label = frame_parts.text_behind_drawing(
            self.before.label, self.query_one("#label", frame_parts.LineInput).value
        )
        note = frame_parts.text_behind_drawing(self.before.note, self.query_one("#note", LinesInput).text)
        self.dismiss(SeriesTexts(label, note))


_OFFERED_NAME = "reference"
"""Which Enter takes, unless it names another recording already."""


class BaselineDialog(BaseDialog[tuple[str, bool]]):
    """The names of a series as a baseline; answers with a name, and whether it is given or taken away."""

    ENTER = "Save"
    own_names: Sequence[str] = ()
    other_names: Sequence[str] = ()

    def __init__(self, marked: str = "") -> None:
        """``marked`` says whose names they are, where they are not those of the row with the cursor."""
        super().__init__()
        self.marked = marked

    def offer(self, names: tuple[list[str], list[str]]) -> None:
        """Show the names that the recordings have (the first list), and those of other recordings."""
        self.own_names, self.other_names = names
        if not self.query("#names"):
            return  # it is closed by now

        all_names = [*self.own_names, *self.other_names]
        self.query_one("#name", frame_parts.LineInput).placeholder = "" if _OFFERED_NAME in all_names else _OFFERED_NAME
        if not all_names:
            return

        options = self.query_one("#names", OptionList)
        options.add_options(Option(Content(f"Take the name away: {wording.plain(name)}")) for name in self.own_names)
        options.add_options(Option(Content(f"Move the name here: {wording.plain(name)}")) for name in self.other_names)
        options.highlighted = 0
        options.display = True
        self.query_one("#or").display = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(f"Baseline{self.marked}", classes="dialog-heading")
            yield Static("Baseline name (Enter saves, Esc cancels).")
            yield frame_parts.LineInput(id="name")
            for part in (Static("Or choose:", id="or"), OptionList(id="names")):
                part.display = False
                yield part

    @on(Input.Submitted)
    def _give_name(self, event: Input.Submitted) -> None:
        name = event.value.strip() or event.input.placeholder
        if name:
            self.dismiss((name, True))

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        name = [*self.own_names, *self.other_names][event.option_index]
        is_given = event.option_index >= len(self.own_names)
        self.dismiss((name, is_given))


class LinesInput(TextArea):
    """Several lines of text; signs that would steer the terminal are replaced as they are typed or pasted."""

    def edit(self, edit: Edit) -> EditResult:
        edit.text = control_pictures(edit.text)
        return super().edit(edit)
