"""``import``, ``push``, ``pull``: recordings of documents, filled forms and other notebooks; and ``share-worker``."""

import json
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from app.base.errors import MeasurementError, UsageError
from app.base.limits import MOST_BYTES, MOST_MEMORY_BYTES, limit_memory
from app.base.ssh_address import check_ssh_host
from app.base.targets import parse_target
from app.cli import console, declare, notebooks, option_values
from app.exchange import giving, importing, peers, taking
from forms import wording
from forms.findings.rules_series import CONTRADICTIONS
from forms.importers import value_of
from forms.importers.filled_form import FormDefaults
from forms.isolation.document import example_documents
from forms.layout import visible
from forms.tuning.catalogue import misprints_about
from storage.database import copy_notebook
from storage.errors import DamagedNotebookError
from storage.json_reader import DocumentError, JSONNode
from storage.notebook import Notebook
from storage.records import Command

MOST_NOTEBOOK_BYTES = 2**30
"""Limit of a whole notebook, which is read part by part."""
_SQLITE_BEGINNING = b"SQLite format 3\0"
_MOST_PROBLEMS = 20
_SIGN_OF_LIFE_SECONDS = 5.0
"""A fraction of the time after which the other side takes a silent worker for dead."""


@declare.command("import")
@click.argument("file", type=click.Path(allow_dash=True), required=False)
@click.option("--example", is_flag=True, help="Import the two isolations of 2003 that the method comes from.")
@declare.option("--target", "TARGET", "Target measured, if the file does not say.")
@click.option("--put", "put", is_flag=True, help="The series is a put, if the file does not say.")
@declare.option("--size", "SIZE", "Size of the file measured, if the file does not say.", option_values.parse_size)
@declare.option("--link", "RATE", "Link speed, if the file does not say.", option_values.parse_rate)
@click.option("--as-new", is_flag=True, help="Give every recording a new id.")
@declare.answering_options("Print the ids imported and those already there, as JSON.")
def import_command(context: click.Context, /, *, file: str | None, as_new: bool, as_json: bool, **choices: Any) -> None:
    """Add the recordings of FILE (- for stdin) to the notebook.

    FILE is JSON written by `export`, a run form as CSV, exported or filled in by hand, or another notebook. It is
    imported whole or not at all.
    """
    defaults = FormDefaults(
        target_of=parse_target,
        command=Command.PUT if choices["put"] else Command.GET,
        target=parse_target(choices["target"]) if choices["target"] else None,
        size_bytes=choices["size"],
        link_bits_per_second=choices["link"],
    )
    if (file is None) != choices["example"]:
        raise UsageError("name the FILE to import, or ask for the --example")

    if file is None:
        examples = b"[" + b",".join(example_documents()) + b"]"
        imported = _import_documents(context, examples, defaults, "the example", as_new=as_new)
    elif _is_notebook(file):
        if as_new:
            raise UsageError(f"{file} is a notebook, whose recordings keep their ids: leave --as-new out")
        _import_notebook(context, Path(file), as_json=as_json)
        return
    else:
        imported = _import_documents(context, content_of(file), defaults, file, as_new=as_new)

    _say_doubts(imported)
    if as_json:
        console.answer_json({"imported": list(imported.new), "already_there": list(imported.already_there)})
        return
    console.answer_ids(imported.new)
    console.say(f"{wording.count(len(imported.new), 'recording')} imported")
    if imported.already_there:
        console.say(f"already in the notebook, and the same: {', '.join(imported.already_there)}")


def _import_documents(
    context: click.Context, content: bytes, defaults: FormDefaults, file: str, *, as_new: bool
) -> importing.Import:
    """All or nothing. Raises UsageError."""
    try:
        with limit_memory(MOST_MEMORY_BYTES):
            recordings = importing.read(content, defaults)
            del content
            with notebooks.open_notebook(context, make=True) as notebook:
                return importing.store(notebook, recordings, file, as_new=as_new)
    except DocumentError as error:
        raise UsageError(f"{file} cannot be imported: {error}") from error
    except MemoryError as error:
        raise UsageError(
            f"{file} takes more than {MOST_MEMORY_BYTES // 10**6} MB of memory, so nothing was imported: export"
            " fewer recordings to a file"
        ) from error


def _say_doubts(imported: importing.Import) -> None:
    """What is known to be wrong in the forms that were imported."""
    for misprint in misprints_about(*imported.new):
        console.say(f"misprint in {misprint.sentence}")
    for series in imported.series:
        contradictions = series.environment.get("client", {}).get(CONTRADICTIONS)
        if contradictions:
            console.say(f"{series.id}: the form contradicts itself: {visible(str(contradictions))}")


def _is_notebook(file: str) -> bool:
    if file == "-":
        return False
    with suppress(OSError), Path(file).open("rb") as opened_file:
        return opened_file.read(len(_SQLITE_BEGINNING)) == _SQLITE_BEGINNING
    return False


