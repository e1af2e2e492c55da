"""``import`` of another notebook: of a copy, so that the file stays as it is."""

import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path

import click

from app.base.errors import UsageError
from app.cli import console, notebooks
from app.exchange import taking
from forms import wording
from forms.layout import visible
from storage.database import copy_notebook
from storage.errors import DamagedNotebookError
from storage.json_reader import DocumentError
from storage.notebook import Notebook

MOST_NOTEBOOK_BYTES = 2**30
"""Limit of a whole notebook, which is read part by part."""
_SQLITE_BEGINNING = b"SQLite format 3\0"


def is_notebook(file: str) -> bool:
    if file == "-":
        return False
    with suppress(OSError), Path(file).open("rb") as opened_file:
        return opened_file.read(len(_SQLITE_BEGINNING)) == _SQLITE_BEGINNING
    return False


def import_notebook(context: click.Context, file: str, *, as_json: bool) -> None:
    """Add what the other notebook holds to this one, and print what was added. Raises UsageError."""
    path = Path(file)
    if path.stat().st_size > MOST_NOTEBOOK_BYTES:
        raise UsageError(
            f"{path} is larger than {MOST_NOTEBOOK_BYTES // 2**20} MiB, which is too much at once: export the series"
            f" that you need from it to a file, with --db {path}"
        )

    outcome = _take_notebook(context, path)
    if as_json:
        console.answer_json({"imported": outcome.new, "already_there": outcome.changed})
        return
    console.answer_ids([*outcome.new, *outcome.changed])
    console.say(f"{wording.count(len(outcome.new), 'recording')} imported, {len(outcome.changed)} changed")


def _take_notebook(context: click.Context, path: Path) -> taking.Taken:
    """From a copy, so that the file stays as it is. Raises UsageError."""
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        copy = Path(folder) / "notebook.db"
        with notebooks.open_notebook(context, make=True) as notebook:
            try:
                copy_notebook(path, copy)
                with Notebook(copy) as other:
                    return taking.take_notebook(notebook, other, str(path))
            except (DamagedNotebookError, sqlite3.DatabaseError, DocumentError) as error:
                reason = str(error).replace(str(copy), str(path))
                raise UsageError(f"{path} cannot be imported: {visible(reason)}") from error
