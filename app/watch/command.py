"""``sharebench watch``: one check of a path against its baseline."""

import re
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli import console, declare, logins, moved, notebooks, option_values, run_options, targets, textfile
from app.cli.progress import watch
from app.clients.base import Secrets
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from app.series import requests
from app.series.events import SeriesClosed
from app.series.record import record
from app.watch import on_change
from app.watch import record as watch_record
from app.watch.request import WatchRequest
from forms.stats.decision import Limits
from forms.watch import metrics, report, rule
from storage.plan import NOISE_PERCENT, QuietTime
from storage.recordings import WATCH
from storage.records import Target
from storage.shared import why_no_baseline_name
from storage.watch.records import watch_of


def _parse_confirm(_context: click.Context, _parameter: click.Parameter, value: str) -> rule.Confirm:
    match = re.fullmatch(r"([1-9])/([1-9])", value)
    if not match or match[1] > match[2]:
        raise UsageError(f"--confirm {value}: write it as 2/3: 2 of at most 3 series have to agree; 9 is the most")
    return rule.Confirm(needed=int(match[1]), most=int(match[2]))


def _check_baseline_name(_context: click.Context, _option: click.Parameter, name: str) -> str:
    problem = why_no_baseline_name(name)
    if problem:
        raise UsageError(problem)
    return name


@declare.command("watch")
@targets.target_argument()
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
    default=str(rule.Confirm()),
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
    "random",
    "read_percent",
    "random_seconds",
    "sign",
    "encrypt",
    "drop_cache",
    "flush",
    "verify",
    "prepare",
    "conclude",
    "server_prepare",
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
    confirms it. The first checks, on three different nights, collect the baseline. A check at a busy time is postponed
    and measures nothing, unless --quiet-time says otherwise.

    Exit codes: 0 not slower, 1 slower, 3 inconclusive, postponed or still collecting, 4 cannot be measured.
    """
    notebooks.check_can_store(context)
    baseline = choices["baseline"]
    spec = requests.with_label(spec, spec.texts.label or f"watch {baseline}")
    if "quiet_time" not in option_values.typed_options(context):
        # A series of a busy time decides nothing, so none is measured.
        spec = replace(spec, monitor=replace(spec.monitor, quiet_time=QuietTime.REQUIRE))
    place = parse_target(target)
    path = notebooks.notebook_path(context)
    # Raises a usage error before anything is stored.
    requests.series_request(spec, place, Secrets())
    _say_if_new_baseline(context, baseline)
    control = SeriesControl()

    # Called when the first series is measured, and not again for those that confirm it.
    @cache
    def log_in() -> tuple[Target, Secrets]:
        return logins.secrets_for(context, place, kerberos=choices["kerberos"])

    def measure() -> SeriesClosed:
        request = requests.series_request(spec, *log_in())
        closed = watch(record(request, path, control), control)
        # Without the baseline, which another notebook lacks, nothing is compared.
        moved.raise_at_once()
        return closed

    request = WatchRequest(
        target=place,
        command=spec.command,
        baseline=baseline,
        confirm=choices["confirm"],
        limits=Limits(noise_percent=choices["noise"]),
    )

    def answer(check: rule.Check) -> None:
        labels = metrics.labels_of(place, spec.command.value, baseline)
        textfile.write_textfile(choices["textfile"], partial(metrics.check_samples, check, check.series, labels))
        console.answer_report(report.watch_report(check), as_json=choices["as_json"])

    check = watch_record.check(request, path, measure, answer)
    if check.changed:
        _tell_change(check, choices["on_change"], path)
    return rule.EXIT_CODES[check.outcome]


def _tell_change(check: rule.Check, command: str | None, path: Path) -> None:
    """Run the command of --on-change, if there is one; the change counts as told unless that failed."""
    problem = on_change.tell(report.check_document(check), command) if command else ""
    if problem:
        console.say(f"sharebench: {problem}")
    else:
        on_change.mark_delivered(check.watch, path)


def _say_if_new_baseline(context: click.Context, baseline: str) -> None:
    """A name that no baseline or watch has may be a misspelt one."""
    with notebooks.open_notebook(context, make=True) as notebook:
        names = sorted({stored.name for stored in notebook.baselines()})
        names_of_watches = {watch_of(head).baseline for head in notebook.recordings(WATCH)}
    if names and baseline not in {*names, *names_of_watches}:
        console.say(f"sharebench: {baseline} is a new baseline; the notebook has: {', '.join(names)}")
