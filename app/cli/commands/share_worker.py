"""``sharebench share-worker``: what ``push`` and ``pull`` start through ssh on the other machine.

It is asked for the state of its notebook, or to give or take recordings, which come part by part. While it makes its
answer it writes blank lines as signs of life.
"""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from app.base.errors import UsageError
from app.base.limits import MOST_BYTES
from app.cli import console, declare, notebooks
from app.exchange import giving, peers, taking
from forms.importers import value_of
from storage.json_reader import DocumentError, JSONNode

_SIGN_OF_LIFE_SECONDS = 5.0
"""A fraction of the time after which the other side takes a silent worker for dead."""


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
            # Its error begins with this word: "that takes more than … of memory".
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
