"""``sharebench survey``: measure everything on one server."""

import posixpath
from dataclasses import replace
from typing import Any

import click

from app.base.config import profile
from app.base.errors import CancelledError, MeasurementError
from app.base.targets import parse_target
from app.cli import console, declare, logins, notebooks, option_values
from app.cli.progress import watch_turns
from app.cli.run_options import OF_THE_SERVER, options_of_server, series_options, take_settings
from app.clients.base import Secrets
from app.clients.logins import same_login
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from app.survey.record import LogIn, SurveyChoices, measure_round, plan_round, result
from forms.experiments.survey import StationState
from forms.experiments.survey_report import survey_report
from storage.protocols import PROTOCOLS
from storage.records import Command, Target

_PORTS = {
    protocol.name: protocol.label if protocol.moves_files else protocol.name
    for protocol in PROTOCOLS.values()
    if protocol.in_survey
}
"""By protocol of a survey, how the help of its option spells it."""


_port_options = declare.several(
    *(
        declare.option(f"--{name}-port", "PORT", f"Port of {spelled} on the server.", declare.Count(1, 65535))
        for name, spelled in _PORTS.items()
    )
)


def _settle(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    servers = {value: profile(value[1:]) for value in values if value.startswith("@")}
    places = {value: parse_target(server.url()) for value, server in servers.items()}

    options: dict[str, str] = {}
    if servers:
        first = next(iter(servers))
        options = {**options_of_server(servers[first]), **_paths(places[first])}
    take_settings(context, options)
    return tuple(places[value].host if value in places else value for value in values)


def _paths(place: Target) -> dict[str, str]:
    options = {f"{place.protocol}_port": str(place.port or ""), "user": place.user or ""}
    if place.user and place.domain:
        options["user"] = f"{place.domain};{place.user}"
    if place.abilities.in_survey:
        options[place.protocol] = posixpath.join(place.share or "", posixpath.dirname(place.path))
    return {field: value for field, value in options.items() if value}


@declare.command("survey")
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...", is_eager=True, callback=_settle)
@declare.option("--smb", "SHARE[/FOLDER]", "Share to measure over SMB, with a folder that can be written.")
@declare.option("--ftp", "FOLDER", "Folder to measure over FTP, such as / or /upload.")
@declare.option("--file", "NAME", "File to read from both, instead of a new one.")
@click.option("--iperf3/--no-iperf3", default=True, help="Measure bare TCP if an iperf3 server answers (default).")
@declare.option("--user", "[DOMAIN;]USER", "User to log in as; without it guest and anonymous.")
@declare.option("--ftp-user", "USER", "User to log in as over FTP, if different.")
@_port_options
@click.option("--only", type=click.Choice(["get", "put"]), help="Only read, or only write.")
@click.option(
    "--size",
    "size_bytes",
    metavar="SIZE",
    type=option_values.parse_size,
    help="Size of the files (default: a few seconds of the link speed).",
)
@declare.whole_time_option
@click.option("--again", is_flag=True, help="Start again, even if the last survey of these hosts is incomplete.")
@declare.measuring_options("Print the survey as JSON.")
@series_options(
    "runs", "warmups", "link_bits_per_second", "quiet_time", "wait_seconds", "ceiling", "question", *OF_THE_SERVER
)
def survey_command(context: click.Context, /, spec: SeriesSpec, **choices: Any) -> int:
    """Measure everything on one server: SMB, FTP and bare TCP, read and write; then say what to look at first.

    @NAME, a server in the settings file, gives address, share or folder, and user.

    The series are interleaved run by run, so that drift affects all of them equally. On the server itself the loopback
    and its own address are measured. New files are removed at the end. The same command resumes an interrupted survey.
    """
    notebooks.check_can_store(context)
    path = notebooks.notebook_path(context)
    with notebooks.open_notebook(context, make=True) as notebook:
        planned = plan_round(_choices(spec, choices), notebook, _log_in(context, choices), again=choices["again"])
    name = planned.experiment.name
    stations = len(planned.stations)
    to_do = len(planned.todo)
    takes = planned.time_text
    if planned.continued:
        console.say(f"resuming {name}: {to_do} of {stations} series to do, {takes}; --again begins a new one")
    else:
        left_out = f", {stations - to_do} left out" if stations > to_do else ""
        console.say(f"{name}: {to_do} interleaved series{left_out}, {takes}")

    control = SeriesControl(option_values.seconds_within(choices))
    names = [station.name for station in planned.stations]
    watch_turns(measure_round(planned, path, control), control, names, planned.runs_to_come)
    with notebooks.open_notebook(context) as notebook:
        filled = result(planned, notebook)

    console.answer_report(survey_report(filled), as_json=choices["as_json"])
    if control.cancelled.is_set():
        raise CancelledError(f"{control.why_cancelled}; the same command resumes the survey")
    failed = [station for station in filled.stations if station.state not in {StationState.DONE, StationState.LEFT_OUT}]
    if failed:
        raise MeasurementError(
            f"{len(failed)} of {stations} series of the survey failed, {failed[0].name} first: {failed[0].why}; the"
            " same command again repeats only these"
        )
    return 0


def _choices(spec: SeriesSpec, choices: dict[str, Any]) -> SurveyChoices:
    commands = (Command(choices["only"]),) if choices["only"] else (Command.GET, Command.PUT)
    ports = {protocol: port for protocol in _PORTS if (port := choices[f"{protocol}_port"])}
    domain, _, user = (choices["user"] or "").rpartition(";")

    return SurveyChoices(
        hosts=choices["hosts"],
        smb=choices["smb"],
        ftp=choices["ftp"],
        file=choices["file"],
        iperf3=choices["iperf3"],
        ftp_user=choices["ftp_user"],
        ports=ports,
        user=user or None,
        domain=domain or None,
        commands=commands,
        spec=replace(spec, counts=replace(spec.counts, size_bytes=choices["size_bytes"])),
    )


def _log_in(context: click.Context, choices: dict[str, Any]) -> LogIn:
    logins_so_far: list[tuple[Target, Secrets]] = []

    def log_in(target: Target) -> tuple[Target, Secrets]:
        for before, secrets in logins_so_far:
            if target.user is not None and same_login(before, target):
                return target, secrets

        full, secrets = logins.secrets_for(context, target, kerberos=choices["kerberos"])
        logins_so_far.append((target, secrets))
        return full, secrets

    return log_in
