"""The TUI's application: its screens, themes, keys and palette, and the one place where errors are told."""

import errno
import gc
import os
import select
import signal
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, cast

import textual
from rich.segment import Segment
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import Binding
from textual.color import Color
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.constants import ESCAPE_DELAY
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.reactive import Reactive
from textual.screen import Screen

from app.base.child_process import need_linux
from app.base.errors import LinuxNeededError, UsageError
from app.base.user_files import config_file, read_toml
from app.charts import ascii_only
from app.tui.frame import commands, themes
from app.tui.frame.base import SCREENS, BaseScreen, Context, ContextApp, describe_error, screen_called
from forms.layout import control_pictures, plain_signs, visible

_LOOKS_FOR_THE_END, _PAINTED_SECONDS = 0.1, 1.0


class Terminal(LinuxDriver):
    """Textual's driver (8.2), but Escape waits for ``ESCDELAY``, bad UTF-8 is harmless, a closed terminal ends it."""

    def run_input_thread(self) -> None:
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        text = ""
        while not self.exit_event.is_set():
            seconds = ESCAPE_DELAY if text.endswith("\x1b") else _LOOKS_FOR_THE_END
            ready, _, _ = select.select([self.fileno], [], [], seconds)
            if ready:
                read = self._read()
                if not read:
                    # the terminal was closed; its signal went to the first process of the session alone, and where that
                    # is `make`, it waits for us
                    os.kill(os.getpid(), signal.SIGHUP)
                    break
                text = decode(read)
                # half a character is no text yet, and no text is what the parser takes for the end of all input
                for message in parser.feed(text) if text else ():
                    self.process_message(message)
            for message in parser.tick():
                self.process_message(message)
        with suppress(EOFError, ParseError):
            list(parser.feed(""))

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, 4096)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""


APP_KEYS = (
    *commands.keys("app.help app.help-sign"),
    *(entry.command() for entry in SCREENS if entry.key),
    *commands.keys("app.sweep app.tune app.theme app.palette app.quit app.leave app.suspend"),
)


def known_commands() -> set[str]:
    """The names of all commands; loads every screen, so it is called only where a keys file is to be checked."""
    for entry in SCREENS:
        entry.load()
    import_module("app.guide.run_screen")  # which the guide loads when it measures
    found = {command.id for command in APP_KEYS}
    waiting: list[type[commands.Commanded]] = [commands.Commanded]
    while waiting:
        kind = waiting.pop()
        found.update(command.id for command in commands.keys_of(kind))
        waiting.extend(kind.__subclasses__())
    return found


class PlainSigns(LineFilter):
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002  Textual's
        line = iter(plain_signs("".join(segment.text for segment in segments)))
        return [Segment("".join(islice(line, len(text))), style, control) for text, style, control in segments]


class CommandProvider(Provider):
    def _entries(self) -> Iterator[tuple[str, str, partial[bool]]]:
        chosen = cast("ContextApp", self.app).chosen_keys
        for offer in sorted(commands.offered(self.screen), key=lambda one: one.command.hidden):
            keys = commands.keys_in_use(self.app, offer.command, chosen)
            run = partial(self.app.call_later, self.app.run_action, offer.command.action, offer.node)
            yield f"{offer.command.name} ({keys})", offer.command.help, run

    async def discover(self) -> Hits:
        for name, text, run in self._entries():
            yield DiscoveryHit(name, run, help=text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, text, run in self._entries():
            score = matcher.match(name) or _IN_THE_HELP * (query.casefold() in text.casefold())
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, help=text)
        if len(query) < _LEAST_SOUGHT or self.screen.is_modal:
            return
        from forms.tuning import catalogue  # noqa: PLC0415  the first paint does not wait for it

        visit = partial(self.app.call_later, cast("SharebenchApp", self.app).visit, "entry")
        for entry in catalogue.search(query):
            run = partial(visit, entry=entry.name, series_id=getattr(self.screen, "shown_series", ""))
            rank = 0.9 if all(word in entry.name.casefold() for word in query.casefold().split()) else 0.5
            yield Hit(_IN_THE_HELP * rank, f"{entry.name} (catalogue)", run, help=entry.expect)
        run = partial(self.app.call_later, cast("SharebenchApp", self.app).filter_notebook, query)
        named = 'Recordings with "' + query.replace("[", r"\[") + '"'  # Textual reads markup
        yield Hit(_IN_THE_HELP * 0.7, named, run, help="The notebook, filtered by these words.")


