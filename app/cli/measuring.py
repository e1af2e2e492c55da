"""What commands that measure series have in common: the estimate before, the interleaved series, the error after."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.base.errors import CancelledError, SharebenchError
from app.cli import notebooks
from app.cli.progress import watch_turns
from app.recording import process
from app.recording.rescue import open_notebook
from app.recording.spec import SeriesRequest, SeriesSpec
from app.series import resume
from app.series.earlier_rate import measured_rate, newest_alike
from app.series.events import SeriesClosed
from app.series.interleaved import record_interleaved
from app.series.pace import Prospect
from app.series.versus import can_be_paired, series_of_comparison
from app.server.link_facts import detect_link
from app.server.routes import is_this_machine
from forms.series.estimate import expected_rate
from forms.stats.decision import LEAST_RUNS
from forms.stats.summary import deviation_percent
from storage.records import Series, Target


def prospect_of(order: process.MeasuringOrder, path: Path, series: int = 1) -> Prospect:
    """How long the series of this order will take; ``series``: how many equal ones are measured."""
    spec = order.spec
    target = order.target
    measured = None
    if notebooks.has_notebook(path):
        with open_notebook(path) as notebook:
            measured = measured_rate(notebook, target, spec.command, spec.settings.block_bytes)

    link = spec.link_bits_per_second
    is_here = spec.monitor.from_host is None
    if not link and is_here and not target.abilities.is_local:
        link, _reason = detect_link(target.host)
    is_loopback = is_here and is_this_machine(target.host)
    rate = expected_rate(target, measured=measured, link=link, is_this_machine=is_loopback)
    return Prospect(order=order, rate=rate, series=series)


def earlier_variation_percent(spec: SeriesSpec, target: Target, path: Path) -> float | None:
    """What the runs of the newest series of that server varied by; None where there is none to tell."""
    if spec.counts.random or not notebooks.has_notebook(path):
        return None
    with open_notebook(path) as notebook:
        form = newest_alike(notebook, target, spec.command, spec.settings.block_bytes)
    rates = form.series.rates() if form is not None else []
    return deviation_percent(rates) if len(rates) >= LEAST_RUNS else None


def error_that_ended(control: process.SeriesControl, closed: Sequence[SeriesClosed]) -> SharebenchError | None:
    """The error of the first series that did not complete, or None; after a cancel, with how to resume them."""
    errors = [event.failure.error for event in closed if event.failure]
    if not control.cancelled.is_set():
        # What the user did not cancel was cancelled because of another series: its error tells why.
        errors.sort(key=lambda error: isinstance(error, CancelledError))
    first_error = errors[0] if errors else None
    if not isinstance(first_error, CancelledError):
        return first_error

    resumable = [event.series_id for event in closed if event.failure and event.stored]
    ways = [f"`sharebench run --resume {series_id}` completes it" for series_id in resumable]
    return CancelledError("; ".join([control.why_cancelled, *ways]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleaved:
    """What came of a comparison whose runs were interleaved."""

    series: list[Series]
    """Those that were stored, the base first; without a base there are none."""
    error: SharebenchError | None
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
            way = _way_to_complete(series_of_comparison(notebook, stored_ids[0]))
            text = control.why_cancelled if isinstance(error, CancelledError) else str(error)
            error = type(error)("; ".join(filter(None, [text, way])), options=error.options)
    return Interleaved(series=series, error=error)


def _way_to_complete(of_comparison: Sequence[Series]) -> str:
    """How to complete a comparison that ended early, the base first; empty for none."""
    if not of_comparison:
        return ""
    base = of_comparison[0]
    if can_be_paired(base):
        return f"`sharebench run --resume {base.id}` completes the comparison"
    return f"`sharebench run --again {base.id}` measures all again: runs completed now make no pairs with it"


def _order_of(item: SeriesRequest | resume.Resumption, path: Path) -> process.MeasuringOrder:
    if isinstance(item, SeriesRequest):
        return process.MeasuringOrder.of_request(item)
    with open_notebook(path) as notebook:
        return resume.order_to_resume(notebook.series(item.series_id), item.secrets)
