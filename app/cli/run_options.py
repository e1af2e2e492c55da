"""The options of ``sharebench run``, which other measuring commands share, and the spec that they make."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import click

from app.base.errors import UsageError
from app.base.ssh_address import FROM_OPTION, check_ssh_host
from app.cli import console, declare, option_values
from app.recording import spec as series_spec
from app.series.requests import parse_change
from forms.wording import typed_size
from storage import plan
from storage.records import Command

_USUAL = series_spec.SeriesSpec()

FIELD_OF_WORD: dict[str, str] = {}
"""Field by option name without dashes; ``--get`` and ``--put`` have no defaults."""

_NamedOption = tuple[str, Callable[[Any], Any]]
"""The name of a field, and the option that fills it."""


def _parse_change(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, str] | None:
    return None if value is None else parse_change(value)


def ssh_host(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Checks an option that names a host for ssh. Raises UsageError."""
    if value:
        check_ssh_host(value)
    return value


def _option(name: str, word: str, metavar: str, text: str, kind: Any = None, **attributes: Any) -> _NamedOption:
    FIELD_OF_WORD[word.removeprefix("--")] = name
    return name, declare.option(word, metavar, text, kind, name=name, **attributes)


def _flag(name: str, word: str, text: str) -> _NamedOption:
    FIELD_OF_WORD[word.removeprefix("--")] = name
    return name, click.option(word, name, is_flag=True, help=text)


def _hook(name: str, word: str, text: str) -> _NamedOption:
    """An option that is only ever typed: it is no word of ``FIELD_OF_WORD``, which config.toml may set."""
    return name, declare.option(word, "COMMAND", text, name=name, default="", show_default=False)


def _choice(kind: Iterable[StrEnum]) -> click.Choice[str]:
    return click.Choice([word.value for word in kind])


def _imitated(word: str | None) -> plan.Imitated | None:
    return plan.Imitated(word) if word else None


_RANDOM_HELP = (
    f"Time requests of --block ({typed_size(plan.DEFAULT_RANDOM_BLOCK_BYTES)}) at random places of one file,"
    f" --in-flight ({plan.DEFAULT_RANDOM_IN_FLIGHT}) at once (smb, file)."
)

_OPTIONS: tuple[_NamedOption, ...] = (
    (
        "command",
        click.option(
            "--get", "command", is_flag=True, flag_value="get", default="get", help="Read from the server (default)."
        ),
    ),
    (
        "command",
        click.option(
            "--put", "command", is_flag=True, flag_value="put", help="Write to the server; TARGET is a folder."
        ),
    ),
    _option(
        "runs", "--runs", "N", "Number of measured runs.", declare.Count(1, plan.MOST_RUNS), default=_USUAL.counts.runs
    ),
    _option(
        "warmups",
        "--warmup",
        "N",
        "Number of warm-up runs before them.",
        declare.Count(0, plan.MOST_WARMUPS),
        default=_USUAL.counts.warmups,
    ),
    _option(
        "until_percent",
        "--until",
        "PERCENT",
        "Repeat until the mean is known to ± PERCENT.",
        declare.Number(0, 100, min_open=True),
    ),
    _option(
        "max_runs",
        "--max-runs",
        "N",
        "Largest number of runs for --until.",
        declare.Count(1, plan.MOST_RUNS),
        default=_USUAL.counts.max_runs,
    ),
    _option(
        "size_bytes",
        "--size",
        "SIZE",
        f"Size of the file to create ({typed_size(plan.DEFAULT_SIZE_BYTES)} with --put).",
        option_values.parse_size,
    ),
    _option(
        "files",
        "--files",
        "N",
        f"Number of files of that size ({typed_size(plan.DEFAULT_TREE_FILE_BYTES)}), as a tree.",
        declare.Count(1, plan.MOST_FILES),
    ),
    _flag("make_file", "--make-file", "Create the file to read; remove it at the end."),
    _option(
        "link_bits_per_second",
        "--link",
        "RATE",
        "Link speed in bits per second, such as 1G.",
        option_values.parse_rate,
        default="auto",
    ),
    _option("client", "--client", "NAME", "Client: sharebench, smbclient, curl, …", default=_USUAL.client),
    _option("block_bytes", "--block", "SIZE", "Size of one request.", option_values.parse_size),
    _option("in_flight", "--in-flight", "N", "Number of requests sent ahead.", declare.Count(1, plan.MOST_IN_FLIGHT)),
    _flag("random", "--random", _RANDOM_HELP),
    _option(
        "read_percent",
        "--mix",
        "READS",
        "With --random: this percentage of reads, the rest writes; TARGET is a folder.",
        declare.Count(1, 99),
    ),
    _option(
        "random_seconds",
        "--seconds",
        "N",
        f"Length of a run with --random ({plan.DEFAULT_RANDOM_SECONDS:g}).",
        declare.Number(0, plan.MOST_RANDOM_SECONDS, min_open=True),
    ),
    _flag("sign", "--sign", "Sign, even if the server does not require it."),
    _flag("encrypt", "--encrypt", "Encrypt, even if the server does not require it."),
    _option(
        "like",
        "--like",
        "CLIENT",
        "Speak SMB as this client: its signing, dialects and requests.",
        _choice(plan.Imitated),
    ),
    _flag("drop_cache", "--drop-cache", "Read from the disk, not from the page cache (file:// only)."),
    _flag(
        "flush",
        "--flush",
        "Time a put until its file was flushed, not until its last write was answered (smb, file).",
    ),
    _flag("single_requests", "--single-requests", "Open, read and close small files over SMB in separate requests."),
    _flag("profile", "--profile", "Read smbd's profile, to compare call by call; needs root on the server."),
    _flag("verify", "--verify", "Check the content after the timed runs."),
    _hook("prepare", series_spec.PREPARE, "Run COMMAND before each run, untimed, on the machine that measures."),
    _hook("conclude", series_spec.CONCLUDE, "Run COMMAND after each run, untimed, on the machine that measures."),
    _hook("server_prepare", series_spec.SERVER_PREPARE, "Run COMMAND on the server before each run, untimed."),
    _option("label", "--label", "TEXT", "Short name of the recording.", default=_USUAL.texts.label),
    _option("note", "--note", "TEXT", "Note to keep with the recording.", default=_USUAL.texts.note),
    _option(
        "question", "--question", "TEXT", "Question that the recording should answer.", default=_USUAL.texts.question
    ),
    _option("experiment", "--experiment", "NAME", "Add the series to this experiment."),
    _option("change", "--change", "NAME=VALUE", "The one setting changed since the last step.", callback=_parse_change),
    _option(
        "quiet_time",
        "--quiet-time",
        "MODE",
        "Other activity: record it, require quiet, or skip the check.",
        _choice(plan.QuietTime),
        default=_USUAL.monitor.quiet_time.value,
    ),
    _option(
        "wait_seconds",
        "--wait",
        "SECONDS",
        "Longest time to wait for a quiet time (0).",
        declare.Number(0),
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
        declare.Number(0.1, plan.MOST_SECONDS),
        default=f"{_USUAL.settings.timeout_seconds:g}",
    ),
    _option(
        "ceiling",
        "--ceiling",
        "MODE",
        "Client ceiling: record measures it once, renew again; skip leaves it out.",
        _choice(plan.CeilingPolicy),
        default=_USUAL.monitor.ceiling.value,
    ),
)

