"""What commands that measure series have in common: the estimate before, the interleaved series, the error after."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.base import errors
from app.cli import notebooks
from app.cli.progress import watch_turns
from app.recording import process
from app.recording.rescue import open_notebook
from app.recording.spec import SeriesRequest
from app.series import earlier_rate, resume
from app.series.events import SeriesClosed
from app.series.interleaved import record_interleaved
from app.series.pace import Prospect
from app.series.versus import way_to_complete
from app.server.link_facts import detect_link
from app.server.routes import is_this_machine
from forms.series.estimate import expected_rate
from storage.records import Series


def prospect_of(order: process.MeasuringOrder, path: Path, series: int = 1) -> Prospect:
    """How long the series of this order will take; ``series``: how many equal ones are measured."""
    spec = order.spec
    target = order.target
    measured = None
    if notebooks.has_notebook(path):
        with open_notebook(path) as notebook:
            measured = earlier_rate.measured_rate(notebook, target, spec.command, spec.settings.block_bytes)

    link = spec.link_bits_per_second
    is_here = spec.monitor.from_host is None
    if not link and is_here and not target.abilities.is_local:
        link, _reason = detect_link(target.host)
    is_loopback = is_here and is_this_machine(target.host)
    rate = expected_rate(target, measured=measured, link=link, is_this_machine=is_loopback)
    return Prospect(order=order, rate=rate, series=series)


def earlier_variation_percent(request: SeriesRequest, path: Path) -> float | None:
    """As :func:`earlier_rate.variation_percent`; None where there is no notebook yet."""
    if not notebooks.has_notebook(path):
        return None
    with open_notebook(path) as notebook:
        return earlier_rate.variation_percent(notebook, request.target, request.spec)


def error_that_ended(control: process.SeriesControl, closed: Sequence[SeriesClosed]) -> errors.SharebenchError | None:
    """The error of the first series that did not complete, or None; after a cancel, with how to resume them."""
    failures = [event.failure.error for event in closed if event.failure]
    if not control.cancelled.is_set():
        # What the user did not cancel was cancelled because of another series: its error tells why.
        failures.sort(key=lambda error: isinstance(error, errors.CancelledError))
    first_error = failures[0] if failures else None
    if not isinstance(first_error, errors.CancelledError):
        return first_error

    resumable = [event.series_id for event in closed if event.failure and event.stored]
    ways = [f"`sharebench run --resume {series_id}` completes it" for series_id in resumable]
    return errors.CancelledError("; ".join([control.why_cancelled, *ways]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleaved:
    """What came of a comparison whose runs were interleaved."""

    series: list[Series]
    """Those that were stored, the base first; without a base there are none."""
    error: errors.SharebenchError | None
    """Of the first that did not complete; None where all did."""


def watch_interleaved(
    todo: Sequence[SeriesRequest | resume.Resumption],
    path: Path,
    names: Sequence[str],
    control: process.SeriesControl,
    *,
    equal_files: bool = False,
    ready_first: bool = False,
) -> dict[int, SeriesClosed]:
    """Measure the series run by run, in random order within each round; returns how each ended that began, by index.

    ``names`` are for the progress line; the last two are as in :func:`record_interleaved`.
    """
    orders = [_order_of(item, path) for item in todo]
    events = record_interleaved(
        todo, path, control, chance=random.SystemRandom(), equal_files=equal_files, ready_first=ready_first
    )
    runs_to_come = [order.spec.counts.warmups + max(0, order.spec.counts.runs - order.done_runs) for order in orders]
    prospect = prospect_of(orders[0], path, len(orders))
    return watch_turns(events, control, names, runs_to_come, prospect)


def measure_interleaved(
    todo: Sequence[SeriesRequest | resume.Resumption], path: Path, names: Sequence[str], within_seconds: float
) -> Interleaved:
    """Measure the sides of a comparison; ``names`` are for the progress line."""
    control = process.SeriesControl(within_seconds)
    closed = list(watch_interleaved(todo, path, names, control, equal_files=True).values())

    stored_ids = [event.series_id for event in closed if event.stored]
    error = error_that_ended(control, closed)
    is_comparison = all(isinstance(item, resume.Resumption) or item.spec.interleaved_with for item in todo)
    with open_notebook(path) as notebook:
        series = notebook.all_of(stored_ids) if closed and closed[0].stored else []
        if error is not None and stored_ids and is_comparison:
            way = way_to_complete(notebook, stored_ids[0])
            text = control.why_cancelled if isinstance(error, errors.CancelledError) else str(error)
            error = type(error)("; ".join(filter(None, [text, way])), options=error.options)
    return Interleaved(series=series, error=error)


def _order_of(item: SeriesRequest | resume.Resumption, path: Path) -> process.MeasuringOrder:
    if isinstance(item, SeriesRequest):
        return process.MeasuringOrder.of_request(item)
    with open_notebook(path) as notebook:
        return resume.order_to_resume(notebook.series(item.series_id), item.secrets)
