"""What commands are declared with: their classes, whose help is in groups, and the options that several have."""

import math
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import click

from app.base.errors import PasswordInURLError
from app.base.limits import MOST_MINUTES
from app.cli import help as command_help

_F = TypeVar("_F", bound=Callable[..., Any])

_MOST_NAME_CELLS = 27
_EXAMPLE_COLUMNS = 75


class GroupedCommand(click.Command):
    """A command whose --help has its options in groups, and examples at its end."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = command_help.grouped_options(self, ctx)
        longest_name = 0
        for records in groups.values():
            longest_name = max(longest_name, *(len(name) for name, _ in records))

        width = min(_MOST_NAME_CELLS, longest_name)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", text) for name, text in records])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        lines = command_help.examples(ctx)
        if not lines:
            return

        with formatter.section("Examples"):
            for line in lines:
                wrapped = textwrap.wrap(line, _EXAMPLE_COLUMNS, subsequent_indent="    ", break_on_hyphens=False)
                formatter.write("  " + " \\\n  ".join(wrapped) + "\n")


class Group(GroupedCommand, click.Group):
    """A command with commands of its own; a mistyped one is answered with similar names."""

    command_class = GroupedCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            from difflib import get_close_matches

            similar_names = get_close_matches(name, self.list_commands(ctx), n=2, cutoff=0.65)
            raise click.UsageError(f"no such command {name!r}{command_help.did_you_mean(similar_names)}", ctx)
        return super().resolve_command(ctx, args)


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    return click.command(name, cls=GroupedCommand, **attributes)


def several(*options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """One decorator that adds several options; --help shows them in this order."""

    def decorate(function: _F) -> _F:
        for decorate_with_option in reversed(options):
            function = decorate_with_option(function)
        return function

    return decorate


def _range_in_words(kind: click.IntRange | click.FloatRange) -> str:
    """What click says of a range in its messages: it calls this as ``_describe_range`` of the type."""
    lower_word = "above" if kind.min_open else "from"
    lower_bound = f"{lower_word} {kind.min:,}"
    if kind.max is None:
        return lower_bound

    upper_word = "to below" if kind.max_open else "to"
    most = int(kind.max) if kind.max == int(kind.max) else kind.max
    return f"{lower_bound} {upper_word} {most:,}"


class Number(click.FloatRange):
    """A number in a range; NaN is refused."""

    name = "number"
    _describe_range = _range_in_words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return number


class Count(click.IntRange):
    """A whole number in a range."""

    name = "whole number"
    _describe_range = _range_in_words


def option(
    word: str, metavar: str, text: str, kind: Any = None, *, name: str = "", default: Any = None, **attributes: Any
) -> Callable[[_F], _F]:
    """An option that takes a value; --help shows its default, if there is one that is not empty."""
    names = (word, name) if name else (word,)
    if default is not None:
        attributes = {"default": default, "show_default": default != "", **attributes}
    return click.option(*names, type=kind, metavar=metavar, help=text, **attributes)


def within_option(text: str, default: int | None = None) -> Callable[[_F], _F]:
    return option("--within", "MINUTES", text, Count(1, MOST_MINUTES), name="within_minutes", default=default)


whole_time_option = within_option("Longest time; it ends with what fits, or can be resumed.")


def verdict_options(function: _F) -> _F:
    from storage.plan import MARGIN_PERCENT, NOISE_PERCENT

    noise_option = option(
        "--noise",
        "PERCENT",
        "A change within ± PERCENT is never faster or slower.",
        Number(0, 100),
        default=NOISE_PERCENT,
    )
    margin_option = option(
        "--margin",
        "PERCENT",
        "No change: the 95 % interval lies within ± PERCENT.",
        Number(0, 1000, min_open=True),
        default=MARGIN_PERCENT,
    )
    return several(noise_option, margin_option)(function)


def _keep_for_program(context: click.Context, parameter: click.Parameter, value: object) -> object:
    """Keeps an option of the program that stands after a command's name where the program's own are."""
    if value is not None and parameter.name:
        context.find_root().ensure_object(dict)[parameter.name] = value
    return value


options_of_all = several(
    click.pass_context,
    click.option("--db", metavar="FILE", expose_value=False, callback=_keep_for_program, help="Notebook to use."),
    click.option(
        "--credentials", metavar="FILE", expose_value=False, callback=_keep_for_program, help="File with the login."
    ),
)
"""--db and --credentials, accepted after the command's name too; the context is the first argument."""


def _refuse_password(_context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    from app.base.targets import CREDENTIALS_OPTION, HOW_TO_LOG_IN

    if value is not None:
        raise PasswordInURLError(
            f"a password on the command line can be read by others: {HOW_TO_LOG_IN}", options=CREDENTIALS_OPTION
        )


login_options = several(
    click.option("--kerberos", is_flag=True, help="Log in with the Kerberos ticket in the cache."),
    click.option(
        "--password", "--passwd", "--pass", hidden=True, expose_value=False, is_eager=True, callback=_refuse_password
    ),
)


def answering_options(help_of_json: str, *more_options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """The options of a command that answers from the notebook; the context is its first argument."""
    return several(click.option("--json", "as_json", is_flag=True, help=help_of_json), *more_options, options_of_all)


def measuring_options(help_of_json: str) -> Callable[[_F], _F]:
    """The options of a command that logs in to a target, too."""
    return answering_options(help_of_json, login_options)


textfile_option = option("--textfile", "FILE", "Also write Prometheus text, for node_exporter's textfile collector.")
