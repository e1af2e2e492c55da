"""Screens to read: a report that can be copied and exported, its next steps, and what the notebook has stored."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from app.base.errors import UsageError
from app.base.output import output_file
from app.guide.rounds import NextStep, after_recording
from app.kinds import kind_of, stored_record
from app.tui.export import Exports
from app.tui.frame.base import MeasureMixin
from app.tui.frame.commands import KeyCommand, keys
from app.tui.frame.dialogs import PickDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets.views import FiguresView, in_columns
from forms.exporters.text import report_text
from forms.report import Report
from forms.wording import plain
from storage.notebook import Notebook
from storage.recordings import Recording


class Copies(Exports):
    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("screen.copy")

    def text_to_copy(self) -> str:
        return report_text(self.report) if self.report else ""

    def action_copy(self) -> None:
        text, path = self.text_to_copy(), self.context.notebook_path.with_name("copied.txt")

        def write() -> None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with output_file(path) as file:
                file.write(text.encode())

        if text:
            self.app.copy_to_clipboard(text)
            said = f"To the clipboard, and to {path}"
            self.in_background(write, lambda _: self.notify(said, title="Copied"), group="copy")


class GoesOn(MeasureMixin):
    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("screen.next")

    def next_steps(self) -> Iterable[NextStep]:
        raise NotImplementedError

    def action_next(self) -> None:
        self.offer([*self.next_steps()])

    def offer(self, steps: list[NextStep]) -> None:
        if self._open_guide() is not None:
            steps = [*steps, NextStep(name="Back to the guide", screen="guide")]
        if steps:
            about = "What can be done next. Enter takes it; Escape goes back to reading."
            rows = [(step, f"{' ' if place else '★'} {step.name}") for place, step in enumerate(steps)]
            self.ask(PickDialog("What next?", rows, about=about), self.take_step)


def resumable(steps: Iterable[NextStep], head: Recording) -> list[NextStep]:
    """Without the way to resume a recording that runs, or that was imported."""
    return [one for one in steps if one.screen != "stored" or not (head.running or head.imported_at)]


class RecordingGoesOn(GoesOn):
    """What can follow a recording of the notebook that is no series."""

    recorded: tuple[str, ...] = ()
    """Its id, or its name and its kind."""

    def action_next(self) -> None:
        def read(notebook: Notebook) -> list[NextStep]:
            head, record = notebook.recording(*self.recorded), None
            if kind_of(head).read is not None:
                with suppress(UsageError):  # an imported trial cannot be resumed
                    record = stored_record(notebook, head)
            return resumable(after_recording(head.kind, record), head)

        self.with_notebook(read, self.offer)


class ReportScreen(Copies):
    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("report.export")

    def __init__(self, heading: str, read: Callable[[Notebook], Report]) -> None:
        super().__init__()
        self.heading, self.read = heading, read

    def compose(self) -> ComposeResult:
        with Pane(f"sharebench · {plain(self.heading)}"):
            yield Static(id="headline", classes="answer")
            with VerticalScroll(id="report-box"):
                yield FiguresView(id="report")
        yield KeyBar()

    def title_is(self, title: str) -> None:
        self.query_one(Pane).set_title(f"sharebench · {plain(title)}")

    def on_mount(self) -> None:
        self.query_one("#report-box").focus()
        self.look()

    def look(self) -> None:
        self.with_notebook(self.read, self.show)

    def show(self, report: Report) -> None:
        self.report = report
        self.query_one("#report", FiguresView).show_chart(partial(self.text_of, report))
        self.refresh_bindings()

    def text_of(self, report: Report, width: int, height: int, zoomed: bool) -> str:  # noqa: ARG002  text alone
        return in_columns(lambda column: report_text(report, width=column, ansi=True), width, height)

    def export_name(self, report: Report) -> str:  # noqa: ARG002  what stands above it
        return self.heading
