"""The choices behind a line of a worksheet: what the tables have, and what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from app.tui.frame.base import BaseDialog
from forms.series.listing import SeriesLine, series_lines
from forms.wording import plain, rate
from forms.worksheets.reference import TABLES, ReferenceKind, of_kind
from storage.notebook import Notebook

_NEWEST = 200
"""So many series are offered."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class MeasuredComponent:
    """A rate that was measured or calculated, with where it is from."""

    name: str
    bytes_per_second: float
    source: str
    series_id: str | None = None

    @property
    def shown(self) -> str:
        """What stands in the line for it."""
        return f"{self.name}: {rate(self.bytes_per_second)}"


@dataclass(frozen=True)
class WorksheetChoice(Generic[_T]):
    """One line to choose; a heading where it has no value."""

    line: str
    value: _T | None = None


class PickDialog(BaseDialog[_T], Generic[_T]):
    """A list of choices under headings."""

    ABOUT = "Choose with up and down, take with Enter; Escape leaves the line as it is."

    def __init__(self, heading: str, choices: Sequence[WorksheetChoice[_T]]) -> None:
        super().__init__(classes="dialog")
        self.heading, self.choices = heading, choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label(Content(self.heading), classes="dialog-heading")
            yield OptionList(*(Option(Content(each.line), disabled=each.value is None) for each in self.choices))

    @on(OptionList.OptionSelected)
    def _take(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.choices[event.option_index].value)


def of_tables(kind: ReferenceKind) -> list[WorksheetChoice[str | MeasuredComponent]]:
    """The names of the tables for a part."""
    found: list[WorksheetChoice[str | MeasuredComponent]] = []
    for table, references in TABLES.items():
        own: list[WorksheetChoice[str | MeasuredComponent]] = [
            WorksheetChoice(f"  {e.line}", e.name) for e in of_kind(kind, references)
        ]
        found += [WorksheetChoice(f"─ {table}"), *own] if own else []
    return found


def measured(notebook: Notebook) -> list[MeasuredComponent]:
    """The averages of the newest series, and the totals of saved calculations."""
    heads = notebook.heads(_NEWEST)
    lines = series_lines(heads, notebook.rates_of([head.id for head in heads]), notebook.baselines())
    return [found for line in lines if (found := _of_series(line)) is not None]


def of_measured(found: Sequence[MeasuredComponent]) -> list[WorksheetChoice[str | MeasuredComponent]]:
    """Lines for what was measured."""
    lines: list[WorksheetChoice[str | MeasuredComponent]] = [
        WorksheetChoice(f"  {rate(e.bytes_per_second)}  {e.name}", e) for e in found
    ]
    return [WorksheetChoice("─ measured"), *lines] if lines else []


def _of_series(line: SeriesLine) -> MeasuredComponent | None:
    average = line.average_bytes_per_second
    if average is None:
        return None
    name = f"{line.command} {line.label}" if line.label else line.what
    return MeasuredComponent(plain(name), average, f"measured, series {line.series_id}", line.series_id)
