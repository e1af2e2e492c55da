"""Measure a target and others, interleaved, and compare them: ``run --versus OTHER``, and the demo.

OTHER is another target, other options of the client, or both.
"""

import math
import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import click

from app.base.errors import UsageError
from app.base.exit_codes import exit_code_of
from app.base.targets import parse_target
from app.cli import console, declare, earlier_series, measuring, option_values
from app.cli.commands.notebook import show_series
from app.cli.run_options import series_options, spec_from_options
from app.clients.base import Secrets
from app.recording.spec import Hooks, SeriesSpec, with_values
from app.series import requests as series_requests
from app.series import versus as series_versus
from app.series.requests import with_label
from app.series.resume import Resumption
from app.series.versus import Side, spec_at
from forms import wording
from forms.comparison.judged_sides import Sides
from forms.comparison.pairs import expected_power_sentence, paired_runs, power_sentences
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons
from forms.stats.decision import LEAST_RUNS
from storage.records import Series, Target

_OPTIONS_OF_CLIENT = ("client", "block_bytes", "in_flight", "sign", "encrypt", "like", "flush")
"""The options that can be changed between two runs without touching the server."""

_OPTIONS_OF_SERVER = ("server_ssh", "smb_conf")
"""Those that say where the facts of another target's server are read; they change nothing by themselves."""


@click.command("--versus", add_help_option=False)
@click.argument("target", required=False)
@declare.option("--credentials", "FILE", "How to log in to the target.")
@series_options(*_OPTIONS_OF_CLIENT, *_OPTIONS_OF_SERVER)
def _versus_options(**_choices: object) -> None:
    """What may differ between two sides."""


class LogIn(Protocol):
    """Finds what logs in to a target; ``credentials`` is a file of its own."""

    def __call__(self, target: Target, *, credentials: str | None = None) -> tuple[Target, Secrets]: ...


def other_side(base: Side, words: str, log_in: LogIn | None = None) -> Side:
    """The base with the target and the options in ``words`` in place of its own. Raises UsageError, LoginError.

    ``log_in``: how to log in to another target; None where only options may differ.
    """
    context = _parsed(words)
    typed = option_values.typed_options(context)
    typed_for_client = [name for name in _OPTIONS_OF_CLIENT if name in typed]
    url = context.params["target"]
    target = _parsed_target(url) if url else base.target

    if target == base.target:
        _check_other_options(typed_for_client, typed)
        secrets = base.secrets
        spec = base.spec
    elif log_in is None:
        raise UsageError("--versus takes only options here")
    else:
        target, secrets = log_in(target, credentials=context.params["credentials"])
        spec = spec_at(base.spec, base.target, target)

    choices = {name: value for name, value in context.params.items() if name not in ("target", "credentials")}
    other_values = spec_from_options(choices).to_json()
    typed_values = {name: other_values[name] for name in typed if name in choices}
    return Side(
        spec=with_values(spec, typed_values),
        target=target,
        secrets=secrets,
        options=" ".join(_typed_option(typed[name], context.params[name]) for name in typed_for_client),
    )


def _check_other_options(typed_for_client: Collection[str], typed: Collection[str]) -> None:
    """Raises UsageError where the target is the same and nothing differs, or what belongs to another target does."""
    if not typed_for_client:
        raise UsageError(
            "--versus names no difference: write what is to differ, such as --versus '--in-flight 1', or another TARGET"
        )
    if set(typed) - {"target", *typed_for_client}:
        raise UsageError("--versus names the same target: leave out --credentials, --server-ssh and --smb-conf")


def _parsed(words: str) -> click.Context:
    """The words of one ``--versus``. Raises UsageError, which does not repeat them: a URL may hold a password."""
    try:
        return _versus_options.make_context("--versus", shlex.split(words))
    except (click.UsageError, ValueError) as error:
        problem = error.format_message().rstrip(".") if isinstance(error, click.UsageError) else str(error)
        raise UsageError(
            f"--versus: {problem}; it takes --client, --block, --in-flight, --sign, --encrypt, --like, --flush and a"
            " TARGET, which may have --credentials, --server-ssh and --smb-conf"
        ) from None


def _parsed_target(url: str) -> Target:
    try:
        return parse_target(url)
    except UsageError as error:
        raise type(error)(f"--versus: {error}", options=error.options) from None


def _typed_option(option: str, value: object) -> str:
    """As one types it: ``--block 1M``, ``--sign``."""
    if value is True:
        return option
    if option == "--block" and isinstance(value, int):
        return f"{option} {wording.typed_size(value)}"
    return f"{option} {value}"


