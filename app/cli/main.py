"""The command line: common options, commands imported when called, errors mapped to exit codes."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import chain
from pathlib import Path

import click

from app import __version__
from app.base import errors
from app.base.this_process import need_linux
from app.cli import console, declare, failures, notebooks
from app.cli.help import COMMANDS

OpenTUI = Callable[..., int]

_NAMES = list(chain.from_iterable(COMMANDS.values()))
_ALIASES = {"measure": "run", "ls": "list", "find": "list", "filter": "list", "rm": "delete", "label": "rename"}
_WORKERS = frozenset({"load-worker", "measuring-process", "share-worker"})
"""Started through ssh by ``load --workers-on``, ``--from``, ``push`` and ``pull``."""
_PORTABLE = (
    "list show reject accept note rename delete prune baseline compare findings experiment export import verify push"
    " pull worksheet catalogue completion history report share-worker"
)
"""The commands that work without Linux too."""
_COMMANDS_OF_MODULES = {
    "app.cli.commands.notebook": "show note rename reject accept",
    "app.cli.commands.listing": "list",
    "app.cli.commands.deleting": "delete prune",
    "app.cli.commands.baseline": "baseline",
    "app.cli.commands.export": "export",
    "app.cli.commands.import_": "import",
    "app.cli.commands.report": "report",
    "app.cli.commands.catalogue": "catalogue",
    "app.cli.commands.experiment": "experiment",
    "app.cli.commands.restore": "restore",
    "app.cli.commands.tune": "tune",
    "app.cli.commands.selftest": "selftest",
    "app.cli.commands.measuring_process": "measuring-process",
    "app.cli.commands.share_worker": "share-worker",
    "app.cli.commands.sharing": "push pull",
    "app.cli.commands.verify": "verify",
    "app.audit.command": "audit",
    "app.check.command": "check",
    "app.check.clean_command": "clean",
    "app.comparison.command": "compare findings",
    "app.diagnosis.command": "diagnose",
    "app.guide.command": "guide demo",
    "app.isolation.command": "isolate",
    "app.load.command": "load load-worker",
    "app.quick.command": "quick",
    "app.series.command": "run",
    "app.survey.command": "survey",
    "app.trial.command": "try sweep",
    "app.watch.command": "watch",
    "app.who.command": "who",
    "app.watch.schedule_command": "schedule",
    "app.cli.commands.history": "history",
    "app.cli.commands.completion": "completion",
    "app.worksheets.command": "worksheet",
}
_CODES_OF_ANSWERS = frozenset({0, 1, 3})
"""Exit codes that are verdicts, not errors."""
COMMAND_MODULES: dict[str, str] = {}
"""By command, the module that is loaded when it is called."""
for _module, _names in _COMMANDS_OF_MODULES.items():
    COMMAND_MODULES |= dict.fromkeys(_names.split(), _module)


class _LazyGroup(declare.Group):
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


_TOPIC = "versus"
"""What has a page of help beside the commands: it is told in ``versus.txt``."""


@declare.command("help", hidden=True)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of COMMAND, of ``versus``, or of the program."""
    if names == (_TOPIC,):
        console.answer(Path(__file__).with_name(f"{_TOPIC}.txt").read_text(encoding="utf-8").rstrip())
        return

    command: click.Command = cli
    context = context.find_root()
    for name in names:
        subcommand: click.Command | None = None
        if isinstance(command, click.Group):
            _, subcommand, _ = command.resolve_command(context, [name])
        if subcommand is None:
            raise errors.UsageError(
                f"{context.command_path} has no commands of its own; see `{context.command_path} --help`"
            )

        context = click.Context(subcommand, info_name=name, parent=context)
        command = subcommand
    console.answer(command.get_help(context))


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    subcommand_metavar="[COMMAND]",
    epilog="RECORDING is an id (any unambiguous prefix), a baseline's name, or `last`. TARGET is a URL such as"
    " smb://alice@nas/public/big.iso, or @NAME of a server in ~/.config/sharebench/config.toml.",
)
@click.version_option(__version__, "-V", "--version", prog_name="sharebench", message="%(prog)s %(version)s")
@declare.option("--db", "FILE", "Notebook to use (default: in the user data folder).", envvar="SHAREBENCH_DB")
@click.option("--credentials", metavar="FILE", help="File with username = …, password = …, domain = ….")
@click.option("--debug", is_flag=True, expose_value=False, help="Show a traceback with an error.")
@click.pass_context
def cli(context: click.Context, /, db: str | None, credentials: str | None) -> None:
    """Measure file servers (SMB, FTP, local, network) and keep every result.

    Without a command, sharebench opens its screens.
    """
    context.obj.update(db=db, credentials=credentials)
    if context.invoked_subcommand is not None:
        return

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise errors.UsageError("the TUI needs a terminal; see `sharebench --help` for the commands that do not")
    if os.environ.get("TERM") == "dumb":
        from app.guide.command import ask_plainly

        ask_plainly(notebooks.notebook_path(context))
        context.exit(0)
    context.exit(context.obj["open_tui"](notebooks.notebook_path(context)))


def run(arguments: Sequence[str], open_tui: OpenTUI) -> int:
    """Carries out a command line, or opens the TUI; the exit code."""
    # --debug is taken out here: it also counts where the words cannot be understood.
    debug = "--debug" in arguments
    words = [word for word in arguments if word != "--debug"]
    command_object: dict[str, object] = {"open_tui": open_tui}

    code = _run_command(words, arguments, command_object, debug=debug)
    if notebooks.MOVED not in command_object:
        return code

    from app.cli import moved

    moved_code = failures.fail(moved.end(command_object), debug=debug)
    return moved_code if code in _CODES_OF_ANSWERS else code


def _run_command(
    words: Sequence[str], arguments: Sequence[str], command_object: dict[str, object], *, debug: bool
) -> int:
    """``arguments``: all that was typed, which may hold passwords."""
    try:
        # Not standalone: click raises its errors, where it would print them and exit.
        result = cli.main(words, "sharebench", standalone_mode=False, obj=command_object)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        return failures.fail(errors.CancelledError("cancelled"), debug=debug)
    except click.ClickException as error:
        return failures.fail(errors.UsageError(failures.usage_error_text(error)), debug=debug, arguments=arguments)
    except errors.SharebenchError as error:
        if isinstance(error, errors.NotebookError):
            from app.cli import moved

            moved.print_forms(error, as_json="--json" in words)
        return failures.fail(error, debug=debug, arguments=arguments if isinstance(error, errors.UsageError) else ())
    except SystemExit:  # click's, where the reader of a --help left: 1 would say "slower"
        console.discard_output()
        return 0
    except Exception as error:  # noqa: BLE001  our own fault is told in a line too, and never ends as "slower" does
        return failures.fail(failures.unforeseen_error(error, debug=debug), debug=debug)

    return result if isinstance(result, int) else 0
