"""Help: commands and options in groups, and examples; the same for ``--help`` and for the manual pages."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click


def _read_commands() -> dict[str, dict[str, str]]:
    """By title of their group, what each command is about."""
    groups: dict[str, dict[str, str]] = {}
    title = ""
    for line in Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines():
        name, _, about = line.strip().partition(": ")
        if about:
            groups[title][name] = about
        else:
            title = name
            groups[title] = {}
    return groups


COMMANDS = _read_commands()

_FIRST_TITLE = "What"
_GENERAL_TITLE = "General"


@cache
def texts() -> dict[str, Any]:
    """The groups of options, and the examples by command, without ``sharebench`` in front."""
    from app.base.user_files import read_toml

    return read_toml(Path(__file__).with_name("help.toml").read_text(encoding="utf-8"))


def path_of(context: click.Context) -> str:
    """A command's names below that of the program, such as ``baseline set``; never an alias that it was called by."""
    return f"{path_of(context.parent)} {context.command.name}".strip() if context.parent else ""


def did_you_mean(similar_words: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(similar_words)}?" if similar_words else ""


def examples(context: click.Context) -> list[str]:
    lines = texts()["examples"].get(path_of(context), ())
    return [line if line.startswith("eval ") else f"sharebench {line}" for line in lines]


def grouped_options(command: click.Command, context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """By title of their group, the options as they are written and what they are for."""
    title_by_parameter: dict[str, str] = {}
    for title, parameters in texts()["groups"].items():
        title_by_parameter |= dict.fromkeys(parameters, title)

    groups: dict[str, list[tuple[str, str]]] = {title: [] for title in (_FIRST_TITLE, *texts()["groups"])}
    for option in command.get_params(context):
        help_record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if not help_record or not isinstance(option, click.Option):
            continue

        default = option.get_help_extra(context).get("default")
        text = f"{option.help} ({default})" if default else option.help or ""
        title = title_by_parameter.get(option.name or "", _FIRST_TITLE)
        if "--help" in option.opts:
            title = _GENERAL_TITLE
        groups[title].append((help_record[0], text))
    return {title: records for title, records in groups.items() if records}
