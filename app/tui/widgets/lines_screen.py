"""The base of all screens with a form that begins a measurement, such as that of an isolation."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.screen import Screen
from textual.widgets import Button, Input

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.recording import listing
from app.tui.frame import dialogs
from app.tui.frame.commands import KeyCommand
from app.tui.widgets import logins
from app.tui.widgets.form_screen import FormScreen
from forms.series.listing import RecordingLine
from storage.notebook import Notebook
from storage.queries import SeriesQuery


class LinesScreen(FormScreen):
    """A form that is started: F9 or the button has the lines parsed in a thread, and begins what they ask for.

    A subclass sets the class attributes of `FormScreen` (NAME, HEADING, BUTTON, LINES), and writes:

    - ``parse``: called when the form is started, and to find the line that is wrong;
    - RUN, or ``begin``: called with what ``parse`` has returned;
    - ``plan_of``, if it can say what comes: called when something is typed and when another line has the focus;
    - ``first_values`` and ``values_of``, if it has no line ``target``: called when the screen opens.

    What is wrong with the lines is told by ``work_failed``, which the base calls when ``parse`` has raised.
    """

    START: ClassVar[str] = "Measure what the lines say."
    """What F1 help says of F9."""
    STORED: ClassVar[str] = ""
    """What Ctrl+L lists, in the plural: the recordings of the kind NAME. Empty: there is no such list."""
    RUN: "ClassVar[Callable[..., Screen[Any]]]"
    """Makes the screen that measures what ``parse`` has returned, once its ``secrets`` are filled in."""

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        """Give each form the keys that start it and list what is stored, named as the form is."""
        keys = [KeyCommand(f"{cls.NAME}.start", "f9", cls.BUTTON, cls.START, footer="Start", priority=True)]
        if cls.STORED:
            about = f"List the {cls.STORED} of the notebook: read, label, export or resume one."
            name = f"Stored {cls.STORED}"
            keys.append(KeyCommand(f"{cls.NAME}.stored", "ctrl+l", name, about, footer="Stored", priority=True))
        cls.KEYS = (*keys, *cls.__dict__.get("KEYS", ()))
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)

    # Starting

    @on(Button.Pressed)
    def _button_pressed(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        self.look_up_ways(self._start)

    def _start(self) -> None:
        self.in_background(partial(self.parse, self.typed_texts()), self._remember_and_begin)

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> Any:
        """What the lines ask for, without a login; in a thread. Raises UsageError with what is wrong."""
        raise NotImplementedError

    def _remember_and_begin(self, request: Any) -> None:
        self.remember()
        self.begin(request)

    def begin(self, request: Any) -> None:
        """Log in, and open the screen that measures; ``request`` is what ``parse`` has returned."""

        def run(secrets: Secrets) -> None:
            self.app.push_screen(self.RUN(replace(request, secrets=secrets)))

        logins.log_in(self, request.target, run)

    def work_failed(self, error: Exception) -> None:
        """Show what is wrong with a line, and put the cursor there; any other error as every screen does."""
        if not (isinstance(error, UsageError) and self.does_take_keys):
            super().work_failed(error)
            return

        line = self.query_one(f"#{self._wrong_line(str(error))}", Input)
        line.focus()  # the dialog gives it back; what is typed then replaces what is wrong

        def select_line(_answer: None) -> None:
            line.select_all()

        self.app.push_screen(dialogs.MessageDialog("Not understood", str(error)), select_line)

    def _wrong_line(self, refusal: str) -> str:
        """The line whose usual text leads to another refusal, or to none; the first where no other does."""
        # ``parse`` does not say which line it refuses: each is tried with its usual text.
        first_line, *other_lines = self.LINES
        texts = self.typed_texts()
        if self._refusal(texts) == refusal:
            for line in other_lines:
                if self._refusal({**texts, line.key: line.usual}) != refusal:
                    return line.key
        return first_line.key

    def _refusal(self, typed: Mapping[str, str]) -> str:
        """Why this is not understood; empty where it is."""
        try:
            self.parse(typed)
        except UsageError as error:
            return str(error)
        return ""

    # What is stored

    def action_stored(self) -> None:
        self.with_notebook(self._read_stored, self._choose_stored)

    def _read_stored(self, notebook: Notebook) -> listing.ListedRecordings:
        with notebook.snapshot():
            ids = [row.recording_id for row in notebook.find(SeriesQuery()) if row.kind == self.NAME]
            return listing.readable_lines(notebook, ids) if ids else listing.ListedRecordings([], {})

    def _choose_stored(self, listed: listing.ListedRecordings) -> None:
        heading = f"{self.HEADING}s"
        rows: list[tuple[str | None, str]] = [(line.id, _row_of(line)) for line in listed.lines]
        rows += [(None, f"! {recording_id} cannot be read") for recording_id in listed.problems]
        if not rows:
            self.app.push_screen(dialogs.MessageDialog(heading, "There is none yet; F9 begins one."))
            return

        about = "What the notebook holds of them, the newest first. Enter opens one, Escape leaves."
        self.ask(dialogs.PickDialog(heading, rows, about=about, wide=True), self._open_stored)

    def _open_stored(self, recording_id: str) -> None:
        self.sharebench_app.visit("stored", recording_id=recording_id)


def _row_of(line: RecordingLine) -> str:
    return f"{line.when}  {line.done:>4}  {line.what}  {line.label}  {line.answer.text}"
