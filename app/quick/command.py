"""``sharebench quick``: the four lines that everybody quotes."""

from typing import Any

import click

from app.cli import cancelling, console, declare, notebooks, option_values, progress, run_options
from app.cli.targets import target_argument
from app.quick import measurement, plan, progress_lines
from app.quick import spec as quick_spec
from app.quick.options import quick_request
from app.quick.places_command import measure_from_places
from app.quick.record import record_quick
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from forms.quick.report import quick_report


@declare.command("quick")
@target_argument()
@declare.option(
    "--size",
    "SIZE",
    "Largest size of the file that is made.",
    option_values.parse_size,
    name="file_bytes",
    default=quick_spec.USUAL_SIZE,
)
@declare.option(
    "--seconds",
    "N",
    "Longest time of a run.",
    declare.Number(0, quick_spec.MOST_RUN_SECONDS, min_open=True),
    name="run_seconds",
    default=f"{quick_spec.RUN_SECONDS:g}",
)
@run_options.from_option("Measure on that machine, reached by ssh; may be repeated.")
@declare.whole_time_option
@declare.measuring_options("Print the quick test as JSON.")
@run_options.series_options(
    "link_bits_per_second", "sign", "encrypt", "like", "label", "note", "question", *run_options.OF_THE_SERVER
)
def quick_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Measure the four lines that everybody quotes, in about a minute and a half.

    Reads and writes one file: sequentially in blocks of 1 MiB with 8 requests at once and with 1, and at random places
    in blocks of 4 KiB with 32 and with 1 (SEQ1M Q8T1, SEQ1M Q1T1, RND4K Q32T1, RND4K Q1T1), each in three runs of
    at most 3 seconds. Prints MB/s, IOPS and ms with their intervals, what limits them (link, round trip, server or this
    client), and which a faster network would help. TARGET is a folder of a share (smb://), or of a disk or mounted
    share (file://). The file is made there, of 1 GiB or what is written in 15 seconds, at least 64 MiB, and removed at
    the end; no other file is touched.

    Exit codes: 0 complete; 4 it failed; what was measured before is kept.
    """
    notebooks.check_can_store(context)
    control = SeriesControl(option_values.seconds_within(choices))
    request = quick_request(context, target, spec, choices)
    path = notebooks.notebook_path(context)
    hosts = choices["from_hosts"]
    if len(hosts) > 1:
        return measure_from_places(request, hosts, path, control, as_json=choices["as_json"])

    line = progress.StatusLine()

    def show(event: measurement.QuickEvent) -> None:
        if isinstance(event, plan.LineBegan):
            line.draw(progress_lines.status_text(event))
            return
        text = progress_lines.progress_line(event)
        if text:
            line.say(text)

    events = record_quick(request, path, control)
    closed = progress.watch_to_end(events, control, measurement.QuickClosed, show, line)
    quick = closed.quick
    if quick.lines or choices["as_json"]:
        console.answer_report(quick_report(quick, closed.since), as_json=choices["as_json"])
    return cancelling.exit_code_when_complete(quick, control, "quick test")
