"""What commands that measure series have in common: the estimate before, the interleaved series, the error after."""

import random
from collections.abc import Sequence
from pathlib import Path

from app.base.errors import CancelledError, SharebenchError
from app.cli import notebooks
from app.cli.progress import watch_turns
from app.recording import process
from app.recording.rescue import open_notebook
from app.recording.spec import SeriesRequest
from app.series.earlier_rate import measured_rate
from app.series.events import SeriesClosed
from app.series.interleaved import record_interleaved
from app.series.pace import Prospect
from app.server.link_facts import detect_link
from app.server.routes import is_this_machine
from forms.series.estimate import expected_rate
from storage.notebook import Notebook
from storage.records import Series


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


def measure_interleaved(
    requests: Sequence[SeriesRequest], path: Path, names: Sequence[str], within_seconds: float
) -> list[Series]:
    """Measure the series run by run, in random order within each round; ``names`` are for the progress line."""
    control = process.SeriesControl(within_seconds)
    counts = requests[0].spec.counts
    events = record_interleaved(requests, path, control, chance=random.SystemRandom(), equal_files=True)
    prospect = prospect_of(process.MeasuringOrder.of_request(requests[0]), path, len(requests))
    closed = watch_turns(events, control, names, [counts.warmups + counts.runs] * len(requests), prospect)
    if error := error_that_ended(control, closed):
        raise error
    with Notebook(path) as notebook:
        return [notebook.series(event.series_id) for event in closed]
