"""``sharebench watch``: one check of a path against its baseline; ``schedule``: the timer that runs it."""

import getpass
import re
import time
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli import console, declare, logins, notebooks, run_options, textfile
from app.cli.progress import watch
from app.clients.base import Secrets
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from app.series import requests
from app.series.events import SeriesClosed
from app.series.record import record
from app.watch import record as watch_record
from app.watch import timer as watch_timer
from forms.stats.decision import Limits
from forms.watch import report as watch_forms
from forms.watch.metrics import check_samples, labels_of
from forms.watch.rule import EXIT_CODES, Confirm
from storage import looks
from storage.plan import NOISE_PERCENT
from storage.records import Target
from storage.shared import why_no_baseline_name

_CREDENTIALS = "/etc/sharebench/credentials"
"""Where a timer's password lies, unless --credentials names another file."""


def _parse_confirm(_context: click.Context, _parameter: click.Parameter, value: str) -> Confirm:
    match = re.fullmatch(r"([1-9])/([1-9])", value)
    if not match or match[1] > match[2]:
        raise UsageError(f"--confirm {value}: write it as 2/3: 2 of at most 3 series have to agree; 9 is the most")
    return Confirm(needed=int(match[1]), most=int(match[2]))


def _check_baseline_name(_context: click.Context, _option: click.Parameter, name: str) -> str:
    problem = why_no_baseline_name(name)
    if problem:
        raise UsageError(problem)
    return name


@declare.command("watch")
@run_options.target_argument()
@declare.option(
    "--baseline",
    "NAME",
    "Baseline to compare with; collected if it does not exist yet.",
    required=True,
    callback=_check_baseline_name,
)
@declare.option(
    "--noise",
    "PERCENT",
    "Never report a change within ± PERCENT.",
    declare.Number(0, 100, max_open=True),
    default=NOISE_PERCENT,
)
@declare.option(
    "--confirm",
    "M/N",
    "M of at most N series measured at once have to agree before a change is reported.",
    default=str(Confirm()),
    callback=_parse_confirm,
)
@declare.option(
    "--on-change", "COMMAND", "Run by /bin/sh -c when the state changes, with a sharebench/watch/1 document on stdin."
)
@declare.textfile_option
@declare.measuring_options("Print the check as JSON.")
@run_options.series_options(
    "command",
    "runs",
    "warmups",
    "until_percent",
    "max_runs",
    "size_bytes",
    "make_file",
    "link_bits_per_second",
    "client",
    "block_bytes",
    "in_flight",
    "sign",
    "encrypt",
    "drop_cache",
    "flush",
    "verify",
    "label",
    "note",
    "quiet_time",
    "wait_seconds",
    "server_ssh",
    "smb_conf",
    "timeout_seconds",
    "ceiling",
)
def watch_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Check once whether TARGET became slower than its baseline.

    To be run by a timer (see `sharebench schedule`). Measures a series as `run` does, and compares it with the baseline
    by the rule of `compare` and the path's history. A slowdown is measured again at once, and reported only if that
    confirms it. The first checks, on three different nights, collect the baseline. A check at a busy time is postponed.

    Exit codes: 0 not slower, 1 slower, 3 inconclusive, postponed or still collecting, 4 cannot be measured.
    """
    notebooks.check_can_store(context)
    baseline = choices["baseline"]
    spec = requests.with_label(spec, spec.texts.label or f"watch {baseline}")
    place = parse_target(target)
    path = notebooks.notebook_path(context)
    # Tells a usage error before anything is stored.
    requests.series_request(spec, place, Secrets())
    _say_if_new_baseline(context, baseline)
    control = SeriesControl()

    @cache
    def log_in() -> tuple[Target, Secrets]:
        return logins.secrets_for(context, place, kerberos=choices["kerberos"])

    def measure() -> SeriesClosed:
        request = requests.series_request(spec, *log_in())
        return watch(record(request, path, control), control)

    request = watch_record.WatchRequest(
        target=place,
        command=spec.command,
        baseline=baseline,
        confirm=choices["confirm"],
        limits=Limits(noise_percent=choices["noise"]),
    )
    check = watch_record.check(request, path, measure)

    labels = labels_of(place, spec.command.value, baseline)
    textfile.write_textfile(choices["textfile"], partial(check_samples, check, check.series, labels))
    console.answer_report(watch_forms.watch_report(check), as_json=choices["as_json"])
    if check.changed:
        document = watch_forms.check_document(check)
        problem = watch_record.tell(document, choices["on_change"]) if choices["on_change"] else ""
        if problem:
            console.say(f"sharebench: {problem}")
        else:
            watch_record.mark_delivered(check.watch, path)
    return EXIT_CODES[check.outcome]


def _say_if_new_baseline(context: click.Context, baseline: str) -> None:
    """A name that no baseline or watch has may be a misspelt one."""
    with notebooks.open_notebook(context, make=True) as notebook:
        names = sorted({known.name for known in notebook.baselines()})
        watched = {looks.watch_of(head).baseline for head in notebook.recordings(looks.WATCH)}
    if names and baseline not in {*names, *watched}:
        console.say(f"sharebench: {baseline} is a new baseline; the notebook has: {', '.join(names)}")


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
