"""What the values of options mean, and which options were typed."""

import math
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import click

from app.base.errors import UsageError


def parse_size(text: str | int) -> int:
    from app.base import units

    return text if isinstance(text, int) else units.parse_size(text)


def parse_rate(text: str | int) -> int | None:
    """Bits per second; None for ``auto``."""
    from app.base import units

    if isinstance(text, int):
        return text
    return None if text == "auto" else units.parse_rate(text)


def seconds_within(choices: Mapping[str, Any]) -> float:
    """The longest time that --within allows; infinite without it."""
    minutes = choices["within_minutes"]
    return 60.0 * minutes if minutes else math.inf


def typed_options(context: click.Context) -> dict[str, str]:
    """The options on the command line, by parameter, as they are written."""
    option_by_parameter: dict[str, str] = {}
    for parameter in context.command.params:
        name = parameter.name
        if not name or not parameter.expose_value:
            continue
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option_by_parameter[name] = parameter.opts[0]
    return option_by_parameter


def refuse_other_options(
    context: click.Context, parameter: str, allowed: AbstractSet[str], reason: str = "measures as the series began"
) -> None:
    """Raises UsageError where options were typed beside one that makes them meaningless.

    ``parameter`` is the name of that one, ``allowed`` those of the options that it takes all the same.
    """
    options = typed_options(context)
    refusing_option = options.pop(parameter)
    for name, option in options.items():
        if name not in allowed:
            raise UsageError(f"{refusing_option} {reason}: leave {option} out")


def parse_samba_version(text: str) -> str:
    """Such as ``4.22`` or ``4.22.11-Debian``, also as ``smbd -V`` prints it. Raises UsageError."""
    version = text.strip().removeprefix("Version ")
    if version and not re.match(r"\d+\.\d+", version):
        raise UsageError(f"--samba {text!r} is no version of Samba; write it as 4.22, or as smbd -V prints it")
    return version
