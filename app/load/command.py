"""``sharebench load``: many users at once; and ``load-worker``, its generator on another machine."""

from functools import partial
from typing import Any

import click

from app.cli import (
    console,
    declare,
    logins,
    notebooks,
    option_values,
    progress,
    resuming,
    run_options,
    textfile,
)
from app.cli.targets import targets_argument
from app.load import metrics, option_request, scenario
from app.load import progress_lines as load_progress
from app.load import spec as load_spec
from app.load.measurement import LoadClosed
from app.load.places_command import measure_from_places
from app.load.record import run_load
from app.load.worker_processes import serve_workers
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from forms.load.report import load_report
from storage.load import records
from storage.plan import MOST_SECONDS
from storage.recordings import LOAD

NO_VALID_POINT = 4
"""Exit code where no point could be measured."""
_KEPT_ON_RESUME = {
    "textfile",
    "as_json",
    "kerberos",
    "server_ssh",
    "smb_conf",
    "timeout_seconds",
    "sign",
    "encrypt",
    "within_minutes",
}
"""Options that may be given with --resume; what the load is, its notebook says."""


@declare.command("load")
@targets_argument()
@declare.option(
    "--users", "N,N,…", f"Number of users per load point: 10,20,40 or 10..200/10 ({load_spec.USUAL_USERS})."
)
@click.option("--find-capacity", is_flag=True, help="Double the users until overload, then narrow it down.")
@declare.option(
    "--limit",
    "SECONDS",
    "Overload: more than 5 % of the responses take longer than this.",
    declare.Number(0.001, 3600),
    name="limit_seconds",
)
@declare.option(
    "--scenario",
    "NAME|FILE",
    f"Work of the users: {', '.join(scenario.NAMES)}, or your own file.",
    default=load_spec.USUAL_SCENARIO,
)
@click.option("--print-scenario", is_flag=True, help="Print the file of the scenario and exit.")
@declare.option(
    "--duration", "SECONDS", "Length of the measured window.", declare.Number(1, records.MOST_STEADY_SECONDS)
)
@declare.option(
    "--settle", "SECONDS", "Time between the logins and the measured window.", declare.Number(0, MOST_SECONDS)
)
@declare.option(
    "--ramp",
    "N",
    "Number of logins per second.",
    declare.Number(0.1, 10000),
    default=f"{records.LoadChoices().ramp_per_second:g}",
)
@declare.option("--think", "SECONDS", "Pause before each request: 0.1, or exp:0.1 for exponential think time.")
@declare.option(
    "--pace",
    "SECONDS",
    "Time between the requests of a user, answered or not; late ones are counted.",
    declare.Number(0.0001, 3600),
)
@declare.option("--read", "PERCENT", "Share of reads among the requests.", declare.Number(0, 100), name="read_percent")
@declare.option("--files", "N", "Number of files that the users work on.", declare.Count(1, records.MOST_FILES))
@declare.option("--sizes", "SIZE:SHARE,…", "Sizes of these files with their shares, such as 4K:8,64K:3,1M:1.")
@click.option("--by-size", is_flag=True, help="Measure each load point once for each file size.")
@declare.option("--seed", "N", "Random seed.", declare.Count(0, 2**31))
@declare.option("--processes", "N", "Number of processes that make the load (one per core).", declare.Count(1, 256))
@declare.option(
    "--workers-on",
    "HOST,HOST",
    "More machines to make the load: [USER@]HOST by ssh, with the same sharebench.",
    name="hosts",
)
@run_options.from_option("Make the load on that machine, reached by ssh; may be repeated.")
@click.option("--keep-files", is_flag=True, help="Keep the files on the server for a later load.")
@declare.option("--reuse-files", "FOLDER", "Use the files that --keep-files left in FOLDER, .sharebench-…")
@declare.whole_time_option
@declare.option("--label", "TEXT", "Short name of the recording.", default="")
@declare.option("--resume", "LOAD", "Resume an interrupted load; `last` is the newest.")
@declare.textfile_option
@declare.measuring_options("Print the load as JSON.")
@run_options.series_options(
    "question", "link_bits_per_second", "sign", "encrypt", "like", "single_requests", *run_options.OF_THE_SERVER
)
def load_command(context: click.Context, /, targets: tuple[str, ...], spec: SeriesSpec, **choices: Any) -> int:
    """Measure a server with many users at once.

    Each user has a connection and a login of its own. For each number of users the form shows requests per second,
    response times, errors, and the server's CPU and memory.

    TARGET is a folder on a share. The files are created in a new folder there and removed at the end; nothing else is
    touched. With --scenario print it is a printer share, and no other is printed to. Users alternate between several
    TARGETs, such as the addresses of a server's network cards. Every finished load point is kept, also after Ctrl-C;
    --resume continues with the next one.

    Several --from make a load each, point by point in turn, so that no two load the server at the same time. One table
    has all of them: requests per second, response times, round trip and share of the link, and the answer names the
    slow leg. (--workers-on is something else: several machines make one load.)
    """
    if choices["print_scenario"]:
        console.answer(scenario.scenario_text(choices["scenario"]).rstrip("\n"))
        return 0

    notebooks.check_can_store(context)
    if len(choices["from_hosts"]) > 1 and not choices["resume"]:
        return _measure_from_places(context, targets, spec, choices)
    with textfile.zeros_if_it_fails(choices["textfile"], partial(_zeros, context, targets, choices)):
        control = SeriesControl(option_values.seconds_within(choices))
        stored: records.Load | None = None
        if choices["resume"]:
            stored, place = resuming.recording_to_resume(context, choices["resume"], _KEPT_ON_RESUME, LOAD)
            _, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
            request = option_request.request_to_resume(stored, secrets, spec)
        else:
            request = _new_request(context, targets, spec, choices, run_options.only_host(choices["from_hosts"]))

        line = progress.StatusLine()
        lines = load_progress.LoadProgressLines(line.draw, line.say)
        steps = run_load(request, notebooks.notebook_path(context), control, stored)
        closed = progress.watch_to_end(steps, control, LoadClosed, lines.show, line)

    textfile.write_textfile(choices["textfile"], partial(metrics.samples_of, closed.load))
    if closed.stored:
        console.answer_report(load_report(closed.load, closed.prediction), as_json=choices["as_json"])
    load_progress.raise_failure(closed, control)
    return 0 if _has_point(closed.load) else NO_VALID_POINT


