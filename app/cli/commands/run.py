"""``sharebench run``: one series, measured and kept."""

import sys
from dataclasses import replace
from typing import Any

import click

from app.cli import common
from app.cli.commands.notebook import reject_unusual
from app.cli.progress import watch
from app.cli.run_options import chosen, series_options, target_argument
from app.cli.series_output import show
from app.cli.versus import run_versus
from app.errors import CancelledError, UsageError
from app.measure.control import SeriesControl
from app.recorder.recording import check_resumable, failure_of, record, resume
from app.workflows.requests import SeriesOptions, options_of, series_request
from forms.layout import visible
from storage.records import Series
from storage.target_url import format_target

_WITH_RESUME = {"as_json", "confirm_target", "kerberos", "reject_unusual", "target"}
_WITH_AGAIN = _WITH_RESUME | {"label", "note", "question"}


@click.command("run")
@target_argument(required=False)
@series_options()
@click.option(
    "--again", metavar="SERIES", help="SERIES measured again: its repeat. Alone: with its target and settings."
)
@click.option(
    "--versus",
    metavar="OPTIONS",
    help="In turns (A B B A) with other options of the client: --versus '--in-flight 1'; prints the comparison.",
)
@click.option("--reject-unusual", is_flag=True, help="Mark unusual runs unusable; intervals get too narrow by it.")
@click.option("--resume", "resume_reference", metavar="SERIES", help="Complete an interrupted series.")
@click.option(
    "--confirm-target", is_flag=True, help="With --resume or --again: the target of an imported series is meant."
)
@click.option("--json", "as_json", is_flag=True, help="The series document instead of the form.")
@common.login_options
@common.options_of_all
def run_command(context: click.Context, /, target: str | None, resume_reference: str | None, **choices: Any) -> int:
    """Measures one series against TARGET, records each run as it ends, and prints the form.

    TARGET is smb://[DOMAIN;][USER@]HOST[:PORT]/SHARE/PATH, ftp://…, ftps://…, file:///PATH or iperf3://HOST[:PORT].
    For --put, PATH names a folder.
    """
    control = SeriesControl()
    path = common.notebook_path(context)
    if resume_reference:
        if target:
            raise UsageError("--resume takes the target from the series: leave the TARGET out")
        common.refuse_given(context, "resume_reference", _WITH_RESUME)
        series = common.series(context, resume_reference)
        check_resumable(series)
        _confirm(series, confirmed=choices["confirm_target"])
        _, secrets = common.secrets_for(context, series.target, kerberos=choices["kerberos"])
        events = resume(series.id, secrets, path, control, confirmed=True)
    elif not target and choices["again"]:
        common.refuse_given(context, "again", _WITH_AGAIN)
        series = common.series(context, choices["again"])
        _confirm(series, confirmed=choices["confirm_target"])
        full, secrets = common.secrets_for(context, series.target, kerberos=choices["kerberos"])
        repeated = replace(
            options_of(series),
            base_id=series.id,
            repeats=True,
            label=choices["label"],
            note=choices["note"],
            question=choices["question"],
        )
        events = record(series_request(repeated, full, secrets), path, control)
    elif not target:
        raise UsageError("what shall be measured? sharebench run TARGET; see `sharebench run --help`")
    else:
        full, secrets = common.target_and_secrets(context, target, kerberos=choices["kerberos"])
        if choices["versus"] is not None:
            options = _options(context, choices)
            if options.experiment or options.until_percent or choices["reject_unusual"]:
                raise UsageError(
                    "--versus is a comparison by itself: leave out --experiment, --until, --reject-unusual"
                )
            return run_versus(options, choices["versus"], full, secrets, path, as_json=choices["as_json"])
        events = record(series_request(_options(context, choices), full, secrets), path, control)
    closed = watch(events, control)
    failure = failure_of(closed)
    if failure and not closed.stored:
        raise failure
    if choices["reject_unusual"]:
        reject_unusual(context, closed.series_id)
    found = common.series(context, closed.series_id)
    if found.runs or choices["as_json"]:
        show(found, as_json=choices["as_json"])
    if failure:
        raise failure
    return 0


def _options(context: click.Context, choices: dict[str, Any]) -> SeriesOptions:
    """What is chosen for the series, as a repeat of another one with ``--again``. Raises UsageError."""
    options = chosen(choices)
    if not choices["again"]:
        return options
    if options.change_name:
        raise UsageError("--again repeats settings, --change makes new ones: leave one of them out")
    again = common.series(context, choices["again"])
    return replace(options, base_id=again.id, repeats=True, experiment=options.experiment or again.experiment)


def _confirm(series: Series, *, confirmed: bool) -> None:
    """Whether the person means the target that an imported series names. Raises UsageError, CancelledError."""
    if confirmed or series.imported_at is None:
        return
    url = visible(format_target(series.target))
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            f"series {series.id} was imported and names the target {url}: when that is the server that you mean to log"
            " in at, say so with --confirm-target"
        )
    if not click.confirm(f"Series {series.id} was imported. Log in at {url} and go on?", err=True):
        raise CancelledError("nothing was measured")
