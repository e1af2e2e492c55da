"""The TUI's application: its screens, themes and keys, and the one place where errors are told."""

import gc
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, ClassVar

from rich.segment import Segment
from textual.app import App
from textual.binding import Binding
from textual.color import Color
from textual.driver import Driver
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.reactive import Reactive
from textual.screen import Screen
from textual.theme import Theme

from app.base import errors
from app.base.child_process import need_linux
from app.charts import ascii_only
from app.tui.frame import base, commands, themes, user_keys
from app.tui.frame.palette import CommandProvider
from app.tui.frame.terminal import driver_for
from forms import layout

_PAINTED_SECONDS = 1.0
"""Until the first screen is painted for certain."""

_LASTING_SECONDS = 15
"""A note that is to stay this long leaves the others where they are, and is replaced by the next short one."""

APP_KEYS = (
    *commands.keys("app.help app.help-sign"),
    *(entry.command() for entry in base.SCREENS if entry.key),
    *commands.keys("app.sweep app.tune app.theme app.palette app.quit app.leave app.suspend"),
)


def known_commands() -> set[str]:
    """The names of all commands; loads every screen, so it is called only where a keys file is to be checked."""
    for entry in base.SCREENS:
        entry.load()
    import_module("app.guide.run_screen")  # which the guide loads when it measures

    names = {command.id for command in APP_KEYS}
    waiting: list[type[commands.Commanded]] = [commands.Commanded]
    while waiting:
        kind = waiting.pop()
        names.update(command.id for command in commands.keys_of(kind))
        waiting.extend(kind.__subclasses__())
    return names


