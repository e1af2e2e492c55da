"""``sharebench guide`` and ``demo``."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.base.errors import UsageError
from app.cli import console, declare, notebooks
from storage.recommended import DEFAULT_RUNS

if TYPE_CHECKING:
    from app.practice.servers import PracticeServers


@declare.command("guide")
@click.option("--plain", is_flag=True, help="Ask numbered questions, line by line.")
@declare.options_of_all
def guide_command(context: click.Context, plain: bool) -> int:
    """Measure step by step, with advice.

    With --plain, or where TERM is dumb, the guide asks numbered questions: for screen readers and serial consoles.
    """
    path = notebooks.notebook_path(context)
    if plain or _is_dumb_terminal():
        ask_plainly(path)
        return 0
    if not _is_terminal():
        raise UsageError("the guide needs a terminal; `sharebench guide --plain` reads its answers from anywhere")
    return int(context.find_root().obj["open_tui"](path, first="guide"))


def ask_plainly(notebook_path: Path) -> None:
    """The guide as numbered questions, until the user leaves."""
    from app.guide.plain import PlainGuide

    PlainGuide(notebook_path).run()


def _is_dumb_terminal() -> bool:
    return os.environ.get("TERM") == "dumb"


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


@declare.command("demo")
@click.option("--headless", is_flag=True, help="Measure and print, without the screens (default without a terminal).")
@declare.option("--runs", "N", "Number of measured runs of each series.", declare.Count(1, 100), default=DEFAULT_RUNS)
@click.option("--plain", is_flag=True, help="Ask numbered questions, as `guide --plain` does.")
@declare.options_of_all
def demo_command(context: click.Context, headless: bool, runs: int, plain: bool) -> int:
    """Practise on servers that sharebench starts itself, on this machine.

    Both servers, SMB and FTP, are limited to 20 MB/s. In a terminal the screens open with both ready. Without one the
    demo measures with two request sizes and prints one form and the comparison. It uses a notebook of its own, unless
    --db names another.
    """
    from app.clients.session_logins import Logins
    from app.practice.servers import PracticeServers

    options = context.find_root().obj
    if not options.get("db"):
        options["db"] = str(notebooks.notebook_path(context).with_name("practice.db"))
    path = notebooks.notebook_path(context)

    with PracticeServers() as servers:
        practice = (servers.smb, servers.ftp)
        logins = Logins()
        for target in practice:
            logins.keep(target, servers.secrets)

        on_terminal = not headless and _is_terminal()
        if plain or (on_terminal and _is_dumb_terminal()):
            from app.guide.plain import PlainGuide

            PlainGuide(path, logins=logins, practice=practice).run()
            return 0
        if on_terminal:
            return int(options["open_tui"](path, first="guide", practice=practice, logins=logins))
        _measure_demo(path, servers, runs)
    console.say(f"kept in {path}; measure your own server with: sharebench run smb://USER@HOST/SHARE/FILE")
    return 0


def _measure_demo(path: Path, servers: "PracticeServers", runs: int) -> None:
    from app.cli import versus
    from app.guide.pages.change import PRACTICE_BLOCK
    from app.recording import spec as series_spec
    from app.series.versus import Side
    from forms.findings.path import PRACTICE_LINK_BITS_PER_SECOND
    from forms.wording import typed_size
    from storage.plan import RunCounts

    spec = series_spec.SeriesSpec(
        counts=RunCounts(runs=runs),
        texts=series_spec.FormTexts(label="practice"),
        link_bits_per_second=PRACTICE_LINK_BITS_PER_SECOND,
    )
    words = f"--block {typed_size(PRACTICE_BLOCK)}"
    base = Side(spec=spec, target=servers.smb, secrets=servers.secrets)
    versus.run_versus(base, [versus.other_side(base, words)], path, with_form=True)
