"""``sharebench guide``: the guide on the screen, or as plain questions."""

import os
import sys

import click

from app.cli import common
from app.errors import UsageError


@click.command("guide")
@click.option("--plain", is_flag=True, help="Numbered questions line by line: no drawing, nothing drawn over.")
@common.options_of_all
@click.pass_context
def guide_command(context: click.Context, plain: bool) -> int:
    """Leads through the method, step by step.

    With --plain, and wherever TERM is dumb, by numbered questions on stdin: for screen readers and serial consoles.
    """
    if plain or os.environ.get("TERM") == "dumb":
        from app.cli.plain_guide import PlainGuide  # noqa: PLC0415  clients and recorder, which a screen loads later

        PlainGuide(common.notebook_path(context)).run()
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the guide needs a terminal; `sharebench guide --plain` reads its answers from anywhere")
    return int(context.find_root().obj["open_tui"](common.notebook_path(context), first="guide"))
