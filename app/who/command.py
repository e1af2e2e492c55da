"""``sharebench who``: who uses a server now."""

import click

from app.base.targets import parse_target
from app.cli import console, declare, moved, notebooks, progress, run_options
from app.cli.targets import target_argument
from app.recording.spec import SeriesSpec
from app.server.sessions.look import REQUESTS_SECONDS
from app.who import engine
from app.who import spec as who_spec
from forms.who.report import who_report
from storage.who import recording_of_who


@declare.command("who")
@target_argument()
@declare.option(
    "--seconds",
    "N",
    f"How long to look; from {REQUESTS_SECONDS:g} s on requests are counted, too, where smbd profiles.",
    declare.Number(who_spec.LEAST_SECONDS, who_spec.MOST_SECONDS),
    name="look_seconds",
    default=f"{who_spec.USUAL_SECONDS:g}",
)
@declare.answering_options("Print the sessions as JSON.")
@run_options.series_options("label", "question", "server_ssh", "smb_conf")
def who_command(context: click.Context, /, target: str, look_seconds: float, as_json: bool, spec: SeriesSpec) -> int:
    """Show who uses a server now, the busiest session first.

    Looks at each session of smbd for some seconds: its user and client, its processor time, the bytes it read and
    wrote, its open files and locks. Names what is the limit of the server, if anything is, and orders the sessions by
    their share of that. TARGET is the server, smb://HOST; nobody logs in there. It takes root on the server: run it
    there, or name a way with --server-ssh. Nothing is changed.
    """
    notebooks.check_can_store(context)
    request = who_spec.WhoRequest(
        target=parse_target(target),
        server_ssh=spec.monitor.server_ssh,
        smb_conf=spec.monitor.smb_conf,
        seconds=look_seconds,
        label=spec.texts.label,
        question=spec.texts.question,
    )
    who_spec.check_request(request)

    status = progress.StatusLine()
    status.draw(f"looking at the sessions for {look_seconds:g} s …")
    try:
        who = engine.look(request)
    finally:
        status.clear()

    moved.store(context, recording_of_who(who))
    console.answer_report(who_report(who), as_json=as_json)
    return 0
