"""Forms to fill in, kept in the notebook, and passwords, which are not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Input, Label

from app.clients.base import Secrets
from app.errors import UsageError
from app.kinds import kind_of, lines
from app.logins import same_login
from app.server.shell import check_ssh_host
from app.targets import may_hold_password
from app.tui.frame.base import BaseScreen, start_with_notebook
from app.tui.frame.dialogs import AskDialog, MessageDialog, PickDialog
from app.tui.frame.parts import KeyBar, LineInput
from app.workflows.guide.backend import PasswordNeededError
from forms.series.listing import RecordingLine
from storage.notebook import Notebook
from storage.recordings import SERIES, Recording
from storage.records import Command, JSONValue, Target, format_target

_LOOKED_AT = 20
"""Newest recordings among which a target is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormLine:
    """One line to fill in."""

    key: str
    name: str
    hint: str
    """What belongs there, and what an empty line means."""
    usual: str = ""


TARGET = FormLine(key="target", name="Target", hint="[USER@]HOST/SHARE, smb://USER@HOST:PORT/SHARE, or @NAME")


def usual_values(lines: tuple[FormLine, ...]) -> dict[str, str]:
    """What stands in the lines where nothing is known."""
    return {line.key: line.usual for line in lines}


def remembered_values(lines: tuple[FormLine, ...], remembered: Mapping[str, JSONValue] | None) -> dict[str, str]:
    """What was typed last; what is no line's, or no text, is left out."""
    values = usual_values(lines)
    kept = (remembered or {}).items()
    return values | {key: value for key, value in kept if key in values and isinstance(value, str)}


def typed_values(lines: tuple[FormLine, ...], typed: Mapping[str, str]) -> dict[str, str]:
    """What stands in each line, without blanks around it. Raises UsageError for an ``ssh`` that is no host's name."""
    text = {line.key: typed.get(line.key, "").strip() for line in lines}
    for line in lines:
        if line.key == "ssh" and text["ssh"]:
            check_ssh_host(text["ssh"], line.name)
    return text


