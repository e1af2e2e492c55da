"""Opening a notebook to measure into; and finding another one where it is lost while something is measured.

Where a notebook was lost, or has no room, the error at the end has the other one, which stays open for who is
`reading_on`: what was measured is shown from there (:func:`show_from`), in place of the one that lacks it.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path

from app.base.errors import NotebookError
from storage import database
from storage.disk import has_no_room, why_not_writable
from storage.errors import ANOTHER, NotebookFileError
from storage.notebook import Notebook

_moved_to: dict[Path, Path] = {}
"""The notebook that took the place of a lost one, by that one's path; not where it is in memory.

A survey and each of its series have the notebook open, and go into the same other one.
"""

_shown_from: dict[Path, Notebook] = {}
"""The notebook that what was measured is shown from, by the path of the one that it could not be stored in."""


_is_reading_on: ContextVar[bool] = ContextVar("is_reading_on", default=False)


class MovedNotebookError(NotebookError):
    """What was measured is in another notebook, or in memory alone; ``notebook`` is that one.

    It is open where somebody is `reading_on`, who closes it.
    """

    def __init__(self, lost_path: Path, notebook: Notebook) -> None:
        super().__init__(f"{notebook.why_moved}: {where_it_went(notebook)}")
        self.lost_path = lost_path.absolute()
        self.notebook = notebook


@contextmanager
def reading_on() -> Iterator[None]:
    """Around measuring, for who shows it from the notebook of a MovedNotebookError."""
    token = _is_reading_on.set(True)
    try:
        yield
    finally:
        _is_reading_on.reset(token)


def show_from(error: MovedNotebookError) -> None:
    """Have `open_notebook` give the other notebook, and what is measured next go there, until `stop_showing`."""
    _shown_from[error.lost_path] = error.notebook


def stop_showing(error: MovedNotebookError) -> None:
    _shown_from.pop(error.lost_path, None)


@contextmanager
def open_notebook(path: Path) -> Iterator[Notebook]:
    """The notebook, or the one that what was measured had to go to. Raises NotebookError."""
    shown = _shown_from.get(path.absolute())
    if shown is not None:
        yield shown
        return

    with _opened(path) as notebook:
        yield notebook


def _opened(path: Path) -> Notebook:
    """Raises NotebookError."""
    try:
        return Notebook(path)
    except NotebookFileError as error:
        raise NotebookError(str(error), options=error.options) from error


@contextmanager
def notebook_to_measure_into(path: Path) -> Iterator[Notebook]:
    """The notebook, open as long as something is measured.

    Raises NotebookError before anything is measured where nothing can be stored; and MovedNotebookError at the end
    where the notebook was lost meanwhile, to say in which other one everything is.
    """
    shown = _shown_from.get(path.absolute())
    if shown is not None:
        # An earlier part of the same command had to go there: all of it is in one notebook.
        yield shown
        raise MovedNotebookError(path, shown)

    _moved_to.pop(path.absolute(), None)
    with ExitStack() as stack:
        notebook = stack.enter_context(_opened(path))
        _refuse(notebook.why_read_only)
        yield notebook
        _tell_where_it_is(stack, path, notebook)


@contextmanager
def notebook_to_store_into(path: Path) -> Iterator[Notebook]:
    """The notebook for what is measured already: another one where this one cannot be opened or written.

    Raises MovedNotebookError at the end where it is another one.
    """
    _moved_to.pop(path.absolute(), None)
    with ExitStack() as stack:
        try:
            notebook = Notebook(path)
            reason = notebook.why_read_only
        except NotebookFileError as error:
            notebook = Notebook(path, database.open_in_memory())
            reason = str(error)
        stack.enter_context(notebook)

        if reason:
            move(notebook, f"could not be stored: {reason}")
        yield notebook
        _tell_where_it_is(stack, path, notebook)


def _tell_where_it_is(stack: ExitStack, lost_path: Path, notebook: Notebook) -> None:
    """Raises MovedNotebookError where it is another one now, still open for who is reading on."""
    if notebook.was_moved:
        if _is_reading_on.get():
            stack.pop_all()
        raise MovedNotebookError(lost_path, notebook)


def check_can_store(path: Path) -> None:
    """Looks before anything is made or measured. Raises NotebookError where nothing could be stored."""
    _refuse(why_not_stored(path))


def why_not_stored(path: Path) -> str:
    """Why nothing can be stored in that notebook, or in a new one there; empty where it can. Raises NotebookError."""
    if has_no_room(path.absolute().parent):
        return f"the disk of {path} is full: make room"
    if not os.path.lexists(path):
        return why_not_writable(path.absolute())
    with _opened(path) as notebook:
        return notebook.why_read_only


def _refuse(reason: str) -> None:
    """Raises NotebookError where there is a reason."""
    if reason:
        raise NotebookError(f"not begun, since nothing could be stored: {reason}", options=ANOTHER)


def move(notebook: Notebook, reason: str) -> None:
    """Have ``notebook`` go on beside the lost one, or wherever else something can be written, at last in memory."""
    lost_path = notebook.path.absolute()
    if lost_path in _moved_to:
        notebook.move_to(_moved_to[lost_path], reason)
        return

    for folder in _folders(lost_path):
        new_path = _unused_path(folder, lost_path)
        with suppress(OSError, NotebookFileError):
            notebook.move_to(new_path, reason)
            _moved_to[lost_path] = new_path
            return
    notebook.move_to(None, reason)


def _folders(lost_path: Path) -> Iterator[Path]:
    """Beside the lost notebook first. Where others may write, a folder of its own."""
    yield lost_path.parent
    with suppress(OSError):
        yield Path.cwd()
    with suppress(RuntimeError):
        yield Path.home()
    for shared in (tempfile.gettempdir(), "/dev/shm"):  # noqa: S108  a folder of its own is made there
        with suppress(OSError):
            yield Path(tempfile.mkdtemp(prefix="sharebench-", dir=shared))


def _unused_path(folder: Path, lost_path: Path) -> Path:
    moment = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    return folder / f"{lost_path.stem}-saved-{moment}-{os.getpid()}{lost_path.suffix or '.db'}"


def where_it_goes_on(notebook: Notebook) -> str:
    """For a warning, when the notebook was just moved."""
    if not notebook.is_on_disk:
        return "nothing can be written anywhere, so what is measured is printed at the end"
    return f"this goes on in {notebook.path}, whole, and nothing that was measured is lost"


def where_it_went(notebook: Notebook) -> str:
    """For the error at the end of a measurement whose notebook was moved."""
    if not notebook.is_on_disk:
        return "nothing could be written anywhere; what was measured was printed"
    return f"what was measured is in {notebook.path}, whole: put that right, then `sharebench import {notebook.path}`"


def texts_to_print(notebook: Notebook, ids: Sequence[str]) -> Iterator[str]:
    """The rows of recordings that are nowhere but in memory."""
    if notebook.is_on_disk:
        return
    for recording_id in ids:
        yield f"could be stored nowhere: {json.dumps(notebook.rows_to_move(recording_id), ensure_ascii=False)}"
