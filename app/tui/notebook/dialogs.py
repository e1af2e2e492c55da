"""The notebook's dialogs: label and note, names as a baseline, what to sort by; and deleting several at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.document._edit import Edit
from textual.widgets import Input, Label, OptionList, Static, TextArea
from textual.widgets.option_list import Option
from textual.widgets.text_area import EditResult

from app.kinds import losses_text
from app.tui.frame.base import BaseDialog
from app.tui.frame.commands import keys
from app.tui.frame.parts import LineInput, text_behind_drawing
from forms.layout import control_pictures
from forms.wording import listed, plain
from storage.errors import RefusedError
from storage.notebook import Notebook
from storage.recordings import Removed, UnknownReferenceError

MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class SeriesTexts:
    label: str
    note: str


class EditDialog(BaseDialog[SeriesTexts]):
    """The label and the note of a series; it opens at once, since what is typed next is meant for it."""

    KEYS = keys("edit.save")
    ENTER = "Save"

    def __init__(self, marked: str = "") -> None:
        super().__init__()
        self.before, self.marked = SeriesTexts("", ""), marked

    def fill(self, before: SeriesTexts) -> None:
        if not self.query("#note"):
            return  # it is closed by now
        label, note = self.query_one("#label", LineInput), self.query_one("#note", LinesInput)
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
            note.styles.height = 6
            yield note
            yield Static("Enter in the label saves, in the note Ctrl+S; Esc cancels.")

    @on(Input.Submitted)
    def action_save(self) -> None:
        label, note = self.query_one("#label", LineInput).value, self.query_one("#note", LinesInput).text
        self.dismiss(
            SeriesTexts(text_behind_drawing(self.before.label, label), text_behind_drawing(self.before.note, note))
        )


_OFFERED_NAME = "reference"
"""Which Enter takes, unless it names another recording already."""


class BaselineDialog(BaseDialog[tuple[str, bool]]):
    """The names of a series as a baseline; answers with a name, and whether it is given or taken away."""

    ENTER = "Save"
    own: Sequence[str] = ()
    others: Sequence[str] = ()

    def __init__(self, marked: str = "") -> None:
        super().__init__()
        self.marked = marked

    def offer(self, names: tuple[list[str], list[str]]) -> None:
        self.own, self.others = names
        if not self.query("#names"):  # closed by now
            return
        is_taken = _OFFERED_NAME in (*self.own, *self.others)
        self.query_one("#name", LineInput).placeholder = "" if is_taken else _OFFERED_NAME
        if any(names):
            offered = self.query_one("#names", OptionList)
            offered.add_options(Option(Content(f"Take the name away: {plain(name)}")) for name in self.own)
            offered.add_options(Option(Content(f"Move the name here: {plain(name)}")) for name in self.others)
            offered.highlighted = 0
            self.query_one("#or").display = offered.display = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(f"Baseline{self.marked}", classes="dialog-heading")
            yield Static("Baseline name (Enter saves, Esc cancels).")
            yield LineInput(id="name")
            for part in (Static("Or choose:", id="or"), OptionList(id="names")):
                part.display = False
                yield part

    @on(Input.Submitted)
    def _give(self, event: Input.Submitted) -> None:
        if name := event.value.strip() or event.input.placeholder:
            self.dismiss((name, True))

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        name = [*self.own, *self.others][event.option_index]
        self.dismiss((name, event.option_index >= len(self.own)))


Refusal = RefusedError | UnknownReferenceError | None


def remove_all(notebook: Notebook, ids: Sequence[str]) -> tuple[list[Removed], Refusal]:
    removed: list[Removed] = []
    refusal: Refusal = None
    for series_id in ids:
        try:
            removed.append(notebook.remove(series_id))
        except (RefusedError, UnknownReferenceError) as error:
            refusal = error
    return removed, refusal


def question_before(notebook: Notebook, names: Mapping[str, str]) -> str:
    """What to ask before these are deleted; empty for a single one that is neither a baseline nor a step."""
    losses = losses_text(notebook, list(names))
    named = "".join(names.values()) + "." if losses else ""
    shown = [*names.values()][:MOST_NAMED] + [f"{len(names) - MOST_NAMED:,} more"] * (len(names) > MOST_NAMED)
    asked = f"{len(names):,} recordings are marked: {listed(shown)}." if len(names) > 1 else named
    return f"{asked} {losses}".strip() + " u restores what was deleted until sharebench is left." if asked else ""


class LinesInput(TextArea):
    def edit(self, edit: Edit) -> EditResult:
        edit.text = control_pictures(edit.text)
        return super().edit(edit)
