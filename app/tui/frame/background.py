"""Work outside the screen's thread: it comes back as messages, its errors as one dialog."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from app.tui.frame.context import ContextApp

if TYPE_CHECKING:
    from storage.notebook import Notebook

_T = TypeVar("_T")


class WorkDone(Message):
    """Work of a screen came to its end; ``then`` takes the result in the screen's own thread."""

    def __init__(self, then: Callable[[Any], None], result: object, worker: Worker[None]) -> None:
        super().__init__()
        self.then = then
        self.result = result
        self.worker = worker
        """Cancelled where a newer job has silenced this one since it was done."""


class WorkFailed(Message):
    """Work of a screen ended in an error that the admin must see."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def start(
    screen: Screen[Any], job: Callable[[], _T], then: Callable[[_T], None], *, group: str, exclusive: bool = True
) -> Worker[None]:
    """Do ``job`` in a thread and hand its result to ``then`` on the screen; errors become WorkFailed.

    A newer job of the same group silences an older one when ``exclusive``.
    """

    def work() -> None:
        worker = get_current_worker()
        try:
            result = job()
        except Exception as error:  # noqa: BLE001  whatever goes wrong in a thread is told in the dialog, never lost
            if not worker.is_cancelled:
                screen.post_message(WorkFailed(error))
            return
        if not worker.is_cancelled:
            screen.post_message(WorkDone(then, result, worker))

    return screen.run_worker(work, group=group, exclusive=exclusive, thread=True, exit_on_error=False)


def start_with_notebook(
    screen: Screen[Any],
    job: "Callable[[Notebook], _T]",
    then: Callable[[_T], None],
    *,
    group: str = "notebook",
    exclusive: bool = True,
) -> Worker[None]:
    """As :func:`start`, with a notebook that the thread opens for itself and closes."""
    path = cast("ContextApp", screen.app).context.notebook_path

    def with_notebook() -> _T:
        from storage.notebook import Notebook  # noqa: PLC0415  the first paint does not wait for what reads a notebook

        with Notebook(path) as notebook:
            return job(notebook)

    return start(screen, with_notebook, then, group=group, exclusive=exclusive)


def told(error: BaseException) -> tuple[str, str]:
    """A heading and a sentence for an error."""
    import sqlite3  # noqa: PLC0415  the first paint does not wait for what errors are told with

    from app.errors import SharebenchError  # noqa: PLC0415  as above
    from storage.errors import NotebookFileError, RefusedError, unusable  # noqa: PLC0415  as above
    from storage.recordings import UnknownReferenceError  # noqa: PLC0415  as above

    if isinstance(error, SharebenchError | NotebookFileError | RefusedError | UnknownReferenceError):
        return "That did not work", str(error.args[0]) if error.args else type(error).__name__
    if isinstance(error, sqlite3.Error):
        return "That did not work", str(unusable(error))
    if isinstance(error, OSError):
        return "That did not work", f"{error}; is the disk full?"
    return (
        "A fault in sharebench",
        f"{type(error).__name__}: {error}. What was measured is kept. Please report it, with what you did before it.",
    )
