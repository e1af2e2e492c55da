"""How a trial measures a setting: a transfer, or a load window with a fixed number of users."""

import posixpath
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Self

from app.environment.host.processes import Ours, servers_here
from app.environment.link.route import is_this_machine
from app.environment.quiet import LEAST_SECONDS
from app.errors import MeasurementError, SharebenchError
from app.load.engine_process import EngineProcess
from app.load.events import LoadEnded, LoadPlan, PointMeasured, SecondPassed
from app.load.judgement import load_point
from app.measure.control import SeriesControl
from app.measure.events import Event, Failed, Finished, Progressed, RunFinished, RunStarted, Started, Warned
from app.measure.plan import MeasurementPlan, MeasuringProcess
from app.recorder.recording import failure_from
from app.recorder.request import SeriesRequest
from app.targets import new_load_folder
from app.workflows.trial_order import open_client
from forms.series.progress import duration
from forms.wording import binary_size
from storage.changes import LoadWindow
from storage.loads.records import LoadPoint, PointStatus
from storage.records import Command, Phase, Run, utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The rate of a load window."""

    requests_per_second: float
    generator_limited: bool
    """The load generator was the limit, so the true difference is larger."""


class TransferYardstick:
    """A settling run that does not count, then a measured one, in one measuring process."""

    rate = None

    def __init__(self, request: SeriesRequest, control: SeriesControl) -> None:
        self._request = request
        self._control = control
        self._servers: frozenset[int] = frozenset()
        self.processor_percent: float | None = None
        """Of the last measured run; None if it was too short to tell."""

    def __enter__(self) -> Self:
        target = self._request.plan.target
        if not target.abilities.is_local and is_this_machine(target.host):
            self._servers = servers_here(target.port_number)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def observe(self, number: int, scratch_path: str | None) -> Iterator[Event]:
        """Events of both runs; the last is Finished or Failed."""
        plan = replace(
            self._request.plan, runs=number, warmups=1, done_runs=number - 1, done_warmups=number - 1,
            until_percent=None, scratch_path=scratch_path,
        )  # fmt: skip
        with MeasuringProcess(plan, self._control) as child:
            for event in child.events():
                if isinstance(event, RunStarted) and event.phase is Phase.MEASURED:
                    ours = Ours(trees=self._servers | {child.pid})
                    held, began = ours.held_seconds(), time.monotonic()
                elif isinstance(event, RunFinished) and event.run.phase is Phase.MEASURED:
                    seconds = time.monotonic() - began
                    spent = 100 * max(0.0, ours.held_seconds() - held)
                    self.processor_percent = spent / seconds if seconds >= LEAST_SECONDS else None
                yield event

    def finish(self) -> Iterator[Event]:
        return iter(())


class LoadYardstick:
    """One load point per value with new users; the files stay until the end."""

    def __init__(self, request: SeriesRequest, control: SeriesControl, window: LoadWindow) -> None:
        self._request = request
        self._control = control
        self._window = window
        self._stack = ExitStack()
        self._engine: EngineProcess | None = None
        self._warned = False
        self.rate: Rate | None = None
        self.processor_percent = None

    def __enter__(self) -> Self:
        plan = self._request.plan
        load = LoadPlan(
            targets=(plan.target,),
            secrets=plan.secrets,
            settings=plan.settings,
            scenario=self._window.scenario,
            folder=new_load_folder(),
            processes=self._window.processes,
        )
        with ExitStack() as stack:
            self._engine = stack.enter_context(EngineProcess(load))
            self._control.attach(lambda _word: None, self._engine.cancel)
            stack.callback(self._control.detach)
            for event in self._engine.ready():
                if isinstance(event, LoadEnded):
                    raise _error(event)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            for _event in self.finish():
                pass

    def finish(self) -> Iterator[Event]:
        if self._engine and self._engine.ended is None:
            for event in self._engine.finish():
                if isinstance(event, Warned):
                    yield Warned(text=event.text)

    def observe(self, number: int, _scratch_path: str | None) -> Iterator[Event]:
        assert self._engine
        try:
            with open_client(self._request) as client:
                client.connect()
                yield Started(client=client.facts(), size_bytes=0, path_facts=client.facts_of_path())
        except SharebenchError as error:
            yield Failed.of(error)
            return
        yield RunStarted(number=number, phase=Phase.MEASURED, of=None)
        started_at = utc_now()
        moved = passed = 0
        for event in self._engine.point(number, self._window.users):
            if isinstance(event, SecondPassed):
                passed += 1
                moved += round(event.read_bytes_per_second + event.write_bytes_per_second)
                yield Progressed(seconds=passed, moved_bytes=moved, size_bytes=0)
            elif isinstance(event, Warned):
                yield Warned(text=event.text)
            elif isinstance(event, LoadEnded):
                yield Failed(kind=event.kind or MeasurementError.__name__, text=event.text or "the load ended")
            elif isinstance(event, PointMeasured):
                yield from self._counted(load_point(event, started_at=started_at))

    def _counted(self, point: LoadPoint) -> Iterator[Event]:
        moved = point.read_bytes + point.write_bytes
        if point.status in {PointStatus.FAILED, PointStatus.REJECTED} or not moved:
            yield Failed(kind=MeasurementError.__name__, text=point.reason or "the users moved no byte in the window")
            return
        limited = point.status is PointStatus.GENERATOR
        if point.reason and not self._warned:
            self._warned = True
            yield Warned(text=point.reason)
        self.rate = Rate(requests_per_second=point.requests_per_second or 0.0, generator_limited=limited)
        yield RunFinished(
            run=Run(
                number=point.number,
                phase=Phase.MEASURED,
                started_at=point.started_at,
                size_bytes=moved,
                seconds=point.seconds,
            )
        )
        yield Finished()


Yardstick = TransferYardstick | LoadYardstick


LONGEST_SECONDS = 10.0
"""Where a run takes longer, a smaller file is moved in its place."""
FITTING_SECONDS, PROBE_SECONDS = 3.0, 2.0
"""What a run of the smaller file takes, and how long the usual one is moved to find that out."""
BURST_SECONDS = 1.0
"""How long a burst at the start of a transfer may last."""
LEAST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FittedRequest:
    """A request whose runs are no longer than needed to judge them."""

    request: SeriesRequest
    usual_bytes: int
    """The size of the file that it would move otherwise."""
    said: str = ""
    """What was changed and why, in one line; empty where nothing was."""


def fitting_bytes(size_bytes: int, bytes_per_second: float) -> int | None:
    """The size of a file to move in place of one whose run takes too long; None where the usual one is right."""
    if size_bytes <= LONGEST_SECONDS * bytes_per_second:
        return None
    fitting = max(LEAST_BYTES, int(FITTING_SECONDS * bytes_per_second) // LEAST_BYTES * LEAST_BYTES)
    return fitting if fitting < size_bytes else None


def fitted(request: SeriesRequest) -> FittedRequest:
    """Move the file for PROBE_SECONDS, and choose a smaller one where a run would take longer than LONGEST_SECONDS.

    The usual file stays where no other can be made beside it. Raises MeasurementError.
    """
    plan = request.plan
    size_bytes, rate = _probed(plan)
    fitting = fitting_bytes(size_bytes, rate) if rate else None
    if fitting is None:
        return FittedRequest(request, size_bytes)
    gets = plan.command is Command.GET
    what = posixpath.basename(plan.target.path) if gets else binary_size(size_bytes)
    said = f"A run of {what} would take {duration(size_bytes / rate)}"
    smaller = with_file_of(request, fitting)
    if gets and (problem := _cannot_be_made(smaller.plan)):
        return FittedRequest(request, size_bytes, f"{said}, and no smaller file can be made in its folder: {problem}")
    done = "read" if gets else "written"
    return FittedRequest(smaller, size_bytes, f"{said}: a file of {binary_size(fitting)} is {done} in its place.")


def with_file_of(request: SeriesRequest, size_bytes: int) -> SeriesRequest:
    """The request with a file of that size, for a get one that is made in the same folder."""
    plan = request.plan
    if plan.command is Command.GET and not plan.make_file:
        target = replace(plan.target, path=posixpath.dirname(plan.target.path))
        plan = replace(plan, target=target, make_file=True)
    return replace(request, plan=replace(plan, size_bytes=size_bytes))


def _probed(plan: MeasurementPlan) -> tuple[int, float]:
    """The size of the usual file, and the bytes per second of a run that ends after PROBE_SECONDS."""
    control, size_bytes, progress = SeriesControl(), 0, [(0.0, 0)]
    with MeasuringProcess(replace(plan, runs=1, warmups=0, until_percent=None), control) as child:
        for event in child.events():
            if isinstance(event, Started):
                size_bytes = event.size_bytes
            elif isinstance(event, Progressed):
                progress.append((event.seconds, event.moved_bytes))
                if event.seconds >= PROBE_SECONDS:
                    control.cancel()
            elif isinstance(event, RunFinished) and event.run.bytes_per_second:
                return size_bytes, event.run.bytes_per_second
            elif isinstance(event, Failed) and not control.cancelled.is_set():
                raise failure_from(event)
    return size_bytes, rate_after_burst(progress)


def rate_after_burst(progress: Sequence[tuple[float, int]]) -> float:
    """Bytes per second of a transfer since BURST_SECONDS, from (seconds, bytes) so far; 0 where nothing is known.

    Buffers on the way swallow the first megabytes at once: counted in, they hide that the rest crawls.
    """
    early = max((look for look in progress if look[0] <= BURST_SECONDS), default=(0.0, 0))
    seconds, moved = progress[-1][0] - early[0], progress[-1][1] - early[1]
    return moved / seconds if seconds > 0 else 0.0


def _cannot_be_made(plan: MeasurementPlan) -> str:
    """Why the file of the plan cannot be made on the server; empty where it can."""
    control = SeriesControl()
    with MeasuringProcess(replace(plan, runs=1, warmups=0, until_percent=None), control) as child:
        for event in child.events():
            if isinstance(event, Started):
                control.cancel()
            elif isinstance(event, Failed) and not control.cancelled.is_set():
                return event.text
    return ""


def yardstick_of(request: SeriesRequest, control: SeriesControl, window: LoadWindow | None) -> Yardstick:
    """The measurement for a trial; enter it before anything is changed."""
    return LoadYardstick(request, control, window) if window else TransferYardstick(request, control)


def _error(ended: LoadEnded) -> SharebenchError:
    return failure_from(Failed(kind=ended.kind or MeasurementError.__name__, text=ended.text or "the load ended"))
