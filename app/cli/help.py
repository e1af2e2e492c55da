"""Help: commands and options in groups, and examples; the same for ``--help`` and for the manual page."""

import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click


def _commands() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    title = ""
    for line in Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines():
        name, _, about = line.strip().partition(": ")
        if about:
            found[title][name] = about
        else:
            title = name
            found[title] = {}
    return found


COMMANDS = _commands()

_FIRST = "What"
_NAME_CELLS = 27


@cache
def texts() -> dict[str, Any]:
    """The groups of options, and the examples by command, without ``sharebench`` in front."""
    from app.base.user_files import read_toml

    return read_toml(Path(__file__).with_name("help.toml").read_text(encoding="utf-8"))


def path_of(context: click.Context) -> str:
    """A command's names below the program's, such as ``baseline set``, whatever alias it was called by."""
    return f"{path_of(context.parent)} {context.command.name}".strip() if context.parent else ""


def did_you_mean(near: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""


def examples(context: click.Context) -> list[str]:
    lines = texts()["examples"].get(path_of(context), ())
    return [line if line.startswith("eval ") else f"sharebench {line}" for line in lines]


def grouped_options(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    title_of = {name: title for title, names in texts()["groups"].items() for name in names}
    groups: dict[str, list[tuple[str, str]]] = {title: [] for title in (_FIRST, *texts()["groups"])}
    for option in command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record and isinstance(option, click.Option):
            default = option.get_help_extra(context).get("default")
            text = f"{option.help} ({default})" if default else option.help or ""
            title = "General" if "--help" in option.opts else title_of.get(option.name or "", _FIRST)
            groups[title].append((record[0], text))
    return {title: records for title, records in groups.items() if records}


class GroupedCommand(click.Command):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = grouped_options(self, ctx)
        width = min(_NAME_CELLS, max(len(name) for records in groups.values() for name, _ in records))
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", text) for name, text in records])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        if lines := examples(ctx):
            with formatter.section("Examples"):
                for line in lines:
                    wrapped = textwrap.wrap(line, 75, subsequent_indent="    ", break_on_hyphens=False)
                    formatter.write("  " + " \\\n  ".join(wrapped) + "\n")


class Group(GroupedCommand, click.Group):
    command_class = GroupedCommand

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = get_close_matches(args[0], self.list_commands(ctx), n=2, cutoff=0.65)
            raise click.UsageError(f"no such command {args[0]!r}{did_you_mean(near)}", ctx)
        return super().resolve_command(ctx, args)


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    return click.command(name, cls=GroupedCommand, **attributes)
