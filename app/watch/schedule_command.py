"""``sharebench schedule``: prints the timer, for systemd or cron, that runs ``sharebench watch`` every night."""

import getpass
import time
from pathlib import Path

import click

from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli import console, declare, notebooks, run_options
from app.clients.base import Secrets
from app.series import requests
from app.watch import timer as watch_timer
from app.watch.command import watch_command

_CREDENTIALS = "/etc/sharebench/credentials"
"""Where a timer's password lies, unless --credentials names another file."""


def _parse_time(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, int]:
    try:
        moment = time.strptime(value, "%H:%M")
    except ValueError:
        raise UsageError(f"--at {value}: write a time of day such as 02:30") from None
    return moment.tm_hour, moment.tm_min


@declare.command("schedule", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="TARGET [OPTIONS OF watch]...")
@click.option("--print", "form", required=True, type=click.Choice(["systemd", "cron"]), help="What to print.")
@click.option("--at", default="02:30", show_default=True, metavar="HH:MM", callback=_parse_time, help="Time of day.")
@declare.option("--delay", "MINUTES", "Start up to that much later, at random.", declare.Count(0, 720), default=30)
@declare.options_of_all
def schedule_command(
    context: click.Context, words: tuple[str, ...], form: str, at: tuple[int, int], delay: int
) -> None:
    """Print a timer that runs `watch` with these options every night; nothing is installed.

    systemd passes the password as a credential, from the file of --credentials or /etc/sharebench/credentials. cron
    reads that file itself.
    """
    root = context.find_root()
    options = watch_command.make_context("watch", [*words], parent=root).params
    target = parse_target(options["target"])
    textfile_name = options["textfile"]
    if textfile_name and not Path(textfile_name).is_absolute():
        raise UsageError(f"--textfile {textfile_name}: a timer has no folder of its own; write the whole path")
    requests.series_request(run_options.spec_from_parameters(options), target, Secrets())

    named_file = (root.obj or {}).get("credentials")
    credentials = str(Path(named_file).absolute()) if named_file else _CREDENTIALS
    has_user = target.abilities.has_login and bool(target.user)
    logs_in = bool(named_file) or (has_user and not options["kerberos"])
    program = [*watch_timer.own_program(), "--db", str(notebooks.notebook_path(context).absolute())]
    watch_timer.refuse_line_ends([*program, credentials, *words])

    hour, minute = at
    timer = watch_timer.Timer(
        target=target,
        baseline=options["baseline"],
        user=getpass.getuser(),
        hour=hour,
        minute=minute,
        delay_minutes=delay,
        program=program,
        words=words,
        credentials=credentials if logs_in else None,
    )
    console.answer(watch_timer.cron_text(timer) if form == "cron" else watch_timer.systemd_text(timer))
