"""Options of ``sharebench run`` that other measuring commands have as well, with the same words and defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import click

from app.cli.commands.run import run_command


def options_of_run(*names: str, **defaults: Any) -> Callable[[click.Command], click.Command]:
    """A decorator that gives a command these parameters of ``run``, some with another default."""

    def give(command: click.Command) -> click.Command:
        for option in run_command.params:
            if option.name in names:
                taken = copy(option)
                if option.name in defaults:
                    taken.default = defaults[option.name]
                command.params.append(taken)
        return command

    return give


def choices_of_run(context: click.Context, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """All choices that ``run`` knows: those made, and its defaults for the rest."""
    defaults = run_command.make_context("run", [], parent=context, resilient_parsing=True).params
    return {**defaults, **{name: value for name, value in chosen.items() if name in defaults}}
