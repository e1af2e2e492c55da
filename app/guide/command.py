"""``sharebench guide``, ``demo`` and ``completion``."""

import os
import sys

import click

from app.base.errors import UsageError
from app.cli import common


@common.command("guide")
@click.option("--plain", is_flag=True, help="Ask numbered questions, line by line.")
@common.options_of_all
def guide_command(context: click.Context, plain: bool) -> int:
    """Measure step by step, with advice.

    With --plain, or where TERM is dumb, the guide asks numbered questions: for screen readers and serial consoles.
    """
    if plain or os.environ.get("TERM") == "dumb":
        from app.guide.plain import PlainGuide  # noqa: PLC0415  clients and recorder, which a screen loads later

        PlainGuide(common.notebook_path(context)).run()
        return 0
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the guide needs a terminal; `sharebench guide --plain` reads its answers from anywhere")
    return int(context.find_root().obj["open_tui"](common.notebook_path(context), first="guide"))


@common.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Complete commands and options in your shell.

    For bash: eval "$(sharebench completion bash)" in ~/.bashrc; for zsh the same in ~/.zshrc; for fish: sharebench
    completion fish > ~/.config/fish/completions/sharebench.fish.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415  nothing else here needs it

    kind = get_completion_class(shell)
    assert kind
    common.answer(kind(context.find_root().command, {}, "sharebench", "_SHAREBENCH_COMPLETE").source())


@common.command("demo")
@click.option("--headless", is_flag=True, help="Measure and print, without the screens (default without a terminal).")
@common.option("--runs", "N", "Number of measured runs of each series.", common.Count(1, 100), default=5)
@click.option("--plain", is_flag=True, help="Ask numbered questions, as `guide --plain` does.")
@common.options_of_all
def demo_command(context: click.Context, headless: bool, runs: int, plain: bool) -> int:
    """Practise on servers that sharebench starts itself, on this machine.

    Both servers, SMB and FTP, are limited to 20 MB/s. In a terminal the screens open with both ready. Without one the
    demo measures with two request sizes and prints one form and the comparison. It uses a notebook of its own, unless
    --db names another.
    """
    from app.guide.after_run import PRACTICE_BLOCK  # noqa: PLC0415  as above
    from app.guide.backend import Logins  # noqa: PLC0415  as above
    from app.practice.servers import PracticeServers  # noqa: PLC0415  keeps `--help` light
    from app.recording.spec import FormTexts, SeriesSpec  # noqa: PLC0415  as above
    from app.series.command import run_versus  # noqa: PLC0415  as above
    from forms.wording import typed_size  # noqa: PLC0415  as above
    from storage.plan import RunCounts  # noqa: PLC0415  as above

    given = context.find_root().obj
    if not given.get("db"):
        given["db"] = str(common.notebook_path(context).with_name("practice.db"))
    path = common.notebook_path(context)
    with PracticeServers() as servers:
        logins, both = Logins(), (servers.smb, servers.ftp)
        for target in both:
            logins.keep(target, servers.secrets)
        on_terminal = not headless and sys.stdin.isatty() and sys.stdout.isatty()
        if plain or (on_terminal and os.environ.get("TERM") == "dumb"):
            from app.guide.plain import PlainGuide  # noqa: PLC0415  as above

            PlainGuide(path, logins=logins, practice=both).run()
            return 0
        if on_terminal:
            return int(given["open_tui"](path, first="guide", practice=both, logins=logins))
        spec = SeriesSpec(counts=RunCounts(runs=runs), texts=FormTexts(label="practice"))
        words = f"--block {typed_size(PRACTICE_BLOCK)}"
        run_versus(spec, words, servers.smb, servers.secrets, path, with_form=True)
    common.say(f"kept in {path}; measure your own server with: sharebench run smb://USER@HOST/SHARE/FILE")
    return 0
