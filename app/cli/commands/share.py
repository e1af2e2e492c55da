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

_json_option = click.option(
    "--json", "as_json", is_flag=True, help="One object: ids that are new or changed, problems."
)


@click.command("push")
@click.argument("host", metavar="[USER@]HOST")
@_json_option
@common.options_of_all
def push_command(context: click.Context, host: str, as_json: bool) -> None:
    """Gives the notebook of HOST, through ssh, the recordings that it does not have.

    Labels, notes, baselines and rejected runs go along. What was changed on both sides is merged: the newest label or
    note counts, and the note keeps the other one. A recording that was deleted on one side only comes back.
    """
    _share(context, host, sharing.push, f"on {host}", as_json=as_json)


@click.command("pull")
@click.argument("host", metavar="[USER@]HOST")
@_json_option
@common.options_of_all
def pull_command(context: click.Context, host: str, as_json: bool) -> None:
    """Takes the recordings that the notebook of HOST has, through ssh, and this one has not; see `push`."""
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
