"""``sharebench run`` and ``selftest``: series, measured and kept."""

import math
import random
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.base.errors import CancelledError, SharebenchError, UsageError
from app.base.targets import parse_target
from app.cli import common
from app.cli.commands.notebook import reject_unusual, show_series
from app.cli.progress import watch, watch_turns
from app.cli.run_options import OF_THE_SERVER, series_options, spec_from_options, target_argument
from app.clients.base import Secrets
from app.recording.process import MeasuringOrder, SeriesControl
from app.recording.rescue import open_notebook
from app.recording.spec import FormTexts, SeriesRequest, SeriesSpec, with_values
from app.series import record as recording
from app.series.progress import Prospect
from app.series.prospect import reached
from app.series.requests import LABELS, equal_requests, series_request, spec_of, with_label
from app.server.link_facts import detect_link, is_this_machine
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparison_form
from forms.experiments.repeats import repeats, selftest
from forms.experiments.repeats_report import repeats_report, selftest_report
from forms.layout import visible
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
    """The spec with those in ``--versus`` replaced. Raises UsageError."""
    try:
        context = _other.make_context("--versus", shlex.split(words))
    except (click.UsageError, ValueError) as error:
        why = error.format_message().rstrip(".") if isinstance(error, click.UsageError) else str(error)
        raise UsageError(
            f"--versus {words!r}: {why}; it takes --client, --block, --in-flight, --sign, --encrypt and --flush"
        ) from None
    other = spec_from_options(context.params).to_json()
    if not (given := common.given_options(context)):
        raise UsageError("--versus names no option: write what is to differ, such as --versus '--in-flight 1'")
    return with_values(spec, {name: other[name] for name in given})


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
    both = (
        with_label(spec, spec.texts.label or "as it is"),
        with_label(other_spec(spec, words), f"{spec.texts.label} {words}".strip()),
    )
    requests = [series_request(each, target, secrets) for each in both]
    base, other = _interleaved(requests, path, [each.texts.label for each in both], within_seconds)
    if with_form:
        show_series(base, chart=True)
        common.answer("")
    common.answer_report(comparison_report((base, other), [comparison_form(base, other)]), as_json=as_json)
    return 0


def _prospect(order: MeasuringOrder, path: Path, series: int = 1) -> Prospect:
    spec = order.spec
    measured, target = None, order.target
    if common.has_notebook(path):
        with open_notebook(path) as notebook:
            measured = reached(notebook, target, spec.command, spec.settings.block_bytes)
    link = spec.link_bits_per_second or (None if target.abilities.is_local else detect_link(target.host)[0])
    rate = expected_rate(target, measured=measured, link=link, here=is_this_machine(target.host))
    return Prospect(order=order, rate=rate, series=series)


def _why_ended(control: SeriesControl, closed: Iterable[recording.SeriesClosed]) -> SharebenchError | None:
    """What ended the first that did not complete, and how all of those are resumed."""
    failures = [(one.failure.error, one) for one in closed if one.failure]
    if not failures or not isinstance(failures[0][0], CancelledError):
        return failures[0][0] if failures else None
    ways = [f"`sharebench run --resume {one.series_id}`" for _, one in failures if one.stored]
    return CancelledError("; ".join([control.why_cancelled, *(f"{way} completes it" for way in ways)]))


def _interleaved(
    requests: Sequence[SeriesRequest], path: Path, names: Sequence[str], within_seconds: float
) -> list[Series]:
    control, counts = SeriesControl(within_seconds), requests[0].spec.counts
    events = recording.record_interleaved(requests, path, control, chance=random.SystemRandom())
    prospect = _prospect(MeasuringOrder.of_request(requests[0]), path, len(requests))
    closed = watch_turns(events, control, names, [counts.warmups + counts.runs] * len(requests), prospect)
    if failure := _why_ended(control, closed):
        raise failure
    with Notebook(path) as notebook:
        return [notebook.series(one.series_id) for one in closed]


