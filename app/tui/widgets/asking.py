"""Forms to fill in, kept in the notebook, and passwords, which are not."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Button, Input, Label, Static

from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.base.targets import may_hold_password, parse_typed_target
from app.clients.base import Secrets
from app.clients.logins import same_login
from app.guide.backend import PasswordNeededError
from app.guide.known import ways_to
from app.kinds import lines, used_targets
from app.tui.frame.base import BaseScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog, MessageDialog, PickDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import LineInput
from forms.series.listing import RecordingLine
from storage.notebook import Notebook
from storage.records import JSONValue, Target, format_target


@dataclass(frozen=True, slots=True)
class FormLine:
    key: str
    name: str
    hint: str
    usual: str = ""
    about: str = ""
    """What is said below the lines while it has the focus, where name and hint do not say it."""


TARGET = FormLine("target", "Target", "[USER@]HOST/SHARE, smb://USER@HOST:PORT/SHARE, or @NAME")
SSH = FormLine("ssh", "Server by ssh", "[USER@]HOST; empty: the server is this machine")
CONF = FormLine("conf", "smb.conf", "its path on the server; empty: the one that smbd uses")


def remembered_values(lines: tuple[FormLine, ...], remembered: Mapping[str, JSONValue] | None = None) -> dict[str, str]:
    """What was typed last, else what is usual; what is no line's, or no text, is left out."""
    values = {line.key: line.usual for line in lines}
    kept = (remembered or {}).items()
    return values | {key: value for key, value in kept if key in values and isinstance(value, str)}


def typed_values(lines: tuple[FormLine, ...], typed: Mapping[str, str]) -> dict[str, str]:
    """What stands in each line, without blanks around it. Raises UsageError for an ``ssh`` that is no host's name."""
    text = {line.key: typed.get(line.key, "").strip() for line in lines}
    for line in lines:
        if line.key == "ssh" and text["ssh"]:
            check_ssh_host(text["ssh"], line.name)
    return text


def typed_target(text: str, question: str = "which share? type [USER@]HOST/SHARE, or smb://USER@HOST/SHARE") -> Target:
    """Raises UsageError, with the question where nothing is typed."""
    if not text.strip():
        raise UsageError(question)
    return parse_typed_target(text)


def typed_count(name: str, text: str, most: int) -> int:
    """Raises UsageError."""
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise UsageError(f"{name}: expected a whole number from 1 to {most:,}, found {text!r}")
    return int(text)


def typed_number(name: str, text: str, least: float, most: float) -> float:
    """Raises UsageError."""
    try:
        found = float(text)
    except ValueError:
        found = least - 1
    if not least <= found <= most:
        raise UsageError(f"{name}: expected a number from {least:g} to {most:g}, found {text!r}")
    return found


def input_lines(lines: Sequence[FormLine]) -> ComposeResult:
    for line in lines:
        with Horizontal(classes="form-line"):
            label = Label(line.name)
            label.styles.width = 2 + max(len(each.name) for each in lines)
            yield label
            yield LineInput(id=line.key, placeholder=line.hint)


