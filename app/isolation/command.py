"""``sharebench isolate``: is it the disk, the network or Samba?"""

from typing import Any

import click

from app.base.errors import UsageError
from app.cli import cancelling, console, declare, logins, notebooks, option_values, progress, resuming, run_options
from app.cli.targets import target_argument
from app.isolation import option_request
from app.isolation import progress_lines as isolation_progress
from app.isolation import spec as isolation_spec
from app.isolation.record import record_isolation
from app.isolation.rounds import IsolationClosed
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from forms.isolation.report import isolation_report
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
@run_options.series_options("label", "question", "link_bits_per_second", "sign", "encrypt", *run_options.OF_THE_SERVER)
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
    within_seconds = option_values.seconds_within(choices)
    if resume_reference:
        interrupted, place = resuming.recording_to_resume(
            context, resume_reference, resuming.ALLOWED_WITH_RESUME, ISOLATION, target=target
        )
        _, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
        request = isolation_spec.request_to_resume(interrupted, secrets, within_seconds)
        events = record_isolation(request, path, control, interrupted.id)
    elif target:
        place, secrets = logins.target_and_secrets(context, target, kerberos=choices["kerberos"])
        request = option_request.isolation_request(place, secrets, spec, choices, within_seconds)
        events = record_isolation(request, path, control)
    else:
        raise UsageError("TARGET is missing: sharebench isolate smb://HOST/SHARE; see `sharebench isolate --help`")

    line = progress.StatusLine()
    lines = isolation_progress.IsolationProgressLines(line.draw, line.say, within_seconds, tells_each_run=line.is_on)
    isolation = progress.watch_to_end(events, control, IsolationClosed, lines.show, line).isolation
    if choices["as_json"] or any(run.status is RunStatus.VALID for run in isolation.runs):
        console.answer_report(isolation_report(isolation), as_json=choices["as_json"])
    return cancelling.exit_code_when_complete(isolation, control, "isolation", resumed_by="isolate")