_FEWEST_REPEATS = 2
_WITH_RESUME = {"textfile", "as_json", "confirm_target", "kerberos", "reject_unusual", "target", "within_minutes"}
_WITH_AGAIN = _WITH_RESUME | {"label", "note", "question"}


@common.command("run")
@target_argument(required=False)
@series_options()
@common.option("--again", "SERIES", "Measure SERIES again; without a TARGET, with the same settings.")
@common.option("--versus", "OPTIONS", "Compare with other client options ('--block 1M'), interleaved in random order.")
@common.whole_time_option
@click.option("--reject-unusual", is_flag=True, help="Reject unusual runs; the intervals become too narrow.")
@common.option("--resume", "SERIES", "Resume an interrupted series.", name="resume_reference")
@click.option(
    "--confirm-target", is_flag=True, help="With --resume or --again: log in at the target of an imported series."
)
@common.textfile_option
@common.measuring_options("Print the series as JSON.")
def run_command(
    context: click.Context, /, target: str | None, resume_reference: str | None, spec: SeriesSpec, **choices: Any
) -> int:
    """Measure one series and print its form.

    TARGET is smb://[DOMAIN;][USER@]HOST[:PORT]/SHARE/PATH, ftp://…, ftps://…, file:///PATH or iperf3://HOST[:PORT].
    With --put, PATH is a folder. Each run is stored as soon as it ends.

    A put is timed until the server, or the kernel for file://, has answered its last write: the data may not be on the
    disk yet. With --flush it is timed until the file was flushed to the disk.
    """
    common.check_can_store(context)
    control, path = SeriesControl(common.within(choices)), common.notebook_path(context)
    before = _measured_before(context, target, resume_reference, choices)
    place, command = (before.target, before.command) if before else (parse_target(target or ""), spec.command)
    labels = labels_of(place, str(command), before.label if before and resume_reference else spec.texts.label)
    with common.zeros_if_it_fails(choices["textfile"], lambda: series_samples(None, labels, utc_now())):
        full, secrets = common.secrets_for(context, place, kerberos=choices["kerberos"])
        if before and resume_reference:
            order = recording.order_to_resume(before, secrets)
            events = _events(recording.Resumption(series_id=before.id, secrets=secrets, confirmed=True), path, control)
        elif choices["versus"] is not None:
            spec = _repeating(spec, context, choices)
            if spec.lineage.experiment or spec.counts.until_percent or choices["reject_unusual"]:
                raise UsageError(
                    "--versus is a comparison by itself: leave out --experiment, --until, --reject-unusual"
                )
            within, as_json = common.within(choices), choices["as_json"]
            return run_versus(spec, choices["versus"], full, secrets, path, within_seconds=within, as_json=as_json)
        else:
            asked = _same_again(before, spec.texts) if before else _repeating(spec, context, choices)
            request = series_request(asked, full, secrets)
            order = MeasuringOrder.of_request(request)
            events = _events(request, path, control)
        closed = watch(events, control, prospect=_prospect(order, path))
        failure = _why_ended(control, [closed])
        if failure and not closed.stored:
            raise failure
    if choices["reject_unusual"]:
        reject_unusual(context, closed.series_id)
    found = common.series(context, closed.series_id)
    labels = labels_of(found.target, found.command.value, found.label)
    common.write_textfile(choices["textfile"], lambda: series_samples(found, labels))
    if found.runs or choices["as_json"]:
        show_series(found, as_json=choices["as_json"])
    if failure:
        raise failure
    return 0


def _events(
    todo: SeriesRequest | recording.Resumption, path: Path, control: SeriesControl
) -> Iterator[recording.RecorderEvent]:
    """A series alone; with a time limit step by step, so that nobody begins a run that would end too late."""
    if control.limit.seconds < math.inf:
        return (event for _, event in recording.record_interleaved([todo], path, control))
    if isinstance(todo, recording.Resumption):
        return recording.resume(todo.series_id, todo.secrets, path, control, confirmed=todo.confirmed)
    return recording.record(todo, path, control)


