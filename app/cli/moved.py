"""What could not be stored where it belongs is answered all the same, and the error is told last.

A command that measures goes on to its answer with the notebook that has everything: another file, or one in memory.
Where a command cannot go on, the form of each recording is its answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import click

from app.base.errors import SharebenchError
from app.cli import console, notebooks
from app.recording import rescue, writer
from app.recording.kind import kind_of
from storage.notebook import Notebook
from storage.recordings import Recording


@contextmanager
def answer_from_elsewhere() -> Iterator[None]:
    """Around measuring: where its notebook was lost, the command reads on in the one that has everything."""
    try:
        with rescue.reading_on():
            yield
    except rescue.MovedNotebookError as error:
        context = click.get_current_context(silent=True)
        if context is None:
            raise
        rescue.show_from(error)
        command_object = context.find_root().ensure_object(dict)
        command_object[notebooks.IN_MEMORY] = error.notebook
        command_object[notebooks.MOVED] = error


def raise_at_once() -> None:
    """For a command that cannot go on in another notebook. Raises MovedNotebookError."""
    context = click.get_current_context(silent=True)
    command_object: dict[str, Any] = context.find_root().ensure_object(dict) if context else {}
    if notebooks.MOVED in command_object:
        raise _taken_error(command_object)


def end(command_object: dict[str, Any]) -> rescue.MovedNotebookError:
    """The command has answered, and closes the other notebook; the error that remains to be told."""
    error = _taken_error(command_object)
    error.notebook.close()
    return error


def _taken_error(command_object: dict[str, Any]) -> rescue.MovedNotebookError:
    error: rescue.MovedNotebookError = command_object.pop(notebooks.MOVED)
    del command_object[notebooks.IN_MEMORY]
    rescue.stop_showing(error)
    return error


def store(context: click.Context, recording: Recording) -> None:
    """Store what was looked at, as a measurement is stored: elsewhere where it has no room. Raises NotebookError."""
    with answer_from_elsewhere():
        for warned in writer.store(notebooks.notebook_path(context), recording.id, partial(_add, recording)):
            console.say(f"sharebench: {warned.text}")


def _add(recording: Recording, notebook: Notebook) -> None:
    writer.add_once(notebook, recording.id, partial(notebook.add_recording, recording))


def print_forms(error: SharebenchError, *, as_json: bool) -> None:
    """What a command measured that has not answered: the forms of all that its notebook could not store."""
    if not isinstance(error, rescue.MovedNotebookError):
        return

    with error.notebook as notebook:
        for head in reversed(notebook.recordings()):
            console.answer_report(kind_of(head).form(notebook, head), as_json=as_json)
