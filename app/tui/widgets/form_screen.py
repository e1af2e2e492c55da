"""A form of named lines of text: what stands in them at first, what is said of them, and what is kept of them.

No password is ever in a line; it is asked for when the form is started. How a server is reached is kept for the
server, whatever the form: see ``app.tui.widgets.ways``. ``lines_screen`` adds how a form is started.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import containers, events, on, widgets
from textual.app import ComposeResult
from textual.content import Content

from app.base.errors import UsageError
from app.tui.frame.base import BaseScreen
from app.tui.frame.key_bar import KeyBar
from app.tui.widgets import completion, form_lines, form_memory, ways
from storage import records
from storage.notebook import Notebook


def _do_nothing() -> None:
    """Nothing waits for it."""


class FormScreen(BaseScreen):
    """The lines of a form. What stands in a line at first, the later the stronger:

    1. the usual value;
    2. what the notebook remembers of this form;
    3. the share that was measured last;
    4. for an empty line, how its server was reached last;
    5. what was typed since the program began;
    6. what the caller says (``preset``).

    What is typed is kept in the context at each key, and in the notebook when another screen covers the form, or when
    the form is started.
    """

    NAME: ClassVar[str]
    """The first word of its keys' names, the kind of its recordings, and the key under which the notebook keeps it."""
    HEADING: ClassVar[str]
    BUTTON: ClassVar[str]
    """What the button says, and F9 in the list of keys."""
    LINES: ClassVar[tuple[form_lines.FormLine, ...]]
    """The first is the one that decides: with nothing in it nothing is said to be wrong yet."""
    _first: Mapping[str, str]
    """What stood in the lines when they were filled, or was kept last: only what differs from it was typed."""
    _ways_shown_for = ""
    """The server whose ways stand in the lines, as far as the notebook knows some."""
    _is_looking_up = False
    """Whether the notebook is asked for the ways to the server that was typed; until then keys wait."""
    _places: Sequence[str] = ()
    """What a target is completed from."""
    _is_filled = False
    """Whether the lines were filled; until then they are not shown, and keys wait."""

    def __init__(self, *, cursor: str = "", **preset: str) -> None:
        """What is ``preset`` stands in the lines, whatever was typed before; ``cursor`` is the line to begin with."""
        super().__init__()
        self._preset = preset
        self._cursor = cursor or self.LINES[0].key
        self._shown_ways: Mapping[str, str] = {}
        """What of the lines the notebook knows as ways to the server."""

    def __init_subclass__(cls, inherit_css: bool = True, inherit_bindings: bool = True) -> None:
        if "LINES" in cls.__dict__:
            cls.HINTS = {line.key: line.about or f"{line.name}: {line.hint}." for line in cls.LINES}
            cls._first = {line.key: "" for line in cls.LINES}
        super().__init_subclass__(inherit_css=inherit_css, inherit_bindings=inherit_bindings)

    def compose(self) -> ComposeResult:
        with containers.VerticalScroll(id="lines", can_focus=False, classes="pane") as pane:
            pane.border_title = f"sharebench · {self.HEADING}"
            yield from form_lines.input_lines(self.LINES)
            yield widgets.Button(self.BUTTON, id="start", variant="primary")
            yield widgets.Static(id="told", classes="quiet")
        yield KeyBar()

    # What stands in the lines at first

    @property
    def does_take_keys(self) -> bool:
        return self._is_filled and not self._is_looking_up

    def on_mount(self) -> None:
        self._show_lines(are_shown=False)
        self.with_notebook(self._read_first_values, self._fill)

    def _show_lines(self, *, are_shown: bool) -> None:
        for part in self.query("#lines > *"):
            part.visible = are_shown

    def _read_first_values(self, notebook: Notebook) -> dict[str, str]:
        practice = self.context.practice
        values = self.first_values(notebook.remembered(self.NAME), practice)

        folders = form_memory.read_used_folders(notebook, self.context.pointed)
        self._places = form_memory.places_to_complete_from(notebook, [*folders, *self.context.listed_shares])
        share = form_memory.first_share(folders)
        if share is not None and not practice:
            values |= self.values_of(share)

        self._ways_shown_for = ways.host_of(values)
        self._shown_ways = ways.for_empty_lines(notebook, values)
        return values | self._shown_ways

    @classmethod
    def first_values(
        cls, remembered: Mapping[str, records.JSONValue] | None, practice: Sequence[records.Target]
    ) -> dict[str, str]:
        """The values of all lines: as remembered, or as the practice servers want them, where these run."""
        values = dict(remembered or {})
        practice_share = next((target for target in practice if target.abilities.has_share), None)
        if practice_share is not None:
            values["target"] = form_memory.practice_target(str(values.get("target") or ""), practice_share)
        return form_lines.remembered_values(cls.LINES, values)

    @staticmethod
    def values_of(target: records.Target) -> dict[str, str]:
        """What of the lines follows from the share that was measured last."""
        return {"target": records.format_target(target)}

    def _fill(self, first_values: dict[str, str]) -> None:
        typed = self.context.typed.get(self.NAME, {})
        values = first_values | typed | self._preset
        self._first = values
        for key, value in values.items():
            self.query_one(f"#{key}", widgets.Input).value = value

        for suggester in (line.suggester for line in self.query(widgets.Input)):
            if isinstance(suggester, completion.TargetSuggester):
                suggester.places = self._places
        self._show_lines(are_shown=True)
        self.query_one(f"#{self._cursor}", widgets.Input).focus().select_all()
        self._is_filled = True

    def work_failed(self, error: Exception) -> None:
        """Where the notebook cannot be read, the usual values stand in the lines."""
        self._is_looking_up = False
        if not self._is_filled:
            self._fill(form_lines.remembered_values(self.LINES))
        super().work_failed(error)

    # Typing

    def typed_texts(self) -> dict[str, str]:
        return {line.key: self.query_one(f"#{line.key}", widgets.Input).value for line in self.LINES}

    @on(widgets.Input.Changed)
    def _keep_typed(self) -> None:
        """For when the screen is opened again; what was filled in by itself is not typed."""
        texts = self.typed_texts()
        if self.NAME in self.context.typed or texts != self._first:
            self.context.typed[self.NAME] = texts

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:  # noqa: ARG003  the screens know
        """What the lines ask for and how long it takes; empty where nothing is known. Raises UsageError."""
        return ""

    @on(widgets.Input.Changed)
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
        self.query_one("#told", widgets.Static).update(Content(f"\n{hint}\n\n{plan}"))

    @on(widgets.Input.Submitted)
    def _next_line(self) -> None:
        self.focus_next()

    def key_up(self) -> None:
        self.focus_previous("Input")

    def key_down(self) -> None:
        self.focus_next("Input")

    # The ways to the server that was typed

    @on(widgets.Input.Blurred)
    def _target_was_left(self, event: widgets.Input.Blurred) -> None:
        if event.input.id == form_lines.TARGET.key and self._is_filled:
            self.look_up_ways(_do_nothing)

    def look_up_ways(self, then: Callable[[], None]) -> None:
        """Call ``then`` as soon as the lines have what the notebook knows of the server that was typed."""
        texts = self.typed_texts()
        if ways.host_of(texts) in {"", self._ways_shown_for}:
            then()
            return

        for key, way in self._shown_ways.items():
            if texts[key] == way:
                texts[key] = ""  # it was of the other server
        self._is_looking_up = True
        self.with_notebook(partial(ways.for_empty_lines, values=texts), partial(self._show_ways, texts, then))

    def _show_ways(self, texts: Mapping[str, str], then: Callable[[], None], known: Mapping[str, str]) -> None:
        self._ways_shown_for = ways.host_of(texts)
        self._shown_ways = known
        for key in ways.KEYS & texts.keys():
            line = self.query_one(f"#{key}", widgets.Input)
            line.value = known.get(key, texts[key])
            if line.has_focus:
                line.select_all()
        self._is_looking_up = False
        then()

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
        values = form_memory.values_to_keep(typed)

        def keep(notebook: Notebook) -> None:
            notebook.remember(name, values)

        lowest_screen.with_notebook(keep, group=f"keep {name}", exclusive=True)

    def remember(self) -> None:
        """Keep what the form was started with, and how its server is reached."""
        values = form_memory.values_to_keep(self.typed_texts())
        self.with_notebook(partial(self._remember_values, values=values))

    def _remember_values(self, notebook: Notebook, values: dict[str, records.JSONValue]) -> None:
        notebook.remember(self.NAME, values)

        # An empty line forgets a way only where the way stood in it.
        is_shown = ways.host_of(values) == self._ways_shown_for
        ways.keep(notebook, values, empty_forgets=is_shown)