_READERS: dict[str, Callable[[Any], Any]] = {
    "command": Command,
    "quiet_time": plan.QuietTime,
    "ceiling": plan.CeilingPolicy,
    "like": _imitated,
}
"""What makes a record's value of the word that was typed, where click does not."""


def _measuring_hosts(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Checks each host of ``--from``; one that is named twice counts once, and that is said. Raises UsageError."""
    for value in values:
        check_ssh_host(value, FROM_OPTION)

    hosts = tuple(dict.fromkeys(values))
    repeated_hosts = [host for host in hosts if values.count(host) > 1]
    if repeated_hosts:
        console.say(f"sharebench: named more than once, taken once: {', '.join(repeated_hosts)}")
    return hosts


def from_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--from``, which may be repeated; the command gets the hosts as ``from_hosts``."""
    return declare.option(FROM_OPTION, "[USER@]HOST", text, name="from_hosts", multiple=True, callback=_measuring_hosts)


def only_host(hosts: Sequence[str]) -> str | None:
    """The one machine that ``--from`` names, or None. Raises UsageError for several."""
    if len(hosts) > 1:
        raise UsageError(
            "one machine measures here: name one, and measure from the next one after it", options=FROM_OPTION
        )
    return hosts[0] if hosts else None


def label_from(host: str, label: str) -> str:
    """The label of what one of several machines measures."""
    return f"{label} {host}".strip()


def specs_from(spec: series_spec.SeriesSpec, hosts: Sequence[str]) -> list[series_spec.SeriesSpec]:
    """The spec for each machine that ``--from`` names, or as it is."""
    if not hosts:
        return [spec]
    return [replace(spec, monitor=replace(spec.monitor, from_host=host)) for host in hosts]


OF_THE_SERVER = ("server_ssh", "smb_conf", "timeout_seconds")


def series_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds these options of ``run``, or all of them; the command gets them as one argument, ``spec``."""
    named_options = [(name, option) for name, option in _OPTIONS if not names or name in names]
    fields = list(dict.fromkeys(name for name, _ in named_options))
    decorate_with_options = declare.several(*(option for _, option in named_options))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def command_with_spec(*arguments: Any, **choices: Any) -> Any:
            choices_of_series = {name: choices.pop(name) for name in fields}
            return command(*arguments, spec=spec_from_options(choices_of_series), **choices)

        return decorate_with_options(command_with_spec)

    return decorate


def spec_from_options(choices: Mapping[str, Any]) -> series_spec.SeriesSpec:
    """What these options ask for, by the names of their parameters. Raises TypeError for what is no option of run."""
    values: dict[str, Any] = {}
    for name, choice in choices.items():
        read = _READERS.get(name)
        values[name] = read(choice) if read else choice

    if change := values.pop("change", None):
        change_name, change_value = change
        values["change_name"] = change_name
        values["change_value"] = change_value
    if values.get("read_percent") is not None:
        values["command"] = Command.PUT  # a mix writes, so that its file is made for it
    return series_spec.with_values(_USUAL, values)


def spec_from_parameters(parameters: Mapping[str, Any]) -> series_spec.SeriesSpec:
    """What the options of ``run`` among the parameters of a command ask for."""
    names = {name for name, _ in _OPTIONS} & parameters.keys()
    return spec_from_options({name: parameters[name] for name in names})
