"""The options that ``try``, ``sweep`` and ``tune`` share, and the trial that they describe."""

import os
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli import declare, logins
from app.cli.run_options import series_options
from app.clients.base import Secrets
from app.load import scenario as load_scenarios
from app.recording.spec import SeriesRequest, SeriesSpec
from app.series.requests import series_request
from app.server.changes.setting import Ways
from app.trial import prepare as trial_prepare
from storage.changes import LoadWindow
from storage.load import records as load_records
from storage.records import Command

_OPTIONS_OF_A_SERIES = (
    "command",
    "size_bytes",
    "make_file",
    "link_bits_per_second",
    "client",
    "block_bytes",
    "in_flight",
    "random",
    "read_percent",
    "random_seconds",
    "sign",
    "encrypt",
    "flush",
    "server_ssh",
    "smb_conf",
    "timeout_seconds",
    "ceiling",
    "note",
    "question",
)
"""The options of ``run`` that a trial has too."""
LOAD_SETTLE_SECONDS = 1.0
"""How long the users of a load work before their window is measured."""

restart_option = click.option(
    "--allow-restart", is_flag=True, help="Restart smbd if the setting needs it; ends all sessions."
)
shared_options = declare.several(
    click.option("--yes", is_flag=True, help="Answer the question with yes, for scripts."),
    declare.option(
        "--accept-risk", "NAME", "Try the setting NAME although it has a risk.", name="accepted", multiple=True
    ),
    declare.option(
        "--load",
        "USERS",
        "Measure the requests per second of this number of users; TARGET is a folder.",
        declare.Count(1, load_records.MOST_USERS),
        name="users",
    ),
    declare.option("--scenario", "NAME|FILE", "Work of the users of --load.", default="small"),
    declare.option(
        "--files", "N", "Number of files that the users of --load work on.", declare.Count(1, load_records.MOST_FILES)
    ),
    declare.option(
        "--window",
        "SECONDS",
        "Length of the measured window of --load.",
        declare.Number(1, 3600),
        name="window_seconds",
        default=5,
    ),
    declare.within_option("Longest time; what is undecided then can be resumed."),
    declare.measuring_options("Print the result as JSON."),
    series_options(*_OPTIONS_OF_A_SERIES),
)


def prepared_trial(
    context: click.Context, name: str, values: tuple[str, ...], url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> trial_prepare.Prepared:
    """The checked trial or sweep that the options describe. Raises SharebenchError.

    What the options contradict, and a value that the server refuses, is told before a password is asked for.
    """
    request, load = _request_before_login(context, url, spec, choices)
    ways = Ways(
        ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        accepted=choices["accepted"],
        apply=choices.get("apply"),
        revert=choices.get("revert"),
        restart=choices["allow_restart"],
    )

    setting = trial_prepare.find_values(name, values, request.target, ways)

    keeps_size = bool(spec.counts.size_bytes) or spec.counts.make_file
    return trial_prepare.prepare(_logged_in(context, request, choices), setting, ways, keeps_size=keeps_size, load=load)


def request_of(
    context: click.Context, url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> tuple[SeriesRequest, LoadWindow | None]:
    """What one observation of the trial measures: a run of the series, or the window of a load. Raises UsageError."""
    request, load = _request_before_login(context, url, spec, choices)
    return _logged_in(context, request, choices), load


def _request_before_login(
    context: click.Context, url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> tuple[SeriesRequest, LoadWindow | None]:
    """The same, checked as far as it can be without a login."""
    users = choices["users"]
    if users is None:
        _refuse_options_of_a_load(context)
    else:
        if spec.settings.flush:
            raise UsageError("the users of --load flush nothing: --flush belongs to a put of one file")
        # The target of a put is a folder, as that of a load.
        spec = replace(spec, command=Command.PUT)

    one_run = replace(spec.counts, runs=1, warmups=1)
    request = series_request(replace(spec, counts=one_run), parse_target(url), Secrets())
    return request, None if users is None else _load_window(users, choices)


def _logged_in(context: click.Context, request: SeriesRequest, choices: dict[str, Any]) -> SeriesRequest:
    target, secrets = logins.secrets_for(context, request.target, kerberos=choices["kerberos"])
    return replace(request, target=target, secrets=secrets)


def _refuse_options_of_a_load(context: click.Context) -> None:
    """Raises UsageError for an option that means nothing without --load."""
    for name, word in (("scenario", "--scenario"), ("files", "--files"), ("window_seconds", "--window")):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"{word} belongs to a load: name its users too, --load USERS")


def _load_window(users: int, choices: dict[str, Any]) -> LoadWindow:
    """Raises UsageError for a scenario whose users move no data."""
    scenario = load_scenarios.find_scenario(choices["scenario"])
    if not any(kind.reads or kind.writes for kind in scenario.requests):
        raise UsageError(f"the users of {scenario.name} neither read nor write, so there is nothing to compare")

    scenario = load_scenarios.change_scenario(
        scenario,
        files=choices["files"],
        duration_seconds=choices["window_seconds"],
        settle_seconds=LOAD_SETTLE_SECONDS,
    )
    return LoadWindow(users=users, processes=len(os.sched_getaffinity(0)), scenario=scenario)


def parsed_setting(text: str, *, several: bool = False) -> tuple[str, tuple[str, ...]]:
    """Name and values of ``NAME``, ``NAME=VALUE`` or ``NAME=V1,V2``. Raises UsageError."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if "://" in name:
        # Its errors come first, such as that of a password.
        parse_target(text)
        form = "NAME=V1,V2" if several else "NAME=VALUE"
        raise UsageError(f"the setting comes first, then the target: {form} TARGET")
    if not name:
        raise UsageError(f"not a setting: {text!r}; write NAME=VALUE, such as 'strict sync=no'")

    values = tuple(word.strip() for word in value.split(",")) if several else (value,)
    if len(set(values)) < len(values):
        raise UsageError(f"{text!r} names a value twice")
    return name, values if equals else ()
