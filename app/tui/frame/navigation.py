"""The ways between the screens of the TUI: to a screen by its name, back, and back to a measurement that runs.

Textual keeps the open screens in a stack; the one on top is seen and takes the keys. At most one of them measures.
"""

from collections.abc import Mapping
from typing import Any

from textual.app import App
from textual.screen import Screen

from app.base.errors import LinuxNeededError
from app.base.this_process import need_linux
from app.tui.frame import screens
from app.tui.frame.base import BaseScreen


class Navigates(App[int]):
    """The part of the application that opens and closes screens; the application tells errors (``tell_error``)."""

    def __init__(self, first: str, first_arguments: Mapping[str, object]) -> None:
        """``first`` names the screen to open on, which takes the arguments; empty for the first of all screens."""
        super().__init__()
        self.first = first
        self.first_arguments = first_arguments

    def get_default_screen(self) -> BaseScreen:
        entry = screens.screen_called(self.first or screens.SCREENS[0].name)
        return entry.make(self.first_arguments)

    def tell_error(self, error: Exception) -> None:
        raise NotImplementedError

    def visit(self, name: str, **arguments: object) -> None:
        """Go to a screen by its name: back to it where it is open and nothing is asked of it, else to a new one."""
        entry = screens.screen_called(name)
        if entry.needs_linux and not self._is_on_linux(entry):
            return
        if entry.measures and self.returned_to_measurement():
            return

        if not arguments and self._go_back_to(entry):
            return
        self.push_screen(entry.make(arguments))

    def _is_on_linux(self, entry: screens.ScreenEntry) -> bool:
        try:
            need_linux(entry.title)
        except LinuxNeededError as error:
            self.tell_error(error)
            return False
        return True

    def _go_back_to(self, entry: screens.ScreenEntry) -> bool:
        """Close what lies over the screen where it is open; False where it is not, or something measures above it."""
        kind = entry.load()
        for above, screen in enumerate(reversed(self.screen_stack)):
            stands_in = isinstance(screen, BaseScreen) and entry.name == screen.ENTRY
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
    def measuring_screen(self) -> BaseScreen | None:
        """The screen that measures something now; None where none does."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, BaseScreen) and screen.quit_question():
                return screen
        return None

    def returned_to_measurement(self) -> bool:
        measuring = self.measuring_screen
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
            self.visit(screens.SCREENS[0].name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "visit" and not self._can_visit(screens.screen_called(str(parameters[0]))):
            return False
        return super().check_action(action, parameters)

    def _can_visit(self, entry: screens.ScreenEntry) -> bool:
        """Whether it is another screen than the one on top, and no measurement beside the one there."""
        screen = self.screen
        is_open = entry.home.endswith(f":{type(screen).__name__}") or getattr(screen, "ENTRY", "") == entry.name
        would_disturb = entry.measures and screen is self.measuring_screen
        return not (is_open or screen.is_modal or would_disturb)

    def action_visit(self, name: str) -> None:
        screen = self.screen
        arguments = screen.arguments_for(name) if isinstance(screen, BaseScreen) else {}
        if arguments:
            self.visit(name, **arguments)
            return

        series_id = getattr(screen, "shown_series", "")
        if name == "catalogue" and series_id:
            self.visit(name, series_id=series_id)
        else:
            self.visit(name)


def _is_measuring(screen: Screen[Any]) -> bool:
    return isinstance(screen, BaseScreen) and bool(screen.quit_question())
