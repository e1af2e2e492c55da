"""One series is measured anew, measured again, or completed, and its form is printed: ``run``, once it is read."""

import functools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli import earlier_series, logins, measuring, notebooks, option_values, progress, run_options, textfile
from app.cli.commands.notebook import reject_unusual, show_series
from app.clients.base import Secrets
from app.recording import process
from app.recording.spec import SeriesRequest, SeriesSpec
from app.series import requests as series_requests
from app.series.events import RecorderEvent
from app.series.interleaved import record_interleaved
from app.series.record import record
from app.series.resume import Resumption, order_to_resume, resume
from app.series.versus import Side
from forms.watch.metrics import labels_of, series_samples
from storage.records import Series, Target, utc_now


def measure_and_show(
    context: click.Context,
    target: str | None,
    resume_reference: str | None,
    spec: SeriesSpec,
    choices: dict[str, Any],
) -> int:
    """Measure as the options say, and print the form; the exit code. Raises SharebenchError.

    There is an ``earlier`` series with --resume, which completes it, and with --again without a TARGET, which measures
    it again. Else a TARGET is measured; --again then names the series whose settings are compared with.
    """
    notebooks.check_can_store(context)
    hosts = choices["from_hosts"]
    spec = run_options.specs_from(spec, hosts[:1])[0]
    control = process.SeriesControl(option_values.seconds_within(choices))
    earlier = earlier_series.find_earlier(context, target, resume_reference, choices)
    place = earlier.target if earlier else parse_target(target or "")
    command = earlier.command if earlier else spec.command
    label = earlier.label if earlier and resume_reference else spec.texts.label
    beside = earlier_series.series_beside(context, earlier, choices) if earlier else []

    labels = labels_of(place, str(command), label)
    with textfile.zeros_if_it_fails(choices["textfile"], lambda: series_samples(None, labels, utc_now())):
        place, secrets = logins.secrets_for(context, place, kerberos=choices["kerberos"])
        if choices["versus"] and not resume_reference:
            return _measure_versus(context, spec, place, secrets, choices)
        if beside:
            return _repeat_versus(context, spec, beside, choices, resumes=bool(resume_reference))
        if len(hosts) > 1:
            return _measure_places(context, spec, place, secrets, choices)

        todo: SeriesRequest | Resumption
        if earlier and resume_reference:
            order = order_to_resume(earlier, secrets)
            # ``confirmed``: where it was imported, `find_earlier` has asked whether to log in at its target.
            todo = Resumption(series_id=earlier.id, secrets=secrets, hooks=spec.hooks, confirmed=True)
        else:
            if earlier:
                spec = earlier_series.spec_to_repeat(earlier, spec)
            else:
                spec = earlier_series.with_repeated_base(spec, context, choices)
            todo = series_requests.series_request(spec, place, secrets)
            order = process.MeasuringOrder.of_request(todo)

        path = notebooks.notebook_path(context)
        prospect = measuring.prospect_of(order, path)
        closed = progress.watch(_events(todo, path, control), control, prospect=prospect)
        error = measuring.error_that_ended(control, [closed])
        if error and not closed.stored:
            raise error

    _show_measured(context, closed.series_id, choices)
    if error:
        raise error
    return 0


def _measure_versus(
    context: click.Context, spec: SeriesSpec, target: Target, secrets: Secrets, choices: dict[str, Any]
) -> int:
    spec = earlier_series.with_repeated_base(spec, context, choices)
    if spec.lineage.experiment or spec.counts.until_percent or choices["reject_unusual"]:
        raise UsageError("--versus is a comparison by itself: leave out --experiment, --until, --reject-unusual")
    if len(choices["from_hosts"]) > 1:
        raise UsageError("--versus compares from one machine: name one with --from")

    from app.cli import versus

    base = Side(spec=spec, target=target, secrets=secrets)
    log_in = functools.partial(logins.secrets_for, context, kerberos=choices["kerberos"])
    return versus.run_versus(
        base,
        [versus.other_side(base, words, log_in) for words in choices["versus"]],
        notebooks.notebook_path(context),
        within_seconds=option_values.seconds_within(choices),
        as_json=choices["as_json"],
        tells_power="runs" not in option_values.typed_options(context),
    )


def _repeat_versus(
    context: click.Context, typed: SeriesSpec, all_series: list[Series], choices: dict[str, Any], *, resumes: bool
) -> int:
    """Complete a comparison of interleaved series, or measure all of it again; the base is the first."""
    from app.cli import versus

    if choices["reject_unusual"]:
        raise UsageError("a comparison keeps both runs of a pair: leave out --reject-unusual")
    log_in = functools.partial(logins.secrets_for, context, kerberos=choices["kerberos"])
    path = notebooks.notebook_path(context)
    within_seconds = option_values.seconds_within(choices)
    as_json = choices["as_json"]
    if resumes:
        return versus.resume_versus(
            all_series, log_in, path, hooks=typed.hooks, within_seconds=within_seconds, as_json=as_json
        )
    return versus.measure_versus_again(all_series, typed, log_in, path, within_seconds=within_seconds, as_json=as_json)


def _measure_places(
    context: click.Context, spec: SeriesSpec, target: Target, secrets: Secrets, choices: dict[str, Any]
) -> int:
    """Measure from several machines. Raises UsageError for options that a table of places has no room for."""
    if spec.lineage.experiment or spec.counts.until_percent or choices["reject_unusual"] or choices["again"]:
        raise UsageError(
            "several --from make a comparison by itself: leave out --experiment, --until, --reject-unusual, --again"
        )

    from app.cli import places

    return places.run_places(
        spec,
        target,
        secrets,
        choices["from_hosts"],
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


def _events(todo: SeriesRequest | Resumption, path: Path, control: process.SeriesControl) -> Iterator[RecorderEvent]:
    """The events of the series; under a time limit it is stepped, so that no run begins that would end too late."""
    if control.limit.seconds < math.inf:
        return (event for _, event in record_interleaved([todo], path, control))
    if isinstance(todo, Resumption):
        return resume(todo.series_id, todo.secrets, path, control, hooks=todo.hooks, confirmed=todo.confirmed)
    return record(todo, path, control)
