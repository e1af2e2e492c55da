"""``sharebench survey``, ``audit``, ``diagnose`` and ``isolate``: what a server is like, and what limits it."""

import posixpath
import shlex
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.cli import common
from app.cli.commands.trial import try_command
from app.cli.progress import StatusLine, watch_to_end, watch_turns
from app.cli.run_options import OF_THE_SERVER, chosen, options_of_server, series_options, take_settings, target_argument
from app.clients.base import Secrets
from app.config import profile
from app.errors import CancelledError, LoginError, MeasurementError, UsageError
from app.isolation import places, rounds
from app.isolation.script import load_script, operations_named
from app.logins import same_login
from app.measure.process import SeriesControl, Warned
from app.subjects.audit import AuditRequest, AuditResult, audit_file, audit_server
from app.subjects.diagnosis import run as diagnosing
from app.targets import parse_target
from app.workflows.compare import audit_form
from app.workflows.restore import record_isolation
from app.workflows.survey import LogIn, SurveyChoices, measure_round, plan_round, result
from forms.audit.report import audit_document, proposed_diff, remedies
from forms.diagnosis.report import STAGE_NAMES, diagnosis_report
from forms.experiments.report import survey_report
from forms.experiments.summary import StationState
from forms.isolation.report import isolation_report
from forms.series.summary import duration
from forms.wording import byte_rate, count
from storage.isolations import Isolation
from storage.json_reader import named
from storage.looks import DIAGNOSIS, AuditScope, Diagnosis, Effort, Ruling, StageName, recording_of
from storage.protocols import PROTOCOLS
from storage.recordings import ISOLATION
from storage.records import Command, RunStatus, SeriesStatus, Target

_WITH_RESUME = {"as_json", "kerberos", "target", "yes", "within_minutes"}
_PORTS = {one.name: one.label if one.moves_files else one.name for one in PROTOCOLS.values() if one.in_survey}
_PASSED_TO_TRY = (
    "yes", "allow_restart", "kerberos", "sign", "encrypt", "server_ssh", "smb_conf", "timeout_seconds", "ceiling",
)  # fmt: skip
_HARMFUL, _UNREADABLE = 1, 3


_port_options = common.several(
    *(
        common.option(f"--{name}-port", "PORT", f"Port of {spelled} on the server.", common.Count(1, 65535))
        for name, spelled in _PORTS.items()
    )
)


