"""Forms to fill in, kept in the notebook, and passwords, which are not."""

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
from app.server.named_servers import ways_to
from app.tui.frame import dialogs
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets import form_lines, logins
from forms.series.listing import RecordingLine
from storage import records
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook
from storage.queries import SeriesQuery


class LinesScreen(BaseScreen):
    NAME: ClassVar[str]
    """Of its keys, and under which the notebook keeps what was typed last; no password is ever in it."""
    HEADING: ClassVar[str]
    BUTTON: ClassVar[str]
    START: ClassVar[str] = "Measure what the lines say."
    LINES: ClassVar[tuple[form_lines.FormLine, ...]]
    STORED: ClassVar[str] = ""
    """What Ctrl+L lists, in the plural: the recordings of the kind NAME."""
    RUN: "ClassVar[Callable[..., Screen[Any]]]"
    _first: Mapping[str, str]
    """What stood in the lines when they were filled, or was kept last."""
    _offered = ""
    """Whose ways stood in the lines at first."""

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

        self._offered = _ways_to(values)
        ways = notebook.remembered(self._offered) or {}
        return values | {key: str(way) for key, way in ways.items() if values.get(key) == ""}

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
        values = dict(remembered or {})
        share = next((target for target in practice if target.abilities.has_share), None)
        if share is not None:
            ready_target = records.format_target(replace(share, path=""))
            server = ready_target.partition(f":{share.port}/")[0]
            typed_target = str(values.get("target") or ready_target)
            # the practice server has another port each day
            of_another_day = typed_target.startswith(server) and not typed_target.startswith(ready_target)
            values["target"] = ready_target if of_another_day else typed_target
        return form_lines.remembered_values(cls.LINES, values)

    @staticmethod
    def values_of(target: records.Target) -> dict[str, str]:
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
        values = _values_to_keep(self.typed_texts())
        self.with_notebook(partial(self._remember_values, values=values))

    def _remember_values(self, notebook: Notebook, values: dict[str, records.JSONValue]) -> None:
        notebook.remember(self.NAME, values)

        place = _ways_to(values)
        was_offered = place == self._offered  # only where a way was offered, an empty line takes it back
        ways = dict(notebook.remembered(place) or {})
        for line in (form_lines.SSH, form_lines.CONF):
            if line.key in values and (was_offered or values[line.key]):
                ways[line.key] = values[line.key]
        notebook.remember(place, ways)

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


def _ways_to(values: Mapping[str, records.JSONValue]) -> str:
    """The key under which the notebook keeps how the server of the typed target is reached."""
    with suppress(UsageError):
        return ways_to(form_lines.typed_target(str(values.get("target") or "")).host)
    return "ways"


def _values_to_keep(typed: Mapping[str, str]) -> dict[str, records.JSONValue]:
    """The lines that the notebook may keep: what is half typed was refused by nobody yet."""
    return {key: value for key, value in typed.items() if not may_hold_password(value)}
