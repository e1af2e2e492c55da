"""``sharebench watch``: one check of a path against its baseline, to be run by a timer."""

from dataclasses import replace
from functools import cache
from typing import Any

import click

from app.cli import common, output
from app.cli.progress import watch
from app.cli.run_options import chosen, series_options, target_argument
from app.cli.series_output import answer_report
from app.clients.base import Secrets
from app.errors import UsageError
from app.measure.control import SeriesControl
from app.recorder.recording import failure_of, record
from app.targets import parse_target
from app.workflows.requests import series_request
from app.workflows.watch import WatchRequest, check, delivered, tell
from forms.stats.decision import Limits
from forms.watch.report import EXIT_CODES, check_document, watch_report
from forms.watch.rule import Confirm


def _confirm(_context: click.Context, _parameter: click.Parameter, value: str) -> Confirm:
    needed, _, most = value.partition("/")
    if not (needed.isascii() and needed.isdecimal() and most.isascii() and most.isdecimal()):
        raise UsageError(f"--confirm {value}: write it as 2/3: 2 of at most 3 series have to agree")
    if not 1 <= int(needed) <= int(most) <= 9:
        raise UsageError(f"--confirm {value}: 1 to 9 series, of which at least 1 and at most all have to agree")
    return Confirm(needed=int(needed), most=int(most))


@common.command("watch")
@target_argument()
@click.option("--baseline", required=True, metavar="NAME", help="What to compare with; collected if there is none yet.")
@click.option(
    "--noise", type=common.Number(0, 100, max_open=True), default=1.0, show_default=True, metavar="PERCENT",
    help="A change within ± this is never reported.",
)  # fmt: skip
@click.option(
    "--confirm", default="2/2", show_default=True, metavar="M/N", callback=_confirm,
    help="M of at most N series measured at once have to agree before a change is reported.",
)  # fmt: skip
@click.option(
    "--on-change", metavar="COMMAND",
    help="Run by /bin/sh -c when the state changes, with a sharebench/watch/1 document on stdin.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")
@common.login_options
@common.options_of_all
@series_options(
    "command", "runs", "warmups", "until_percent", "max_runs", "size_bytes", "make_file", "link_bits_per_second",
    "client", "block_bytes", "in_flight", "sign", "encrypt", "drop_cache", "verify", "label", "note", "quiet_time",
    "wait_seconds", "server_ssh", "smb_conf", "timeout_seconds", "ceiling",
)  # fmt: skip
def watch_command(context: click.Context, /, target: str, **choices: Any) -> int:
    """Check once whether TARGET became slower than its baseline.

    To be run by a timer (see `sharebench schedule`). Measures a series as `run` does, and compares it with the baseline
    by the rule of `compare` and the path's history. A slowdown is measured again at once, and reported only if that
    confirms it. The first checks, on three different nights, collect the baseline. A check at a busy time is postponed.

    Exit codes: 0 not slower, 1 slower, 3 inconclusive, postponed or still collecting, 4 cannot be measured.
    """
    options = chosen(choices)
    options = replace(options, label=options.label or f"watch {choices['baseline']}")
    place, path, control = parse_target(target), common.notebook_path(context), SeriesControl()
    series_request(options, place, Secrets())  # tells a usage error before anything is stored
    log_in = cache(lambda: common.secrets_for(context, place, kerberos=choices["kerberos"]))

    def measure() -> str:
        closed = watch(record(series_request(options, *log_in()), path, control), control)
        if failure := failure_of(closed):
            raise failure
        return closed.series_id

    request = WatchRequest(
        target=place, command=options.command, baseline=choices["baseline"], confirm=choices["confirm"],
        limits=Limits(noise_percent=choices["noise"]),
    )  # fmt: skip
    found = check(request, path, measure)
    answer_report(watch_report(found), as_json=choices["as_json"])
    if found.changed:
        failed = tell(check_document(found), choices["on_change"], found.watch, path) if choices["on_change"] else ""
        if failed:
            output.say(f"sharebench: {failed}")
        else:
            delivered(found.watch, path)
    return EXIT_CODES[found.outcome]
