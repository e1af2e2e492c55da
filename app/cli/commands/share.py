"""``sharebench push`` and ``pull``: a notebook shared through ssh; and ``share-worker``, which answers them there."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict

import click

from app import sharing
from app.cli import common, output
from app.errors import UsageError
from app.server.shell import check_ssh_host
from storage.json_reader import DocumentError
from storage.notebook import Notebook

_json_option = click.option("--json", "as_json", is_flag=True, help="Print new and changed ids and problems, as JSON.")


@common.command("push")
@click.argument("host", metavar="[USER@]HOST")
@_json_option
@common.options_of_all
def push_command(context: click.Context, host: str, as_json: bool) -> None:
    """Send the recordings that the notebook of HOST does not have, through ssh.

    Labels, notes, baselines and rejected runs are sent too. Changes on both sides are merged: the newest label or note
    counts, and the note keeps the other one. A recording deleted on one side only comes back.
    """
    _share(context, host, sharing.push, f"on {host}", as_json=as_json)


@common.command("pull")
@click.argument("host", metavar="[USER@]HOST")
@_json_option
@common.options_of_all
def pull_command(context: click.Context, host: str, as_json: bool) -> None:
    """Fetch the recordings of the notebook of HOST that this one does not have, through ssh; see `push`."""
    _share(context, host, sharing.pull, "here", as_json=as_json)


def _share(
    context: click.Context, host: str, carry_out: Callable[[Notebook, str], sharing.Taken], where: str, *, as_json: bool
) -> None:
    check_ssh_host(host, options="HOST")
    with common.notebook(context, make=carry_out is sharing.pull) as notebook:
        taken = carry_out(notebook, host)
    for problem in taken.problems:
        output.say(f"sharebench: {problem}")
    if as_json:
        output.answer_json(asdict(taken))
        return
    for one in taken.new:
        output.answer(one)
    output.say(f"{len(taken.new)} new {where}, {len(taken.changed)} changed")


@click.command("share-worker", hidden=True)
@click.argument("word", type=click.Choice(["state", "give", "take"]))
@common.options_of_all
def share_worker_command(context: click.Context, word: str) -> None:
    """Answers push and pull on another machine: JSON in, JSON out."""
    with common.notebook(context, make=True) as notebook:
        if word == "state":
            answer: object = sharing.state(notebook)
        else:
            text = sys.stdin.buffer.read(2 * sharing.MOST_BYTES + 1)
            if len(text) > 2 * sharing.MOST_BYTES:
                raise UsageError("that is too much at once")
            try:
                given = json.loads(text)
                if word == "take":
                    answer = asdict(sharing.take(notebook, given, "the other notebook"))
                else:
                    ids, entries = sharing.part(notebook, [str(one) for one in given])
                    answer = {"ids": ids, "entries": entries}
            except (DocumentError, ValueError) as error:
                raise UsageError(f"that is no order of `sharebench push` or `pull`: {error}") from error
    with output.writing_to_stdout():
        sys.stdout.write(json.dumps(answer))
