"""TARGET of a command: a URL or ``@NAME[/PATH]``, and the defaults that the settings file gives for its server.

It is settled before the options are read (``is_eager``), since the server's name decides their defaults.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from app.base import config
from app.base.errors import UsageError
from app.base.targets import by_name
from app.base.user_files import config_file
from app.cli.run_options import FIELD_OF_WORD
from forms.layout import visible
from storage.errors import did_you_mean

_F = TypeVar("_F", bound=Callable[..., Any])


def target_argument(*, required: bool = True) -> Callable[[_F], _F]:
    """Adds TARGET, and the defaults of the settings file."""
    return click.argument("target", required=required, is_eager=True, callback=_settle_target)


def targets_argument() -> Callable[[_F], _F]:
    """As :func:`target_argument` for several; the first one's server sets the defaults."""
    return click.argument("targets", nargs=-1, metavar="TARGET...", is_eager=True, callback=_settle_targets)


def _settle_target(context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    url, options = settled_url(value) if value else (value, {})
    take_settings(context, options)
    return url


def _settle_targets(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    targets = [settled_url(value) for value in values]
    options_of_first = targets[0][1] if targets else {}
    take_settings(context, options_of_first)
    return tuple(url for url, _ in targets)


def settled_url(text: str) -> tuple[str, Mapping[str, str]]:
    """The URL of ``@NAME[/PATH]`` and its server's defaults by field; other texts as they are."""
    if not text.startswith("@"):
        return text, {}

    server_name = text[1:].partition("/")[0]
    return by_name(text), options_of_server(config.profile(server_name))


def options_of_server(server: config.ServerProfile) -> Mapping[str, str]:
    options = {"server_ssh": server.ssh, "smb_conf": server.smb_conf, "link_bits_per_second": server.link}
    return {field: value for field, value in options.items() if value}


def take_settings(context: click.Context, options_of_server: Mapping[str, str]) -> None:
    """Defaults of the settings file, the server's first. Raises ConfigError."""
    defaults = {**_defaults(config.config().defaults), **options_of_server}
    for parameter in context.command.params:
        value = defaults.get(parameter.name or "")
        if value is None:
            continue
        try:
            parameter.type_cast_value(context, value)
        except (click.BadParameter, UsageError) as error:
            reason = error.message.rstrip(".") if isinstance(error, click.BadParameter) else str(error)
            place = f"{config_file()}: {parameter.opts[0].removeprefix('--')}"
            raise config.ConfigError(f"{place}: {_without_value(reason, str(value))}") from error
    context.default_map = defaults


def _without_value(text: str, value: str) -> str:
    """The value may be a password in the wrong place."""
    for spelling in (value, repr(value)[1:-1], visible(value)):
        if spelling:
            text = text.replace(spelling, "…")
    return text


def _defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the settings file by field. Raises ConfigError for a name that is no option of run."""
    defaults: dict[str, Any] = {}
    for name, value in settings.items():
        word = name.replace("_", "-")
        if word not in FIELD_OF_WORD:
            advice = did_you_mean(word, FIELD_OF_WORD).rstrip() or "see `sharebench run --help`"
            raise config.ConfigError(f"{config_file()}: defaults.{name} is no option of run; {advice}")

        # As it would be typed, so that it is read and refused like that.
        defaults[FIELD_OF_WORD[word]] = value if isinstance(value, bool) else str(value)
    return defaults