_IN_THE_HELP = 0.01  # below each match of a name
_LEAST_SOUGHT = 3
"""Letters that settings are found by: fewer stand in most names."""

PARSER_KNOWN_IN = "8.2."
"""Textual's versions whose private parser of input our driver is tested with; with others Textual's driver is used."""

_LASTING_SECONDS = 15
"""A note that is to stay this long leaves the others where they are, and is replaced by the next short one."""


def textual_version() -> str:
    """Textual's version, off the folder that installers leave beside it; what Python has for it takes 8 ms to load."""
    beside = Path(textual.__file__).parents[1].glob("textual-*.dist-info")
    return next((path.name.removeprefix("textual-") for path in beside if path.name[8:9].isdigit()), "")


def driver_for(usual: type[Driver]) -> type[Driver]:
    """Our driver in place of Textual's for a terminal; its others (a browser, tests) as they are."""
    is_known = usual.__name__ == "LinuxDriver" and textual_version().startswith(PARSER_KNOWN_IN)
    return Terminal if is_known else usual


def _chosen_keys() -> dict[str, str]:
    """Of the settings, and of ``keys.toml``, where they were before. Raises KeysError, UsageError."""
    found: dict[str, str] = {}
    if (path := config_file()).exists():
        from app.base.config import config  # noqa: PLC0415  the first paint waits for it only where there are settings

        found = commands.checked_keys(config().keys, path, known_commands)
    if (path := path.with_name("keys.toml")).exists():
        try:
            table = read_toml(path.read_text(encoding="utf-8")).get("keys", {})
        except (OSError, ValueError) as error:
            raise commands.KeysError(f"cannot read {path}: {error}; the usual keys are in use") from error
        if not isinstance(table, dict):
            raise commands.KeysError(f'{path}: [keys] must be a table of lines such as "run.pause" = "p"')
        found |= commands.checked_keys(table, path, known_commands)
    return found


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

    def __init__(self, context: Context, *, first: str = "", **arguments: object) -> None:
        super().__init__()
        self.context = context
        self.first = first
        self.first_arguments = arguments
        self.chosen_keys: dict[str, str] = {}
        self._looks = (themes.Readable(), *((PlainSigns(),) if ascii_only() else ()))
        for theme in themes.THEMES:
            self.register_theme(theme)
        kept = context.theme_file
        first_theme = (kept and themes.remembered_theme(kept, self.available_themes)) or themes.DARK.name
        self.set_reactive(SharebenchApp.theme, first_theme)  # before its mount: styles are read once
        self.stylesheet.set_variables(self.get_css_variables())

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._looks]

    def get_default_screen(self) -> BaseScreen:
        make: Callable[..., BaseScreen] = screen_called(self.first or SCREENS[0].name).load()
        return make(**self.first_arguments)

    def get_driver_class(self) -> type[Driver]:
        return driver_for(super().get_driver_class())

    def on_mount(self) -> None:
        self.set_timer(_PAINTED_SECONDS, gc.enable)
        self.ansi_theme_light = themes.ANSI_ON_LIGHT  # set here, so that a light theme at the start has its colours too
        if (kept := self.context.theme_file) is not None:
            self.theme_changed_signal.subscribe(self, lambda theme: themes.remember(kept, theme.name))
        try:
            self.chosen_keys = _chosen_keys()
        except (commands.KeysError, UsageError) as error:
            self.notify(str(error), severity="warning", markup=False, timeout=15)
        self.set_keymap(self.chosen_keys)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.VARIABLES | ({"pane-border": "ansi_bright_black"} if self.current_theme.ansi else {})

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,  # noqa: ARG002  Textual's, and by its default on: no text of the program is markup
    ) -> None:
        """A note in the corner, in place of the one before: plain text, whatever it names steers no terminal."""
        if timeout is None or timeout < _LASTING_SECONDS:
            self.clear_notifications()
        text, title = control_pictures(message), visible(title)
        super().notify(text, title=title, severity=severity, timeout=timeout, markup=False)

    def visit(self, name: str, **arguments: object) -> None:
        entry = screen_called(name)
        if entry.needs_linux:
            try:
                need_linux(entry.title)
            except LinuxNeededError as error:
                self.tell_error(error)
                return
            if entry.measures and self.leads_back():
                return
        kind = entry.load()
        above: list[Screen[Any]] = []
        for screen in reversed(self.screen_stack):
            if not arguments and (type(screen) is kind or (isinstance(screen, BaseScreen) and name == screen.ENTRY)):
                for _ in above:
                    self.pop_screen()
                return
            if isinstance(screen, BaseScreen) and screen.quit_question():
                break
            above.append(screen)
        make: Callable[..., BaseScreen] = kind
        self.push_screen(make(**arguments))

    def filter_notebook(self, words: str) -> None:
        self.visit("notebook")
        self.screen.call_after_refresh(lambda: setattr(self.screen.query_one("#filter"), "value", words))

    @property
    def _measuring(self) -> BaseScreen | None:
        running = (one for one in reversed(self.screen_stack) if isinstance(one, BaseScreen) and one.quit_question())
        return next(running, None)

    def leads_back(self) -> bool:
        measuring = self._measuring
        if measuring is None:
            return False
        while self.screen is not measuring:
            self.pop_screen()
        self.notify("This is measured now; another measurement would disturb it.")
        return True

    def get_key_display(self, binding: Binding) -> str:
        shown = super().get_key_display(binding)
        return shown.upper() if shown[1:].isdecimal() else shown

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "visit":
            entry, screen = screen_called(str(parameters[0])), self.screen
            is_open = entry.home.endswith(f":{type(screen).__name__}") or getattr(screen, "ENTRY", "") == entry.name
            if is_open or screen.is_modal or (entry.measures and screen is self._measuring):
                return False
        return super().check_action(action, parameters)

    def action_visit(self, name: str) -> None:
        shown = getattr(self.screen, "shown_series", "") if name == "catalogue" else ""
        self.visit(name, **({"series_id": shown} if shown else {}))

    def go_back(self) -> None:
        if len(self.screen_stack) > 1:
            self.pop_screen()
        else:
            self.visit(SCREENS[0].name)

    def tell_error(self, error: Exception) -> None:
        self.tell_text(*describe_error(error))

    def tell_text(self, heading: str, text: str) -> None:
        from app.tui.frame.dialogs import MessageDialog  # noqa: PLC0415  the first paint does not wait for what comes after it

        self.push_screen(MessageDialog(heading, text))

    def action_show_command(self, command: str) -> None:
        setting = "'NAME=VALUE1,VALUE2' " if command == "sweep" else ""
        text = f"sharebench {command} {setting}TARGET\n\nMore about it: sharebench help {command}"
        self.tell_text("On the command line", text)

    def action_help(self) -> None:
        from app.tui.frame.dialogs import HelpDialog  # noqa: PLC0415  the first paint does not wait for what comes after it

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
        busy = self._measuring
        if busy is None:
            self.exit(0)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                busy.leave(lambda: self.exit(0))

        from app.tui.frame.dialogs import ConfirmDialog  # noqa: PLC0415  the first paint does not wait for what comes after it

        if not isinstance(self.screen, ConfirmDialog):
            question = busy.quit_question() or ""
            self.push_screen(ConfirmDialog("Leave sharebench?", question, yes="Leave", no="Stay"), answered)
