"""A smaller file for a trial, in place of one whose runs would take longer than is needed to judge them."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.recording import process
from app.recording.spec import SeriesRequest
from forms.wording import binary_size, duration
from storage.records import Command

LONGEST_SECONDS = 10.0
"""Where a run takes longer, a smaller file is moved in its place."""
FITTING_SECONDS = 3.0
"""What a run of the smaller file takes."""
PROBE_SECONDS = 2.0
"""How long the usual file is moved to find out how long it takes."""
BURST_SECONDS = 1.0
"""How long a burst at the start of a transfer may last."""
LEAST_BYTES = 1 << 20
"""The least size of the smaller file, which is a multiple of it."""


@dataclass(frozen=True, slots=True)
class FittedRequest:
    """A request whose runs are no longer than needed to judge them."""

    request: SeriesRequest
    """For the smaller file, or as it was."""
    usual_bytes: int
    """The size of the file that was named; 0 where it was not looked at."""
    explanation: str = ""
    """Why another file is moved, or none can be; empty where the usual one is right."""
    run_seconds: float | None = None
    """What a run takes; None where that is not known."""


def fitting_bytes(size_bytes: int, bytes_per_second: float) -> int | None:
    """The size of a file to move in place of one whose run takes too long; None where the usual one is right."""
    if size_bytes <= LONGEST_SECONDS * bytes_per_second:
        return None
    whole_mebibytes = int(FITTING_SECONDS * bytes_per_second) // LEAST_BYTES * LEAST_BYTES
    fitting = max(LEAST_BYTES, whole_mebibytes)
    return fitting if fitting < size_bytes else None


def fit_request(request: SeriesRequest, *, keeps_size: bool = False) -> FittedRequest:
    """A smaller file where runs would take over LONGEST_SECONDS, if its size may change. Raises MeasurementError."""
    if not request.target.abilities.moves_files:
        return FittedRequest(request, 0)
    if request.spec.counts.random:  # a run lasts as long as was asked for, however large the file is
        return FittedRequest(request, 0, run_seconds=request.spec.counts.random_seconds)

    size_bytes, rate = _probe(request)
    smaller_bytes = fitting_bytes(size_bytes, rate) if rate and not keeps_size else None
    if smaller_bytes is None:
        return FittedRequest(request, size_bytes, run_seconds=size_bytes / rate if rate else None)

    gets = request.spec.command is Command.GET
    file = posixpath.basename(request.target.path) if gets else binary_size(size_bytes)
    too_long = f"A run of {file} would take {duration(size_bytes / rate)}"
    smaller = with_file_of(request, smaller_bytes)
    if gets and (problem := _why_not_made(smaller)):
        explanation = f"{too_long}, and no smaller file can be made in its folder: {problem}"
        return FittedRequest(request, size_bytes, explanation, size_bytes / rate)

    moved = "read" if gets else "written"
    explanation = f"{too_long}: a file of {binary_size(smaller_bytes)} is {moved} in its place."
    return FittedRequest(smaller, size_bytes, explanation, smaller_bytes / rate)


def with_file_of(request: SeriesRequest, size_bytes: int) -> SeriesRequest:
    """The request for a file of that size, made in the folder of the usual one."""
    spec = request.spec
    target = request.target
    counts = replace(spec.counts, size_bytes=size_bytes)
    if spec.command is Command.GET and not counts.make_file:
        target = replace(target, path=posixpath.dirname(target.path))
        counts = replace(counts, make_file=True)
    return replace(request, spec=replace(spec, counts=counts), target=target)


def _order_of_one_run(request: SeriesRequest) -> process.MeasuringOrder:
    """For the measuring process: one run of the request, without a warm-up."""
    one_run = replace(request.spec.counts, runs=1, warmups=0, until_percent=None)
    order = process.MeasuringOrder.of_request(request)
    return replace(order, spec=replace(order.spec, counts=one_run))


def _probe(request: SeriesRequest) -> tuple[int, float]:
    """The size of the usual file, and the bytes per second of a run that ends after PROBE_SECONDS."""
    control = process.SeriesControl()
    size_bytes = 0
    progress = [(0.0, 0)]

    with process.MeasuringProcess(_order_of_one_run(request), control) as child:
        for event in child.events():
            if isinstance(event, process.Started):
                size_bytes = event.size_bytes
            elif isinstance(event, process.Progressed):
                progress.append((event.seconds, event.moved_bytes))
                if event.seconds >= PROBE_SECONDS:
                    control.cancel()
            elif isinstance(event, process.RunFinished) and event.run.bytes_per_second:
                return size_bytes, event.run.bytes_per_second
            elif isinstance(event, process.Failed) and not control.cancelled.is_set():
                raise event.error

    return size_bytes, rate_after_burst(progress)


def rate_after_burst(progress: Sequence[tuple[float, int]]) -> float:
    """Since BURST_SECONDS, as buffers swallow the first megabytes, from (seconds, bytes) so far; 0: not known."""
    in_burst = [look for look in progress if look[0] <= BURST_SECONDS]
    burst_seconds, burst_bytes = max(in_burst, default=(0.0, 0))
    last_seconds, last_bytes = progress[-1]
    seconds = last_seconds - burst_seconds
    return (last_bytes - burst_bytes) / seconds if seconds > 0 else 0.0


def _why_not_made(request: SeriesRequest) -> str:
    """Why no file can be made for the request; empty where one can."""
    control = process.SeriesControl()
    with process.MeasuringProcess(_order_of_one_run(request), control) as child:
        for event in child.events():
            if isinstance(event, process.Started):
                control.cancel()
            elif isinstance(event, process.Failed) and not control.cancelled.is_set():
                return event.text
    return ""
