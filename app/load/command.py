"""``sharebench load``: many users at once; and ``load-worker``, its generator on another machine."""

import os
import time
from dataclasses import replace
from functools import partial
from typing import Any

import click

from app.base.errors import MeasurementError, UsageError
from app.base.own_names import is_load_folder
from app.base.ssh_address import check_ssh_host
from app.base.targets import parse_target
from app.cli import console, declare, logins, notebooks, option_values, resuming, textfile
from app.cli.progress import StatusLine, watch_to_end
from app.cli.run_options import OF_THE_SERVER, series_options
from app.cli.targets import targets_argument
from app.clients.base import Secrets
from app.load.events import FilesMade, JobsWait, LoadPhase, PhaseBegan, SecondPassed
from app.load.record import LoadChanged, LoadClosed, LoadStep, run_load
from app.load.scenario import NAMES, change_scenario, find_scenario, parse_users, scenario_text
from app.load.spec import USUAL_SCENARIO, USUAL_USERS, LoadRequest
from app.load.standing import LoadStanding, time_text
from app.load.worker_processes import serve_workers
from app.recording.process import SeriesControl, Warned
from app.recording.spec import SeriesSpec
from forms.layout import visible
from forms.load import wording as load_wording
from forms.load.report import load_report
from forms.watch.metrics import MetricSample, labels_of, load_samples
from forms.wording import byte_rate, count, duration
from storage.load.records import MOST_FILES, MOST_STEADY_SECONDS, Load, LoadChoices, LoadPoint, PointStatus, Scenario
from storage.plan import MOST_SECONDS
from storage.recordings import LOAD
from storage.records import Target, format_target, utc_now

NO_VALID_POINT = 4
_KEPT_ON_RESUME = {
    "textfile",
    "as_json",
    "kerberos",
    "server_ssh",
    "smb_conf",
    "timeout_seconds",
    "sign",
    "encrypt",
    "within_minutes",
}


@declare.command("load")
@targets_argument()
@declare.option("--users", "N,N,…", f"Number of users per load point: 10,20,40 or 10..200/10 ({USUAL_USERS}).")
@click.option("--find-capacity", is_flag=True, help="Double the users until overload, then narrow it down.")
@declare.option(
    "--limit",
    "SECONDS",
    "Overload: more than 5 % of the responses take longer than this.",
    declare.Number(0.001, 3600),
    name="limit_seconds",
)
@declare.option(
    "--scenario", "NAME|FILE", f"Work of the users: {', '.join(NAMES)}, or your own file.", default=USUAL_SCENARIO
)
@click.option("--print-scenario", is_flag=True, help="Print the file of the scenario and exit.")
@declare.option("--duration", "SECONDS", "Length of the measured window.", declare.Number(1, MOST_STEADY_SECONDS))
@declare.option(
    "--settle", "SECONDS", "Time between the logins and the measured window.", declare.Number(0, MOST_SECONDS)
)
@declare.option(
    "--ramp",
    "N",
    "Number of logins per second.",
    declare.Number(0.1, 10000),
    default=f"{LoadChoices().ramp_per_second:g}",
)
@declare.option("--think", "SECONDS", "Pause before each request: 0.1, or exp:0.1 for exponential think time.")
@declare.option(
    "--pace",
    "SECONDS",
    "Time between the requests of a user, answered or not; late ones are counted.",
    declare.Number(0.0001, 3600),
)
@declare.option("--read", "PERCENT", "Share of reads among the requests.", declare.Number(0, 100), name="read_percent")
@declare.option("--files", "N", "Number of files that the users work on.", declare.Count(1, MOST_FILES))
@declare.option("--sizes", "SIZE:SHARE,…", "Sizes of these files with their shares, such as 4K:8,64K:3,1M:1.")
@click.option("--by-size", is_flag=True, help="Measure each load point once for each file size.")
@declare.option("--seed", "N", "Random seed.", declare.Count(0, 2**31))
@declare.option("--processes", "N", "Number of processes that make the load (one per core).", declare.Count(1, 256))
@declare.option(
    "--workers-on",
    "HOST,HOST",
    "More machines to make the load: [USER@]HOST by ssh, with the same sharebench.",
    name="hosts",
)
@click.option("--keep-files", is_flag=True, help="Keep the files on the server for a later load.")
@declare.option("--reuse-files", "FOLDER", "Use the files that --keep-files left in FOLDER, .sharebench-…")
@declare.whole_time_option
@declare.option("--label", "TEXT", "Short name of the recording.", default="")
@declare.option("--resume", "LOAD", "Resume an interrupted load; `last` is the newest.")
@declare.textfile_option
@declare.measuring_options("Print the load as JSON.")
@series_options("question", "link_bits_per_second", "sign", "encrypt", "single_requests", *OF_THE_SERVER)
def load_command(context: click.Context, /, targets: tuple[str, ...], spec: SeriesSpec, **choices: Any) -> int:
    """Measure a server with many users at once.

    Each user has a connection and a login of its own. For each number of users the form shows requests per second,
    response times, errors, and the server's CPU and memory.

    TARGET is a folder on a share. The files are created in a new folder there and removed at the end; nothing else is
    touched. With --scenario print it is a printer share, and no other is printed to. Users alternate between several
    TARGETs, such as the addresses of a server's network cards. Every finished load point is kept, also after Ctrl-C;
    --resume continues with the next one.
    """
    if choices["print_scenario"]:
        _print_scenario(choices["scenario"])
        return 0

    notebooks.check_can_store(context)
    with textfile.zeros_if_it_fails(choices["textfile"], partial(_samples, context, targets, choices)):
        control = SeriesControl(option_values.seconds_within(choices))
        request: LoadRequest
        stored: Load | None = None
        if choices["resume"]:
            request, stored = _request_to_resume(context, spec, choices)
        else:
            request = _new_request(context, targets, spec, choices)
        progress = LoadProgress()
        steps = run_load(request, notebooks.notebook_path(context), control, stored)
        closed = watch_to_end(steps, control, LoadClosed, progress.show, progress)

    textfile.write_textfile(choices["textfile"], partial(_samples, context, targets, choices, closed.load))
    if closed.stored:
        console.answer_report(load_report(closed.load, closed.prediction), as_json=choices["as_json"])
    _raise_what_went_wrong(closed, control)
    has_point = any(point.status is not PointStatus.FAILED for point in closed.load.points)
    return 0 if has_point else NO_VALID_POINT