def run_versus(
    base: Side,
    others: Sequence[Side],
    path: Path,
    *,
    within_seconds: float = math.inf,
    as_json: bool = False,
    with_form: bool = False,
    tells_power: bool = False,
) -> int:
    """Measure all sides interleaved, in random order, and print the comparison of each other with the base.

    ``with_form``: the form of the base comes first. ``tells_power``: say how small a change the pairs show, before and
    after. The exit code is that of the worst verdict. Raises the error of a side that failed, after what was measured
    until then.
    """
    requests = series_versus.side_requests([base, *others])
    if tells_power:
        varies_by_percent = measuring.earlier_variation_percent(requests[0], path)
        power = expected_power_sentence(base.spec.counts.runs, len(others), varies_by_percent)
        console.say(f"sharebench: {power}")
    labels = [request.spec.texts.label for request in requests]
    measured = measuring.measure_interleaved(requests, path, labels, within_seconds)
    if with_form and measured.series:
        show_series(measured.series[0], chart=True)
        console.answer("")
    return _show_comparisons(measured, as_json=as_json, tells_power=tells_power)


def resume_versus(
    all_series: Sequence[Series],
    log_in: LogIn,
    path: Path,
    *,
    hooks: Hooks,
    within_seconds: float = math.inf,
    as_json: bool = False,
) -> int:
    """Complete the series of a comparison that was interrupted, and print it; the first is the base.

    Where several lack runs, these are interleaved as before.
    """
    todo = []
    for series in series_versus.incomplete_series(all_series):
        _, secrets = log_in(series.target)
        todo.append(Resumption(series_id=series.id, secrets=secrets, hooks=hooks, confirmed=True))

    labels = {series.id: series.label for series in all_series}
    names = [labels[resumption.series_id] for resumption in todo]
    measured = measuring.measure_interleaved(todo, path, names, within_seconds)
    # Those that were complete before: another notebook, where this one was lost meanwhile, would lack them.
    resumed_by_id = {series.id: series for series in measured.series}
    all_of_comparison = [resumed_by_id.get(series.id, series) for series in all_series]
    return _show_comparisons(replace(measured, series=all_of_comparison), as_json=as_json)


def measure_versus_again(
    all_series: Sequence[Series],
    typed: SeriesSpec,
    log_in: LogIn,
    path: Path,
    *,
    within_seconds: float = math.inf,
    as_json: bool = False,
) -> int:
    """Measure the series of a comparison again, interleaved, each as the repeat of the one before; the first is the
    base. A ``typed`` label stands in place of theirs, in front of the names of the targets.
    """
    names = series_versus.target_names([series.target for series in all_series])
    requests = []
    for series, name in zip(all_series, names, strict=True):
        target, secrets = log_in(series.target)
        label = f"{typed.texts.label} {name}" if typed.texts.label else series.label
        spec = with_label(earlier_series.spec_to_repeat(series, typed), label)
        requests.append(series_requests.series_request(spec, target, secrets))

    requests = series_versus.interleaved(requests)
    labels = [request.spec.texts.label for request in requests]
    measured = measuring.measure_interleaved(requests, path, labels, within_seconds)
    return _show_comparisons(measured, as_json=as_json)


def _show_comparisons(measured: measuring.Interleaved, *, as_json: bool, tells_power: bool = False) -> int:
    """Print the comparisons of what was measured; the exit code. Raises the error that ended it.

    What was measured before an error is compared where there are pairs enough for a verdict.
    """
    error = measured.error
    all_series = measured.series if error is None else _sides_with_pairs(measured.series)
    if len(all_series) < 2:
        raise error or UsageError("nothing was measured that could be compared")

    base = all_series[0]
    forms = comparisons([Sides(base=(base,), other=(series,)) for series in all_series[1:]])
    messages = power_sentences(all_series) if tells_power and error is None else []
    console.answer_report(comparison_report(all_series, forms), as_json=as_json, messages=messages)
    if error is not None:
        raise error
    return exit_code_of(form.comparison.verdict for form in forms)


def _sides_with_pairs(all_series: Sequence[Series]) -> list[Series]:
    """The base, and the others that have pairs of runs enough with it; empty where none has."""
    if not all_series:
        return []
    base = all_series[0]
    others = [series for series in all_series[1:] if len(paired_runs(base, series) or ()) >= LEAST_RUNS]
    return [base, *others] if others else []