class LinesScreen(BaseScreen):
    """Lines, and a button that begins; Enter leads from line to line."""

    HEADING: ClassVar[str]
    BUTTON: ClassVar[str]
    LINES: ClassVar[tuple[FormLine, ...]]
    STORED: ClassVar[str] = ""
    """The kind whose recordings Ctrl+L lists."""
    MEMORY_KEY: ClassVar[str]
    """Under which the notebook keeps what was typed last; no password is ever in it."""
    DEFAULT_CSS = """
    LinesScreen #lines { height: 1fr; }
    LinesScreen .form-line { height: 1; margin-bottom: 1; }
    LinesScreen .form-line > Input { width: 1fr; background: $surface; }
    """

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        cls.HINTS = {line.key: f"{line.name}: {line.hint}." for line in cls.LINES}
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)

    def __init__(self) -> None:
        super().__init__()
        self._first = {line.key: "" for line in self.LINES}

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="lines", can_focus=False, classes="pane") as pane:
            pane.border_title = f"sharebench · {self.HEADING}"
            for line in self.LINES:
                with Horizontal(classes="form-line"):
                    label = Label(line.name)
                    label.styles.width = 2 + max(len(each.name) for each in self.LINES)
                    yield label
                    box = LineInput(id=line.key, placeholder=line.hint)
                    box.cursor_blink = False
                    yield box
            yield Button(self.BUTTON, id="start", variant="primary")
        yield KeyBar()

    def on_mount(self) -> None:
        typed = self.context.typed.get(self.MEMORY_KEY, {})
        self.with_notebook(self._values, lambda values: self._fill(values | typed))

    def _values(self, notebook: Notebook) -> dict[str, str]:
        """What was typed last, with the target of the recording pointed at, or of the newest one with a share."""
        practice, pointed = self.context.practice, self.context.pointed
        values = self.first_values(notebook.remembered(self.MEMORY_KEY), practice)
        heads = (
            []
            if practice
            else [*notebook.recordings_of([pointed] if pointed else []), *notebook.recordings(limit=_LOOKED_AT)]
        )
        folders = (_folder_of(notebook, head) for head in heads)
        return values | next((self.values_of(one) for one in folders if one and one.abilities.has_share), {})

    @staticmethod
    def values_of(target: Target) -> dict[str, str]:
        """What a folder of a share puts into the lines."""
        return {"target": format_target(target)}

    @on(Input.Changed)
    def _changed(self) -> None:
        """What is typed stands here again when one comes back, whether it was begun with or not."""
        typed, kept = self.typed(), self.context.typed
        if self.MEMORY_KEY in kept or typed != self._first:
            kept[self.MEMORY_KEY] = typed

    def on_screen_suspend(self) -> None:
        """Keep what was typed in the notebook too; the job is the lowest screen's, since this one may be gone."""
        typed = self.context.typed.get(self.MEMORY_KEY)
        if typed is not None and typed != self._first:
            self._first = typed
            kept = _for_the_notebook(typed)
            start_with_notebook(
                self.app.screen_stack[0],
                lambda notebook: notebook.remember(self.MEMORY_KEY, kept),
                lambda _: None,
                group=f"keep {self.MEMORY_KEY}",
            )

    @staticmethod
    def first_values(remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        """What stands in the lines at first, by what was typed last and the practice servers that are ready."""
        raise NotImplementedError

    def _fill(self, values: dict[str, str]) -> None:
        """Put what is known into the lines, unless somebody was faster and has begun to type."""
        self._first = values
        if any(self.typed().values()):
            return
        for key, value in values.items():
            self.query_one(f"#{key}", Input).value = value
        first = self.query_one(f"#{self.LINES[0].key}", Input)
        first.focus()
        first.select_all()

    def typed(self) -> dict[str, str]:
        return {line.key: self.query_one(f"#{line.key}", Input).value for line in self.LINES}

    def remember(self) -> None:
        kept = _for_the_notebook(self.typed())
        self.with_notebook(lambda notebook: notebook.remember(self.MEMORY_KEY, kept))

    @on(Input.Submitted)
    def _next_line(self) -> None:
        self.focus_next()

    @on(Button.Pressed)
    def _pressed(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        typed = self.typed()
        self.in_background(lambda: self.read(typed), self._understood)

    def read(self, typed: Mapping[str, str]) -> Any:
        """What the lines ask for; in a thread. Raises UsageError with what is wrong."""
        raise NotImplementedError

    def _understood(self, request: Any) -> None:
        self.remember()
        self.begin(request)

    def begin(self, request: Any) -> None:
        """Log in, and measure."""
        raise NotImplementedError

    def work_failed(self, error: Exception) -> None:
        if isinstance(error, UsageError):
            self.app.push_screen(MessageDialog("Not understood", str(error)))
        else:
            super().work_failed(error)

    def action_stored(self) -> None:
        def stored(notebook: Notebook) -> list[RecordingLine]:
            with notebook.snapshot():
                return lines(notebook, notebook.recordings(self.STORED))

        self.with_notebook(stored, self._choose_stored)

    def _choose_stored(self, found: Sequence[RecordingLine]) -> None:
        def answered(recording_id: str | None) -> None:
            if recording_id is not None:
                self.sharebench_app.visit("stored", recording_id=recording_id)

        heading = f"{self.HEADING}s"
        if found:
            rows = [(one.id, f"{one.when}  {one.done:>4}  {one.what}  {one.label}  {one.answer.text}") for one in found]
            about = "What the notebook holds of them, the newest first. Enter opens one, Escape leaves."
            self.app.push_screen(PickDialog(heading, rows, about=about, wide=True), answered)
        else:
            self.app.push_screen(MessageDialog(heading, "There is none yet; F9 begins one."))


def _folder_of(notebook: Notebook, head: Recording) -> Target | None:
    """The folder in which a recording was measured."""
    target = kind_of(head).target(notebook, head)
    if target is None or head.kind != SERIES:
        return target
    series = notebook.series(head.id)
    is_file = series.command is Command.GET and not (series.plan and series.plan.make_file)
    return replace(target, path=target.path.rpartition("/")[0]) if is_file else target


def _for_the_notebook(typed: Mapping[str, str]) -> dict[str, JSONValue]:
    """The lines that the notebook may keep: what is half typed was refused by nobody yet."""
    return {key: value for key, value in typed.items() if not may_hold_password(value)}


def ask_password(screen: BaseScreen, target: Target, answered: Callable[[Secrets], None], *, why: str = "") -> None:
    """Ask for the password of the target's user; nothing happens where it is not said.

    ``why`` says what became of the one that was known.
    """

    def said(password: str | None) -> None:
        if password is not None:
            answered(Secrets(password=password))

    text = f"Password of {target.user} on {target.host}, by {target.abilities.label}; Escape gives up."
    if why:
        text = f"{why}. Type the password again, or Escape."
    screen.app.push_screen(AskDialog("Log in", text, password=True), said)


def log_in(screen: BaseScreen, target: Target, then: Callable[[Secrets], object]) -> None:
    """Do ``then`` with what logs in to the target, which is kept for this session."""
    logins = screen.context.logins

    def said(secrets: Secrets) -> None:
        logins.keep(target, secrets)
        then(secrets)

    try:
        secrets = logins.find(target)
    except PasswordNeededError:
        ask_password(screen, target, said)
    else:
        then(secrets)


def log_in_again(screen: BaseScreen, refused: Sequence[Target], why: str, then: Callable[[Secrets], None]) -> bool:
    """Ask for another password for the first target, which refused one, then do ``then`` with it.

    It goes for those of the other targets that the same login goes for. Whether there is one to ask for: who was
    refused as a guest has none.
    """
    logins = screen.context.logins
    refused = [target for target in refused if same_login(target, refused[0])]
    for target in refused:
        logins.refuse(target)

    def said(secrets: Secrets) -> None:
        for target in refused:
            logins.keep(target, secrets)
        then(secrets)

    if not refused[0].user:
        return False
    ask_password(screen, refused[0], said, why=why)
    return True
