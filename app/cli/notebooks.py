"""The notebook that a command works with."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.base.errors import UsageError
from app.cli import console
from forms.layout import visible

if TYPE_CHECKING:
    from storage.notebook import Notebook
    from storage.records import Series

IN_MEMORY = "notebook in memory"
"""The notebook that a command works with in place of the file's, in the context's object."""
MOVED = "error of the notebook"
"""The error that is told at the end, where what was measured is in another notebook; in the same object."""
_LONGEST_SUFFIX = "-journal"
"""Of the files that SQLite keeps beside a notebook."""
_MOST_PATH_CHARACTERS = 60


def notebook_path(context: click.Context) -> Path:
    """That of --db, else in the user data folder. Raises UsageError for a name that no file can have."""
    if file_name := (context.find_root().obj or {}).get("db"):
        path = Path(file_name)
        _check_path(path)
        return path

    from platformdirs import user_data_path

    return user_data_path("sharebench", appauthor=False) / "notebook.db"


def _check_path(path: Path) -> None:
    try:
        os.lstat(f"{path}{_LONGEST_SUFFIX}")
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            text = f"--db {_shortened(path)}…: the name of a notebook cannot be as long as that; name another file"
            raise UsageError(text) from error
    except ValueError as error:
        raise UsageError(f"--db {_shortened(path)}: {error}; name another file") from error


def _shortened(path: Path) -> str:
    return visible(str(path)[:_MOST_PATH_CHARACTERS])


def has_notebook(path: Path) -> bool:
    """Whether there is a file; also where that cannot be looked at, which is told when it is opened."""
    try:
        return path.exists()
    except OSError:
        return True


def check_can_store(context: click.Context) -> None:
    """Before anybody is asked for a password or anything is measured. Raises NotebookError, UsageError."""
    from app.recording import rescue

    rescue.check_can_store(notebook_path(context))


@contextmanager
def open_notebook(context: click.Context, *, make: bool = False) -> "Iterator[Notebook]":
    """The notebook of the command; what an interrupted trial left changed is said once.

    ``make`` creates a missing one. Raises UsageError for a missing one otherwise, and inside it for what the notebook
    refuses, such as a reference that is not found.
    """
    from storage.notebook import Notebook

    path = notebook_path(context)
    in_memory = (context.find_root().obj or {}).get(IN_MEMORY)
    if in_memory is not None:
        with _refusals_as_usage_errors():
            yield in_memory
        return

    if not make and not has_notebook(path):
        raise UsageError(
            f"there is no notebook at {visible(str(path.absolute()))}: name another file with --db, or measure"
            " something first: sharebench run TARGET"
        )

    with Notebook(path) as notebook:
        if notebook.remark:
            say_once(context, notebook.remark)
        if context.info_name != "restore":
            _say_what_was_left_behind(context, notebook)
        with _refusals_as_usage_errors():
            yield notebook


@contextmanager
def notebook_to_read(context: click.Context) -> "Iterator[Notebook]":
    """The notebook of a command that stores nothing; one in memory where there is none, or an empty file for one."""
    path = notebook_path(context)
    if has_notebook(path) and path.stat().st_size:
        with open_notebook(context) as notebook:
            yield notebook
        return

    from storage.database import open_in_memory
    from storage.notebook import Notebook

    with Notebook(path, open_in_memory()) as notebook:
        yield notebook


def _say_what_was_left_behind(context: click.Context, notebook: "Notebook") -> None:
    for entry in notebook.abandoned_changes():
        text = f"sharebench: an interrupted trial left {entry.description}: restore it with `sharebench restore`"
        say_once(context, text)


@contextmanager
def _refusals_as_usage_errors() -> "Iterator[None]":
    from storage.errors import RefusedError
    from storage.recordings import UnknownReferenceError

    try:
        yield
    except UnknownReferenceError as error:
        raise UsageError(str(error)) from error
    except RefusedError as error:
        raise UsageError(str(error), options=error.options) from error


def say_once(context: click.Context, text: str) -> None:
    """A message of the notebook or the login, which a command may open several times."""
    said_texts = context.find_root().ensure_object(dict).setdefault("said", set())
    if text not in said_texts:
        said_texts.add(text)
        console.say(text)


def series_called(context: click.Context, reference: str) -> "Series":
    """The series that an id, the beginning of one, a baseline or ``last`` names. Raises UsageError."""
    with open_notebook(context) as notebook:
        return notebook.series(reference)