def _print_scenario(name: str) -> None:
    if name not in NAMES:
        raise UsageError(f"no scenario is called {name!r}: take {', '.join(NAMES)}")
    console.answer(scenario_text(name).rstrip("\n"))


def _raise_what_went_wrong(closed: LoadClosed, control: SeriesControl) -> None:
    """Raises the failure of the load, with how to resume it, or MeasurementError for files that are still there."""
    load = closed.load
    if closed.failure is not None:
        text = control.why_cancelled if control.limit.is_over else closed.failure.text
        if load.points:
            points = "1 point is" if len(load.points) == 1 else f"{len(load.points)} points are"
            text += f"; {points} kept: `sharebench load --resume {load.id}` measures the rest"
        raise replace(closed.failure, text=text).error
    if load.scratch_folder and not load.choices.keep_files:
        raise MeasurementError(
            f"{load.scratch_folder} could not be removed and is still there: sharebench clean"
            f" {format_target(load.targets[0])}"
        )


def _samples(
    context: click.Context, targets: tuple[str, ...], choices: dict[str, Any], load: Load | None = None
) -> list[MetricSample]:
    """The metrics of the load; zeros for what was asked for, before it was measured."""
    planned = load
    if planned is None and choices["resume"]:
        with notebooks.open_notebook(context) as notebook:
            planned = notebook.load(choices["resume"])
    if planned is not None:
        labels = labels_of(planned.targets[0], "load", planned.label)
        return load_samples(load, labels, planned.choices.users, "" if load else utc_now())

    users = () if choices["find_capacity"] else parse_users(choices["users"] or USUAL_USERS)
    return load_samples(None, labels_of(parse_target(targets[0]), "load", choices["label"]), users, utc_now())


def _new_request(
    context: click.Context, urls: tuple[str, ...], spec: SeriesSpec, choices: dict[str, Any]
) -> LoadRequest:
    _check_options(urls, choices)
    load_choices = _load_choices(spec, choices)
    scenario = _scenario(choices)
    targets, secrets = _targets(context, urls, kerberos=choices["kerberos"])
    return LoadRequest(
        targets=targets,
        secrets=secrets,
        settings=spec.settings,
        scenario=scenario,
        choices=load_choices,
        label=choices["label"],
        question=spec.texts.question,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        link_bits_per_second=spec.link_bits_per_second,
        reuse_folder=choices["reuse_files"],
    )


def _check_options(urls: tuple[str, ...], choices: dict[str, Any]) -> None:
    if not urls:
        raise UsageError("name a TARGET: a folder on a share, such as smb://HOST/SHARE/FOLDER")
    if choices["by_size"] and choices["find_capacity"]:
        raise UsageError("--by-size measures fixed numbers of users: leave --find-capacity out, or ask for it after")
    if choices["reuse_files"] is not None and not is_load_folder(choices["reuse_files"]):
        raise UsageError(
            "--reuse-files: name the folder that --keep-files left, .sharebench-load-…; no other is touched"
        )


def _scenario(choices: dict[str, Any]) -> Scenario:
    return change_scenario(
        find_scenario(choices["scenario"]),
        files=choices["files"],
        think=choices["think"],
        sizes=choices["sizes"],
        seed=choices["seed"],
        duration_seconds=choices["duration"],
        settle_seconds=choices["settle"],
        pace_seconds=choices["pace"],
        read=choices["read_percent"],
    )


