"""``import``, ``push``, ``pull``: recordings of documents, filled forms and other notebooks; and ``share-worker``."""

import gc
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from app import importing
from app.cli import common
from app.errors import UsageError
from app.importing import read, store
from app.server.shell import check_ssh_host
from app.targets import parse_target
from forms import wording
from forms.findings.rules_series import CONTRADICTIONS
from forms.importers.filled_form import Given
from forms.isolation.report import example_documents
from forms.layout import visible
from forms.tuning.catalogue import misprints_about
from storage.database import copy_notebook
from storage.errors import DamagedNotebookError
from storage.json_reader import DocumentError
from storage.notebook import Notebook
from storage.records import Command

MOST_BYTES = 64 * 2**20
MOST_MEMORY_BYTES = 360_000_000
MOST_NOTEBOOK_BYTES = 2**30
"""Limit of a whole notebook, which is read part by part."""
_SQLITE = b"SQLite format 3\0"


@common.command("import")
@click.argument("file", type=click.Path(allow_dash=True), required=False)
@click.option("--example", is_flag=True, help="Import the two isolations of 2003 that the method comes from.")
@common.option("--target", "TARGET", "Target measured, if the file does not say.")
@click.option("--put", "put", is_flag=True, help="The series is a put, if the file does not say.")
@common.option("--size", "SIZE", "Size of the file measured, if the file does not say.", common.size)
@common.option("--link", "RATE", "Link speed, if the file does not say.", common.rate)
@click.option("--as-new", is_flag=True, help="Give every recording a new id.")
@common.answering_options("Print the ids imported and those already there, as JSON.")
def import_command(context: click.Context, /, *, file: str | None, as_new: bool, as_json: bool, **choices: Any) -> None:
    """Add the recordings of FILE (- for stdin) to the notebook.

    FILE is JSON written by `export`, a run form as CSV, exported or filled in by hand, or another notebook. It is
    imported whole or not at all.
    """
    given = Given(
        target_of=parse_target,
        command=Command.PUT if choices["put"] else Command.GET,
        target=parse_target(choices["target"]) if choices["target"] else None,
        size_bytes=choices["size"],
        link_bits_per_second=choices["link"],
    )
    if (file is None) != choices["example"]:
        raise UsageError("name the FILE to import, or ask for the --example")
    if file is not None and _is_notebook(file):
        if as_new:
            raise UsageError(f"{file} is a notebook, whose recordings keep their ids: leave --as-new out")
        _import_notebook(context, Path(file), as_json=as_json)
        return
    content = b"[" + b",".join(example_documents()) + b"]" if file is None else content_of(file)
    file = file or "the example"
    try:
        with at_most(MOST_MEMORY_BYTES):
            found = read(content, given)
            del content
            with common.notebook(context, make=True) as notebook:
                stored = store(notebook, found, file, as_new=as_new)
    except DocumentError as error:
        raise UsageError(f"{file} cannot be imported: {error}") from error
    except MemoryError as error:
        raise UsageError(
            f"{file} takes more than {MOST_MEMORY_BYTES // 10**6} MB of memory, so nothing was imported: export"
            " fewer recordings to a file"
        ) from error
    common.say(*(f"misprint in {misprint.sentence}" for misprint in misprints_about(*stored.new)))
    for each in stored.series:
        if doubts := each.environment.get("client", {}).get(CONTRADICTIONS):
            common.say(f"{each.id}: the form contradicts itself: {visible(str(doubts))}")
    if as_json:
        common.answer_json({"imported": list(stored.new), "already_there": list(stored.there)})
        return
    common.answer_ids(stored.new)
    common.say(f"{wording.count(len(stored.new), 'recording')} imported")
    if stored.there:
        common.say(f"already in the notebook, and the same: {', '.join(stored.there)}")


def _is_notebook(file: str) -> bool:
    if file == "-":
        return False
    with suppress(OSError), Path(file).open("rb") as opened:
        return opened.read(len(_SQLITE)) == _SQLITE
    return False