class LinesScreen(BaseScreen):
    NAME: ClassVar[str]
    """Of its keys, and under which the notebook keeps what was typed last; no password is ever in it."""
    HEADING: ClassVar[str]
    BUTTON: ClassVar[str]
    START: ClassVar[str] = "Measure what the lines say."
    LINES: ClassVar[tuple[FormLine, ...]]
    STORED: ClassVar[str] = ""
    """What Ctrl+L lists, in the plural: the recordings of the kind NAME."""
    RUN: "ClassVar[Callable[..., Screen[Any]]]"
    _first: Mapping[str, str]
    _offered = ""
    """Whose ways stood in the lines at first."""

    def __init__(self, **known: str) -> None:
        """What is ``known`` stands in the lines, whatever was typed before."""
        super().__init__()
        self._known = known

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
            yield from input_lines(self.LINES)
            yield Button(self.BUTTON, id="start", variant="primary")
            yield Static(id="told", classes="quiet")
        yield KeyBar()

    def on_mount(self) -> None:
        typed = self.context.typed.get(self.NAME, {})
        self.with_notebook(self._values, lambda values: self._fill(values | typed | self._known))

    def _values(self, notebook: Notebook) -> dict[str, str]:
        practice, pointed = self.context.practice, self.context.pointed
        values = self.first_values(notebook.remembered(self.NAME), practice)
        targets = [] if practice else used_targets(notebook, pointed)
        values |= next((self.values_of(one) for one in targets if one.abilities.has_share), {})
        self._offered = _ways_to(values)
        ways = notebook.remembered(self._offered) or {}
        return values | {key: str(way) for key, way in ways.items() if values.get(key) == ""}

    @staticmethod
    def values_of(target: Target) -> dict[str, str]:
        return {"target": format_target(target)}

    @on(Input.Changed)
    def _changed(self) -> None:
        typed, kept = self.typed(), self.context.typed
        if self.NAME in kept or typed != self._first:
            kept[self.NAME] = typed

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:  # noqa: ARG003  the screens know
        """What the lines ask for and how long it takes; empty where nothing is known. Raises UsageError."""
        return ""

    @on(Input.Changed)
    @on(events.DescendantFocus)
    def _tell(self) -> None:
        """Say below the lines what the one with the focus is for, and what they ask for together."""
        typed = self.typed()
        try:
            plan = self.plan_of(typed_values(self.LINES, typed))
        except UsageError as error:
            plan = f"! {error}" if typed[self.LINES[0].key] else ""
        hint = self.HINTS.get((self.focused and self.focused.id) or "", "")
        self.query_one("#told", Static).update(Content(f"\n{hint}\n\n{plan}"))

    def on_screen_suspend(self) -> None:
        """Keep what was typed in the notebook too; the job is the lowest screen's, since this one may be gone."""
        if not self.app.screen.is_modal:
            self.set_focus(None)  # coming back begins at the first line
        typed = self.context.typed.get(self.NAME)
        if typed is not None and typed != self._first:
            self._first = typed
            lowest, name, kept = self.app.screen_stack[0], self.NAME, _for_the_notebook(typed)
            assert isinstance(lowest, BaseScreen)
            lowest.with_notebook(lambda known: known.remember(name, kept), group=f"keep {name}", exclusive=True)

    @classmethod
    def first_values(cls, remembered: Mapping[str, JSONValue] | None, practice: Sequence[Target]) -> dict[str, str]:
        known = dict(remembered or {})
        share = next((target for target in practice if target.abilities.has_share), None)
        if share is not None:
            ready = format_target(replace(share, path=""))
            typed = str(known.get("target") or ready)
            of_another_day = typed.startswith(ready.partition(f":{share.port}/")[0]) and not typed.startswith(ready)
            known["target"] = ready if of_another_day else typed
        return remembered_values(cls.LINES, known)

    def _fill(self, values: dict[str, str]) -> None:
        self._first = values
        if any(self.typed().values()):
            return
        for key, value in values.items():
            self.query_one(f"#{key}", Input).value = value
        self.query_one(f"#{self.LINES[0].key}", Input).focus().select_all()

    def typed(self) -> dict[str, str]:
        return {line.key: self.query_one(f"#{line.key}", Input).value for line in self.LINES}

    def remember(self) -> None:
        self.with_notebook(partial(self._remember, kept=_for_the_notebook(self.typed())))

    def _remember(self, notebook: Notebook, kept: dict[str, JSONValue]) -> None:
        notebook.remember(self.NAME, kept)
        place = _ways_to(kept)
        offered = place == self._offered  # only where a way was offered, an empty line takes it back
        asked = {line.key: kept[line.key] for line in (SSH, CONF) if line.key in kept and (offered or kept[line.key])}
        notebook.remember(place, {**(notebook.remembered(place) or {}), **asked})

    @on(Input.Submitted)
    def _next_line(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous("Input")

    def key_down(self) -> None:
        self.focus_next("Input")

    @on(Button.Pressed)
    def _pressed(self) -> None:
        self.action_start()

    def action_start(self) -> None:
        typed = self.typed()
        self.in_background(lambda: self.read(typed), self._understood)

    @classmethod
    def read(cls, typed: Mapping[str, str]) -> Any:
        """What the lines ask for, without a login; in a thread. Raises UsageError with what is wrong."""
        raise NotImplementedError

    def _understood(self, request: Any) -> None:
        self.remember()
        self.begin(request)

    def begin(self, request: Any) -> None:
        log_in(self, request.target, lambda known: self.app.push_screen(self.RUN(replace(request, secrets=known))))

    def work_failed(self, error: Exception) -> None:
        if isinstance(error, UsageError):
            line = self.query_one(f"#{self._wrong(str(error))}", Input)
            line.focus()  # the dialog gives it back; what is typed then replaces what is wrong
            self.app.push_screen(MessageDialog("Not understood", str(error)), lambda _: line.select_all())
        else:
            super().work_failed(error)

    def _wrong(self, refusal: str) -> str:
        """The line whose usual text leads to another refusal, or to none; the first where no other does."""
        typed = self.typed()
        usual = (line.key for line in self.LINES[1:] if self._refused({**typed, line.key: line.usual}) != refusal)
        return next(usual, self.LINES[0].key) if self._refused(typed) == refusal else self.LINES[0].key

    def _refused(self, typed: Mapping[str, str]) -> str:
        try:
            self.read(typed)
        except UsageError as error:
            return str(error)
        return ""

    def action_stored(self) -> None:
        def stored(notebook: Notebook) -> list[RecordingLine]:
            with notebook.snapshot():
                return lines(notebook, notebook.recordings(self.NAME))

        self.with_notebook(stored, self._choose_stored)

    def _choose_stored(self, found: Sequence[RecordingLine]) -> None:
        heading = f"{self.HEADING}s"
        if found:
            rows = [(one.id, f"{one.when}  {one.done:>4}  {one.what}  {one.label}  {one.answer.text}") for one in found]
            about = "What the notebook holds of them, the newest first. Enter opens one, Escape leaves."
            dialog = PickDialog(heading, rows, about=about, wide=True)
            self.ask(dialog, lambda one: self.sharebench_app.visit("stored", recording_id=one))
        else:
            self.app.push_screen(MessageDialog(heading, "There is none yet; F9 begins one."))


def _ways_to(values: Mapping[str, JSONValue]) -> str:
    with suppress(UsageError):
        return ways_to(typed_target(str(values.get("target") or "")).host)
    return "ways"


def _for_the_notebook(typed: Mapping[str, str]) -> dict[str, JSONValue]:
    """The lines that the notebook may keep: what is half typed was refused by nobody yet."""
    return {key: value for key, value in typed.items() if not may_hold_password(value)}


def ask_password(screen: BaseScreen, target: Target, answered: Callable[[Secrets], None], *, why: str = "") -> None:
    """Ask for the password of the target's user; ``why`` says what became of the one that was known."""
    text = f"{target.abilities.label} password for {target.user} on {target.host} (Esc cancels)."
    if why:
        text = f"{why}. Type the password again (Esc cancels)."
    screen.ask(AskDialog("Log in", text, password=True), lambda password: answered(Secrets(password=password)))


def log_in(screen: BaseScreen, target: Target, then: Callable[[Secrets], object]) -> None:
    logins = screen.context.logins

    def said(secrets: Secrets) -> None:
        logins.keep(target, secrets)
        then(secrets)

    try:
        secrets = logins.find(target)
    except PasswordNeededError as error:
        ask_password(screen, target, said, why=str(error) if logins.is_refused(target) else "")
    else:
        then(secrets)


def log_in_again(screen: BaseScreen, refused: Sequence[Target], why: str, then: Callable[[Secrets], None]) -> bool:
    """Ask for another password for the first target, and those of the same login; False for a guest, who has none."""
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
