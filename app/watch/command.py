"""``sharebench watch``: one check of a path against its baseline; ``schedule``: the timer that runs it."""

import getpass
import re
import shlex
import shutil
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from app.base.child_process import own_command, own_environment
from app.base.errors import UsageError
from app.base.targets import parse_target
from app.base.user_files import read_toml
from app.cli import console, declare, logins, notebooks, textfile
from app.cli.progress import watch
from app.cli.run_options import series_options, spec_from_parameters, target_argument
from app.clients.base import Secrets
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from app.series.events import SeriesClosed
from app.series.record import record
from app.series.requests import series_request, with_label
from app.watch.record import WatchRequest, check, delivered, tell
from forms import wording
from forms.layout import visible
from forms.stats.decision import Limits
from forms.watch.metrics import check_samples, labels_of
from forms.watch.report import check_document, watch_report
from forms.watch.rule import EXIT_CODES, Confirm
from storage import looks
from storage.shared import why_no_baseline_name


def _confirm(_context: click.Context, _parameter: click.Parameter, value: str) -> Confirm:
    found = re.fullmatch(r"([1-9])/([1-9])", value)
    if not found or found[1] > found[2]:
        raise UsageError(f"--confirm {value}: write it as 2/3: 2 of at most 3 series have to agree; 9 is the most")
    return Confirm(needed=int(found[1]), most=int(found[2]))


def _baseline_name(_context: click.Context, _option: click.Parameter, name: str) -> str:
    if why := why_no_baseline_name(name):
        raise UsageError(why)
    return name


