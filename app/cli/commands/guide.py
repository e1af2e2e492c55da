"""``sharebench guide`` and ``completion``."""

import os
import sys

import click

from app.cli import common, output
from app.errors import UsageError


@click.command("guide")
@click.option("--plain", is_flag=True, help="Numbered questions line by line: no drawing, nothing drawn over.")
@common.options_of_all
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


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Prints what a shell needs to complete commands and options.

    For bash: eval "$(sharebench completion bash)" in ~/.bashrc; for zsh the same in ~/.zshrc; for fish: sharebench
    completion fish > ~/.config/fish/completions/sharebench.fish.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415  nothing else here needs it

    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"nothing completes for {shell}")
    output.answer(kind(context.find_root().command, {}, "sharebench", "_SHAREBENCH_COMPLETE").source())
