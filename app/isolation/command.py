"""``sharebench isolate``: is it the disk, the network or Samba?"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.base.errors import UsageError
from app.cli import console, declare, logins, notebooks, option_values, resuming
from app.cli.cancelling import exit_code_when_complete
from app.cli.progress import StatusLine, watch_to_end
from app.cli.run_options import OF_THE_SERVER, series_options
from app.cli.targets import target_argument
from app.isolation import rounds, timetable
from app.isolation import spec as isolation_spec
from app.isolation.record import record_isolation
from app.isolation.script import load_script, operations_named
from app.recording.process import SeriesControl, Warned
from app.recording.spec import SeriesSpec
from forms.isolation.report import isolation_report
from forms.wording import byte_rate, count, duration
from storage.isolation import Isolation
from storage.recordings import ISOLATION
from storage.records import RunStatus


def _parse_clients(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, ...]:
    return isolation_spec.parse_clients(value)


@declare.command("isolate")
@target_argument(required=False)
@click.option(
    "--clients",
    metavar="N,N",
    default=isolation_spec.clients_text(isolation_spec.DEFAULT_CLIENTS),
    callback=_parse_clients,
    help=f"Numbers of clients to measure with ({isolation_spec.clients_text(isolation_spec.DEFAULT_CLIENTS)}).",
)
@declare.option(
    "--rounds",
    "N",
    "Number of rounds.",
    declare.Count(1, isolation_spec.MOST_ROUNDS),
    default=isolation_spec.DEFAULT_ROUNDS,
)
@declare.option(
    "--seconds",
    "N",
    "Length of a run; its warm-up takes a fifth of that.",
    declare.Count(isolation_spec.LEAST_SECONDS, isolation_spec.MOST_SECONDS),
    default=isolation_spec.DEFAULT_SECONDS,
)
@declare.within_option("Longest time; on a busy machine it measures fewer rounds.", isolation_spec.DEFAULT_MINUTES)
@declare.option("--script", "FILE", "Load file of dbench (default: an office day).", name="script_path")
@declare.option("--without", "OPERATION,…", "Measure what these operations cost by leaving them out.")
@declare.option(
    "--expose-tbench", "HOST", "Let tbench_srv on the server listen on every address; HOST is the target's."
)
@declare.option("--resume", "ISOLATION", "Resume an interrupted isolation.", name="resume_reference")
@declare.measuring_options("Print the isolation as JSON.")
@series_options("label", "question", "link_bits_per_second", "sign", "encrypt", *OF_THE_SERVER)
def isolate_command(
    context: click.Context, /, target: str | None, resume_reference: str | None, spec: SeriesSpec, **choices: Any
) -> int:
    """Find the limit: the disk, the network or Samba.

    The same operations are measured against the server's disk (dbench, in a folder beside the share), the network
    (tbench), both at once, and the share. Disk and network need root on the server and the package dbench; without
    them the other layers are measured. At the end folders are removed and smbd's profiling is restored; after a kill
    the next start does it.
    """
    notebooks.check_can_store(context)
    control = SeriesControl()
    path = notebooks.notebook_path(context)
    if resume_reference:
        interrupted, place = resuming.recording_to_resume(
            context, resume_reference, resuming.ALLOWED_WITH_RESUME, ISOLATION, target=target
        )
        _, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
        request = replace(
            isolation_spec.request_to_resume(interrupted, secrets), within_seconds=option_values.seconds_within(choices)
        )
        events = record_isolation(request, path, control, interrupted.id)
    elif target:
        events = record_isolation(_isolation_request(context, target, spec, choices), path, control)
    else:
        raise UsageError("TARGET is missing: sharebench isolate smb://HOST/SHARE; see `sharebench isolate --help`")

    isolation = _watch(events, control, option_values.seconds_within(choices))
    if choices["as_json"] or any(run.status is RunStatus.VALID for run in isolation.runs):
        console.answer_report(isolation_report(isolation), as_json=choices["as_json"])
    return exit_code_when_complete(isolation, control, "isolate", "isolation")


def _isolation_request(
    context: click.Context, url: str, spec: SeriesSpec, choices: dict[str, Any]
) -> isolation_spec.IsolationRequest:
    target, secrets = logins.target_and_secrets(context, url, kerberos=choices["kerberos"])
    exposed = choices["expose_tbench"]
    if exposed is not None and exposed != target.host:
        raise UsageError(f"--expose-tbench names {exposed}, the target is {target.host}: name that, or leave it out")
    without = operations_named(choices["without"]) if choices["without"] is not None else ()
    script = load_script(choices["script_path"])
    script.without(without)
    return isolation_spec.IsolationRequest(
        target=target,
        secrets=secrets,
        settings=spec.settings,
        whole_script=script,
        script_path=str(Path(choices["script_path"]).absolute()) if choices["script_path"] else None,
        without=tuple(operation.value for operation in without),
        clients=choices["clients"],
        rounds=choices["rounds"],
        seconds=choices["seconds"],
        label=spec.texts.label,
        question=spec.texts.question,
        link_bits_per_second=spec.link_bits_per_second,
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        within_seconds=option_values.seconds_within(choices),
        expose_tbench=exposed is not None,
    )


def _watch(events: Iterable[rounds.IsolationEvent], control: SeriesControl, within_seconds: float) -> Isolation:
    progress = _IsolationProgress(within_seconds)
    return watch_to_end(events, control, rounds.IsolationClosed, progress.show, progress.line).isolation


class _IsolationProgress:
    """What is shown of an isolation while it is measured."""

    def __init__(self, within_seconds: float) -> None:
        self.line = StatusLine()
        self._within_seconds = within_seconds
        self._planned_runs = 0

    def show(self, event: rounds.IsolationEvent) -> None:
        match event:
            case rounds.IsolationOpened(isolation=isolation, runs=planned_runs):
                self._planned_runs = planned_runs
                console.say(f"isolation {isolation.id}: {self._amount_text(isolation)}")
            case rounds.LayerRunStarted(layer=layer, clients=clients, number=number):
                # A price may need more runs than were planned.
                all_runs = max(number, self._planned_runs)
                self.line.draw(f"{number} of {all_runs}: {layer}, {count(clients, 'client')}")
            case rounds.LayerRunEnded(run=run):
                self.line.clear()
                if self.line.is_on or run.error:
                    outcome = run.error or byte_rate(run.bytes_per_second)
                    console.say(f"  {run.layer}, {count(run.clients, 'client')}, round {run.round}: {outcome}")
            case Warned(text=text):
                self.line.say(f"sharebench: {text}")

    def _amount_text(self, isolation: Isolation) -> str:
        if not self._planned_runs:
            return "no run left"
        expected_seconds = timetable.WHOLE_RUN * self._planned_runs * isolation.seconds
        about = duration(min(self._within_seconds, expected_seconds))
        return f"{self._planned_runs} runs of {isolation.seconds} s and a warm-up each, about {about}"
