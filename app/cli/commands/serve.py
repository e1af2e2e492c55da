"""``sharebench serve``, ``guide`` and ``completion``: the TUI in a browser, the guide alone, and what a shell needs."""

import os
import socket
import sys

import click

from app.children import die_with_parent, own_command
from app.cli import common, diagnostics, output
from app.errors import SharebenchError, UsageError

PORT = 8710


@click.command("serve")
@click.option(
    "--port",
    type=common.Count(0, 65535),
    default=PORT,
    show_default=True,
    metavar="PORT",
    help="The port; 0 for any that is free.",
)
@click.option("--session", type=int, hidden=True, help="Be the TUI behind one page, for as long as that process lives.")
@common.options_of_all
def serve_command(context: click.Context, port: int, session: int | None) -> int:
    """Serves the TUI to a browser on this machine.

    It listens on 127.0.0.1 alone; from elsewhere, forward the port with ssh -L. The address that it prints carries a
    key: without it nobody else on this machine gets in. Ctrl+C ends it.
    """
    path = common.notebook_path(context)
    if session is not None:
        die_with_parent()
        if os.getppid() != session:
            return 0
        return int(context.find_root().obj["open_tui"](path))
    listening = _listen(port)
    from app.cli.web import TUIServer, run  # noqa: PLC0415  aiohttp is slow to load

    behind = own_command("app", "--db", str(path.absolute()), "serve", "--session", str(os.getpid()))
    server = TUIServer(behind, listening.getsockname()[1])
    output.answer(f"{server.address}\n")
    diagnostics.say("Open this address in a browser on this machine; Ctrl+C ends the serving.")
    run(server, listening)
    return 0


def _listen(port: int) -> socket.socket:
    """A socket on the loopback. Raises SharebenchError where the port is taken or may not be used."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise SharebenchError(
            f"cannot listen on 127.0.0.1:{port}: {error.strerror}; choose another port with --port"
        ) from error
    return listening


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
