"""``sharebench run`` and ``selftest``: series, measured and kept."""

import math
import random
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.base.errors import CancelledError, SharebenchError, UsageError
from app.base.targets import parse_target
from app.cli import console, declare, logins, notebooks, option_values, resuming, textfile
from app.cli.commands.notebook import reject_unusual, show_series
from app.cli.progress import watch, watch_turns
from app.cli.run_options import OF_THE_SERVER, series_options, spec_from_options, target_argument
from app.clients.base import Secrets
from app.recording.process import MeasuringOrder, SeriesControl
from app.recording.rescue import open_notebook
from app.recording.spec import FormTexts, SeriesRequest, SeriesSpec, with_values
from app.series import requests as series_requests
from app.series.events import RecorderEvent, SeriesClosed
from app.series.interleaved import record_interleaved
from app.series.pace import Prospect
from app.series.prospect import measured_rate
from app.series.record import Resumption, order_to_resume, record, resume
from app.server.link_facts import detect_link, is_this_machine
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparison_form
from forms.experiments.repeats import repeats, selftest
from forms.experiments.repeats_report import repeats_report, selftest_report
from forms.layout import visible
from forms.report import Report
from forms.series.estimate import expected_rate
from forms.watch.metrics import labels_of, series_samples
from storage.notebook import Notebook
from storage.recordings import SERIES
from storage.records import Series, Target, format_target, utc_now


@click.command("--versus", add_help_option=False)
@series_options("client", "block_bytes", "in_flight", "sign", "encrypt", "flush")
def _other(**_choices: object) -> None:
    """The options that can be changed between two runs without touching the server."""


def other_spec(spec: SeriesSpec, words: str) -> SeriesSpec:
    """The spec with the options in ``--versus`` in place of its own. Raises UsageError."""
    try:
        context = _other.make_context("--versus", shlex.split(words))
    except (click.UsageError, ValueError) as error:
        problem = error.format_message().rstrip(".") if isinstance(error, click.UsageError) else str(error)
        raise UsageError(
            f"--versus {words!r}: {problem}; it takes --client, --block, --in-flight, --sign, --encrypt and --flush"
        ) from None

    typed = option_values.typed_options(context)
    if not typed:
        raise UsageError("--versus names no option: write what is to differ, such as --versus '--in-flight 1'")
    other = spec_from_options(context.params).to_json()
    return with_values(spec, {name: other[name] for name in typed})


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
    """Measure both interleaved, each pair in random order, and print their comparison, or the base's form before it."""
    specs = (
        series_requests.with_label(spec, spec.texts.label or "as it is"),
        series_requests.with_label(other_spec(spec, words), f"{spec.texts.label} {words}".strip()),
    )
    requests = [series_requests.series_request(side, target, secrets) for side in specs]
    base, other = _measure_interleaved(requests, path, [side.texts.label for side in specs], within_seconds)

    if with_form:
        show_series(base, chart=True)
        console.answer("")
    console.answer_report(comparison_report((base, other), [comparison_form(base, other)]), as_json=as_json)
    return 0


def _prospect(order: MeasuringOrder, path: Path, series: int = 1) -> Prospect:
    spec = order.spec
    target = order.target
    measured = None
    if notebooks.has_notebook(path):
        with open_notebook(path) as notebook:
            measured = measured_rate(notebook, target, spec.command, spec.settings.block_bytes)

    link = spec.link_bits_per_second
    if not link and not target.abilities.is_local:
        link = detect_link(target.host)[0]
    rate = expected_rate(target, measured=measured, link=link, is_this_machine=is_this_machine(target.host))
    return Prospect(order=order, rate=rate, series=series)


def _error_that_ended(control: SeriesControl, closed: Sequence[SeriesClosed]) -> SharebenchError | None:
    """What ended the first that did not complete, and how all of those are resumed; None where all are complete."""
    first = next((event.failure.error for event in closed if event.failure), None)
    if not isinstance(first, CancelledError):
        return first

    resumable = [event.series_id for event in closed if event.failure and event.stored]
    ways = [f"`sharebench run --resume {series_id}` completes it" for series_id in resumable]
    return CancelledError("; ".join([control.why_cancelled, *ways]))


