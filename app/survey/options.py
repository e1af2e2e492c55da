"""What the options of ``sharebench survey`` say: hosts and their settings, what to measure, and how to log in."""

import posixpath
from dataclasses import replace
from typing import Any

import click

from app.base.config import profile
from app.base.targets import parse_target, typed_user
from app.cli import declare, logins
from app.cli.targets import options_of_server, take_settings
from app.clients.base import Secrets
from app.clients.logins import same_login
from app.recording.spec import SeriesSpec
from app.survey.choices import SurveyChoices
from app.survey.stations import LogIn
from storage.protocols import PROTOCOLS
from storage.records import Command, Target

_PORTS = {
    protocol.name: protocol.label if protocol.moves_files else protocol.name
    for protocol in PROTOCOLS.values()
    if protocol.in_survey
}
"""By protocol of a survey, how the help of its option spells it."""

port_options = declare.several(
    *(
        declare.option(f"--{name}-port", "PORT", f"Port of {spelled} on the server.", declare.Count(1, 65535))
        for name, spelled in _PORTS.items()
    )
)


def take_settings_of_hosts(
    context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """The hosts, with the address in place of each ``@NAME``; the first of these also decides options not given."""
    servers = {value: profile(value[1:]) for value in values if value.startswith("@")}
    places = {value: parse_target(server.url()) for value, server in servers.items()}

    options: dict[str, str] = {}
    if servers:
        first = next(iter(servers))
        options = {**options_of_server(servers[first]), **_options_of_place(places[first])}
    take_settings(context, options)
    return tuple(places[value].host if value in places else value for value in values)


def _options_of_place(place: Target) -> dict[str, str]:
    """Port, user, and share or folder of a server in the settings file, by the name of the option."""
    options = {f"{place.protocol}_port": str(place.port or ""), "user": place.user or ""}
    if place.user and place.domain:
        options["user"] = f"{place.domain};{place.user}"
    if place.abilities.in_survey:
        options[place.protocol] = posixpath.join(place.share or "", posixpath.dirname(place.path))
    return {field: value for field, value in options.items() if value}


def survey_choices(spec: SeriesSpec, choices: dict[str, Any]) -> SurveyChoices:
    """What the options ask for."""
    commands = (Command(choices["only"]),) if choices["only"] else (Command.GET, Command.PUT)
    ports = {protocol: port for protocol in _PORTS if (port := choices[f"{protocol}_port"])}
    domain, user = typed_user(choices["user"] or "")

    return SurveyChoices(
        hosts=choices["hosts"],
        smb=choices["smb"],
        ftp=choices["ftp"],
        file=choices["file"],
        iperf3=choices["iperf3"],
        ftp_user=choices["ftp_user"],
        ports=ports,
        user=user,
        domain=domain,
        commands=commands,
        spec=replace(spec, counts=replace(spec.counts, size_bytes=choices["size_bytes"])),
    )


def log_in_once(context: click.Context, choices: dict[str, Any]) -> LogIn:
    """Returns what logs in to a target; the password of a user is asked for once for all targets of the same login."""
    logins_so_far: list[tuple[Target, Secrets]] = []

    def log_in(target: Target) -> tuple[Target, Secrets]:
        for before, secrets in logins_so_far:
            if target.user is not None and same_login(before, target):
                return target, secrets

        target_with_user, secrets = logins.secrets_for(context, target, kerberos=choices["kerberos"])
        # Noted as it was asked for: so is the next target of the same login.
        logins_so_far.append((target, secrets))
        return target_with_user, secrets

    return log_in
