"""The command line: common options, commands imported when called, errors mapped to exit codes."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from app import __version__
from app.base.child_process import need_linux
from app.base.errors import CancelledError, SharebenchError, UsageError
from app.cli import common
from app.cli.help import COMMANDS

_NAMES = [name for group in COMMANDS.values() for name in group]
_ALIASES = {"measure": "run", "ls": "list", "find": "list", "filter": "list", "rm": "delete", "label": "rename"}
_WORKERS = frozenset({"load-worker", "share-worker"})
"""Started through ssh by ``load --workers-on``, ``push`` and ``pull``."""
_PORTABLE = (
    "list show reject accept note rename delete prune baseline compare findings experiment export import verify push"
    " pull worksheet catalogue completion history report share-worker"
)
_COMMANDS_OF_MODULES = {
    "app.cli.commands.notebook": "list baseline show note rename reject accept delete prune",
    "app.cli.commands.export": "export report verify",
    "app.cli.commands.import_": "import push pull share-worker",
    "app.cli.commands.catalogue": "catalogue",
    "app.audit.command": "audit",
    "app.check.command": "check clean",
    "app.comparison.command": "compare findings",
    "app.diagnosis.command": "diagnose",
    "app.guide.command": "guide completion demo",
    "app.isolation.command": "isolate",
    "app.load.command": "load load-worker",
    "app.series.command": "run selftest",
    "app.survey.command": "survey",
    "app.trial.command": "try sweep tune restore experiment",
    "app.watch.command": "watch schedule",
    "app.cli.commands.history": "history",
    "app.worksheets.command": "worksheet",
}
COMMAND_MODULES = {name: module for module, names in _COMMANDS_OF_MODULES.items() for name in names.split()}
"""By command, the module that is loaded when it is called."""


class _LazyGroup(common.Group):
    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_NAMES)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "help":
            return help_command
        name = _ALIASES.get(cmd_name, cmd_name)
        if name not in _NAMES and name not in _WORKERS:
            return None
        if name not in _PORTABLE.split():
            need_linux(f"`sharebench {name}`")
        module = import_module(COMMAND_MODULES[name])
        command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _NAMES))
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", text) for name, text in commands.items()])


@common.command("help", hidden=True)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of COMMAND, or of the program."""
    command: click.Command = cli
    context = context.find_root()
    for name in names:
        inner = command.resolve_command(context, [name])[1] if isinstance(command, click.Group) else None
        if inner is None:
            raise UsageError(f"{context.command_path} has no commands of its own; see `{context.command_path} --help`")
        command, context = inner, click.Context(inner, info_name=name, parent=context)
    common.answer(command.get_help(context))


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    subcommand_metavar="[COMMAND]",
    epilog="RECORDING is an id (any unambiguous prefix), a baseline's name, or `last`. TARGET is a URL such as"
    " smb://alice@nas/public/big.iso, or @NAME of a server in ~/.config/sharebench/config.toml.",
)
@click.version_option(__version__, "-V", "--version", prog_name="sharebench", message="%(prog)s %(version)s")
@common.option("--db", "FILE", "Notebook to use (default: in the user data folder).", envvar="SHAREBENCH_DB")
@click.option("--credentials", metavar="FILE", help="File with username = …, password = …, domain = ….")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
@click.pass_context
def cli(context: click.Context, /, db: str | None, credentials: str | None, debug: bool) -> None:  # noqa: ARG001  --debug is taken in run()
    """Measure file servers (SMB, FTP, local, network) and keep every result.

    Without a command, sharebench opens its screens.
    """
    context.obj.update(db=db, credentials=credentials)
    if context.invoked_subcommand is None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("the TUI needs a terminal; see `sharebench --help` for the commands that do not")
        if os.environ.get("TERM") == "dumb":
            from app.guide.command import ask_plainly

            ask_plainly(common.notebook_path(context))
            context.exit(0)
        context.exit(context.obj["open_tui"](common.notebook_path(context)))


def run(arguments: Sequence[str], open_tui: common.OpenTUI) -> int:
    debug = "--debug" in arguments
    try:
        words = [word for word in arguments if word != "--debug"]
        result = cli.main(words, "sharebench", standalone_mode=False, obj={"open_tui": open_tui})
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        return common.fail(CancelledError("cancelled"), debug=debug)
    except click.ClickException as error:
        return common.fail(UsageError(common.one_line(error)), debug=debug, arguments=arguments)
    except SharebenchError as error:
        return common.fail(error, debug=debug, arguments=arguments if isinstance(error, UsageError) else ())
    except SystemExit:  # click's, where the reader of a --help left: 1 would say "slower"
        common.drop_rest()
        return 0
    except Exception as error:  # noqa: BLE001  our own fault is told in a line too, and never ends as "slower" does
        return common.fail(common.unforeseen(error, debug=debug), debug=debug)
    return result if isinstance(result, int) else 0
