"""The notebook's dialogs: label and note, names as a baseline; and deleting several at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.document._edit import Edit
from textual.widgets import Input, Label, OptionList, Static, TextArea
from textual.widgets.option_list import Option
from textual.widgets.text_area import EditResult

from app.recording.several import losses_text
from app.tui.frame.base import BaseDialog
from app.tui.frame.commands import keys
from app.tui.frame.parts import LineInput, text_behind_drawing
from forms.layout import control_pictures
from forms.wording import listed, plain
from storage.errors import RefusedError, UnreadableRecordingError
from storage.notebook import Notebook
from storage.recordings import Removed, UnknownReferenceError

MOST_NAMED = 4
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
        if not self.query("#note"):
            return  # it is closed by now

        label = self.query_one("#label", LineInput)
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
            yield LineInput(id="label")
            yield Label("Note")
            note = LinesInput(id="note", tab_behavior="focus")
            note.styles.height = _NOTE_ROWS
            yield note
            yield Static("Enter in the label saves, in the note Ctrl+S; Esc cancels.")

    @on(Input.Submitted)
    def action_save(self) -> None:
        label = text_behind_drawing(self.before.label, self.query_one("#label", LineInput).value)
        note = text_behind_drawing(self.before.note, self.query_one("#note", LinesInput).text)
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
        self.own_names, self.other_names = names
        if not self.query("#names"):
            return  # it is closed by now

        all_names = [*self.own_names, *self.other_names]
        self.query_one("#name", LineInput).placeholder = "" if _OFFERED_NAME in all_names else _OFFERED_NAME
        if not all_names:
            return

        options = self.query_one("#names", OptionList)
        options.add_options(Option(Content(f"Take the name away: {plain(name)}")) for name in self.own_names)
        options.add_options(Option(Content(f"Move the name here: {plain(name)}")) for name in self.other_names)
        options.highlighted = 0
        options.display = True
        self.query_one("#or").display = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(f"Baseline{self.marked}", classes="dialog-heading")
            yield Static("Baseline name (Enter saves, Esc cancels).")
            yield LineInput(id="name")
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


@dataclass
class Deletion:
    """What was deleted, and why something was not."""

    removed: list[Removed] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    """Ids of what could not be read: deleted for good."""
    refusal: RefusedError | UnknownReferenceError | None = None


def remove_all(notebook: Notebook, ids: Sequence[str]) -> Deletion:
    deletion = Deletion()
    unreadable = _unreadable_ids(notebook, ids)
    for recording_id in ids:
        try:
            if recording_id in unreadable:
                notebook.remove_unread(recording_id)
                deletion.unreadable.append(recording_id)
            else:
                deletion.removed.append(notebook.remove(recording_id))
        except (RefusedError, UnknownReferenceError) as error:
            deletion.refusal = error
    return deletion


def question_before(notebook: Notebook, names: Mapping[str, str]) -> str:
    """What to ask before these are deleted; empty for a single one that is neither a baseline nor a step."""
    unreadable = _unreadable_ids(notebook, list(names))
    readable = [recording_id for recording_id in names if recording_id not in unreadable]
    losses = losses_text(notebook, readable)

    parts: list[str] = []
    if len(names) > 1:
        shown_names = list(names.values())[:MOST_NAMED]
        if len(names) > MOST_NAMED:
            shown_names.append(f"{len(names) - MOST_NAMED:,} more")
        parts.append(f"{len(names):,} recordings are marked: {listed(shown_names)}.")
    elif losses:
        parts.append("".join(names.values()) + ".")
    if losses:
        parts.append(losses)
    if parts and readable:
        parts.append("u restores what was deleted until sharebench is left.")
    if unreadable:
        parts.append(
            f"{listed(unreadable)} cannot be read, so what it was and what it left on a server is not known:"
            " it is deleted for good."
        )
    return " ".join(parts)


def _unreadable_ids(notebook: Notebook, ids: Sequence[str]) -> list[str]:
    """Which of these hold a value that was never stored."""
    unreadable: list[str] = []
    others = list(ids)
    while True:
        try:
            notebook.recordings_of(others)
            notebook.heads_of(others)
        except UnreadableRecordingError as error:
            if error.recording_id not in others:
                raise
            others.remove(error.recording_id)
            unreadable.append(error.recording_id)
        else:
            return unreadable


class LinesInput(TextArea):
    def edit(self, edit: Edit) -> EditResult:
        edit.text = control_pictures(edit.text)
        return super().edit(edit)
