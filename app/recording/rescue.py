"""Opening a notebook to measure into; and finding another one where it is lost while something is measured."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from app.base.errors import NotebookError
from storage.disk import why_not_writable
from storage.errors import ANOTHER, NotebookFileError
from storage.notebook import Notebook

_moved_to: dict[Path, Path] = {}
"""The notebook that took the place of a lost one, by that one's path; not where it is in memory.

A survey and each of its series have the notebook open, and go into the same other one.
"""


def open_notebook(path: Path) -> Notebook:
    """Raises NotebookError."""
    try:
        return Notebook(path)
    except NotebookFileError as error:
        raise NotebookError(str(error), options=error.options) from error


@contextmanager
def notebook_to_measure_into(path: Path) -> Iterator[Notebook]:
    """The notebook, open as long as something is measured.

    Raises NotebookError before anything is measured where nothing can be stored; and at the end where the notebook was
    lost meanwhile, to say in which other one everything is.
    """
    _moved_to.pop(path.absolute(), None)
    with open_notebook(path) as notebook:
        _refuse(notebook.why_read_only)
        yield notebook
        if notebook.was_moved:
            raise NotebookError(f"{notebook.why_moved}: {where_it_went(notebook)}")


def check_can_store(path: Path) -> None:
    """Looks before anything is made or measured. Raises NotebookError where nothing could be stored."""
    if os.path.lexists(path):
        with open_notebook(path) as notebook:
            _refuse(notebook.why_read_only)
    else:
        _refuse(why_not_writable(path.absolute()))


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
    return (
        f"what was measured is in {notebook.path}, whole: put the notebook right, then `sharebench import"
        f" {notebook.path}`"
    )


def texts_to_print(notebook: Notebook, ids: Sequence[str]) -> Iterator[str]:
    """The rows of recordings that are nowhere but in memory."""
    if notebook.is_on_disk:
        return
    for recording_id in ids:
        yield f"could be stored nowhere: {json.dumps(notebook.rows_to_move(recording_id), ensure_ascii=False)}"
