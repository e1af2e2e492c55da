"""Options of ``sharebench run``, shared by other measuring commands, and TARGET: a URL or ``@NAME[/PATH]``."""

import functools
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

import click

from app.base.config import ConfigError, ServerProfile, config, profile
from app.base.errors import UsageError
from app.base.ssh_address import check_ssh_host
from app.base.targets import by_name
from app.base.user_files import config_file
from app.cli import common
from app.recording.spec import SeriesSpec, with_values
from app.series.requests import parse_change
from forms.layout import visible
from storage.errors import did_you_mean
from storage.plan import MOST_FILES, MOST_RUNS, MOST_WARMUPS, CeilingPolicy, QuietTime
from storage.records import Command

_F = TypeVar("_F", bound=Callable[..., Any])
_USUAL = SeriesSpec()
FIELD_OF_WORD: dict[str, str] = {}
"""Field by option name without dashes; ``--get`` and ``--put`` have no defaults."""


def _change(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, str] | None:
    return None if value is None else parse_change(value)


def ssh_host(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Checks an option that names a host for ssh. Raises UsageError."""
    if value:
        check_ssh_host(value)
    return value


def _option(
    name: str, word: str, metavar: str | None, text: str, kind: Any = None, **more: Any
) -> tuple[str, Callable[[_F], _F]]:
    """The field's name and its option; without ``metavar`` a flag."""
    if "flag_value" not in more:
        FIELD_OF_WORD[word.removeprefix("--")] = name
    if metavar is None:
        return name, click.option(word, name, help=text, **{"is_flag": True, **more})
    return name, common.option(word, metavar, text, kind, name=name, **more)


def _choice(kind: Iterable[StrEnum]) -> click.Choice[str]:
    return click.Choice([word.value for word in kind])


_OPTIONS = (
    _option("command", "--get", None, "Read from the server (default).", flag_value="get", default="get"),
    _option("command", "--put", None, "Write to the server; TARGET is a folder.", flag_value="put"),
    _option("runs", "--runs", "N", "Number of measured runs.", common.Count(1, MOST_RUNS), default=_USUAL.counts.runs),
    _option(
        "warmups",
        "--warmup",
        "N",
        "Number of warm-up runs before them.",
        common.Count(0, MOST_WARMUPS),
        default=_USUAL.counts.warmups,
    ),
    _option(
        "until_percent",
        "--until",
        "PERCENT",
        "Repeat until the mean is known to ± PERCENT.",
        common.Number(0, 100, min_open=True),
    ),
    _option(
        "max_runs",
        "--max-runs",
        "N",
        "Largest number of runs for --until.",
        common.Count(1, MOST_RUNS),
        default=_USUAL.counts.max_runs,
    ),
    _option("size_bytes", "--size", "SIZE", "Size of the file to create (64M with --put).", common.size),
    _option("files", "--files", "N", "Number of files of that size (16K), as a tree.", common.Count(1, MOST_FILES)),
    _option("make_file", "--make-file", None, "Create the file to read; remove it at the end."),
    _option(
        "link_bits_per_second",
        "--link",
        "RATE",
        "Link speed in bits per second, such as 1G.",
        common.rate,
        default="auto",
    ),
    _option("client", "--client", "NAME", "Client: sharebench, smbclient, curl, …", default=_USUAL.client),
    _option("block_bytes", "--block", "SIZE", "Size of one request.", common.size),
    _option("in_flight", "--in-flight", "N", "Number of requests sent ahead.", common.Count(1, 512)),
    _option("sign", "--sign", None, "Sign, even if the server does not require it."),
    _option("encrypt", "--encrypt", None, "Encrypt, even if the server does not require it."),
    _option("drop_cache", "--drop-cache", None, "Read from the disk, not from the page cache (file:// only)."),
    _option(
        "flush",
        "--flush",
        None,
        "Time a put until its file was flushed, not until its last write was answered (smb, file).",
    ),
    _option(
        "single_requests", "--single-requests", None, "Open, read and close small files over SMB in separate requests."
    ),
    _option("profile", "--profile", None, "Read smbd's profile, to compare call by call; needs root on the server."),
    _option("verify", "--verify", None, "Check the content after the timed runs."),
    _option("label", "--label", "TEXT", "Short name of the recording.", default=_USUAL.texts.label),
    _option("note", "--note", "TEXT", "Note to keep with the recording.", default=_USUAL.texts.note),
    _option(
        "question", "--question", "TEXT", "Question that the recording should answer.", default=_USUAL.texts.question
    ),
    _option("experiment", "--experiment", "NAME", "Add the series to this experiment."),
    _option("change", "--change", "NAME=VALUE", "The one setting changed since the last step.", callback=_change),
    _option(
        "quiet_time",
        "--quiet-time",
        "MODE",
        "Other activity: record it, require quiet, or skip the check.",
        _choice(QuietTime),
        default=_USUAL.monitor.quiet_time.value,
    ),
    _option(
        "wait_seconds",
        "--wait",
        "SECONDS",
        "Longest time to wait for a quiet time (0).",
        common.Number(0),
        default=_USUAL.wait_seconds,
        show_default=False,
    ),
    _option(
        "server_ssh",
        "--server-ssh",
        "[USER@]HOST",
        "Log in to the server by ssh, as root to change settings.",
        callback=ssh_host,
    ),
    _option("smb_conf", "--smb-conf", "FILE", "Path of smb.conf on the server."),
    _option(
        "timeout_seconds",
        "--timeout",
        "SECONDS",
        "Fail after this time without progress.",
        common.Number(0.1, 86400),
        default=f"{_USUAL.settings.timeout_seconds:g}",
    ),
    _option(
        "ceiling",
        "--ceiling",
        "MODE",
        "Client ceiling: record measures it once, renew again; skip leaves it out.",
        _choice(CeilingPolicy),
        default=_USUAL.monitor.ceiling.value,
    ),
)

_READ: dict[str, Callable[[Any], Any]] = {"command": Command, "quiet_time": QuietTime, "ceiling": CeilingPolicy}
"""What makes a record's value of the word that was typed, where click does not."""

OF_THE_SERVER = ("server_ssh", "smb_conf", "timeout_seconds")


def series_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds these options of ``run``, or all of them; the command gets them as one argument, ``spec``."""
    options = [(name, option) for name, option in _OPTIONS if not names or name in names]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def command_with_spec(*arguments: Any, **choices: Any) -> Any:
            asked = {name: choices.pop(name) for name in dict(options)}
            return command(*arguments, spec=spec_from_options(asked), **choices)

        return common.several(*(option for _, option in options))(command_with_spec)

    return decorate


def spec_from_options(choices: Mapping[str, Any]) -> SeriesSpec:
    """What these options ask for, by the names of their parameters. Raises TypeError for what is no option of run."""
    values = {name: _READ[name](value) if name in _READ else value for name, value in choices.items()}
    if change := values.pop("change", None):
        values["change_name"], values["change_value"] = change
    return with_values(_USUAL, values)


def spec_from_parameters(parameters: Mapping[str, Any]) -> SeriesSpec:
    """What the options of ``run`` among the parameters of a command ask for."""
    names = {name for name, _ in _OPTIONS} & parameters.keys()
    return spec_from_options({name: parameters[name] for name in names})


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
    return by_name(text), options_of_server(profile(text[1:].partition("/")[0]))


def options_of_server(server: ServerProfile) -> Mapping[str, str]:
    options = {"server_ssh": server.ssh, "smb_conf": server.smb_conf, "link_bits_per_second": server.link}
    return {field: value for field, value in options.items() if value}


def take_settings(context: click.Context, of_server: Mapping[str, str]) -> None:
    """Defaults of the settings file, the server's first. Raises ConfigError."""
    defaults = {**_defaults(config().defaults), **of_server}
    for parameter in context.command.params:
        value = defaults.get(parameter.name or "")
        if value is None:
            continue
        try:
            parameter.type_cast_value(context, value)
        except (click.BadParameter, UsageError) as error:
            why = error.message.rstrip(".") if isinstance(error, click.BadParameter) else str(error)
            place = f"{config_file()}: {parameter.opts[0].removeprefix('--')}"
            raise ConfigError(f"{place}: {_without_value(why, str(value))}") from error
    context.default_map = defaults


def _without_value(text: str, value: str) -> str:
    """The value may be a password in the wrong place."""
    for written in (value, repr(value)[1:-1], visible(value)):
        if written:
            text = text.replace(written, "…")
    return text


def _settle(context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    url, of_server = settled_url(value) if value else (value, {})
    take_settings(context, of_server)
    return url


def _settle_each(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    settled = [settled_url(value) for value in values]
    take_settings(context, settled[0][1] if settled else {})
    return tuple(url for url, _ in settled)


def _defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the settings file by field. Raises ConfigError for a name that is no option of run."""
    defaults: dict[str, Any] = {}
    for name, value in settings.items():
        word = name.replace("_", "-")
        if word not in FIELD_OF_WORD:
            advice = did_you_mean(word, FIELD_OF_WORD).rstrip() or "see `sharebench run --help`"
            raise ConfigError(f"{config_file()}: defaults.{name} is no option of run; {advice}")
        # As it would be typed, so that it is read and refused like that.
        defaults[FIELD_OF_WORD[word]] = value if isinstance(value, bool) else str(value)
    return defaults