def _measured_before(
    context: click.Context, target: str | None, resume: str | None, choices: dict[str, Any]
) -> Series | None:
    if resume:
        found: Series = common.to_resume(context, resume, _WITH_RESUME, SERIES, target=target, confirmed=True)[0]
    elif target:
        return None
    elif choices["again"]:
        common.refuse_given(context, "again", _WITH_AGAIN)
        found = common.series(context, choices["again"])
    else:
        raise UsageError(
            "missing TARGET: sharebench run TARGET, such as smb://alice@nas/public/big.iso; see `sharebench run --help`"
        )
    if not choices["confirm_target"] and found.imported_at is not None:
        url = visible(format_target(found.target))
        common.confirm(
            f"Series {found.id} was imported. Log in at {url} and continue?",
            alone=f"series {found.id} was imported and names the target {url}: when that is the server that you mean to"
            " log in at, say so with --confirm-target",
            declined="nothing was measured",
        )
    return found


def _same_again(before: Series, texts: FormTexts) -> SeriesSpec:
    """What was asked of the series before, with the texts of this one."""
    spec = spec_of(before)
    return replace(spec, texts=texts, lineage=replace(spec.lineage, base_id=before.id, repeats=True))


def _repeating(spec: SeriesSpec, context: click.Context, choices: dict[str, Any]) -> SeriesSpec:
    """The spec as a repeat of the series that ``--again`` names, where it names one. Raises UsageError."""
    if not choices["again"]:
        return spec
    if spec.lineage.change_name:
        raise UsageError("--again repeats settings, --change makes new ones: leave one of them out")
    again = common.series(context, choices["again"])
    lineage = replace(
        spec.lineage, base_id=again.id, repeats=True, experiment=spec.lineage.experiment or again.experiment
    )
    return replace(spec, lineage=lineage)


@common.command("selftest")
@target_argument()
@common.option(
    "--apart", "N", "Measure N whole series one after another, instead of two interleaved.", common.Count(2, 100)
)
@common.whole_time_option
@common.measuring_options("Print the self-test as JSON.")
@series_options(
    "command", "runs", "warmups", "size_bytes", "make_file", "link_bits_per_second", "client", "block_bytes",
    "in_flight", "sign", "encrypt", "drop_cache", "flush", "quiet_time", "wait_seconds", "ceiling", *OF_THE_SERVER,
)  # fmt: skip
def selftest_command(context: click.Context, /, target: str, spec: SeriesSpec, **choices: Any) -> int:
    """Find the smallest change that this setup can show.

    Measures the same thing twice, interleaved, as if it were a change, and says whether the results agree. With --apart
    it measures whole series one after another and says by how much they differ; `compare` uses that for later series of
    the same path. All series are kept in the notebook.
    """
    common.check_can_store(context)
    request = series_request(spec, *common.target_and_secrets(context, target, kerberos=choices["kerberos"]))
    path, requests = common.notebook_path(context), equal_requests(request, choices["apart"] or 0)
    if not choices["apart"]:
        report = selftest_report(selftest(*_interleaved(requests, path, LABELS, common.within(choices))))
    else:
        ids: list[str] = []
        prospect = _prospect(MeasuringOrder.of_request(request), path, len(requests))
        control = SeriesControl(common.within(choices))
        for each in requests:
            if len(ids) >= _FEWEST_REPEATS and not control.limit.allows():
                common.say(f"sharebench: {control.finish_in_time('series').text}")
                break
            control.limit.began()
            closed = watch(recording.record(each, path, control), control, prospect=None if ids else prospect)
            if failure := _why_ended(control, [closed]):
                raise failure
            control.limit.ended()
            ids.append(closed.series_id)
        with common.notebook(context) as notebook:
            report = repeats_report(repeats(notebook.all_of(ids)))
    common.answer_report(report, as_json=choices["as_json"])
    return 0
