"""``sharebench completion``: commands and options completed by the shell."""

import click

from app.cli import console, declare


@declare.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Complete commands and options in your shell.

    For bash: eval "$(sharebench completion bash)" in ~/.bashrc; for zsh the same in ~/.zshrc; for fish: sharebench
    completion fish > ~/.config/fish/completions/sharebench.fish.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind
    console.answer(kind(context.find_root().command, {}, "sharebench", "_SHAREBENCH_COMPLETE").source())
