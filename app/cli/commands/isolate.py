"""``sharebench isolate``: is it Samba, the disk, or the network?"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.cli import common
from app.cli.progress import StatusLine, watch_to_end
from app.cli.run_options import chosen, series_options, target_argument
from app.errors import CancelledError, MeasurementError, UsageError
from app.isolation import places
from app.isolation.rounds import IsolationClosed, IsolationEvent, IsolationOpened, LayerRunEnded, LayerRunStarted
from app.isolation.script import load_script, operations_named
from app.measure.process import SeriesControl, Warned
from app.workflows.restore import record_isolation
from forms.isolation.report import isolation_report
from forms.wording import byte_rate, count
from storage.isolations import Isolation
from storage.json_reader import named
from storage.recordings import ISOLATION
from storage.records import RunStatus, SeriesStatus

_WITH_RESUME = {"as_json", "kerberos", "target", "within_minutes"}


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
@common.option(
    "--within",
    "MINUTES",
    "Longest time; on a busy machine it measures fewer rounds.",
    common.Count(1, 10_000),
    name="within_minutes",
    default=places.DEFAULT_MINUTES,
)
@common.option("--script", "FILE", "Load file of dbench (default: an office day).", name="script_path")
@common.option("--without", "OPERATION,…", "Measure what these operations cost by leaving them out.")
@common.option("--expose-tbench", "HOST", "Let tbench_srv on the server listen on every address; HOST is the target's.")
@common.option("--resume", "ISOLATION", "Resume an interrupted isolation.", name="resume_reference")
@common.measuring_options("Print the isolation as JSON.")
@series_options(
    "label", "question", "link_bits_per_second", "sign", "encrypt", "server_ssh", "smb_conf", "timeout_seconds"
)
def isolate_command(context: click.Context, /, target: str | None, resume_reference: str | None, **choices: Any) -> int:
    """Find the limit: the disk, the network or Samba.

    The same operations are measured against the server's disk (dbench, in a folder beside the share), the network
    (tbench), both at once, and the share. Disk and network need root on the server and the package dbench; without
    them the other layers are measured. At the end folders are removed and smbd's profiling is restored; after a kill
    the next start does it.
    """
    control = SeriesControl()
    path = common.notebook_path(context)
    if resume_reference:
        found, place = common.to_resume(context, resume_reference, _WITH_RESUME, ISOLATION, target=target)
        _, secrets = common.secrets_for(context, place, kerberos=choices["kerberos"])
        rest = replace(places.request_to_resume(found, secrets), within_seconds=60.0 * choices["within_minutes"])
        events = record_isolation(rest, path, control, found.id)
    elif target:
        events = record_isolation(_request(context, target, choices), path, control)
    else:
        raise UsageError("what shall be measured? sharebench isolate smb://HOST/SHARE; see `sharebench isolate --help`")
    isolation = _watch(events, control)
    if choices["as_json"] or any(run.status is RunStatus.VALID for run in isolation.runs):
        common.answer_report(isolation_report(isolation), as_json=choices["as_json"])
    if control.cancelled.is_set():
        raise CancelledError(f"cancelled; `sharebench isolate --resume {isolation.id}` completes it")
    if isolation.status is not SeriesStatus.COMPLETE:
        raise MeasurementError(isolation.error or "the isolation did not end")
    return 0


def _request(context: click.Context, url: str, choices: dict[str, Any]) -> places.IsolationRequest:
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
        within_seconds=60.0 * choices["within_minutes"],
        expose_tbench=exposed is not None,
    )


def _watch(events: Iterable[IsolationEvent], control: SeriesControl) -> Isolation:
    runs, line = 0, StatusLine()

    def show(event: IsolationEvent) -> None:
        nonlocal runs
        match event:
            case IsolationOpened(isolation=isolation):
                runs = event.runs
                common.say(f"isolation {isolation.id}: {runs} runs of {isolation.seconds} s and a warm-up each")
            case LayerRunStarted(layer=layer, clients=clients, number=number):
                line.draw(f"{number} of {max(number, runs)}: {layer}, {count(clients, 'client')}")
            case LayerRunEnded(run=run):
                line.clear()
                if line.is_on or run.error:
                    told = run.error or byte_rate(run.bytes_per_second)
                    common.say(f"  {run.layer}, {count(run.clients, 'client')}, round {run.round}: {told}")
            case Warned(text=text):
                line.say(f"sharebench: {text}")

    return watch_to_end(events, control, IsolationClosed, show, line).isolation
