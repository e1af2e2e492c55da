"""The base classes of all screens and dialogs of the TUI: work in the background, questions, errors, the way back.

A screen never reads the notebook or asks a server in its own thread. It hands a job to ``in_background`` or
``with_notebook``, which do it in a thread of their own. When the job is done, the method given as ``then`` is called in
the screen's thread with what the job returned; where the job raised an error, ``work_failed`` is called instead.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from textual import on
from textual.await_complete import AwaitComplete
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, get_current_worker

from app.tui.frame import commands
from app.tui.frame.context import Context, ContextApp

if TYPE_CHECKING:
    from storage.notebook import Notebook

_T = TypeVar("_T")
"""What a job or a dialog gives."""
_R = TypeVar("_R")
"""What a screen answers when it is dismissed."""


@dataclass
class WorkDone(Message):
    """Work of a screen came to its end; ``then`` takes the result in the screen's own thread."""

    then: Callable[[Any], object]
    result: object
    worker: Worker[None]
    """Cancelled where a newer job has silenced this one since it was done."""


@dataclass
class WorkFailed(Message):
    error: Exception


def ignore_result(_result: object) -> None:
    """Nothing follows the work."""


class ScreenBase(Screen[_R], commands.Commanded, Generic[_R]):
    """What plain and modal screens share: background work that ends in a method or in the one error dialog.

    Hooks that a subclass may override, all called in the screen's thread: ``does_take_keys``, asked by the app at each
    key; ``work_failed``, when a job has raised an error. Textual calls the ``on_…`` methods of each class, those here
    too where a subclass has its own: it need not call them.
    """

    close_first: Callable[[], None] | None = None
    """What Escape does before it leaves the screen: it closes what was opened on it; None where nothing was."""

    @property
    def sharebench_app(self) -> ContextApp:
        return cast("ContextApp", self.app)

    @property
    def context(self) -> Context:
        return self.sharebench_app.context

    @property
    def does_take_keys(self) -> bool:
        """Whether it is ready for keys; until it is, those that are typed wait, in their order."""
        return True

    def arguments_for(self, name: str) -> Mapping[str, object]:
        """What a screen of that name, opened from here by its key, begins with; empty for what it always does."""
        return {}

    def in_background(
        self, job: Callable[[], _T], then: Callable[[_T], object], *, group: str = "work", exclusive: bool = True
    ) -> Worker[None]:
        """Do ``job`` in a thread, then ``then`` in the screen's thread with what it returned.

        ``group`` is any name. ``exclusive``: of older jobs of the same group nothing is heard any more, neither results
        nor errors; their threads go on to their end.
        """

        def work() -> None:
            worker = get_current_worker()
            try:
                result = job()
            except Exception as error:  # noqa: BLE001  whatever goes wrong in a thread is told in the dialog, never lost
                if not worker.is_cancelled:
                    self.post_message(WorkFailed(error))
                return
            if not worker.is_cancelled:
                self.post_message(WorkDone(then, result, worker))

        return self.run_worker(work, group=group, exclusive=exclusive, thread=True, exit_on_error=False)

    def with_notebook(
        self,
        job: "Callable[[Notebook], _T]",
        then: Callable[[_T], object] = ignore_result,
        *,
        group: str = "notebook",
        exclusive: bool = False,
    ) -> None:
        """As :meth:`in_background`, with a notebook that the thread opens for itself and closes.

        Here an older job of the group is heard too, unless ``exclusive`` is given.
        """
        path = self.context.notebook_path

        def in_thread() -> _T:
            from storage.notebook import Notebook

            with Notebook(path) as notebook:
                return job(notebook)

        self.in_background(in_thread, then, group=group, exclusive=exclusive)

    def ask(self, dialog: Screen[_T], then: Callable[[_T], object]) -> None:
        """Open a dialog; ``then`` takes its answer, unless it was left without one or with "no"."""

        def take_answer(answer: _T | None) -> None:
            if answer is not None and answer is not False:
                then(answer)

        self.app.push_screen(dialog, take_answer)

    @on(WorkDone)
    def _work_done(self, message: WorkDone) -> None:
        message.stop()
        if not message.worker.is_cancelled:
            message.then(message.result)

    @on(WorkFailed)
    def _work_failed(self, message: WorkFailed) -> None:
        message.stop()
        self.work_failed(message.error)

    def work_failed(self, error: Exception) -> None:
        """Tell the error; a screen that has to tidy up first overrides it."""
        self.sharebench_app.tell_error(error)

    def on_screen_suspend(self) -> None:
        """Notes are shown on the screen that lies on top, and not below it as well."""
        self.query("ToastRack").set(display=False)

    def action_back(self) -> None:
        """Close what was opened on the screen; where nothing was, go back to the screen below."""
        if self.close_first is not None:
            self.close_first()
        else:
            self.sharebench_app.go_back()

    def dismiss(self, result: _R | None = None) -> AwaitComplete:
        """Once: a second Enter, typed too quickly, would close the screen below as well."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        return super().dismiss(result)


class BaseScreen(ScreenBase[Any]):
    """A screen that fills the terminal; Escape goes back to the one under it."""

    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys("screen.back")
    ENTRY: ClassVar[str] = ""
    """The name in screens.txt of the screen that it stands in for, where it has no line of its own there."""

    def quit_question(self) -> str | None:
        """What to ask before sharebench is left, where something is measured; None where nothing is."""
        return None

    def leave(self, then: Callable[[], None]) -> None:
        """Call ``then``, which leaves sharebench, as soon as that loses nothing; the question was answered by then."""
        then()


class BaseDialog(ModalScreen[_R], ScreenBase[_R]):
    """A dialog over another screen; Escape answers None."""

    KEYS: ClassVar = commands.keys("dialog.close")
    DEFAULT_CLASSES = "dialog"
    ENTER: ClassVar[str] = "OK"
    """What Enter in a line of text does, or on the button."""

    def enter_now(self) -> str:
        """What Enter does where the focus is, for the footer; empty where it does nothing."""
        effects = {"OptionList": "Choose", "Input": self.ENTER, "Button": self.ENTER}
        # Our own widget is looked up by the class of Textual that it derives from.
        for kind in type(self.focused).__mro__:
            if kind.__name__ in effects:
                return effects[kind.__name__]
        return ""

    def on_descendant_focus(self) -> None:
        """The footer of the screens below shows what Enter does here; the dialog has none."""
        for screen_below in self.app.screen_stack[:-1]:
            screen_below.query("KeyBar").refresh()

    def action_close(self) -> None:
        self.dismiss(None)
