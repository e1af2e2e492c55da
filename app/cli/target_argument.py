"""The argument TARGET of measuring commands: a URL, or ``@NAME[/PATH]`` of a server in the settings file."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

import click

from app.cli.run_options import FIELD_OF_WORD
from app.config import ConfigError, config, config_file, profile

_F = TypeVar("_F", bound=Callable[..., Any])


def target_argument(*, required: bool = True) -> Callable[[_F], _F]:
    """A decorator that gives a command its TARGET, and its options the defaults of the settings file."""
    return click.argument("target", required=required, is_eager=True, callback=_settle)


def settled_url(text: str) -> tuple[str, Mapping[str, str]]:
    """The URL that is meant by ``@NAME[/PATH]``, and what its server sets by the field of an option; else the text."""
    if not text.startswith("@"):
        return text, {}
    name, _, path = text[1:].partition("/")
    server = profile(name)
    found = {"server_ssh": server.ssh, "smb_conf": server.smb_conf, "link_bits_per_second": server.link}
    return server.url(path), {field: value for field, value in found.items() if value}


def _settle(context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    url, of_server = settled_url(value) if value else (value, {})
    context.default_map = {**_defaults(config().defaults), **of_server}
    return url


def _defaults(found: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults by the field that an option fills in. Raises ConfigError for a name that is no option of ``run``."""
    fields = {}
    for name, value in found.items():
        word = name.replace("_", "-")
        if word not in FIELD_OF_WORD:
            near = get_close_matches(word, FIELD_OF_WORD, n=1)
            advice = f"did you mean {near[0]}?" if near else "see `sharebench run --help`"
            raise ConfigError(f"{config_file()}: defaults.{name} is no option of run; {advice}")
        fields[FIELD_OF_WORD[word]] = value
    return fields
