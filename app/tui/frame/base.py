"""The screen that every screen is built on: commands, help, background work and errors in one way."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from textual import on
from textual.screen import ModalScreen, Screen

from app.tui.frame import background
from app.tui.frame.commands import Commanded, KeyCommand
from app.tui.frame.context import Context, ContextApp

if TYPE_CHECKING:
    from storage.notebook import Notebook

_T = TypeVar("_T")
_R = TypeVar("_R")

BACK = KeyCommand("screen.back", "escape", "Back", "Leave this screen; nothing is lost.", footer="Back")


class ScreenBase(Screen[_R], Commanded, Generic[_R]):
    """What plain and modal screens share: background work that ends in a method or in the one error dialog."""

    HINTS: ClassVar[dict[str, str]] = {}
    """What a widget is for, for F1 help, by its id."""

    @property
    def sharebench_app(self) -> ContextApp:
        return cast("ContextApp", self.app)

    @property
    def context(self) -> Context:
        """What all screens share."""
        return self.sharebench_app.context

    def in_background(
        self, job: Callable[[], _T], then: Callable[[_T], None], *, group: str = "work", exclusive: bool = True
    ) -> None:
        """Do ``job`` in a thread, then ``then`` with its result here; an error is shown in a dialog."""
        background.start(self, job, then, group=group, exclusive=exclusive)

    def with_notebook(
        self,
        job: "Callable[[Notebook], _T]",
        then: Callable[[_T], None] = lambda _: None,
        *,
        group: str = "notebook",
        exclusive: bool = False,
    ) -> None:
        """Do ``job`` in a thread with a notebook of its own, then ``then`` with its result here."""
        background.start_with_notebook(self, job, then, group=group, exclusive=exclusive)

    @on(background.WorkDone)
    def _work_done(self, message: background.WorkDone) -> None:
        message.stop()
        if not message.worker.is_cancelled:
            message.then(message.result)

    @on(background.WorkFailed)
    def _work_failed(self, message: background.WorkFailed) -> None:
        message.stop()
        self.work_failed(message.error)

    def work_failed(self, error: Exception) -> None:
        """Tell the user; a screen that can do more about an error overrides it."""
        self.sharebench_app.tell_error(error)

    def action_back(self) -> None:
        """Leave the screen, unless it is the last one."""
        self.sharebench_app.go_back()


class BaseScreen(ScreenBase[Any]):
    """A full screen."""

    KEYS: ClassVar[tuple[KeyCommand, ...]] = (BACK,)
    ENTRY: ClassVar[str] = ""
    """The name among the screens that it stands in for, where it has none of its own."""

    def quit_question(self) -> str | None:
        """What to ask before the program is left; None where nothing is under way."""
        return None

    def leave(self, then: Callable[[], None]) -> None:
        """End what is under way, then do ``then``."""
        then()


class BaseDialog(ModalScreen[_R], ScreenBase[_R]):
    """A dialog over another screen; Escape answers None."""

    KEYS: ClassVar = (KeyCommand("dialog.close", "escape", "Close", "Close the dialog.", footer="Close"),)

    def action_close(self) -> None:
        self.dismiss(None)
