"""``sharebench selftest``: the smallest change that this set-up can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from app.cli import common
from app.cli.commands.run import order_of, watch
from app.cli.run_options import choices_of_run, options_of_run
from app.cli.series_output import answer_report
from app.cli.turns_progress import watch_turns
from app.measure.control import SeriesControl
from app.recorder.recording import failure_of, record
from app.recorder.request import SeriesRequest
from app.recorder.turns import record_in_turns
from app.workflows.selftest import LABELS, repeat_orders, selftest_orders


@options_of_run(
    "command", "runs", "warmup", "size", "make_file", "link", "client_name", "block", "in_flight", "sign", "encrypt",
    "drop_cache", "quiet_time", "wait", "server_ssh", "smb_conf", "timeout", "ceiling",
)  # fmt: skip
@click.command("selftest", short_help="the smallest change that this set-up can show")
@click.argument("target")
@click.option(
    "--apart",
    type=common.Count(2, 100),
    metavar="N",
    help="N whole series, one after the other; not two in turns.",
)
@click.option("--json", "as_json", is_flag=True, help="The self-test as a document.")
@common.login_options
@common.options_of_all
@click.pass_context
def selftest_command(context: click.Context, /, target: str, **choices: Any) -> int:
    """Measures the same thing twice, in turns, as if it were a change.

    Says whether the same thing comes out the same, and the smallest change that this set-up can show with so many
    runs. With --apart it measures whole series one after the other, and says how far they lie apart: compare takes that
    as its history for series of the same path. All series are kept in the notebook.
    """
    order = order_of(context, target, choices_of_run(context, choices))
    if choices["apart"]:
        return _apart(context, repeat_orders(order, choices["apart"]), as_json=choices["as_json"])
    control = SeriesControl()
    events = record_in_turns(selftest_orders(order), common.notebook_path(context), control)
    closed = watch_turns(events, control, LABELS)
    for one in closed:
        failure = failure_of(one)
        if failure:
            raise failure
    from forms.experiments.report import selftest_report  # noqa: PLC0415  keeps `--help` light
    from forms.experiments.selftest import selftest  # noqa: PLC0415

    with common.notebook(context) as notebook:
        first, second = (notebook.series(one.series_id) for one in closed)
    answer_report(selftest_report(selftest(first, second)), as_json=choices["as_json"])
    return 0


def _apart(context: click.Context, orders: Sequence[SeriesRequest], *, as_json: bool) -> int:
    path, ids = common.notebook_path(context), []
    for order in orders:
        control = SeriesControl()
        closed = watch(record(order, path, control), control)
        failure = failure_of(closed)
        if failure:
            raise failure
        ids.append(closed.series_id)
    from forms.experiments.repeats import repeats  # noqa: PLC0415  keeps `--help` light
    from forms.experiments.report import repeats_report  # noqa: PLC0415

    with common.notebook(context) as notebook:
        found = repeats(notebook.all_of(ids))
    answer_report(repeats_report(found), as_json=as_json)
    return 0