def _load_choices(spec: SeriesSpec, choices: dict[str, Any]) -> LoadChoices:
    users = choices["users"]
    searches_from_usual = users is None and choices["find_capacity"]
    hosts = tuple(word.strip() for word in (choices["hosts"] or "").split(",") if word.strip())
    for host in hosts:
        check_ssh_host(host, "--workers-on")
    return LoadChoices(
        users=() if searches_from_usual else parse_users(users or USUAL_USERS),
        find_capacity=choices["find_capacity"],
        by_size=choices["by_size"],
        limit_seconds=choices["limit_seconds"],
        single_requests=spec.settings.single_requests,
        ramp_per_second=choices["ramp"],
        processes=choices["processes"] or len(os.sched_getaffinity(0)),
        hosts=hosts,
        keep_files=choices["keep_files"] or choices["reuse_files"] is not None,
    )


def _targets(context: click.Context, urls: tuple[str, ...], *, kerberos: bool) -> tuple[tuple[Target, ...], Secrets]:
    """The targets, all with the first one's user unless they name their own; and its secrets."""
    targets = [parse_target(url) for url in urls]
    for target in targets:
        if not target.abilities.moves_files or (target.abilities.has_share and not target.share):
            raise UsageError("name the folder that the users shall work in, such as smb://HOST/SHARE/FOLDER")

    first, secrets = logins.secrets_for(context, targets[0], kerberos=kerberos)
    others = [
        replace(target, user=target.user or first.user, domain=target.domain or first.domain) for target in targets[1:]
    ]
    return (first, *others), secrets


def _request_to_resume(context: click.Context, spec: SeriesSpec, choices: dict[str, Any]) -> tuple[LoadRequest, Load]:
    load, place = resuming.recording_to_resume(context, choices["resume"], _KEPT_ON_RESUME, LOAD)
    _, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
    request = LoadRequest(
        secrets=secrets,
        targets=load.targets,
        scenario=load.scenario,
        choices=load.choices,
        settings=spec.settings,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
    )
    return request, load


class LoadProgress(StatusLine):
    _phase = PhaseBegan(phase=LoadPhase.FILES)
    _standing = LoadStanding()

    def show(self, step: LoadStep) -> None:
        before = self._standing
        self._standing = before.after(step)
        match step:
            case Warned(text=text):
                self.tell(text)
            case PhaseBegan():
                if not before.phase and (load := before.load):
                    creates_on = len(load.targets) * (step.phase is LoadPhase.FILES)
                    self.tell(time_text(load.scenario, load.choices, len(load.points), creates_on))
                self._phase = step
                self.draw(f"{step.phase.value}{self._time_left()}")
            case FilesMade(files=files, of_files=all_files):
                verb = "removed" if self._phase.phase is LoadPhase.CLEANING else "made"
                self.draw(f"{self._phase.phase.value}{self._time_left()}: {files:,} of {all_files:,} {verb}")
            case JobsWait():
                self.draw(f"{self._phase.phase.value}: {step.jobs:,} of {step.of_jobs:,} jobs wait; Ctrl-C ends it")
            case SecondPassed():
                self.draw(second_text(step, self._phase, self._time_left()))
            case LoadChanged(point=LoadPoint() as point, done=True):
                self.tell(point_text(point))

    def _time_left(self) -> str:
        of_phase = self._standing.phase_seconds_left(time.monotonic())
        of_load = self._standing.seconds_left(of_phase)
        in_all = f", {duration(of_load)} left in all" if of_load else ""
        return f" {duration(of_phase)} left{in_all}" if of_phase else ""

    def tell(self, text: str) -> None:
        self.say(f"sharebench: {visible(text)}")


def second_text(now: SecondPassed, phase: PhaseBegan, left: str) -> str:
    p95 = "" if now.p95_seconds is None else f"  p95 {1000 * now.p95_seconds:.1f} ms"
    errors = f"  {now.errors} errors" if now.errors else ""
    return (
        f"{count(now.users, 'user')}, {phase.phase.value}{left}: {now.connected} connected  "
        f"{now.requests_per_second:,.0f} requests/s{p95}  {byte_rate(now.read_bytes_per_second)} read  "
        f"{byte_rate(now.write_bytes_per_second)} written{errors}  CPU here {now.cpu_percent:.0f} %"
    )


def point_text(point: LoadPoint) -> str:
    if point.status is not PointStatus.VALID:
        return f"{count(point.users, 'user')}: {point.reason or point.status.value}"
    errors = f", {sum(point.errors.values())} errors" if point.errors else ""
    return f"{load_wording.point_text(point)}{errors}"


@click.command("load-worker", hidden=True)
def load_worker_command() -> int:
    """Makes load for the machine that started it through ssh; ends when that hangs up."""
    return serve_workers()
