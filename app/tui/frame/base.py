"""What every screen stands on: context, work in the background, errors; and the table of the screens by name."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast

from textual import on
from textual.await_complete import AwaitComplete
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.worker import Worker, get_current_worker

from app.backend import Backend
from app.clients.session_logins import Logins
from app.tui.frame import commands
from forms.recommended import with_recommended_numbers

if TYPE_CHECKING:
    from app.method.choices import GuideChoices
    from app.method.next_steps import NextStep
    from storage.notebook import Notebook
    from storage.recordings import Removed
    from storage.records import Target


_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(slots=True)
class Context:
    """Given to the app when it opens; a database connection is never part of it, since it belongs to one thread."""

    notebook_path: Path
    practice: "tuple[Target, ...]" = ()
    """What the practice servers serve; empty where none run."""
    theme_file: Path | None = None
    backend: Backend = field(default_factory=Backend)
    logins: Logins = field(default_factory=Logins)
    pointed: str = ""
    """The id of the recording that the notebook's cursor points at; empty where there is none."""
    marked: dict[str, None] = field(default_factory=dict)
    removed: "list[tuple[str, list[Removed]]]" = field(default_factory=list)
    """What is marked in the notebook and was deleted there: it can be open twice, over a screen that measures."""
    typed: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was typed into the lines of a form in this session, by the key under which the notebook keeps it."""


class ContextApp(Protocol):
    """The application as its screens know it, besides what Textual gives: what they share, the ways between them."""

    context: Context
    chosen_keys: dict[str, str]

    def visit(self, name: str, **arguments: object) -> None:
        """Go to a screen by its name: back to it where it is open and nothing is asked of it, else to a new one."""

    def filter_notebook(self, words: str) -> None:
        """Go to the notebook, and list the recordings that have these words."""

    def leads_back(self) -> bool:
        """Whether something is measured: back to it then, since another measurement would disturb it."""
        return False

    def go_back(self) -> None:
        """Leave the screen for the one under it; from the last one to the first."""

    def tell_error(self, error: Exception) -> None:
        """The one dialog in which an error is told."""

    def tell_text(self, heading: str, text: str) -> None:
        """A dialog with a message."""


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


def describe_error(error: BaseException) -> tuple[str, str]:
    """The heading and the text of the dialog that tells an error."""
    # The first paint does not wait for what errors are told with.
    import sqlite3

    from app.base.errors import SharebenchError
    from storage.errors import NotebookFileError, RefusedError, unusable
    from storage.recordings import UnknownReferenceError

    heading = "That did not work"
    if isinstance(error, SharebenchError | NotebookFileError | RefusedError | UnknownReferenceError):
        text = str(error.args[0]) if error.args else type(error).__name__
    elif isinstance(error, sqlite3.Error):
        text = str(unusable(error))
    elif isinstance(error, OSError):
        text = f"{error}; is the disk full?"
    else:
        heading = "A fault in sharebench"
        text = (
            f"{type(error).__name__}: {error}."
            " What was measured is kept. Please report it, with what you did before it."
        )
    return heading, text


def ignore_result(_result: object) -> None:
    """Nothing follows the work."""


class ScreenBase(Screen[_R], commands.Commanded, Generic[_R]):
    """What plain and modal screens share: background work that ends in a method or in the one error dialog."""

    @property
    def sharebench_app(self) -> ContextApp:
        return cast("ContextApp", self.app)

    @property
    def context(self) -> Context:
        return self.sharebench_app.context

    def in_background(
        self, job: Callable[[], _T], then: Callable[[_T], object], *, group: str = "work", exclusive: bool = True
    ) -> Worker[None]:
        """Do ``job`` in a thread, then ``then`` on the screen; ``exclusive`` silences older jobs of the group."""

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
        """As :meth:`in_background`, with a notebook that the thread opens for itself and closes."""
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
        self.sharebench_app.tell_error(error)

    def on_screen_suspend(self) -> None:
        """Notes are shown on the screen that lies on top, and not below it as well."""
        self.query("ToastRack").set(display=False)

    def action_back(self) -> None:
        self.sharebench_app.go_back()

    def dismiss(self, result: _R | None = None) -> AwaitComplete:
        """Once: a second Enter, typed too quickly, would close the screen below as well."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        return super().dismiss(result)


class BaseScreen(ScreenBase[Any]):
    KEYS: ClassVar[tuple[commands.KeyCommand, ...]] = commands.keys("screen.back")
    ENTRY: ClassVar[str] = ""
    """The name among the screens that it stands in for, where it has none of its own."""

    def quit_question(self) -> str | None:
        """What to ask before sharebench is left, where something is measured; None where nothing is."""
        return None

    def leave(self, then: Callable[[], None]) -> None:
        then()