class PlainSigns(LineFilter):
    """Puts plain ASCII in the place of signs that a terminal without UTF-8 cannot show."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        line = iter(layout.plain_signs("".join(segment.text for segment in segments)))
        return [Segment("".join(islice(line, len(text))), style, control) for text, style, control in segments]


class SharebenchApp(App[int], commands.Commanded):
    TITLE = "sharebench"
    CSS_PATH = "sharebench.tcss"
    KEYS: ClassVar = APP_KEYS
    COMMANDS: ClassVar = {CommandProvider}
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012  declared so in Textual
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high"), (50, "-tall")]  # noqa: RUF012  declared so in Textual

    ansi_theme_dark = Reactive(themes.ANSI_ON_DARK, init=False)

    def __init__(self, context: base.Context, *, first: str = "", **arguments: object) -> None:
        """The application; ``first`` names the screen that it opens on, which takes the arguments."""
        super().__init__()
        self.context = context
        self.first = first
        self.first_arguments = arguments
        self.chosen_keys: dict[str, str] = {}
        self._line_filters: list[LineFilter] = [themes.Readable()]
        if ascii_only():
            self._line_filters.append(PlainSigns())

        for theme in themes.THEMES:
            self.register_theme(theme)
        self.set_reactive(SharebenchApp.theme, self._first_theme())  # before its mount: styles are read once
        self.stylesheet.set_variables(self.get_css_variables())

    def _first_theme(self) -> str:
        theme_file = self.context.theme_file
        remembered = themes.remembered_theme(theme_file, self.available_themes) if theme_file else None
        return remembered or themes.DARK.name

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._line_filters]

    def get_default_screen(self) -> base.BaseScreen:
        make: Callable[..., base.BaseScreen] = base.screen_called(self.first or base.SCREENS[0].name).load()
        return make(**self.first_arguments)

    def get_driver_class(self) -> type[Driver]:
        return driver_for(super().get_driver_class())

    def on_mount(self) -> None:
        self.set_timer(_PAINTED_SECONDS, gc.enable)
        self.ansi_theme_light = themes.ANSI_ON_LIGHT  # set here, so that a light theme at the start has its colours too
        if self.context.theme_file is not None:
            self.theme_changed_signal.subscribe(self, self._remember_theme)

        try:
            self.chosen_keys = user_keys.read_user_keys(known_commands)
        except (user_keys.KeysError, errors.UsageError) as error:
            self.notify(str(error), severity="warning", markup=False, timeout=_LASTING_SECONDS)
        self.set_keymap(self.chosen_keys)

    def _remember_theme(self, theme: Theme) -> None:
        assert self.context.theme_file is not None
        themes.remember(self.context.theme_file, theme.name)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        if self.current_theme.ansi:
            return themes.VARIABLES | {"pane-border": "ansi_bright_black"}
        return themes.VARIABLES

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """A note in the corner, in place of the one before: plain text, whatever it names steers no terminal."""
        if timeout is None or timeout < _LASTING_SECONDS:
            self.clear_notifications()
        super().notify(
            layout.control_pictures(message),
            title=layout.visible(title),
            severity=severity,
            timeout=timeout,
            markup=False,
        )

    # The ways between screens

    def visit(self, name: str, **arguments: object) -> None:
        entry = base.screen_called(name)
        if entry.needs_linux and not self._is_on_linux(entry):
            return
        if entry.needs_linux and entry.measures and self.leads_back():
            return

        if not arguments and self._go_back_to(entry):
            return
        make: Callable[..., base.BaseScreen] = entry.load()
        self.push_screen(make(**arguments))

    def _is_on_linux(self, entry: base.ScreenEntry) -> bool:
        try:
            need_linux(entry.title)
        except errors.LinuxNeededError as error:
            self.tell_error(error)
            return False
        return True

    def _go_back_to(self, entry: base.ScreenEntry) -> bool:
        """Close what lies over the screen where it is open; False where it is not, or something measures above it."""
        kind = entry.load()
        for above, screen in enumerate(reversed(self.screen_stack)):
            stands_in = isinstance(screen, base.BaseScreen) and entry.name == screen.ENTRY
            if type(screen) is kind or stands_in:
                for _ in range(above):
                    self.pop_screen()
                return True
            if _is_measuring(screen):
                return False
        return False

    def filter_notebook(self, words: str) -> None:
        self.visit("notebook")
        self.screen.call_after_refresh(self._set_filter, words)

    def _set_filter(self, words: str) -> None:
        from textual.widgets import Input

        self.screen.query_one("#filter", Input).value = words

    @property
    def _measuring(self) -> base.BaseScreen | None:
        """The screen that measures something now; None where none does."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, base.BaseScreen) and screen.quit_question():
                return screen
        return None

    def leads_back(self) -> bool:
        measuring = self._measuring
        if measuring is None:
            return False

        while self.screen is not measuring:
            self.pop_screen()
        self.notify("This is measured now; another measurement would disturb it.")
        return True

    def go_back(self) -> None:
        if len(self.screen_stack) > 1:
            self.pop_screen()
        else:
            self.visit(base.SCREENS[0].name)

    def get_key_display(self, binding: Binding) -> str:
        display = super().get_key_display(binding)
        is_function_key = display[1:].isdecimal()
        return display.upper() if is_function_key else display

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "visit" and not self._can_visit(base.screen_called(str(parameters[0]))):
            return False
        return super().check_action(action, parameters)

    def _can_visit(self, entry: base.ScreenEntry) -> bool:
        """Whether it is another screen than the one on top, and no measurement beside the one there."""
        screen = self.screen
        is_open = entry.home.endswith(f":{type(screen).__name__}") or getattr(screen, "ENTRY", "") == entry.name
        would_disturb = entry.measures and screen is self._measuring
        return not (is_open or screen.is_modal or would_disturb)

    def action_visit(self, name: str) -> None:
        series_id = getattr(self.screen, "shown_series", "")
        if name == "catalogue" and series_id:
            self.visit(name, series_id=series_id)
        else:
            self.visit(name)

    # Messages and help; the first paint does not wait for the dialogs

    def tell_error(self, error: Exception) -> None:
        heading, text = base.describe_error(error)
        self.tell_text(heading, text)

    def tell_text(self, heading: str, text: str) -> None:
        from app.tui.frame.dialogs import MessageDialog

        self.push_screen(MessageDialog(heading, text))

    def action_show_command(self, command: str) -> None:
        setting = "'NAME=VALUE1,VALUE2' " if command == "sweep" else ""
        text = f"sharebench {command} {setting}TARGET\n\nMore about it: sharebench help {command}"
        self.tell_text("On the command line", text)

    def action_help(self) -> None:
        from app.tui.frame.help import HelpDialog

        if isinstance(self.screen, HelpDialog):
            self.screen.dismiss(None)
        else:
            self.push_screen(HelpDialog(self.screen))

    def action_suspend_process(self) -> None:
        """Back to the shell, unless a run is timed: its clock would run on while it stands still."""
        if self._measuring is None:
            super().action_suspend_process()
        else:
            self.notify("A measurement is under way, and would stand still: stop it first.", severity="warning")

    def action_help_quit(self) -> None:
        self.notify("Ctrl+Q leaves, Ctrl+Z goes back to the shell for a while.")

    async def action_quit(self) -> None:
        measuring = self._measuring
        if measuring is None:
            self.exit(0)
            return

        from app.tui.frame.dialogs import ConfirmDialog

        def leave_if_wanted(is_wanted: bool | None) -> None:
            if is_wanted:
                measuring.leave(partial(self.exit, 0))

        if not isinstance(self.screen, ConfirmDialog):
            question = measuring.quit_question() or ""
            dialog = ConfirmDialog("Leave sharebench?", question, yes="Leave", no="Stay")
            self.push_screen(dialog, leave_if_wanted)


def _is_measuring(screen: Screen[Any]) -> bool:
    return isinstance(screen, base.BaseScreen) and bool(screen.quit_question())
