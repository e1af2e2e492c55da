"""What was measured once and is opened again: the list to choose from, and the screen of one load or isolation."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from app.clients.base import Secrets
from app.tui.frame.base import BaseDialog
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog
from app.tui.report_screen import ReportScreen
from app.tui.widgets.inputs import kept
from app.tui.widgets.login import log_in
from forms.exporters.text import figures_text
from forms.layout import visible
from forms.report import Report
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import SeriesStatus, Target

_T = TypeVar("_T")


class StoredDialog(BaseDialog[str]):
    """Everything of one kind that is in the notebook, the newest first; answers with an id."""

    ABOUT = "What the notebook holds of them, the newest first. Enter opens one, Escape leaves."

    def __init__(self, heading: str, found: Sequence[tuple[str, str]]) -> None:
        """``found`` are ids, each with the line that tells it from the others."""
        super().__init__(classes="dialog")
        self.heading, self.found = heading, found

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box list-box"):
            yield Label(Content(visible(self.heading)), classes="dialog-heading")
            yield OptionList(*(Option(Content(visible(line))) for _, line in self.found))

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.found[event.option_index][0])


class StoredScreen(ReportScreen, Generic[_T]):
    """One load or isolation of the notebook: its form, what came of it above, and how it goes on where it stopped."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand("stored.go-on", "g", "Go on", "Go on where it stopped, with what it was asked for.", footer="Go on"),
        KeyCommand("stored.label", "e", "Label", "Change what it is called.", footer="Label"),
    )

    def __init__(self, heading: str, reference: str) -> None:
        super().__init__(heading, self.read_report)
        self.reference = reference
        self.found: _T | None = None
        """What was read."""

    def find(self, notebook: Notebook) -> _T:
        """What the reference means. Raises UsageError."""
        raise NotImplementedError

    def lay_out(self, notebook: Notebook, found: _T) -> Report:
        """Its form."""
        raise NotImplementedError

    def headline(self, found: _T) -> Content:
        """What came of it, in a line."""
        raise NotImplementedError

    def label_of(self, found: _T) -> str:
        """What it is called."""
        raise NotImplementedError

    def set_label(self, notebook: Notebook, found: _T, label: str) -> None:
        """Call it so from now on."""
        raise NotImplementedError

    def target_to_go_on(self, found: _T) -> Target | None:
        """Where it goes on; None for one that cannot."""
        raise NotImplementedError

    def go_on(self, found: _T, secrets: Secrets) -> None:
        """Measure what is missing."""
        raise NotImplementedError

    def read_report(self, notebook: Notebook) -> Report:
        self.found = self.find(notebook)
        return self.lay_out(notebook, self.found)

    def on_screen_resume(self) -> None:
        """What went on meanwhile is shown as it is now."""
        if self.report is not None:
            self.with_notebook(self.read_report, self.show)

    def show(self, report: Report) -> None:
        super().show(report)
        assert self.found is not None
        line = self.query_one("#headline", Static)
        line.update(self.headline(self.found))
        line.display = True
        self.refresh_bindings()

    def text_of(self, report: Report, width: int) -> str:
        """The figures before what they were made from: what came of it stands above."""
        return figures_text(report, width=width, ansi=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "go_on":
            return self.found is not None and self.target_to_go_on(self.found) is not None
        if action == "label":
            return self.found is not None
        return super().check_action(action, parameters)

    def action_label(self) -> None:
        found = self.found
        assert found is not None

        def answered(label: str | None) -> None:
            if label is not None:
                text = kept(self.label_of(found), label).strip()
                self.with_notebook(lambda notebook: self.set_label(notebook, found, text), lambda _: again())

        def again() -> None:
            self.with_notebook(self.read_report, self.show)

        text = "What it is called in lists and on paper; empty for none."
        self.app.push_screen(AskDialog("Label", text, value=self.label_of(found)), answered)

    def action_go_on(self) -> None:
        found = self.found
        target = None if found is None else self.target_to_go_on(found)
        if found is not None and target is not None:
            log_in(self, target, lambda secrets: self.go_on(found, secrets))


def line_of(when: str, what: str, label: str, status: SeriesStatus, *, running: bool) -> str:
    """A line of the list: ``2026-01-31 10:00  ! interrupted  5,10 users  nas/data  before``."""
    stopped = "" if status is SeriesStatus.COMPLETE else f"! {status}"
    stopped = "▸ running" if running else stopped
    return "  ".join(filter(None, (when[:16].replace("T", " "), stopped, what, plain(label))))
