"""Screens to read: a report that can be copied and exported, its next steps, and what the notebook has stored."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Label, OptionList, Static
from textual.widgets.option_list import Option

from app.clients.base import Secrets
from app.tui.export import ExportScreen
from app.tui.frame.base import BaseDialog, BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog
from app.tui.frame.parts import KeyBar, kept
from app.tui.widgets.asking import log_in
from app.tui.widgets.measure_mixin import MeasureMixin
from app.tui.widgets.views import AnsiView, in_columns
from forms.exporters.text import figures_text, report_text
from forms.layout import visible
from forms.report import Report
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import SeriesStatus, Target

if TYPE_CHECKING:
    from app.workflows.next_steps import NextStep


FILE_NAME = "copied.txt"
"""Beside the notebook: what was copied last."""


class Copies(BaseScreen):
    """A screen whose form can be copied as text."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand(
            "screen.copy",
            "y,ctrl+y",
            "Copy",
            "Copy the form as text to the terminal's clipboard (OSC 52), and to a file whose path is shown.",
            footer="Copy",
        ),
    )

    def text_to_copy(self) -> str:
        """What is copied; empty while there is nothing."""
        raise NotImplementedError

    def action_copy(self) -> None:
        text = self.text_to_copy()
        if not text:
            return
        self.app.copy_to_clipboard(text)
        path = self.context.notebook_path.with_name(FILE_NAME)
        self.in_background(lambda: _write(path, text), self._copied, group="copy")

    def _copied(self, path: Path) -> None:
        self.notify(f"To the clipboard, and to {path}", title="Copied", markup=False)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


class NextDialog(BaseDialog["NextStep"]):
    """What can be done next; the first is advised."""

    ABOUT = "What can be done next. Enter takes it; Escape goes back to reading."

    def __init__(self, steps: "Iterable[NextStep]") -> None:
        super().__init__(classes="dialog")
        self.steps = list(steps)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box"):
            yield Label("What next?", classes="dialog-heading")
            yield OptionList(
                *(Option(Content(f"{' ' if place else '★'} {step.name}")) for place, step in enumerate(self.steps))
            )

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.steps[event.option_index])


class GoesOn(MeasureMixin):
    """A screen to read, from which Enter leads on."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand("screen.next", "enter", "What next", "What can be done now: a list to choose from.", footer="Next"),
    )

    def next_steps(self) -> "Iterable[NextStep]":
        """The advised one first; none while there is nothing to read."""
        raise NotImplementedError

    def action_next(self) -> None:
        if steps := list(self.next_steps()):
            self.app.push_screen(NextDialog(steps), self._go_on)

    def _go_on(self, step: "NextStep | None") -> None:
        if step is None:
            return
        if step.screen:
            screen, arguments = step.screen, step.arguments
            if step.choices is None:
                self.sharebench_app.visit(screen, **arguments)
            else:
                self.with_notebook(step.choices, lambda _: self.sharebench_app.visit(screen, **arguments))
        elif step.choices is not None:
            self.with_notebook(step.choices, self.measure_with)


class ReportScreen(Copies):
    """One report, as the command line prints it."""

    ABOUT = "A report from the notebook. Up and down scroll."
    KEYS: ClassVar[tuple[KeyCommand, ...]] = (
        KeyCommand("report.export", "x", "Export", "Write it to a file.", footer="Export"),
    )
    DEFAULT_CSS = """
    ReportScreen #headline { height: auto; max-height: 3; padding: 0 1; text-style: bold; display: none; }
    ReportScreen VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
    ReportScreen.-narrow VerticalScroll { scrollbar-size-vertical: 0; }
    """

    def __init__(self, heading: str, read: Callable[[Notebook], Report]) -> None:
        """``heading`` is what the title line says; ``read`` gives the report."""
        super().__init__()
        self.heading, self.read = heading, read
        self.report: Report | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="headline")
        with VerticalScroll(id="report-box", classes="pane") as box:
            box.border_title = Content(f"sharebench · {plain(self.heading)}")
            yield AnsiView(id="report")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#report-box").focus()
        self.with_notebook(self.read, self.show)

    def show(self, report: Report) -> None:
        """Show it from now on."""
        self.report = report
        box = self.query_one("#report-box")
        self.query_one("#report", AnsiView).show(
            lambda width, _height: in_columns(lambda column: self.text_of(report, column), width, box.size.height)
        )

    def text_of(self, report: Report, width: int) -> str:
        """How it is written for a width."""
        return report_text(report, width=width, ansi=True)

    def text_to_copy(self) -> str:
        return report_text(self.report) if self.report else ""

    def action_export(self) -> None:
        if self.report is not None:
            report = self.report
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.heading))


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