def _measure_interleaved(
    requests: Sequence[SeriesRequest], path: Path, names: Sequence[str], within_seconds: float
) -> list[Series]:
    control = SeriesControl(within_seconds)
    counts = requests[0].spec.counts
    events = record_interleaved(requests, path, control, chance=random.SystemRandom())
    prospect = _prospect(MeasuringOrder.of_request(requests[0]), path, len(requests))
    closed = watch_turns(events, control, names, [counts.warmups + counts.runs] * len(requests), prospect)
    if error := _error_that_ended(control, closed):
        raise error
    with Notebook(path) as notebook:
        return [notebook.series(event.series_id) for event in closed]


_FEWEST_REPEATS = 2
_WITH_RESUME = {"textfile", "as_json", "confirm_target", "kerberos", "reject_unusual", "target", "within_minutes"}
_WITH_AGAIN = _WITH_RESUME | {"label", "note", "question"}


@declare.command("run")
@target_argument(required=False)
@series_options()
@declare.option("--again", "SERIES", "Measure SERIES again; without a TARGET, with the same settings.")
@declare.option("--versus", "OPTIONS", "Compare with other client options ('--block 1M'), interleaved in random order.")
@declare.whole_time_option
@click.option("--reject-unusual", is_flag=True, help="Reject unusual runs; the intervals become too narrow.")
@declare.option("--resume", "SERIES", "Resume an interrupted series.", name="resume_reference")
@click.option(
    "--confirm-target", is_flag=True, help="With --resume or --again: log in at the target of an imported series."
)
@declare.textfile_option
@declare.measuring_options("Print the series as JSON.")
def run_command(
    context: click.Context, /, target: str | None, resume_reference: str | None, spec: SeriesSpec, **choices: Any
) -> int:
    """Measure one series and print its form.

    TARGET is smb://[DOMAIN;][USER@]HOST[:PORT]/SHARE/PATH, ftp://…, ftps://…, file:///PATH or iperf3://HOST[:PORT].
    With --put, PATH is a folder. Each run is stored as soon as it ends.

    A put is timed until the server, or the kernel for file://, has answered its last write: the data may not be on the
    disk yet. With --flush it is timed until the file was flushed to the disk.
    """
    notebooks.check_can_store(context)
    control = SeriesControl(option_values.seconds_within(choices))
    before = _measured_before(context, target, resume_reference, choices)
    if before:
        place = before.target
        command = before.command
    else:
        place = parse_target(target or "")
        command = spec.command

    label = before.label if before and resume_reference else spec.texts.label
    labels = labels_of(place, str(command), label)
    with textfile.zeros_if_it_fails(choices["textfile"], lambda: series_samples(None, labels, utc_now())):
        place, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
        if choices["versus"] is not None and not resume_reference:
            return _measure_versus(context, _repeating(spec, context, choices), place, secrets, choices)

        todo: SeriesRequest | Resumption
        if before and resume_reference:
            order = order_to_resume(before, secrets)
            todo = Resumption(series_id=before.id, secrets=secrets, confirmed=True)
        else:
            spec = _same_again(before, spec.texts) if before else _repeating(spec, context, choices)
            todo = series_requests.series_request(spec, place, secrets)
            order = MeasuringOrder.of_request(todo)

        path = notebooks.notebook_path(context)
        closed = watch(_events(todo, path, control), control, prospect=_prospect(order, path))
        error = _error_that_ended(control, [closed])
        if error and not closed.stored:
            raise error

    _show_measured(context, closed.series_id, choices)
    if error:
        raise error
    return 0


def _measure_versus(
    context: click.Context, spec: SeriesSpec, target: Target, secrets: Secrets, choices: dict[str, Any]
) -> int:
    if spec.lineage.experiment or spec.counts.until_percent or choices["reject_unusual"]:
        raise UsageError("--versus is a comparison by itself: leave out --experiment, --until, --reject-unusual")
    return run_versus(
        spec,
        choices["versus"],
        target,
        secrets,
        notebooks.notebook_path(context),
        within_seconds=option_values.seconds_within(choices),
        as_json=choices["as_json"],
    )


def _show_measured(context: click.Context, series_id: str, choices: dict[str, Any]) -> None:
    if choices["reject_unusual"]:
        reject_unusual(context, series_id)
    series = notebooks.series_called(context, series_id)
    labels = labels_of(series.target, series.command.value, series.label)
    textfile.write_textfile(choices["textfile"], lambda: series_samples(series, labels))
    if series.runs or choices["as_json"]:
        show_series(series, as_json=choices["as_json"])


