"""``sharebench selftest``: the smallest change that this set-up can show."""

from collections.abc import Sequence
from typing import Any

import click

from app.cli import common
from app.cli.progress import watch, watch_turns
from app.cli.run_options import chosen, series_options, target_argument
from app.cli.series_output import answer_report
from app.measure.control import SeriesControl
from app.recorder.recording import failure_of, record
from app.recorder.request import SeriesRequest
from app.recorder.turns import record_in_turns
from app.workflows.experiments import LABELS, repeat_requests, selftest_requests
from app.workflows.requests import series_request
from forms.experiments.report import repeats_report, selftest_report
from forms.experiments.selftest import repeats, selftest


@click.command("selftest")
@target_argument()
@click.option(
    "--apart",
    type=common.Count(2, 100),
    metavar="N",
    help="N whole series, one after the other; not two in turns.",
)
@click.option("--json", "as_json", is_flag=True, help="The self-test as a document.")
@common.login_options
@common.options_of_all
@series_options(
    "command", "runs", "warmups", "size_bytes", "make_file", "link_bits_per_second", "client", "block_bytes",
    "in_flight", "sign", "encrypt", "drop_cache", "quiet_time", "wait_seconds", "server_ssh", "smb_conf",
    "timeout_seconds", "ceiling",
)  # fmt: skip
def selftest_command(context: click.Context, /, target: str, **choices: Any) -> int:
    """Measures the same thing twice, in turns, as if it were a change.

    Says whether the same thing comes out the same, and the smallest change that this set-up can show with so many
    runs. With --apart it measures whole series one after the other, and says how far they lie apart: compare takes that
    as its history for series of the same path. All series are kept in the notebook.
    """
    request = series_request(chosen(choices), *common.target_and_secrets(context, target, kerberos=choices["kerberos"]))
    if choices["apart"]:
        return _apart(context, repeat_requests(request, choices["apart"]), as_json=choices["as_json"])
    control = SeriesControl()
    events = record_in_turns(selftest_requests(request), common.notebook_path(context), control)
    closed = watch_turns(events, control, LABELS)
    for one in closed:
        failure = failure_of(one)
        if failure:
            raise failure

    with common.notebook(context) as notebook:
        first, second = (notebook.series(one.series_id) for one in closed)
    answer_report(selftest_report(selftest(first, second)), as_json=choices["as_json"])
    return 0


def _apart(context: click.Context, requests: Sequence[SeriesRequest], *, as_json: bool) -> int:
    path, ids = common.notebook_path(context), []
    for request in requests:
        control = SeriesControl()
        closed = watch(record(request, path, control), control)
        failure = failure_of(closed)
        if failure:
            raise failure
        ids.append(closed.series_id)
    with common.notebook(context) as notebook:
        found = repeats(notebook.all_of(ids))
    answer_report(repeats_report(found), as_json=as_json)
    return 0
