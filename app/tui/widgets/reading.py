"""What screens to read have in common: a text that can be copied, and a key that offers what can be done next.

A next step is a proposal such as "measure again": a name, the screen that it leads to, and choices for the guide.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from app.audit.earlier_looks import earlier_look
from app.base.errors import UsageError
from app.base.output import output_file
from app.method import next_after_recording
from app.method import next_steps as method_next_steps
from app.recording.kind import kind_of
from app.tui.frame import commands
from app.tui.frame.dialogs import PickDialog
from app.tui.frame.measuring import MeasureMixin
from app.tui.widgets.exports import Exports
from forms.exporters.text import report_text
from storage.notebook import Notebook
from storage.recordings import Recording


class Copies(Exports):
    """A screen whose report can be copied as text; a subclass without a report writes ``text_to_copy``."""

    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys("screen.copy")

    def text_to_copy(self) -> str:
        """Empty where there is nothing to copy yet."""
        return report_text(self.report) if self.report else ""

    def action_copy(self) -> None:
        text = self.text_to_copy()
        if not text:
            return

        # Not every terminal passes it on to the clipboard, so it is written to a file too.
        self.app.copy_to_clipboard(text)
        path = self.context.notebook_path.with_name("copied.txt")

        def tell_where(_result: None) -> None:
            self.notify(f"To the clipboard, and to {path}", title="Copied")

        self.in_background(partial(_write_text, path, text), tell_where, group="copy")


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with output_file(path) as file:
        file.write(text.encode())


class GoesOn(MeasureMixin):
    """A screen with a key that offers what can be done next; a subclass writes ``next_steps``, called by that key."""

    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys("screen.next")

    def next_steps(self) -> Iterable[method_next_steps.NextStep]:
        """The best one first."""
        raise NotImplementedError

    def action_next(self) -> None:
        self.offer([*self.next_steps()])

    def offer(self, steps: list[method_next_steps.NextStep]) -> None:
        """Let one of the steps be chosen, and take it; from a screen over the guide also the way back there."""
        if self._open_guide() is not None:
            steps = [*steps, method_next_steps.NextStep(name="Back to the guide", screen="guide")]
        if not steps:
            return

        best, *others = steps
        rows = [(best, f"★ {best.name}"), *((step, f"  {step.name}") for step in others)]
        about = "What can be done next. Enter takes it; Escape goes back to reading."
        self.ask(PickDialog("What next?", rows, about=about), self.take_step)


def without_resuming(steps: Iterable[method_next_steps.NextStep], head: Recording) -> list[method_next_steps.NextStep]:
    """The steps, but for the way to resume a recording that runs, or that was imported (screen ``stored``)."""
    is_resumable = not (head.running or head.imported_at)
    return [step for step in steps if is_resumable or step.screen != "stored"]


class RecordingGoesOn(GoesOn):
    """As GoesOn, for a recording of the notebook that is no series: its steps are read there."""

    recorded: tuple[str, ...] = ()
    """Which recording, as the arguments of ``Notebook.recording``: its id, or its name and its kind."""

    def action_next(self) -> None:
        self.with_notebook(self._read_next_steps, self.offer)

    def _read_next_steps(self, notebook: Notebook) -> list[method_next_steps.NextStep]:
        head = notebook.recording(*self.recorded)
        kind = kind_of(head)
        record = None
        with suppress(UsageError):  # an imported trial cannot be resumed
            record = kind.read(notebook, head)
        earlier: object = earlier_look(notebook, record)
        before_id = kind.before(notebook, head)
        if before_id and earlier is None:
            earlier = kind.read(notebook, notebook.recording(before_id))
        return without_resuming(next_after_recording.after_recording(head.kind, record, earlier, before_id), head)
