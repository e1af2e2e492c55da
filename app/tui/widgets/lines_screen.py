"""A form to fill in, such as that of an isolation: its lines, what the notebook keeps of them, and how it begins.

No password is ever in a line; it is asked for when the form is started. How a server is reached is kept for the
server, whatever the form: see ``app.tui.widgets.ways``.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Button, Input, Static

from app.base.errors import UsageError
from app.base.targets import may_hold_password
from app.clients.base import Secrets
from app.recording import listing
from app.recording.several import used_targets
from app.tui.frame import dialogs
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets import form_lines, logins, ways
from forms.series.listing import RecordingLine
from storage import records
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.queries import SeriesQuery


class LinesScreen(BaseScreen):
    """The base of forms: F9 or the button has the lines parsed in a thread, and begins what they ask for.

    What stands in a line at first, the later the stronger: the usual value, what the notebook remembers of this form,
    the share that was measured last, for an empty line how its server was reached last, what was typed since the
    program began, and what the caller says (``preset``).

    A subclass sets NAME to LINES, and writes:

    - ``parse``: called when the form is started, and to find the line that is wrong;
    - RUN, or ``begin``: called with what ``parse`` has returned;
    - ``plan_of``, if it can say what comes: called when something is typed and when another line has the focus;
    - ``first_values`` and ``values_of``, if it has no line ``target``: called when the screen opens.
    """

    NAME: ClassVar[str]
    """The first word of its keys' names, the kind of its recordings, and the key under which the notebook keeps it."""
    HEADING: ClassVar[str]
    BUTTON: ClassVar[str]
    """What the button says, and F9 in the list of keys."""
    START: ClassVar[str] = "Measure what the lines say."
    """What F1 help says of F9."""
    LINES: ClassVar[tuple[form_lines.FormLine, ...]]
    """The first is the one that decides: with nothing in it nothing is said to be wrong yet."""
    STORED: ClassVar[str] = ""
    """What Ctrl+L lists, in the plural: the recordings of the kind NAME. Empty: there is no such list."""
    RUN: "ClassVar[Callable[..., Screen[Any]]]"
    """Makes the screen that measures what ``parse`` has returned, once its ``secrets`` are filled in."""
    _first: Mapping[str, str]
    """What stood in the lines when they were filled, or was kept last: only what differs from it was typed."""
    _ways_shown_for = ""
    """The server (as a key of the notebook) whose ways stood in the lines when the screen opened."""

    def __init__(self, **preset: str) -> None:
        """What is ``preset`` stands in the lines, whatever was typed before."""
        super().__init__()
        self._preset = preset

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        cls.HINTS = {line.key: line.about or f"{line.name}: {line.hint}." for line in cls.LINES}
        cls._first = {line.key: "" for line in cls.LINES}

        keys = [KeyCommand(f"{cls.NAME}.start", "f9", cls.BUTTON, cls.START, footer="Start", priority=True)]
        if cls.STORED:
            about = f"List the {cls.STORED} of the notebook: read, label, export or resume one."
            name = f"Stored {cls.STORED}"
            keys.append(KeyCommand(f"{cls.NAME}.stored", "ctrl+l", name, about, footer="Stored", priority=True))
        cls.KEYS = (*keys, *cls.__dict__.get("KEYS", ()))
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="lines", can_focus=False, classes="pane") as pane:
            pane.border_title = f"sharebench · {self.HEADING}"
            yield from form_lines.input_lines(self.LINES)
            yield Button(self.BUTTON, id="start", variant="primary")
            yield Static(id="told", classes="quiet")
        yield KeyBar()

    # What stands in the lines at first

    def on_mount(self) -> None:
        typed = self.context.typed.get(self.NAME, {})

        def fill(values: dict[str, str]) -> None:
            self._fill(values | typed | self._preset)

        self.with_notebook(self._read_first_values, fill)

    def _read_first_values(self, notebook: Notebook) -> dict[str, str]:
        practice = self.context.practice
        values = self.first_values(notebook.remembered(self.NAME), practice)

        if not practice:
            share = self._read_used_share(notebook)
            if share is not None:
                values |= self.values_of(share)

        self._ways_shown_for = ways.key_of(values)
        return values | ways.for_empty_lines(notebook, values)

    def _read_used_share(self, notebook: Notebook) -> records.Target | None:
        """The share that was measured last; None where there is none, or a recording cannot be read."""
        with suppress(DamagedNotebookError):
            folders = used_targets(notebook, self.context.pointed)
            return next((target for target in folders if target.abilities.has_share), None)
        return None

    @classmethod
    def first_values(
        cls, remembered: Mapping[str, records.JSONValue] | None, practice: Sequence[records.Target]
    ) -> dict[str, str]:
        """The values of all lines: as remembered, or as the practice servers want them, where these run."""
        values = dict(remembered or {})
        practice_share = next((target for target in practice if target.abilities.has_share), None)
        if practice_share is not None:
            values["target"] = _practice_target(str(values.get("target") or ""), practice_share)
        return form_lines.remembered_values(cls.LINES, values)

    @staticmethod
    def values_of(target: records.Target) -> dict[str, str]:
        """What of the lines follows from the share that was measured last."""
        return {"target": records.format_target(target)}

    def _fill(self, values: dict[str, str]) -> None:
        self._first = values
        if any(self.typed_texts().values()):
            return

        for key, value in values.items():
            self.query_one(f"#{key}", Input).value = value
        self.query_one(f"#{self.LINES[0].key}", Input).focus().select_all()

    # Typing

    def typed_texts(self) -> dict[str, str]:
        return {line.key: self.query_one(f"#{line.key}", Input).value for line in self.LINES}

    @on(Input.Changed)
    def _keep_typed(self) -> None:
        """For when the screen is opened again; what was filled in by itself is not typed."""
        texts = self.typed_texts()
        if self.NAME in self.context.typed or texts != self._first:
            self.context.typed[self.NAME] = texts

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:  # noqa: ARG003  the screens know
        """What the lines ask for and how long it takes; empty where nothing is known. Raises UsageError."""
        return ""

    @on(Input.Changed)
    @on(events.DescendantFocus)
    def _tell(self) -> None:
        """Say below the lines what the one with the focus is for, and what they ask for together."""
        texts = self.typed_texts()
        try:
            plan = self.plan_of(form_lines.typed_values(self.LINES, texts))
        except UsageError as error:
            plan = f"! {error}" if texts[self.LINES[0].key] else ""

        focused_id = self.focused.id if self.focused else None
        hint = self.HINTS.get(focused_id or "", "")
        self.query_one("#told", Static).update(Content(f"\n{hint}\n\n{plan}"))

    @on(Input.Submitted)
    def _next_line(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous("Input")

    def key_down(self) -> None:
        self.focus_next("Input")

    # Keeping what was typed

    def on_screen_suspend(self) -> None:
        """Keep what was typed in the notebook too; the job is the lowest screen's, since this one may be gone."""
        if not self.app.screen.is_modal:
            self.set_focus(None)  # coming back begins at the first line

        typed = self.context.typed.get(self.NAME)
        if typed is None or typed == self._first:
            return
        self._first = typed

        lowest_screen = self.app.screen_stack[0]
        assert isinstance(lowest_screen, BaseScreen)
        name = self.NAME
        values = _values_to_keep(typed)

        def keep(notebook: Notebook) -> None:
            notebook.remember(name, values)

        lowest_screen.with_notebook(keep, group=f"keep {name}", exclusive=True)

    def remember(self) -> None:
        """Keep what the form was started with, and how its server is reached."""
        values = _values_to_keep(self.typed_texts())
        self.with_notebook(partial(self._remember_values, values=values))

    def _remember_values(self, notebook: Notebook, values: dict[str, records.JSONValue]) -> None:
        notebook.remember(self.NAME, values)

        # An empty line forgets a way only where the way stood in it.
        is_shown = ways.key_of(values) == self._ways_shown_for
        ways.keep(notebook, values, empty_forgets=is_shown)

    # Starting

    @on(Button.Pressed)
    def _button_pressed(self) -> None:
        self.action_start()

    def action_start(self) -> None:
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
        if not isinstance(error, UsageError):
            super().work_failed(error)
            return

        line = self.query_one(f"#{self._wrong_line(str(error))}", Input)
        line.focus()  # the dialog gives it back; what is typed then replaces what is wrong

        def select_line(_answer: None) -> None:
            line.select_all()

        self.app.push_screen(dialogs.MessageDialog("Not understood", str(error)), select_line)

    def _wrong_line(self, refusal: str) -> str:
        """The line whose usual text leads to another refusal, or to none; the first where no other does."""
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
            ids = [row.series_id for row in notebook.find(SeriesQuery()) if row.kind == self.NAME]
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


def _practice_target(typed_target: str, practice_share: records.Target) -> str:
    """The target typed before, or the practice share: that has another port each day, so an older one is replaced."""
    ready_target = records.format_target(replace(practice_share, path=""))
    if not typed_target:
        return ready_target

    server = ready_target.partition(f":{practice_share.port}/")[0]
    is_of_another_day = typed_target.startswith(server) and not typed_target.startswith(ready_target)
    return ready_target if is_of_another_day else typed_target


def _values_to_keep(typed: Mapping[str, str]) -> dict[str, records.JSONValue]:
    """The lines that the notebook may keep: what is half typed was refused by nobody yet."""
    return {key: value for key, value in typed.items() if not may_hold_password(value)}
