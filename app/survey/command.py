"""``sharebench survey``: measure everything on one server."""

from typing import Any

import click

from app.base import errors
from app.cli import console, declare, notebooks, option_values, progress, run_options
from app.recording.process import SeriesControl
from app.recording.spec import SeriesSpec
from app.survey import options, planning, record
from forms.experiments.survey import StationState, Survey
from forms.experiments.survey_report import survey_report


@declare.command("survey")
@click.argument(
    "hosts", nargs=-1, required=True, metavar="HOST...", is_eager=True, callback=options.take_settings_of_hosts
)
@declare.option("--smb", "SHARE[/FOLDER]", "Share to measure over SMB, with a folder that can be written.")
@declare.option("--ftp", "FOLDER", "Folder to measure over FTP, such as / or /upload.")
@declare.option("--file", "NAME", "File to read from both, instead of a new one.")
@click.option("--iperf3/--no-iperf3", default=True, help="Measure bare TCP if an iperf3 server answers (default).")
@declare.option("--user", "[DOMAIN;]USER", "User to log in as; without it guest and anonymous.")
@declare.option("--ftp-user", "USER", "User to log in as over FTP, if different.")
@options.port_options
@click.option("--only", type=click.Choice(["get", "put"]), help="Only read, or only write.")
@click.option(
    "--size",
    "size_bytes",
    metavar="SIZE",
    type=option_values.parse_size,
    help="Size of the files (default: a few seconds of the link speed).",
)
@declare.whole_time_option
@click.option("--again", is_flag=True, help="Start again, even if the last survey of these hosts is incomplete.")
@declare.measuring_options("Print the survey as JSON.")
@run_options.series_options(
    "runs",
    "warmups",
    "link_bits_per_second",
    "quiet_time",
    "wait_seconds",
    "ceiling",
    "question",
    *run_options.OF_THE_SERVER,
)
def survey_command(context: click.Context, /, spec: SeriesSpec, **choices: Any) -> int:
    """Measure everything on one server: SMB, FTP and bare TCP, read and write; then say what to look at first.

    @NAME, a server in the settings file, gives address, share or folder, and user.

    The series are interleaved run by run, so that drift affects all of them equally. On the server itself the loopback
    and its own address are measured. New files are removed at the end. The same command resumes an interrupted survey.
    """
    notebooks.check_can_store(context)
    path = notebooks.notebook_path(context)
    with notebooks.open_notebook(context, make=True) as notebook:
        log_in = options.log_in_once(context, choices)
        survey_choices = options.survey_choices(spec, choices)
        planned = planning.plan_round(survey_choices, notebook, log_in, again=choices["again"])
    _say_plan(planned)

    control = SeriesControl(option_values.seconds_within(choices))
    names = [station.name for station in planned.stations]
    events = record.measure_round(planned, path, control)
    progress.watch_turns(events, control, names, planned.runs_to_come, estimated_seconds=planned.seconds)

    with notebooks.open_notebook(context) as notebook:
        survey = record.result(planned, notebook)
    console.answer_report(survey_report(survey), as_json=choices["as_json"])
    if control.cancelled.is_set():
        raise errors.CancelledError(f"{control.why_cancelled}; the same command resumes the survey")
    _check_complete(survey)
    return 0


def _say_plan(planned: planning.SurveyRound) -> None:
    """Say before anything is measured what will be, and how long it takes."""
    name = planned.experiment.name
    stations = len(planned.stations)
    to_do = len(planned.todo)
    if planned.continued:
        text = f"resuming {name}: {to_do} of {stations} series to do, {planned.time_text}; --again begins a new one"
    else:
        left_out = f", {stations - to_do} left out" if stations > to_do else ""
        text = f"{name}: {to_do} interleaved series{left_out}, {planned.time_text}"
    console.say(text)


def _check_complete(survey: Survey) -> None:
    """Raises MeasurementError where a series failed or was interrupted."""
    failed = [station for station in survey.stations if station.state not in {StationState.DONE, StationState.LEFT_OUT}]
    if failed:
        raise errors.MeasurementError(
            f"{len(failed)} of {len(survey.stations)} series of the survey failed, {failed[0].name} first:"
            f" {failed[0].why}; the same command again repeats only these"
        )
