"""``sharebench selftest``: the smallest change that a setup can show."""

from typing import Any

import click

from app.cli import console, declare, logins, measuring, notebooks, option_values, progress, run_options, targets
from app.recording import process
from app.recording.spec import SeriesRequest, SeriesSpec
from app.series import requests as series_requests
from app.series.record import record
from forms.experiments.repeats import repeats, selftest
from forms.experiments.repeats_report import repeats_report, selftest_report

_FEWEST_REPEATS = 2
"""Series that are measured apart even if they do not end in time: one alone differs from nothing."""


@declare.command("selftest")
@targets.target_argument()
@declare.option(
    "--apart", "N", "Measure N whole series one after another, instead of two interleaved.", declare.Count(2, 100)
)
@declare.whole_time_option
@declare.measuring_options("Print the self-test as JSON.")
@run_options.series_options(
    "command",
    "runs",
    "warmups",
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
    "quiet_time",
    "wait_seconds",
    "ceiling",
    *run_options.OF_THE_SERVER,
)
def selftest_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Find the smallest change that this setup can show.

    Measures the same thing twice, interleaved, as if it were a change, and says whether the results agree. With --apart
    it measures whole series one after another and says by how much they differ; `compare` uses that for later series of
    the same path. All series are kept in the notebook.
    """
    notebooks.check_can_store(context)
    target_and_secrets = logins.target_and_secrets(context, target, kerberos=choices["kerberos"])
    request = series_requests.series_request(spec, *target_and_secrets)
    requests = series_requests.equal_requests(request, choices["apart"] or 0)
    within_seconds = option_values.seconds_within(choices)

    if choices["apart"]:
        series_ids = _measure_apart(context, requests, within_seconds)
        with notebooks.open_notebook(context) as notebook:
            report = repeats_report(repeats(notebook.all_of(series_ids)))
    else:
        path = notebooks.notebook_path(context)
        measured = measuring.measure_interleaved(requests, path, series_requests.LABELS, within_seconds)
        if measured.error is not None:
            raise measured.error
        base, other = measured.series
        report = selftest_report(selftest(base, other))
    console.answer_report(report, as_json=choices["as_json"])
    return 0


def _measure_apart(context: click.Context, requests: list[SeriesRequest], within_seconds: float) -> list[str]:
    """Measure equal series one after another, as many as end in time; returns their ids."""
    path = notebooks.notebook_path(context)
    first_order = process.MeasuringOrder.of_request(requests[0])
    prospect = measuring.prospect_of(first_order, path, len(requests))
    control = process.SeriesControl(within_seconds)
    series_ids: list[str] = []
    for request in requests:
        if len(series_ids) >= _FEWEST_REPEATS and not control.limit.has_time_for_another():
            console.say(f"sharebench: {control.finish_in_time('series').text}")
            break

        control.limit.begin_timing()
        is_first = not series_ids
        closed = progress.watch(record(request, path, control), control, prospect=prospect if is_first else None)
        if error := measuring.error_that_ended(control, [closed]):
            raise error
        control.limit.end_timing()
        series_ids.append(closed.series_id)
    return series_ids