def _import_notebook(context: click.Context, path: Path, *, as_json: bool) -> None:
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


def content_of(file: str) -> bytes:
    """Size-limited: parsing takes up to ten times as much memory. Raises UsageError."""
    try:
        with click.open_file(file, "rb") as opened_file:
            content: bytes = opened_file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise UsageError(
            f"{file} is larger than {MOST_BYTES // 2**20} MiB, which is too much at once: export fewer series to a file"
        )
    return content


_sharing_options = declare.answering_options("Print new and changed ids and problems, as JSON.")


@declare.command("push")
@click.argument("host", metavar="[USER@]HOST")
@_sharing_options
def push_command(context: click.Context, host: str, as_json: bool) -> None:
    """Send the recordings that the notebook of HOST does not have, through ssh.

    Labels, notes, baselines and rejected runs are sent too. Changes on both sides are merged: the newest label or note
    counts, and the note keeps the other one. A recording deleted on one side only comes back.
    """
    _share(context, host, peers.push, as_json=as_json)


@declare.command("pull")
@click.argument("host", metavar="[USER@]HOST")
@_sharing_options
def pull_command(context: click.Context, host: str, as_json: bool) -> None:
    """Fetch the recordings of the notebook of HOST that this one does not have, through ssh; see `push`."""
    _share(context, host, peers.pull, as_json=as_json)


def _share(
    context: click.Context,
    host: str,
    exchange: Callable[[Notebook, str, taking.Taken], taking.Taken],
    *,
    as_json: bool,
) -> None:
    check_ssh_host(host, options="HOST")
    pulls = exchange is peers.pull
    place = "here" if pulls else f"on {host}"

    outcome = taking.Taken()
    with notebooks.open_notebook(context, make=pulls) as notebook:
        try:
            exchange(notebook, host, outcome)
        except MeasurementError:
            # The parts that were exchanged before are kept.
            if outcome.new or outcome.changed:
                _answer_taken(outcome, place, as_json=as_json)
            raise

    _answer_taken(outcome, place, as_json=as_json)
    if outcome.unreadable:
        recordings = wording.count(len(outcome.unreadable), "recording")
        raise MeasurementError(
            f"{host} sent {recordings} that cannot be read: {outcome.unreadable[0]}; the others are kept"
        )


def _answer_taken(outcome: taking.Taken, place: str, *, as_json: bool) -> None:
    for problem in outcome.problems[:_MOST_PROBLEMS]:
        console.say(f"sharebench: {problem}")
    if len(outcome.problems) > _MOST_PROBLEMS:
        console.say(f"sharebench: and {len(outcome.problems) - _MOST_PROBLEMS} more such recordings")

    if as_json:
        console.answer_json({"new": outcome.new, "changed": outcome.changed, "problems": outcome.problems})
        return
    console.answer_ids(outcome.new)
    console.say(f"{len(outcome.new)} new {place}, {len(outcome.changed)} changed")


@click.command("share-worker", hidden=True)
@click.argument("word", type=click.Choice(["state", "give", "take"]))
@declare.options_of_all
def share_worker_command(context: click.Context, word: str) -> None:
    """Answers push and pull on another machine: JSON in, JSON out."""
    with console.writing_to_stdout(), _signs_of_life():
        answer = json.dumps(_answer_of_worker(context, word))
    with console.writing_to_stdout():
        sys.stdout.write(answer)


def _answer_of_worker(context: click.Context, word: str) -> object:
    with notebooks.open_notebook(context, make=True) as notebook:
        if word == "state":
            return giving.notebook_state(notebook)

        order = sys.stdin.buffer.read(MOST_BYTES + 1)
        if len(order) > MOST_BYTES:
            raise UsageError(f"that is more than {MOST_BYTES // 2**20} MiB, which is too much at once")

        try:
            with peers.limit_part("that"):
                if word == "take":
                    return taking.take(notebook, value_of(order), "the other notebook").to_json()
                ids_asked_for = JSONNode("", value_of(order)).read(tuple[str, ...])
        except DocumentError as error:
            raise UsageError(f"that is no order of `sharebench push` or `pull`: {error}") from error

        ids, entries = giving.next_part(notebook, ids_asked_for)
        return {"ids": ids, "entries": entries}


@contextmanager
def _signs_of_life() -> Iterator[None]:
    """Blanks, which mean nothing before JSON: who waits for the answer knows by them that it is being made."""
    ended = threading.Event()

    def write_blanks() -> None:
        while not ended.wait(_SIGN_OF_LIFE_SECONDS):
            with suppress(OSError, ValueError):
                sys.stdout.write("\n")
                sys.stdout.flush()

    writer = threading.Thread(target=write_blanks, daemon=True)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()