class BaseDialog(ModalScreen[_R], ScreenBase[_R]):
    """A dialog over another screen; Escape answers None."""

    KEYS: ClassVar = commands.keys("dialog.close")
    DEFAULT_CLASSES = "dialog"
    ENTER: ClassVar[str] = "OK"
    """What Enter in a line of text does, or on the button."""

    def enter_now(self) -> str:
        """What Enter does where the focus is, for the footer."""
        effects = {"OptionList": "Choose", "Input": self.ENTER, "Button": self.ENTER}
        for kind in type(self.focused).__mro__:
            if kind.__name__ in effects:
                return effects[kind.__name__]
        return ""

    def on_descendant_focus(self) -> None:
        for screen_below in self.app.screen_stack[:-1]:
            screen_below.query("KeyBar").refresh()

    def action_close(self) -> None:
        self.dismiss(None)


class ScreenEntry(NamedTuple):
    """A screen by name, with the module that is loaded for it; a tuple, since that is made four times as fast."""

    name: str
    home: str
    """``module:class`` of a BaseScreen in ``app.tui``."""
    title: str
    help: str
    key: str = ""
    needs_linux: bool = False
    measures: bool = False

    def load(self) -> type[BaseScreen]:
        module, _, name = self.home.partition(":")
        return cast("type[BaseScreen]", getattr(import_module(module), name))

    def command(self) -> commands.KeyCommand:
        is_function_key = self.key.startswith("f")
        return commands.KeyCommand(
            f"screen.{self.name}",
            self.key,
            self.title,
            self.help,
            action=f"app.visit('{self.name}')",
            hidden=not is_function_key,
            priority=is_function_key,  # what other keys do in a line of text is done there
        )


def _screen_of_line(line: str) -> ScreenEntry:
    name, home, title, about, *options = with_recommended_numbers(line).split(" | ")
    key = options[0] if options else ""
    on_linux_only = options[1] if len(options) > 1 else ""
    return ScreenEntry(
        name,
        home,
        title,
        about,
        key,
        needs_linux=bool(on_linux_only),
        measures=on_linux_only == "measures",
    )


SCREENS = tuple(map(_screen_of_line, commands.table_lines("screens.txt")))
"""In the order of the footer; the first is where the TUI opens."""


def screen_called(name: str) -> ScreenEntry:
    return {entry.name: entry for entry in SCREENS}[name]


class MeasureMixin(BaseScreen):
    """The way from other screens into the guide, with choices that were made there."""

    def measure_with(self, choices: "GuideChoices") -> None:
        was_open = self._open_guide() is not None
        self.sharebench_app.visit("guide")

        guide = self._open_guide()
        if was_open and guide in self.app.screen_stack[-1:]:
            guide.take(choices)
        elif guide is not None and not was_open:
            guide.came_with = choices

    def begin_measurement(self) -> None:
        """Go to the guide, where a round that was measured is left for a new one."""
        self.sharebench_app.visit("guide")
        guide = self._open_guide()
        if guide in self.app.screen_stack[-1:]:
            guide.begins_anew = True

    def choose_measurement(self, purpose: str, then: Callable[[], object]) -> None:
        """Have a target and a file chosen in a guide of its own; ``purpose`` says for what, in a sentence."""
        guide: Any = screen_called("guide").load()()
        guide.purpose = purpose
        self.ask(guide, lambda _: then())

    def tell_guide_of_name(self, experiment: str, new_name: str) -> None:
        guide = self._open_guide()
        if guide is None:
            return
        from app.method.choices import in_experiment

        choices = guide.session.choices
        if choices.spec.lineage.experiment == experiment:
            guide.session.choices = in_experiment(choices, new_name)

    def take_step(self, step: "NextStep") -> None:
        if step.choices is None:
            if step.screen:
                self._visit_screen_of(step)
            return

        if self.sharebench_app.leads_back():
            return  # what is measured keeps the guide's choices

        then = partial(self._visit_screen_of, step) if step.screen else self.measure_with
        self.with_notebook(step.choices, then)

    def _visit_screen_of(self, step: "NextStep", _choices: object = None) -> None:
        self.sharebench_app.visit(step.screen, **step.arguments)

    def _open_guide(self) -> Any:
        """The guide's screen; None where it is not open."""
        kind = screen_called("guide").load()
        return next((screen for screen in self.app.screen_stack if type(screen) is kind), None)
