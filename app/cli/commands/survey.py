"""``sharebench survey``: the whole picture of a server in one go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from app.cli import common
from app.cli.run_options import options_of_run
from app.cli.series_output import answer_report
from app.cli.turns_progress import watch_turns
from app.clients.base import Secrets
from app.errors import CancelledError, MeasurementError
from app.measure.control import SeriesControl
from app.workflows.survey import LogIn, SurveyChoices, SurveyRound, measure_round, plan_round, result
from storage.plan import CeilingPolicy, QuietTime, Settings
from storage.protocols import PROTOCOLS
from storage.records import Command, Target

if TYPE_CHECKING:
    from forms.experiments.survey import Survey

_F = TypeVar("_F", bound=Callable[..., Any])
_PORTS = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.in_survey)


def _port_options(function: _F) -> _F:
    for name in reversed(_PORTS):
        option = click.option(
            f"--{name}-port", type=common.Count(1, 65535), metavar="PORT", help="If not the usual one."
        )
        function = option(function)
    return function


@options_of_run("runs", "warmup", "link", "quiet_time", "wait", "server_ssh", "smb_conf", "timeout", "ceiling")
@click.command("survey", short_help="the whole picture of a server")
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@click.option("--smb", metavar="SHARE[/FOLDER]", help="The share to measure SMB on, and a folder that can be written.")
@click.option("--ftp", metavar="FOLDER", help="The folder to measure FTP in, such as / or /upload.")
@click.option("--file", metavar="NAME", help="A file in both to get, in place of one that is made.")
@click.option("--iperf3/--no-iperf3", default=True, help="Measure bare TCP where an iperf3 server answers (default).")
@click.option("--user", metavar="[DOMAIN;]USER", help="Who logs in; nobody: guest and anonymous.")
@click.option("--ftp-user", metavar="USER", help="Who logs in by FTP, if somebody else.")
@_port_options
@click.option("--only", type=click.Choice(["get", "put"]), help="One command instead of both.")
@click.option("--size", type=common.SizeType(), help="Size of the files (default: some seconds of the link's rate).")
@click.option("--again", is_flag=True, help="Begin anew, although the last survey of these hosts is not complete.")
@click.option("--json", "as_json", is_flag=True, help="The survey as a document.")
@common.login_options
@common.options_of_all
@click.pass_context
def survey_command(context: click.Context, /, **choices: Any) -> int:
    """Measures HOST from every side: FTP, SMB and bare TCP, get and put, and says what to look at first.

    On the server itself its loopback and its own address are measured; the series take turns, run by run, so that
    whatever drifts hits all alike. Files of our own are made and removed. An interrupted survey goes on where it was
    when the same command is given again, and repeats no finished series.
    """
    path = common.notebook_path(context)
    with common.notebook(context) as notebook:
        planned = plan_round(_choices(choices), notebook, _log_in(context, choices), again=choices["again"])
    _announce(planned)
    control = SeriesControl()
    names = [station.name for station in planned.stations]
    watch_turns(measure_round(planned, path, control), control, names)
    with common.notebook(context) as notebook:
        filled = result(planned, notebook)
    from forms.experiments.report import survey_report  # noqa: PLC0415  keeps `--help` light

    answer_report(survey_report(filled), as_json=choices["as_json"])
    return _outcome(filled, cancelled=control.cancelled.is_set())


def _choices(chosen: dict[str, Any]) -> SurveyChoices:
    domain, _, user = (chosen["user"] or "").rpartition(";")
    return SurveyChoices(
        hosts=chosen["hosts"],
        smb=chosen["smb"],
        ftp=chosen["ftp"],
        file=chosen["file"],
        iperf3=chosen["iperf3"],
        ports={protocol: port for protocol in _PORTS if (port := chosen[f"{protocol}_port"])},
        user=user or None,
        domain=domain or None,
        ftp_user=chosen["ftp_user"],
        commands=(Command(chosen["only"]),) if chosen["only"] else (Command.GET, Command.PUT),
        size_bytes=chosen["size"],
        runs=chosen["runs"],
        warmups=chosen["warmup"],
        link_bits_per_second=None if chosen["link"] == "auto" else chosen["link"],
        settings=Settings(timeout_seconds=chosen["timeout"]),
        quiet_time=QuietTime(chosen["quiet_time"]),
        wait_seconds=chosen["wait"],
        server_ssh=chosen["server_ssh"],
        smb_conf=Path(chosen["smb_conf"]) if chosen["smb_conf"] else None,
        ceiling=CeilingPolicy(chosen["ceiling"]),
    )


def _log_in(context: click.Context, chosen: dict[str, Any]) -> LogIn:
    """The log-in that asks for each user's password once, whatever the number of hosts."""
    known: dict[tuple[str, str | None], Secrets] = {}

    def log_in(target: Target) -> tuple[Target, Secrets]:
        who = (target.protocol, target.user)
        full, secrets = target, known.get(who)
        if secrets is None or target.user is None:
            full, secrets = common.secrets_for(context, target, kerberos=chosen["kerberos"])
            known[who] = secrets
        return full, secrets

    return log_in


def _announce(planned: SurveyRound) -> None:
    done = len(planned.stations) - len(planned.todo)
    if planned.continued:
        common.say(
            f"going on with {planned.experiment.name}: {len(planned.todo)} of {len(planned.stations)} series to do;"
            " --again begins anew"
        )
    else:
        left_out = f", {done} left out" if done else ""
        common.say(f"{planned.experiment.name}: {len(planned.todo)} series in turns{left_out}")


def _outcome(filled: Survey, *, cancelled: bool) -> int:
    from forms.experiments.survey import StationState  # noqa: PLC0415

    if cancelled:
        raise CancelledError("the survey was interrupted; the same command again goes on where it was")
    failed = [station for station in filled.stations if station.state not in {StationState.DONE, StationState.LEFT_OUT}]
    if failed:
        raise MeasurementError(
            f"{len(failed)} of {len(filled.stations)} series of the survey failed, {failed[0].name} first:"
            f" {failed[0].why}; the same command again repeats only these"
        )
    return 0
