"""The TUI's application: keys, notes in the corner, help, and the one place where errors are told.

``navigation`` opens and closes its screens; ``typing_ahead`` hands on keys; ``themed`` gives it colours.
"""

import gc
from functools import partial
from typing import ClassVar

from textual.binding import Binding
from textual.driver import Driver
from textual.notifications import SeverityLevel

from app.base.errors import UsageError
from app.tui.frame import app_keys, commands, user_keys
from app.tui.frame.context import Context
from app.tui.frame.error_texts import describe_error
from app.tui.frame.navigation import Navigates
from app.tui.frame.palette import CommandProvider
from app.tui.frame.terminal import driver_for
from app.tui.frame.themed import Themed
from app.tui.frame.typing_ahead import TypingAhead
from forms import layout

_PAINTED_SECONDS = 1.0
"""Until the first screen is painted for certain."""

_LASTING_SECONDS = 15
"""A note that is to stay this long leaves the others where they are, and is replaced by the next short one."""


class SharebenchApp(Navigates, TypingAhead, Themed, commands.Commanded):
    """The application: its own ``KEYS`` work on every screen, beside those of the screen on top."""

    TITLE = "sharebench"
    CSS_PATH = "sharebench.tcss"
    KEYS: ClassVar = app_keys.APP_KEYS
    COMMANDS: ClassVar = {CommandProvider}
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012  declared so in Textual
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high"), (50, "-tall")]  # noqa: RUF012  declared so in Textual

    def __init__(self, context: Context, *, first: str = "", **arguments: object) -> None:
        """The application; ``first`` names the screen that it opens on, which takes the arguments."""
        super().__init__(first, arguments)
        self.context = context
        self.chosen_keys: dict[str, str] = {}
        self.take_themes(context.theme_file)

    def get_driver_class(self) -> type[Driver]:
        return driver_for(super().get_driver_class())

    def on_mount(self) -> None:
        # `start.open_tui` has switched the collector off, so that it does not delay the first paint.
        self.set_timer(_PAINTED_SECONDS, gc.enable)
        self.follow_themes()

        try:
            self.chosen_keys = user_keys.read_user_keys(app_keys.known_commands)
        except (user_keys.KeysError, UsageError) as error:
            self.notify(str(error), severity="warning", markup=False, timeout=_LASTING_SECONDS)
        self.set_keymap(self.chosen_keys)

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

    def get_key_display(self, binding: Binding) -> str:
        display = super().get_key_display(binding)
        is_function_key = display[1:].isdecimal()
        return display.upper() if is_function_key else display

    # Messages and help; the first paint does not wait for the dialogs

    def tell_error(self, error: Exception) -> None:
        heading, text = describe_error(error)
        self.tell_text(heading, text)

    def tell_text(self, heading: str, text: str) -> None:
        from app.tui.frame import dialogs

        self.push_screen(dialogs.MessageDialog(heading, text))

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
        if self.measuring_screen is None:
            super().action_suspend_process()
        else:
            self.notify("A measurement is under way, and would stand still: stop it first.", severity="warning")

    def action_help_quit(self) -> None:
        self.notify("Ctrl+Q leaves, Ctrl+Z goes back to the shell for a while.")

    async def action_quit(self) -> None:
        measuring = self.measuring_screen
        if measuring is None:
            self.exit(0)
            return

        from app.tui.frame import dialogs

        def leave_if_wanted(is_wanted: bool | None) -> None:
            if is_wanted:
                measuring.leave(partial(self.exit, 0))

        if not isinstance(self.screen, dialogs.ConfirmDialog):
            question = measuring.quit_question() or ""
            dialog = dialogs.ConfirmDialog("Leave sharebench?", question, yes="Leave", no="Stay")
            self.push_screen(dialog, leave_if_wanted)
