"""The command line: common options, commands imported when called, errors mapped to exit codes."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from app import __version__
from app.child_process import need_linux
from app.cli import common, output
from app.errors import CancelledError, SharebenchError, UsageError

_COMMANDS = {
    "guide": "leads through the method step by step; --plain by numbered questions",
    "demo": "practises on embedded SMB and FTP servers on the loopback",
    "check": "reaches, logs in, looks: what is fine, what is not, what to do",
    "audit": "finds harmful and useless settings of a server, without measuring",
    "run": "measures one series and prints the form",
    "load": "many users at once: load points, capacity, memory of idle users",
    "list": "the notebook, one line a series",
    "show": "one filled form",
    "reject": "marks a run unusable",
    "accept": "marks a run usable again",
    "note": "annotates a series",
    "rename": "gives a recording another label, or an experiment another name",
    "delete": "takes series out of the notebook",
    "prune": "takes out those that failed before a run was measured",
    "baseline": "gives a series a name to compare with",
    "compare": "faster, slower, the same, or not yet known",
    "watch": "check once, by a timer, whether a path became slower than its baseline",
    "findings": "what measured series say of a set-up, and what to do",
    "try": "changes a setting of the server, measures with and without it, restores it",
    "sweep": "several values of a setting, interleaved: the smallest that is as good as the best",
    "tune": "the catalogue's safe settings, each tried on top of what was found; one page at the end",
    "restore": "restores what an interrupted try left changed",
    "survey": "the whole picture of a server",
    "isolate": "disk, network, both and the server by the same operations: which is it",
    "diagnose": "finds out why users complain: small files, large folders, distance, the first connect and more",
    "selftest": "the smallest change that this set-up can show",
    "experiment": "series of changes, one at a time",
    "export": "forms out",
    "import": "series in",
    "verify": "Check that a signed export is unchanged, and by whom it was signed",
    "push": "Give the notebook of another machine what it does not have, through ssh",
    "pull": "Take what the notebook of another machine has, through ssh",
    "worksheet": "the calculations of the method: bottleneck, clients",
    "catalogue": "what can be changed, in order of impact",
    "clean": "leftovers on a share: lists and removes them",
    "completion": "what bash, zsh or fish need to complete commands and options",
}
_WORKERS = frozenset({"load-worker", "share-worker"})
"""Started through ssh by ``load --workers-on``, ``push`` and ``pull``."""
_PORTABLE = frozenset(
    [
        "list",
        "show",
        "reject",
        "accept",
        "note",
        "rename",
        "delete",
        "prune",
        "baseline",
        "compare",
        "findings",
        "experiment",
        "export",
        "import",
        "verify",
        "push",
        "pull",
        "worksheet",
        "catalogue",
        "completion",
        "history",
        "report",
        "share-worker",
    ]
)
"""Commands that do not need Linux."""
_MODULES = {
    "load-worker": "load",
    "push": "share",
    "pull": "share",
    "verify": "export",
    "share-worker": "share",
    "list": "list_",
    "show": "notebook",
    "note": "notebook",
    "rename": "notebook",
    "clean": "check",
    "completion": "guide",
    "demo": "guide",
    "restore": "trial",
    "selftest": "run",
    "reject": "notebook",
    "accept": "notebook",
    "import": "import_",
    "delete": "notebook",
    "prune": "notebook",
    "findings": "compare",
    "try": "trial",
    "sweep": "trial",
    "tune": "trial",
}


class _LazyGroup(common.Group):
    """Imports commands when they are called, so that --help and --version stay fast."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS and cmd_name not in _WORKERS:
            return None
        if cmd_name not in _PORTABLE:
            need_linux(f"`sharebench {cmd_name}`")
        module = import_module(f"app.cli.commands.{_MODULES.get(cmd_name, cmd_name)}")
        found: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return found

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="SERIES is an id (any unambiguous prefix), a baseline's name, or `last`. TARGET is a URL (see `run --help`),"
    " or @NAME of a server in ~/.config/sharebench/config.toml.",
)
@click.version_option(__version__, prog_name="sharebench", message="%(prog)s %(version)s")
@click.option("--db", metavar="FILE", envvar="SHAREBENCH_DB", help="The notebook (default: in the user data folder).")
@click.option("--credentials", metavar="FILE", help="A file with username = …, password = …, domain = ….")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
@click.pass_context
def cli(context: click.Context, /, db: str | None, credentials: str | None, debug: bool) -> None:  # noqa: ARG001  --debug is taken in run()
    """Measures file servers by the classic method and keeps every run.

    Without a command it opens the TUI.
    """
    context.obj.update(db=db, credentials=credentials)
    if context.invoked_subcommand is None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("the TUI needs a terminal; see `sharebench --help` for the commands that do not")
        if os.environ.get("TERM") == "dumb":
            from app.cli.plain_guide import PlainGuide  # noqa: PLC0415  clients and recorder

            PlainGuide(common.notebook_path(context)).run()
            context.exit(0)
        context.exit(context.obj["open_tui"](common.notebook_path(context)))


def run(arguments: Sequence[str], open_tui: common.OpenTUI) -> int:
    """Run one command line; returns the contract's exit code."""
    debug = "--debug" in arguments
    try:
        result = cli.main(
            args=[a for a in arguments if a != "--debug"],
            prog_name="sharebench",
            standalone_mode=False,
            obj={"open_tui": open_tui},
        )
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        return output.fail(CancelledError("cancelled"), debug=debug)
    except click.ClickException as error:
        return output.fail(UsageError(output.one_line(error)), debug=debug, arguments=arguments)
    except UsageError as error:
        return output.fail(error, debug=debug, arguments=arguments)
    except SharebenchError as error:
        return output.fail(error, debug=debug)
    except SystemExit:  # click's, where the reader of a --help left: 1 would say "slower"
        output.drop_rest()
        return 0
    except Exception as error:  # noqa: BLE001  our own fault is told in a line too, and never ends as "slower" does
        return output.fail(output.unforeseen(error, debug=debug), debug=debug)
    return result if isinstance(result, int) else 0