def _import_notebook(context: click.Context, path: Path, *, as_json: bool) -> None:
    """From a copy, so that the file stays as it is. Raises UsageError."""
    too_large = f"{path} is larger than {MOST_NOTEBOOK_BYTES // 2**20} MiB, which is too much at once"
    if path.stat().st_size > MOST_NOTEBOOK_BYTES:
        raise UsageError(f"{too_large}: export the series that you need from it to a file, with --db {path}")
    with tempfile.TemporaryDirectory(prefix="sharebench-") as folder:
        copy = Path(folder) / "notebook.db"
        with common.notebook(context, make=True) as notebook:
            try:
                copy_notebook(path, copy)
                with Notebook(copy) as other:
                    taken = importing.take_notebook(notebook, other, str(path))
            except (DamagedNotebookError, sqlite3.DatabaseError, DocumentError) as error:
                said = str(error).replace(str(copy), str(path))
                raise UsageError(f"{path} cannot be imported: {visible(said)}") from error
    if as_json:
        common.answer_json({"imported": taken.new, "already_there": taken.changed})
        return
    common.answer_ids([*taken.new, *taken.changed])
    common.say(f"{wording.count(len(taken.new), 'recording')} imported, {len(taken.changed)} changed")


def content_of(file: str) -> bytes:
    """Size-limited: parsing takes up to ten times as much memory. Raises UsageError."""
    try:
        with click.open_file(file, "rb") as opened:
            content: bytes = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise UsageError(
            f"{file} is larger than {MOST_BYTES // 2**20} MiB, which is too much at once: export fewer series to a file"
        )
    return content


@contextmanager
def at_most(limit_bytes: int) -> Iterator[None]:
    """More memory raises MemoryError; no garbage collection, which would scan millions of objects in vain."""
    try:
        import resource  # noqa: PLC0415  only POSIX systems have it

        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except (ImportError, OSError):  # no Linux: the size of the file is the limit
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    allocated = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))
    most = [each for each in (allocated + limit_bytes, *before) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(most), before[1]))
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        resource.setrlimit(resource.RLIMIT_DATA, before)


_sharing_options = common.answering_options("Print new and changed ids and problems, as JSON.")


@common.command("push")
@click.argument("host", metavar="[USER@]HOST")
@_sharing_options
def push_command(context: click.Context, host: str, as_json: bool) -> None:
    """Send the recordings that the notebook of HOST does not have, through ssh.

    Labels, notes, baselines and rejected runs are sent too. Changes on both sides are merged: the newest label or note
    counts, and the note keeps the other one. A recording deleted on one side only comes back.
    """
    _share(context, host, importing.push, as_json=as_json)


@common.command("pull")
@click.argument("host", metavar="[USER@]HOST")
@_sharing_options
def pull_command(context: click.Context, host: str, as_json: bool) -> None:
    """Fetch the recordings of the notebook of HOST that this one does not have, through ssh; see `push`."""
    _share(context, host, importing.pull, as_json=as_json)


def _share(
    context: click.Context, host: str, carry_out: Callable[[Notebook, str], importing.Taken], *, as_json: bool
) -> None:
    check_ssh_host(host, options="HOST")
    pulls = carry_out is importing.pull
    with common.notebook(context, make=pulls) as notebook:
        taken = carry_out(notebook, host)
    common.say(*(f"sharebench: {problem}" for problem in taken.problems))
    if as_json:
        common.answer_json(asdict(taken))
        return
    common.answer_ids(taken.new)
    common.say(f"{len(taken.new)} new {'here' if pulls else f'on {host}'}, {len(taken.changed)} changed")


@click.command("share-worker", hidden=True)
@click.argument("word", type=click.Choice(["state", "give", "take"]))
@common.options_of_all
def share_worker_command(context: click.Context, word: str) -> None:
    """Answers push and pull on another machine: JSON in, JSON out."""
    with common.notebook(context, make=True) as notebook:
        if word == "state":
            answer: object = importing.state(notebook)
        else:
            text = sys.stdin.buffer.read(2 * importing.MOST_BYTES + 1)
            if len(text) > 2 * importing.MOST_BYTES:
                raise UsageError("that is too much at once")
            try:
                given = json.loads(text)
                if word == "take":
                    answer = asdict(importing.take(notebook, given, "the other notebook"))
                else:
                    ids, entries = importing.part(notebook, [str(one) for one in given])
                    answer = {"ids": ids, "entries": entries}
            except (DocumentError, ValueError) as error:
                raise UsageError(f"that is no order of `sharebench push` or `pull`: {error}") from error
    with common.writing_to_stdout():
        sys.stdout.write(json.dumps(answer))
