"""Options of ``sharebench run``, shared by other measuring commands, and TARGET: a URL or ``@NAME[/PATH]``."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, TypeVar

import click

from app.cli import common
from app.config import ConfigError, ServerProfile, config, profile
from app.errors import UsageError
from app.server.shell import check_ssh_host
from app.user_files import config_file
from app.workflows.requests import SeriesOptions, parse_change
from storage.plan import MOST_FILES, CeilingPolicy, QuietTime
from storage.records import Command

_F = TypeVar("_F", bound=Callable[..., Any])
_USUAL = SeriesOptions()
FIELD_OF_WORD: dict[str, str] = {}
"""Field by option name without dashes; ``--get`` and ``--put`` have no defaults."""


def _change(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, str] | None:
    return None if value is None else parse_change(value)


def ssh_host(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Checks an option that names a host for ssh. Raises UsageError."""
    if value:
        check_ssh_host(value)
    return value


def _option(name: str, word: str, **attributes: Any) -> tuple[str, Callable[[_F], _F]]:
    if attributes.get("flag_value") is None:
        FIELD_OF_WORD[word.removeprefix("--")] = name
    return name, click.option(word, name, **attributes)


_OPTIONS = (
    _option("command", "--get", flag_value="get", default="get", help="Read from the server (default)."),
    _option("command", "--put", flag_value="put", help="Write to the server; TARGET is a folder."),
    _option("runs", "--runs", type=common.Count(1, 100_000), default=_USUAL.runs, show_default=True, metavar="N",
        help="Number of measured runs.",
    ),
    _option("warmups", "--warmup", type=common.Count(0, 1000), default=_USUAL.warmups, show_default=True, metavar="N",
        help="Number of warm-up runs before them.",
    ),
    _option("until_percent", "--until", type=common.Number(0, 100, min_open=True), metavar="PERCENT",
        help="Repeat until the mean is known to ± PERCENT.",
    ),
    _option("max_runs", "--max-runs", type=common.Count(1, 100_000), default=_USUAL.max_runs, show_default=True,
        metavar="N", help="Largest number of runs for --until.",
    ),
    _option("size_bytes", "--size", type=common.SizeType(), help="Size of the file to create (64M with --put)."),
    _option("files", "--files", type=common.Count(1, MOST_FILES), metavar="N",
        help="Number of files of that size (16K), as a tree.",
    ),
    _option("make_file", "--make-file", is_flag=True, help="Create the file to read; remove it at the end."),
    _option("link_bits_per_second", "--link", type=common.RateType(), default="auto", show_default=True,
        help="Link speed in bits per second, such as 1G.",
    ),
    _option("client", "--client", metavar="NAME", default=_USUAL.client, help="Client: sharebench, smbclient, curl, …"),
    _option("block_bytes", "--block", type=common.SizeType(), help="Size of one request."),
    _option("in_flight", "--in-flight", type=common.Count(1, 512), metavar="N", help="Number of requests sent ahead."),
    _option("sign", "--sign", is_flag=True, help="Sign, even if the server does not require it."),
    _option("encrypt", "--encrypt", is_flag=True, help="Encrypt, even if the server does not require it."),
    _option(
        "drop_cache", "--drop-cache", is_flag=True, help="Read from the disk, not from the page cache (file:// only).",
    ),
    _option("single_requests", "--single-requests", is_flag=True,
        help="Open, read and close small files over SMB in separate requests.",
    ),
    _option("profile", "--profile", is_flag=True,
        help="Read smbd's profile, to compare call by call; needs root on the server.",
    ),
    _option("verify", "--verify", is_flag=True, help="Check the content after the timed runs."),
    _option("label", "--label", default=_USUAL.label, metavar="TEXT", help="Short name of the recording."),
    _option("note", "--note", default=_USUAL.note, metavar="TEXT", help="Note to keep with the recording."),
    _option("question", "--question", default=_USUAL.question, metavar="TEXT",
        help="Question that it is meant to answer."),
    _option("experiment", "--experiment", metavar="NAME", help="Add the series to this experiment."),
    _option("change", "--change", callback=_change, metavar="NAME=VALUE",
        help="The one setting changed since the last step.",
    ),
    _option("quiet_time", "--quiet-time", type=click.Choice([each.value for each in QuietTime]),
        default=_USUAL.quiet_time.value, show_default=True,
        metavar="MODE", help="Other activity: record it, require quiet, or skip the check.",
    ),
    _option("wait_seconds", "--wait", type=common.Number(0), default=_USUAL.wait_seconds, metavar="SECONDS",
        help="Longest time to wait for a quiet time.",
    ),
    _option("server_ssh", "--server-ssh", callback=ssh_host, metavar="[USER@]HOST",
        help="Reach the server by ssh, as root if settings change.",
    ),
    _option("smb_conf", "--smb-conf", metavar="FILE", help="Path of smb.conf on the server."),
    _option("timeout_seconds", "--timeout", type=common.Number(0.1, 86400), default=f"{_USUAL.timeout_seconds:g}",
        show_default=True, metavar="SECONDS", help="Fail after this time without progress.",
    ),
    _option("ceiling", "--ceiling", type=click.Choice([each.value for each in CeilingPolicy]),
        default=_USUAL.ceiling.value, show_default=True,
        metavar="MODE", help="Client ceiling: record measures it once, renew again, skip never.",
    ),
)  # fmt: skip
_READ: dict[str, Callable[[Any], Any]] = {
    "command": Command,
    "quiet_time": QuietTime,
    "ceiling": CeilingPolicy,
}


