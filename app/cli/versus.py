"""Measure with two choices of client options, interleaved, and compare: ``run --versus OPTIONS``, and the demo."""

import math
import shlex
from pathlib import Path

import click

from app.base.errors import UsageError
from app.base.exit_codes import exit_code_of
from app.cli import console, measuring, option_values
from app.cli.commands.notebook import show_series
from app.cli.run_options import series_options, spec_from_options
from app.clients.base import Secrets
from app.recording.spec import SeriesSpec, with_values
from app.series import requests as series_requests
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparison_form
from storage.records import Target


@click.command("--versus", add_help_option=False)
@series_options("client", "block_bytes", "in_flight", "sign", "encrypt", "flush")
def _versus_options(**_choices: object) -> None:
    """The options that can be changed between two runs without touching the server."""


def other_spec(spec: SeriesSpec, words: str) -> SeriesSpec:
    """The spec with the options in ``--versus`` in place of its own. Raises UsageError."""
    try:
        context = _versus_options.make_context("--versus", shlex.split(words))
    except (click.UsageError, ValueError) as error:
        problem = error.format_message().rstrip(".") if isinstance(error, click.UsageError) else str(error)
        raise UsageError(
            f"--versus {words!r}: {problem}; it takes --client, --block, --in-flight, --sign, --encrypt and --flush"
        ) from None

    typed = option_values.typed_options(context)
    if not typed:
        raise UsageError("--versus names no option: write what is to differ, such as --versus '--in-flight 1'")
    other_values = spec_from_options(context.params).to_json()
    return with_values(spec, {name: other_values[name] for name in typed})


def run_versus(
    spec: SeriesSpec,
    words: str,
    target: Target,
    secrets: Secrets,
    path: Path,
    *,
    within_seconds: float = math.inf,
    as_json: bool = False,
    with_form: bool = False,
) -> int:
    """Measure the spec as it is and with the options in ``words``, interleaved, and print their comparison.

    Each pair of runs is in random order. ``with_form``: the form of the series as it is comes first. The exit code is
    the comparison's.
    """
    specs = (
        series_requests.with_label(spec, spec.texts.label or "as it is"),
        series_requests.with_label(other_spec(spec, words), f"{spec.texts.label} {words}".strip()),
    )
    requests = [series_requests.series_request(side, target, secrets) for side in specs]
    base, other = measuring.measure_interleaved(requests, path, [side.texts.label for side in specs], within_seconds)

    if with_form:
        show_series(base, chart=True)
        console.answer("")
    form = comparison_form(base, other)
    console.answer_report(comparison_report((base, other), [form]), as_json=as_json)
    return exit_code_of([form.comparison.verdict])