def _measure_from_places(
    context: click.Context, urls: tuple[str, ...], spec: SeriesSpec, choices: dict[str, Any]
) -> int:
    hosts = choices["from_hosts"]
    option_request.check_options_of_several(choices, option_request.scenario_of(choices))
    request = _new_request(context, urls, spec, choices, hosts[0])
    control = SeriesControl(option_values.seconds_within(choices))
    path = notebooks.notebook_path(context)
    return measure_from_places(request, hosts, path, control, as_json=choices["as_json"])


def _has_point(load: records.Load) -> bool:
    return any(point.status is not records.PointStatus.FAILED for point in load.points)


def _zeros(context: click.Context, urls: tuple[str, ...], choices: dict[str, Any]) -> metrics.Samples:
    """The metrics where the load could not be measured."""
    if not choices["resume"]:
        return metrics.zeros_of_options(urls, choices)
    with notebooks.open_notebook(context) as notebook:
        return metrics.zeros_of(notebook.load(choices["resume"]))


def _new_request(
    context: click.Context, urls: tuple[str, ...], spec: SeriesSpec, choices: dict[str, Any], from_host: str | None
) -> load_spec.LoadRequest:
    """``from_host``: the machine that makes the load; None for this one."""
    option_request.check_options(urls, choices)
    load_choices = option_request.load_choices_of(spec, choices, from_host)
    work = option_request.scenario_of(choices)
    first, *others = option_request.targets_of(urls)
    first, secrets = logins.secrets_for(context, first, kerberos=choices["kerberos"])
    targets = option_request.with_user_of_first(first, others)
    return option_request.new_request(targets, secrets, work, load_choices, spec, choices)


@click.command("load-worker", hidden=True)
def load_worker_command() -> int:
    """Makes load for the machine that started it through ssh; ends when that hangs up."""
    return serve_workers()