@declare.command("watch")
@target_argument()
@declare.option(
    "--baseline", "NAME", "Baseline to compare with; collected if it does not exist yet.", required=True,
    callback=_baseline_name,
)  # fmt: skip
@declare.option(
    "--noise", "PERCENT", "Never report a change within ± PERCENT.", declare.Number(0, 100, max_open=True), default=1.0
)
@declare.option(
    "--confirm", "M/N", "M of at most N series measured at once have to agree before a change is reported.",
    default="2/2", callback=_confirm,
)  # fmt: skip
@declare.option(
    "--on-change", "COMMAND", "Run by /bin/sh -c when the state changes, with a sharebench/watch/1 document on stdin."
)
@declare.textfile_option
@declare.measuring_options("Print the check as JSON.")
@series_options(
    "command", "runs", "warmups", "until_percent", "max_runs", "size_bytes", "make_file", "link_bits_per_second",
    "client", "block_bytes", "in_flight", "sign", "encrypt", "drop_cache", "flush", "verify", "label", "note",
    "quiet_time", "wait_seconds", "server_ssh", "smb_conf", "timeout_seconds", "ceiling",
)  # fmt: skip
def watch_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Check once whether TARGET became slower than its baseline.

    To be run by a timer (see `sharebench schedule`). Measures a series as `run` does, and compares it with the baseline
    by the rule of `compare` and the path's history. A slowdown is measured again at once, and reported only if that
    confirms it. The first checks, on three different nights, collect the baseline. A check at a busy time is postponed.

    Exit codes: 0 not slower, 1 slower, 3 inconclusive, postponed or still collecting, 4 cannot be measured.
    """
    notebooks.check_can_store(context)
    spec = with_label(spec, spec.texts.label or f"watch {choices['baseline']}")
    place, path, control = parse_target(target), notebooks.notebook_path(context), SeriesControl()
    series_request(spec, place, Secrets())  # tells a usage error before anything is stored
    with notebooks.open_notebook(context, make=True) as notebook:
        names = sorted({one.name for one in notebook.baselines()})
        watched = {looks.watch_of(one).baseline for one in notebook.recordings(looks.WATCH)}
    if names and choices["baseline"] not in {*names, *watched}:
        console.say(f"sharebench: {choices['baseline']} is a new baseline; the notebook has: {', '.join(names)}")
    log_in = cache(lambda: logins.secrets_for(context, place, kerberos=choices["kerberos"]))

    def measure() -> SeriesClosed:
        return watch(record(series_request(spec, *log_in()), path, control), control)

    request = WatchRequest(
        target=place, command=spec.command, baseline=choices["baseline"], confirm=choices["confirm"],
        limits=Limits(noise_percent=choices["noise"]),
    )  # fmt: skip
    found = check(request, path, measure)
    labels = labels_of(place, spec.command.value, choices["baseline"])
    textfile.write_textfile(choices["textfile"], lambda: check_samples(found, found.series, labels))
    console.answer_report(watch_report(found), as_json=choices["as_json"])
    if found.changed:
        failed = tell(check_document(found), choices["on_change"]) if choices["on_change"] else ""
        if failed:
            console.say(f"sharebench: {failed}")
        else:
            delivered(found.watch, path)
    return EXIT_CODES[found.outcome]


_CREDENTIALS = "/etc/sharebench/credentials"
_CREDENTIALS_SAY = "username = NAME, password = PASSWORD; mode 600"
_HANDED_OVER = "%d/login"


def _time(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, int]:
    try:
        return time.strptime(value, "%H:%M")[3:5]
    except ValueError:
        raise UsageError(f"--at {value}: write a time of day such as 02:30") from None


@declare.command("schedule", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="TARGET [OPTIONS OF watch]...")
@click.option("--print", "form", required=True, type=click.Choice(["systemd", "cron"]), help="What to print.")
@click.option("--at", default="02:30", show_default=True, metavar="HH:MM", callback=_time, help="Time of day.")
@declare.option("--delay", "MINUTES", "Start up to that much later, at random.", declare.Count(0, 720), default=30)
@declare.options_of_all
def schedule_command(
    context: click.Context, words: tuple[str, ...], form: str, at: tuple[int, int], delay: int
) -> None:
    """Print a timer that runs `watch` with these options every night; nothing is installed.

    systemd passes the password as a credential, from the file of --credentials or /etc/sharebench/credentials. cron
    reads that file itself.
    """
    options = watch_command.make_context("watch", [*words], parent=context.find_root()).params
    place, textfile = parse_target(options["target"]), options["textfile"]
    if textfile and not Path(textfile).is_absolute():
        raise UsageError(f"--textfile {textfile}: a timer has no folder of its own; write the whole path")
    series_request(spec_from_parameters(options), place, Secrets())
    asked = (context.find_root().obj or {}).get("credentials")
    credentials = str(Path(asked).absolute()) if asked else _CREDENTIALS
    logs_in = bool(asked) or (place.abilities.has_login and bool(place.user) and not options["kerberos"])
    start = [*_own_program(), "--db", str(notebooks.notebook_path(context).absolute())]
    _refuse_line_ends([*start, credentials, *words])
    forms = read_toml(Path(__file__).with_name("schedule.toml").read_text(encoding="utf-8"))
    user, about = getpass.getuser(), f"{wording.place(place)} against {wording.plain(options['baseline'])}"
    if form == "cron":
        start += ["--credentials", credentials] if logs_in else []
        written = forms["cron"].format(
            user=user, secret=f"; {credentials} has {_CREDENTIALS_SAY}" if logs_in else "", minute=at[1], hour=at[0],
            seconds=60 * delay, command=shlex.join([*start, "watch", *words]).replace("%", "\\%"),
        )  # fmt: skip
        console.answer(written.rstrip("\n"))
        return
    command = [*map(_in_unit, start), *(["--credentials", _HANDED_OVER] if logs_in else [])]
    command += map(_in_unit, ["watch", *words])
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"sharebench-watch-{place.host or ''}-{options['baseline']}").strip("-")
    shared = {"name": name, "about": about.replace("%", "%%")}
    handed_over = f"LoadCredential=login:{credentials.replace('%', '%%')}"
    credential = f"# {credentials} has {_CREDENTIALS_SAY}\n{handed_over}\n" if logs_in else ""
    service = forms["service"].format(**shared, user=user, credential=credential, command=" ".join(command))
    timer = forms["timer"].format(**shared, at=f"{at[0]:02}:{at[1]:02}", delay=delay)
    console.answer(f"{service}\n{timer}".rstrip("\n"))


def _own_program() -> list[str]:
    """How a timer, which starts in a folder of its own with few variables, calls this program."""
    if installed := shutil.which("sharebench"):
        return [str(Path(installed).absolute())]
    folder = own_environment()["PYTHONPATH"]  # a checkout
    return ["/usr/bin/env", f"PYTHONPATH={folder}", *own_command("app")]


def _refuse_line_ends(words: Sequence[str]) -> None:
    """A line end would begin another entry of a crontab, or another setting of a unit. Raises UsageError."""
    for word in words:
        if word and word.splitlines() != [word]:
            raise UsageError(f"a timer's entry is one line, and {visible(word)[:60]!r} has a line end: leave it out")


def _in_unit(word: str) -> str:
    """A word of ExecStart=, quoted for systemd."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    text = text.replace("\t", "\\t")
    return text if re.fullmatch(r"[\w@%+=:,./~-]+", text, re.ASCII) else f'"{text}"'
