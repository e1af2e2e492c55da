"""A quick test under way: its lines as they are measured, and whether its file is gone at the end.

The lines are measured in a child process (`app.quick.child`). `app.quick.record` stores the quick test at each event
before the event is told.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

from app.base import own_names
from app.base.child_process import ChildProcess
from app.base.errors import CancelledError, ChildDiedError, SharebenchError
from app.quick import plan
from app.quick.spec import RUNS, QuickRequest
from app.recording import process, recycle_bin
from app.series.reached_machine import reach_machine
from app.server import facts
from app.server.elsewhere.place import MeasuringPlace
from forms.quick.comparison import QuickComparison
from storage import records
from storage.quick import records as quick_records

_MODULE = "app.quick.child"
_STEP = process.Control(word=process.ControlMessage.STEP)
"""Where it is stepped, its next line has its turn."""
_GRACE_SECONDS = 120.0
"""Longest time for a cancelled process to remove its file: a server may take long to free gigabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickOpened:
    """The quick test is to be stored: its file is about to be made."""

    quick: quick_records.Quick


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickChanged:
    """The quick test is to be stored anew."""

    quick: quick_records.Quick
    line: quick_records.QuickLine | None = None
    """The line that was measured; None where something else changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickClosed:
    """The quick test has ended, well or not; always the last event."""

    quick: quick_records.Quick
    since: QuickComparison | None = None
    """The quick test before of the same target, as the recorder finds it in the notebook, compared; None for none."""


MeasurementEvent = QuickOpened | QuickChanged | plan.LineBegan | process.Warned
"""What a quick test under way tells; it returns QuickClosed."""
QuickEvent = MeasurementEvent | QuickClosed
"""What the recorder of a quick test tells."""


def _ignore_message(_message: process.ControlMessage) -> None:
    """A quick test is measured to its end, or cancelled: nothing else is said to it by the user."""


def measure(
    request: QuickRequest, control: process.SeriesControl, *, stepped: bool = False
) -> Generator[MeasurementEvent, None, QuickClosed]:
    """Measure a quick test. Raises SharebenchError, with nothing recorded, where it cannot begin.

    With ``stepped`` nothing is measured after a QuickChanged before the next event is asked for.
    """
    place: MeasuringPlace | None = None
    side: facts.ClientSide | None = None
    if request.from_host is not None:
        place, side = yield from reach_machine(request.from_host, request.target, control)

    quick = _new_quick(request, side)
    child = ChildProcess(_MODULE, grace_seconds=_GRACE_SECONDS, elsewhere=place)
    control.attach(_ignore_message, child.cancel)
    try:
        child.say(_order_of(request, stepped=stepped))
        closed = yield from _follow(child, quick, control)
    finally:
        control.detach()
        child.close()

    return QuickClosed(quick=_without_leftover(request, closed, place))


def _order_of(request: QuickRequest, *, stepped: bool) -> plan.QuickOrder:
    return plan.QuickOrder(
        target=request.target,
        secrets=request.secrets,
        settings=request.settings,
        size_bytes=request.size_bytes,
        runs=RUNS,
        run_seconds=request.run_seconds,
        stepped=stepped,
    )


def _follow(
    child: ChildProcess, quick: quick_records.Quick, control: process.SeriesControl
) -> Generator[MeasurementEvent, None, quick_records.Quick]:
    """Pass on what the process tells; returns the quick test as it ended. Raises where no file was made yet."""
    is_opened = False
    failure: SharebenchError | None = None
    for event in child.events(plan.CHILD_EVENTS):
        match event:
            case process.ScratchMade(path=path):
                quick = replace(quick, scratch_path=path)
                if not is_opened:
                    is_opened = True
                    yield QuickOpened(quick=quick)
                    yield from recycle_bin.kept_warning(quick.target, path, quick.environment.get("server", {}))
            case process.ScratchRemoved():
                quick = replace(quick, scratch_path=None)
            case plan.FileReady():
                quick = _with_file(quick, event)
                yield QuickChanged(quick=quick)
                child.say(_STEP)
            case plan.LineMeasured(line=line):
                quick = quick.with_line(line)
                yield QuickChanged(quick=quick, line=line)
                child.say(_STEP)
            case plan.LineBegan() | process.Warned():
                yield event
            case process.Failed():
                failure = event.error
                break
            case process.Finished():
                break
    else:
        failure = ChildDiedError(f"the measuring process {child.how_it_ended()}")

    if failure is not None and not is_opened:
        raise failure
    return _with_end(quick, failure, control)


def _with_end(
    quick: quick_records.Quick, failure: SharebenchError | None, control: process.SeriesControl
) -> quick_records.Quick:
    if failure is None:
        return replace(quick, status=records.SeriesStatus.COMPLETE)
    if isinstance(failure, CancelledError) or control.cancelled.is_set():
        return replace(quick, status=records.SeriesStatus.INTERRUPTED, error=control.why_cancelled)
    return replace(quick, status=records.SeriesStatus.FAILED, error=str(failure))


def _with_file(quick: quick_records.Quick, ready: plan.FileReady) -> quick_records.Quick:
    path_facts = {**quick.environment.get("path", {}), **ready.path_facts}
    return replace(
        quick,
        client=ready.client,
        file_bytes=ready.file_bytes,
        file_lacks_room=ready.lacks_room,
        past_page_cache=ready.past_page_cache,
        environment={**quick.environment, "path": path_facts},
    )


def _without_leftover(
    request: QuickRequest, quick: quick_records.Quick, place: MeasuringPlace | None
) -> quick_records.Quick:
    """The quick test once its file is gone, which a process that died has left there.

    Another process on the same machine removes it: from here the target may be out of reach, or another folder.
    """
    path = quick.scratch_path
    if path is None or not own_names.is_scratch_path(request.target, path):
        return quick

    child = ChildProcess(_MODULE, grace_seconds=_GRACE_SECONDS, elsewhere=place)
    try:
        child.say(
            plan.RemovalOrder(target=request.target, secrets=request.secrets, settings=request.settings, path=path)
        )
        is_removed = any(isinstance(event, process.ScratchRemoved) for event in child.events(plan.CHILD_EVENTS))
    finally:
        child.close()
    return replace(quick, scratch_path=None) if is_removed else quick


def _new_quick(request: QuickRequest, side: facts.ClientSide | None) -> quick_records.Quick:
    """``side``: what another machine that measures says of itself; None for this one."""
    environment = facts.collect(
        request.target,
        ssh=request.server_ssh,
        smb_conf=request.smb_conf,
        elsewhere=side,
        from_host=request.from_host,
    )
    link = environment.link
    is_loopback = link is not None and link.loopback
    link_rate = link.bits_per_second if link is not None else None

    return quick_records.Quick(
        id=records.new_series_id(),
        created_at=records.utc_now(),
        label=request.label,
        question=request.question,
        note=request.note,
        target=request.target,
        settings=request.settings,
        size_bytes=request.size_bytes,
        run_seconds=request.run_seconds,
        link_bits_per_second=request.link_bits_per_second or link_rate,
        loopback=is_loopback,
        environment=environment.parts(),
    )
