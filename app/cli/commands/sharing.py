"""``sharebench push`` and ``pull``: recordings are exchanged with the notebook of another machine, through ssh."""

from collections.abc import Callable

import click

from app.base.errors import MeasurementError
from app.base.ssh_address import check_ssh_host
from app.cli import console, declare, notebooks
from app.exchange import peers, taking
from forms import wording
from storage.notebook import Notebook

_MOST_PROBLEMS = 20
"""Recordings that could not be exchanged of which each is told in a line."""


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
    """Push or pull: ``exchange`` is that function of ``peers``, and notes in its last argument what was exchanged."""
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
