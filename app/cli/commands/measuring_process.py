"""``sharebench measuring-process``: what ``--from`` starts through ssh on the machine that measures."""

import os

import click

from app.base.child_process import own_command, own_environment

MODULES = (
    "app.recording.child",
    "app.series.observer_child",
    "app.check.child",
    "app.diagnosis.child",
    "app.quick.child",
    "app.load.process",
)
"""Those that take an order on stdin and end with it."""


@click.command("measuring-process", hidden=True)
@click.argument("module", type=click.Choice(MODULES))
@click.argument("arguments", nargs=-1)
def measuring_process_command(module: str, arguments: tuple[str, ...]) -> None:
    """Measures for another machine: an order on stdin, events on stdout."""
    words = own_command(module, *arguments)
    os.execve(words[0], words, own_environment())  # noqa: S606  our own program, without a shell