def _settle(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    servers = {value: profile(value[1:]) for value in values if value.startswith("@")}
    places = {value: parse_target(server.url()) for value, server in servers.items()}
    first = next(iter(servers), None)
    take_settings(context, {**options_of_server(servers[first]), **_paths(places[first])} if first else {})
    return tuple(places[value].host if value in places else value for value in values)


def _paths(place: Target) -> dict[str, str]:
    found = {f"{place.protocol}_port": str(place.port or ""), "user": place.user or ""}
    if place.user and place.domain:
        found["user"] = f"{place.domain};{place.user}"
    if place.abilities.in_survey:
        found[place.protocol] = posixpath.join(place.share or "", posixpath.dirname(place.path))
    return {field: value for field, value in found.items() if value}


@common.command("survey")
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...", is_eager=True, callback=_settle)
@common.option("--smb", "SHARE[/FOLDER]", "Share to measure over SMB, with a folder that can be written.")
@common.option("--ftp", "FOLDER", "Folder to measure over FTP, such as / or /upload.")
@common.option("--file", "NAME", "File to read from both, instead of a new one.")
@click.option("--iperf3/--no-iperf3", default=True, help="Measure bare TCP if an iperf3 server answers (default).")
@common.option("--user", "[DOMAIN;]USER", "User to log in as; without it guest and anonymous.")
@common.option("--ftp-user", "USER", "User to log in as over FTP, if different.")
@_port_options
@click.option("--only", type=click.Choice(["get", "put"]), help="Only read, or only write.")
@click.option(
    "--size", "size_bytes", type=common.size, help="Size of the files (default: a few seconds of the link speed)."
)
@common.whole_time_option
@click.option("--again", is_flag=True, help="Start again, even if the last survey of these hosts is incomplete.")
@common.measuring_options("Print the survey as JSON.")
@series_options(
    "runs", "warmups", "link_bits_per_second", "quiet_time", "wait_seconds", "ceiling", "question", *OF_THE_SERVER
)
def survey_command(context: click.Context, /, **choices: Any) -> int:
    """Measure everything on one server: SMB, FTP and bare TCP, read and write; then say what to look at first.

    @NAME, a server in the settings file, gives address, share or folder, and user.

    The series are interleaved run by run, so that drift affects all of them equally. On the server itself the loopback
    and its own address are measured. New files are removed at the end. The same command resumes an interrupted survey.
    """
    common.check_can_store(context)
    path = common.notebook_path(context)
    with common.notebook(context, make=True) as notebook:
        planned = plan_round(_choices(choices), notebook, _log_in(context, choices), again=choices["again"])
    stations, to_do, name = len(planned.stations), len(planned.todo), planned.experiment.name
    takes = planned.time_text
    if planned.continued:
        common.say(f"resuming {name}: {to_do} of {stations} series to do, {takes}; --again begins a new one")
    else:
        left_out = f", {stations - to_do} left out" if stations > to_do else ""
        common.say(f"{name}: {to_do} interleaved series{left_out}, {takes}")
    control = SeriesControl(common.within(choices))
    names = [station.name for station in planned.stations]
    watch_turns(measure_round(planned, path, control), control, names, planned.runs_to_come)
    with common.notebook(context) as notebook:
        filled = result(planned, notebook)

    common.answer_report(survey_report(filled), as_json=choices["as_json"])
    if control.cancelled.is_set():
        raise CancelledError(f"{control.why_cancelled}; the same command resumes the survey")
    failed = [station for station in filled.stations if station.state not in {StationState.DONE, StationState.LEFT_OUT}]
    if failed:
        raise MeasurementError(
            f"{len(failed)} of {stations} series of the survey failed, {failed[0].name} first: {failed[0].why}; the"
            " same command again repeats only these"
        )
    return 0


def _choices(choices: dict[str, Any]) -> SurveyChoices:
    domain, _, user = (choices["user"] or "").rpartition(";")
    return SurveyChoices(
        **{name: choices[name] for name in ("hosts", "smb", "ftp", "file", "iperf3", "ftp_user")},
        ports={protocol: port for protocol in _PORTS if (port := choices[f"{protocol}_port"])},
        user=user or None,
        domain=domain or None,
        commands=(Command(choices["only"]),) if choices["only"] else (Command.GET, Command.PUT),
        options=chosen(choices),
    )


def _log_in(context: click.Context, choices: dict[str, Any]) -> LogIn:
    known: list[tuple[Target, Secrets]] = []

    def log_in(target: Target) -> tuple[Target, Secrets]:
        for before, secrets in known:
            if target.user is not None and same_login(before, target):
                return target, secrets
        full, secrets = common.secrets_for(context, target, kerberos=choices["kerberos"])
        known.append((target, secrets))
        return full, secrets

    return log_in


@common.command("diagnose")
@target_argument(required=False)
@common.option(
    "--only", "NAME,…", f"Measure these stages only: {', '.join(StageName)}.", default="",
    callback=lambda _context, _parameter, value: diagnosing.parse_stages(value),
)  # fmt: skip
@click.option("--folder", metavar="PATH", help="List this existing folder of the share, in place of new ones.")
@click.option("--quick", is_flag=True, help="About a tenth of the files and bytes, in a minute or two.")
@click.option("--thorough", is_flag=True, help="Also a folder of 100,000 entries and a run of 8 GiB.")
@common.whole_time_option
@click.option("--yes", is_flag=True, help="Consent to the files that are created, for scripts.")
@click.option("--resume", "resume_reference", metavar="DIAGNOSIS", help="Complete an interrupted diagnosis.")
@common.measuring_options("Print the diagnosis as JSON.")
@series_options("profile", "label", "question", *OF_THE_SERVER)
def diagnose_command(
    context: click.Context, /, target: str | None, resume_reference: str | None, yes: bool, **choices: Any
) -> int:
    """Find out why users complain.

    Audits the server, then measures what users wait for: the first connect, distance, many small files, large folders,
    signing and encryption, a long run, several connections. Prints what is wrong, the costliest first, each with the
    one change to try. Everything it creates lies in one folder on the share, takes at most 10 % of the free space, and
    is removed at the end.

    Exit codes: 0 complete, whatever it found; 4 a stage failed.
    """
    common.check_can_store(context)
    control, resumed = SeriesControl(common.within(choices)), None
    if resume_reference:
        resumed, place = common.to_resume(context, resume_reference, _WITH_RESUME, DIAGNOSIS, target=target)
        _, secrets = common.secrets_for(context, place, kerberos=choices["kerberos"])
        request = diagnosing.request_of(resumed, secrets)
    elif target:
        request = _diagnosis_request(context, target, choices)
    else:
        raise UsageError("name the share to diagnose: sharebench diagnose smb://HOST/SHARE")
    if text := diagnosing.amount_text(request):
        common.say(text)
        if not yes:
            common.confirm("Begin?", declined="nothing was written")
    events = diagnosing.record_diagnosis(request, common.notebook_path(context), control, resumed)
    diagnosis = watch_to_end(events, control, diagnosing.DiagnosisClosed, _show, StatusLine()).diagnosis
    common.answer_report(diagnosis_report(diagnosis), as_json=choices["as_json"])
    return _ended(diagnosis, control, "diagnose", "diagnosis")


def _diagnosis_request(context: click.Context, url: str, choices: dict[str, Any]) -> diagnosing.DiagnosisRequest:
    if choices["quick"] and choices["thorough"]:
        raise UsageError("--quick and --thorough contradict each other: leave one out")
    effort = Effort.QUICK if choices["quick"] else Effort.THOROUGH if choices["thorough"] else Effort.USUAL
    options = chosen(choices)
    place, secrets = common.target_and_secrets(context, url, kerberos=choices["kerberos"])
    request = diagnosing.DiagnosisRequest(
        target=place,
        secrets=secrets,
        effort=effort,
        only=choices["only"],
        folder=choices["folder"],
        **named(options, "settings", "server_ssh", "smb_conf", "profile", "label", "question"),
    )
    diagnosing.check_request(request)
    return request


def _show(event: diagnosing.DiagnosisEvent) -> None:
    match event:
        case diagnosing.DiagnosisOpened(diagnosis=diagnosis):
            common.say(f"diagnosis {diagnosis.id}")
        case diagnosing.StageBegan(text=text):
            common.say(f"  {text}")
        case diagnosing.DiagnosisChanged(stage=stage) if stage and stage.status is not SeriesStatus.COMPLETE:
            common.say(f"sharebench: {STAGE_NAMES[stage.name]}: {stage.error}")
        case Warned(text=text):
            common.say(f"sharebench: {text}")


@common.command("isolate")
@target_argument(required=False)
@click.option(
    "--clients",
    metavar="N,N",
    default=",".join(map(str, places.DEFAULT_CLIENTS)),
    callback=lambda _context, _parameter, value: places.parse_clients(value),
    help="Numbers of clients to measure with (1,4,8,16).",
)
@common.option("--rounds", "N", "Number of rounds.", common.Count(1, 100), default=places.DEFAULT_ROUNDS)
@common.option(
    "--seconds",
    "N",
    "Length of a run; its warm-up takes a fifth of that.",
    common.Count(2, 3600),
    default=places.DEFAULT_SECONDS,
)
@common.within_option("Longest time; on a busy machine it measures fewer rounds.", places.DEFAULT_MINUTES)
@common.option("--script", "FILE", "Load file of dbench (default: an office day).", name="script_path")
@common.option("--without", "OPERATION,…", "Measure what these operations cost by leaving them out.")
@common.option("--expose-tbench", "HOST", "Let tbench_srv on the server listen on every address; HOST is the target's.")
@common.option("--resume", "ISOLATION", "Resume an interrupted isolation.", name="resume_reference")
@common.measuring_options("Print the isolation as JSON.")
@series_options("label", "question", "link_bits_per_second", "sign", "encrypt", *OF_THE_SERVER)
def isolate_command(context: click.Context, /, target: str | None, resume_reference: str | None, **choices: Any) -> int:
    """Find the limit: the disk, the network or Samba.

    The same operations are measured against the server's disk (dbench, in a folder beside the share), the network
    (tbench), both at once, and the share. Disk and network need root on the server and the package dbench; without
    them the other layers are measured. At the end folders are removed and smbd's profiling is restored; after a kill
    the next start does it.
    """
    common.check_can_store(context)
    control = SeriesControl()
    path = common.notebook_path(context)
    if resume_reference:
        found, place = common.to_resume(context, resume_reference, _WITH_RESUME, ISOLATION, target=target)
        _, secrets = common.secrets_for(context, place, kerberos=choices["kerberos"])
        rest = replace(places.request_to_resume(found, secrets), within_seconds=common.within(choices))
        events = record_isolation(rest, path, control, found.id)
    elif target:
        events = record_isolation(_isolation_request(context, target, choices), path, control)
    else:
        raise UsageError("TARGET is missing: sharebench isolate smb://HOST/SHARE; see `sharebench isolate --help`")
    isolation = _watch(events, control, common.within(choices))
    if choices["as_json"] or any(run.status is RunStatus.VALID for run in isolation.runs):
        common.answer_report(isolation_report(isolation), as_json=choices["as_json"])
    return _ended(isolation, control, "isolate", "isolation")


def _isolation_request(context: click.Context, url: str, choices: dict[str, Any]) -> places.IsolationRequest:
    target, secrets = common.target_and_secrets(context, url, kerberos=choices["kerberos"])
    exposed = choices["expose_tbench"]
    if exposed is not None and exposed != target.host:
        raise UsageError(f"--expose-tbench names {exposed}, the target is {target.host}: name that, or leave it out")
    options = chosen(choices)
    without = operations_named(choices["without"]) if choices["without"] is not None else ()
    script = load_script(choices["script_path"])
    script.without(without)
    return places.IsolationRequest(
        target=target,
        secrets=secrets,
        settings=options.settings,
        whole_script=script,
        script_path=str(Path(choices["script_path"]).absolute()) if choices["script_path"] else None,
        without=tuple(operation.value for operation in without),
        **{name: choices[name] for name in ("clients", "rounds", "seconds")},
        **named(options, "label", "question", "link_bits_per_second", "server_ssh", "smb_conf"),
        within_seconds=common.within(choices),
        expose_tbench=exposed is not None,
    )


def _watch(events: Iterable[rounds.IsolationEvent], control: SeriesControl, within_seconds: float) -> Isolation:
    runs, line = 0, StatusLine()

    def show(event: rounds.IsolationEvent) -> None:
        nonlocal runs
        match event:
            case rounds.IsolationOpened(isolation=isolation):
                runs = event.runs
                about = duration(min(within_seconds, rounds.WHOLE_RUN * runs * isolation.seconds))
                said = f"{runs} runs of {isolation.seconds} s and a warm-up each, about {about}"
                common.say(f"isolation {isolation.id}: {said if runs else 'no run left'}")
            case rounds.LayerRunStarted(layer=layer, clients=clients, number=number):
                line.draw(f"{number} of {max(number, runs)}: {layer}, {count(clients, 'client')}")
            case rounds.LayerRunEnded(run=run):
                line.clear()
                if line.is_on or run.error:
                    told = run.error or byte_rate(run.bytes_per_second)
                    common.say(f"  {run.layer}, {count(run.clients, 'client')}, round {run.round}: {told}")
            case Warned(text=text):
                line.say(f"sharebench: {text}")

    return watch_to_end(events, control, rounds.IsolationClosed, show, line).isolation


def _ended(record: Isolation | Diagnosis, control: SeriesControl, command: str, what: str) -> int:
    if control.cancelled.is_set():
        raise CancelledError(f"{control.why_cancelled}; `sharebench {command} --resume {record.id}` completes it")
    if record.status is not SeriesStatus.COMPLETE:
        raise MeasurementError(record.error or f"the {what} did not end")
    return 0


@common.command("audit")
@target_argument(required=False)
@click.option("--fix", is_flag=True, help="Print the proposed edits as a unified diff; nothing is written.")
@click.option("--try", "tested", is_flag=True, help="Test the costliest finding: change it, measure it, restore it.")
@click.option("--yes", is_flag=True, help="Answer the question of --try with yes, for scripts.")
@click.option(
    "--allow-restart", is_flag=True, help="Let --try restart smbd if the setting needs it; ends all sessions."
)
@common.option("--label", "TEXT", "Short name of the recording.", default="")
@common.option("--question", "TEXT", "Question that the audit is meant to answer.", default="")
@common.measuring_options("Print the audit as JSON.")
@series_options("sign", "encrypt", "ceiling", *OF_THE_SERVER)
def audit_command(
    context: click.Context, /, target: str | None, fix: bool, tested: bool, as_json: bool, **choices: Any
) -> int:
    """Find harmful and useless settings of a server, without measuring.

    Reads smb.conf with its includes, the kernel, the disks and the network cards, on this machine or through
    --server-ssh, and names what is harmful, contradictory, risky, misplaced, useless or worth trying. Nothing is
    changed. Without TARGET, --smb-conf FILE is a file on this machine.

    Exit codes: 0 nothing harmful, 1 something harmful, 3 the settings could not be read.
    """
    common.check_can_store(context)
    result = _audited(context, target, choices)
    audit = replace(result.audit, label=choices["label"], question=choices["question"])
    with common.notebook(context, make=True) as notebook:
        notebook.add_recording(recording_of(audit))
        report = audit_form(notebook, audit)
    if as_json:
        common.answer_json(audit_document(audit))
    elif fix:
        common.answer_for_programs(proposed_diff(audit.findings, result.files))
    else:
        common.answer_report(report)
    if tested:
        if target is None:
            raise UsageError("--try measures a server: name its TARGET")
        found = remedies(audit.findings)
        if not found:
            raise UsageError("nothing to test: no finding names a value that sharebench may change")
        setting = f"{found[0].name}={found[0].value}"
        common.say(f"sharebench: testing {setting} in place of {found[0].finding.value}")
        passed = {name: choices[name] for name in _PASSED_TO_TRY}
        return int(context.invoke(try_command, setting=setting, target=target, **passed))
    if audit.scope is AuditScope.SESSION:
        return _UNREADABLE
    return _HARMFUL if audit.count(Ruling.HARMFUL) else 0


def _has_settings(path: Path) -> bool:
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return b"[global]" in file.read(2**16).lower()
    return False


def _audited(context: click.Context, target: str | None, choices: dict[str, Any]) -> AuditResult:
    if target is None:
        if not choices["smb_conf"]:
            raise UsageError("name a TARGET, or a file with --smb-conf FILE")
        return audit_file(Path(choices["smb_conf"]))
    path = target.removeprefix("file://")
    if "://" not in path and (path.endswith(".conf") or _has_settings(Path(path))):
        raise UsageError(f"{path} is a configuration file, not a target: --smb-conf {shlex.quote(path)} audits it")
    place = parse_target(target)

    def secrets() -> Secrets | None:
        try:
            return common.secrets_for(context, place, kerberos=choices["kerberos"])[1]
        except LoginError:
            return None

    options = chosen(choices)
    given = named(options, "smb_conf", "settings")
    return audit_server(AuditRequest(target=place, ssh=options.server_ssh, secrets=secrets, **given))