def _events(todo: SeriesRequest | Resumption, path: Path, control: SeriesControl) -> Iterator[RecorderEvent]:
    """A series alone; with a time limit step by step, so that nobody begins a run that would end too late."""
    if control.limit.seconds < math.inf:
        return (event for _, event in record_interleaved([todo], path, control))
    if isinstance(todo, Resumption):
        return resume(todo.series_id, todo.secrets, path, control, confirmed=todo.confirmed)
    return record(todo, path, control)


def _measured_before(
    context: click.Context, target: str | None, resume_reference: str | None, choices: dict[str, Any]
) -> Series | None:
    """The series that is to be resumed or measured again; None where a TARGET is named. Raises UsageError."""
    series: Series
    if resume_reference:
        series, _ = resuming.recording_to_resume(
            context, resume_reference, _WITH_RESUME, SERIES, target=target, confirmed=True
        )
    elif target:
        return None
    elif choices["again"]:
        option_values.refuse_other_options(context, "again", _WITH_AGAIN)
        series = notebooks.series_called(context, choices["again"])
    else:
        raise UsageError(
            "missing TARGET: sharebench run TARGET, such as smb://alice@nas/public/big.iso; see `sharebench run --help`"
        )

    if not choices["confirm_target"] and series.imported_at is not None:
        url = visible(format_target(series.target))
        console.confirm(
            f"Series {series.id} was imported. Log in at {url} and continue?",
            without_terminal=f"series {series.id} was imported and names the target {url}: when that is the server that"
            " you mean to log in at, say so with --confirm-target",
            declined="nothing was measured",
        )
    return series


def _same_again(before: Series, texts: FormTexts) -> SeriesSpec:
    """What was asked of the series before, with the texts of this one."""
    spec = series_requests.spec_of(before)
    return replace(spec, texts=texts, lineage=replace(spec.lineage, base_id=before.id, repeats=True))


def _repeating(spec: SeriesSpec, context: click.Context, choices: dict[str, Any]) -> SeriesSpec:
    """The spec as a repeat of the series that ``--again`` names, where it names one. Raises UsageError."""
    if not choices["again"]:
        return spec
    if spec.lineage.change_name:
        raise UsageError("--again repeats settings, --change makes new ones: leave one of them out")
    again = notebooks.series_called(context, choices["again"])
    lineage = replace(
        spec.lineage, base_id=again.id, repeats=True, experiment=spec.lineage.experiment or again.experiment
    )
    return replace(spec, lineage=lineage)


@declare.command("selftest")
@target_argument()
@declare.option(
    "--apart", "N", "Measure N whole series one after another, instead of two interleaved.", declare.Count(2, 100)
)
@declare.whole_time_option
@declare.measuring_options("Print the self-test as JSON.")
@series_options(
    "command",
    "runs",
    "warmups",
    "size_bytes",
    "make_file",
    "link_bits_per_second",
    "client",
    "block_bytes",
    "in_flight",
    "sign",
    "encrypt",
    "drop_cache",
    "flush",
    "quiet_time",
    "wait_seconds",
    "ceiling",
    *OF_THE_SERVER,
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
    path = notebooks.notebook_path(context)
    within_seconds = option_values.seconds_within(choices)

    if choices["apart"]:
        report = _measure_apart(context, requests, path, within_seconds)
    else:
        base, other = _measure_interleaved(requests, path, series_requests.LABELS, within_seconds)
        report = selftest_report(selftest(base, other))
    console.answer_report(report, as_json=choices["as_json"])
    return 0


def _measure_apart(
    context: click.Context, requests: Sequence[SeriesRequest], path: Path, within_seconds: float
) -> Report:
    """Measure equal series one after another, as many as end in time."""
    prospect: Prospect | None = _prospect(MeasuringOrder.of_request(requests[0]), path, len(requests))
    control = SeriesControl(within_seconds)
    series_ids: list[str] = []
    for request in requests:
        if len(series_ids) >= _FEWEST_REPEATS and not control.limit.allows():
            console.say(f"sharebench: {control.finish_in_time('series').text}")
            break

        control.limit.began()
        closed = watch(record(request, path, control), control, prospect=prospect)
        prospect = None  # told once, before the first
        if error := _error_that_ended(control, [closed]):
            raise error
        control.limit.ended()
        series_ids.append(closed.series_id)

    with notebooks.open_notebook(context) as notebook:
        return repeats_report(repeats(notebook.all_of(series_ids)))
