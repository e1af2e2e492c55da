"""``run --versus``: the same series with other options of our own client, run by run in turns."""

import shlex
from dataclasses import replace
from pathlib import Path

import click

from app.cli.progress import watch_turns
from app.cli.run_options import chosen, series_options
from app.cli.series_output import answer_report
from app.clients.base import Secrets
from app.errors import UsageError
from app.measure.control import SeriesControl
from app.recorder.recording import failure_of
from app.recorder.turns import record_in_turns
from app.workflows.requests import SeriesOptions, series_request
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparison_form
from storage.notebook import Notebook
from storage.records import Target


@click.command("--versus", add_help_option=False)
@series_options("client", "block_bytes", "in_flight", "sign", "encrypt")
def _other(**_choices: object) -> None:
    """The options that can be changed between two runs without touching the server."""


def other_options(options: SeriesOptions, words: str) -> SeriesOptions:
    """The options with what the words of ``--versus`` say otherwise. Raises UsageError."""
    try:
        context = _other.make_context("--versus", shlex.split(words))
    except (click.UsageError, ValueError) as error:
        why = error.format_message().rstrip(".") if isinstance(error, click.UsageError) else str(error)
        raise UsageError(
            f"--versus {words!r}: {why}; it takes --client, --block, --in-flight, --sign and --encrypt"
        ) from None
    said = chosen(context.params)
    given = [
        name for name in context.params if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if not given:
        raise UsageError("--versus names no option: write what is to differ, such as --versus '--in-flight 1'")
    return replace(options, **{name: getattr(said, name) for name in given})


def run_versus(
    options: SeriesOptions, words: str, target: Target, secrets: Secrets, path: Path, *, as_json: bool
) -> int:
    """Measure both in turns (A B B A …), and answer with their comparison."""
    both = (
        replace(options, label=options.label or "as it is"),
        replace(other_options(options, words), label=f"{options.label} {words}".strip()),
    )
    control = SeriesControl()
    requests = [series_request(each, target, secrets) for each in both]
    closed = watch_turns(record_in_turns(requests, path, control), control, [each.label for each in both])
    for one in closed:
        failure = failure_of(one)
        if failure:
            raise failure
    with Notebook(path) as notebook:
        base, other = (notebook.series(one.series_id) for one in closed)
    answer_report(comparison_report((base, other), [comparison_form(base, other)]), as_json=as_json)
    return 0