def series_options(*names: str) -> Callable[[_F], _F]:
    """Adds the named options to a command, or all of them."""

    def give(function: _F) -> _F:
        for name, option in reversed(_OPTIONS):
            if not names or name in names:
                function = option(function)
        return function

    return give


def chosen(choices: Mapping[str, Any]) -> SeriesOptions:
    """A command's options for a series, with defaults for the missing ones."""
    known = {field.name for field in fields(SeriesOptions)} & choices.keys()
    found = {name: _READ.get(name, lambda value: value)(choices[name]) for name in known}
    name, value = choices.get("change") or (None, "")
    return SeriesOptions(**found, change_name=name, change_value=value)


def target_argument(*, required: bool = True) -> Callable[[_F], _F]:
    """Adds TARGET, and the defaults of the settings file."""
    return click.argument("target", required=required, is_eager=True, callback=_settle)


def targets_argument() -> Callable[[_F], _F]:
    """As :func:`target_argument` for several; the first one's server sets the defaults."""
    return click.argument("targets", nargs=-1, metavar="TARGET...", is_eager=True, callback=_settle_each)


def settled_url(text: str) -> tuple[str, Mapping[str, str]]:
    """The URL of ``@NAME[/PATH]`` and its server's defaults by field; other texts as they are."""
    if not text.startswith("@"):
        return text, {}
    name, slash, path = text[1:].partition("/")
    server = profile(name)
    return server.url(path if slash else None), options_of_server(server)


def options_of_server(server: ServerProfile) -> Mapping[str, str]:
    """A server's defaults by option field."""
    found = {"server_ssh": server.ssh, "smb_conf": server.smb_conf, "link_bits_per_second": server.link}
    return {field: value for field, value in found.items() if value}


def take_settings(context: click.Context, of_server: Mapping[str, str]) -> None:
    """Defaults of the settings file, the server's first. Raises ConfigError."""
    found = {**_defaults(config().defaults), **of_server}
    for parameter in context.command.params:
        value = found.get(parameter.name or "")
        if value is not None:
            try:
                parameter.type_cast_value(context, value)
            except (click.BadParameter, UsageError) as error:
                said = error.message.rstrip(".") if isinstance(error, click.BadParameter) else str(error)
                raise ConfigError(f"{config_file()}: {parameter.opts[0].removeprefix('--')}: {said}") from error
    context.default_map = found


def _settle(context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    url, of_server = settled_url(value) if value else (value, {})
    take_settings(context, of_server)
    return url


def _settle_each(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    settled = [settled_url(value) for value in values]
    take_settings(context, settled[0][1] if settled else {})
    return tuple(url for url, _ in settled)


def _defaults(found: Mapping[str, Any]) -> dict[str, Any]:
    """Raises ConfigError for a name that is no option of ``run``."""
    fields = {}
    for name, value in found.items():
        word = name.replace("_", "-")
        if word not in FIELD_OF_WORD:
            near = get_close_matches(word, FIELD_OF_WORD, n=1)
            advice = f"did you mean {near[0]}?" if near else "see `sharebench run --help`"
            raise ConfigError(f"{config_file()}: defaults.{name} is no option of run; {advice}")
        fields[FIELD_OF_WORD[word]] = value if isinstance(value, bool) else str(value)
    return fields
