"""What measures one value of a setting during a trial: the yardstick, a transfer or a load of many users.

A yardstick is used inside ``with``. For each slot of the trial (one run of one value) `observe` yields the events of a
series: Started once there is a session with the server, RunStarted, RunFinished, and at the end Finished or Failed.
What it learned of that run besides is in ``point`` and ``processor_percent`` then. `finish` is called once, after the
last slot.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Self

from app.base import errors
from app.base.own_names import new_folder
from app.load import events as load_events
from app.load.engine_process import EngineProcess
from app.load.judgement import load_point
from app.recording import process
from app.recording.spec import SeriesRequest
from app.server.processes import Ours, servers_here
from app.server.quiet_time import LEAST_SECONDS
from app.server.routes import is_this_machine
from app.trial.target import open_client
from storage import records
from storage.changes import LoadWindow
from storage.load import records as load_records


class TransferYardstick:
    """A settling run that does not count, then a measured one, in one measuring process."""

    point = None
    """A transfer has no load point."""

    def __init__(self, request: SeriesRequest, control: process.SeriesControl) -> None:
        self._request = request
        self._control = control
        self._servers: frozenset[int] = frozenset()
        """The processes of a server on this machine."""
        self.processor_percent: float | None = None
        """Of the last measured run, in percent of one processor; None if it was too short to tell.

        Counted are the measuring process, and a server on this machine: working, or waiting for a processor.
        """

    def __enter__(self) -> Self:
        target = self._request.target
        if not target.abilities.is_local and is_this_machine(target.host):
            self._servers = servers_here(target.port_number)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def observe(self, number: int, scratch_path: str | None) -> Iterator[process.Event]:
        """Measure the run of that number; ``scratch_path`` is our file on the target, if one is there already."""
        spec = self._request.spec
        # One warm-up more than the slots before had, and runs up to this number, of which this is the one that is left.
        counts = replace(spec.counts, runs=number, warmups=1, until_percent=None)
        order = process.MeasuringOrder(
            spec=replace(spec, counts=counts),
            target=self._request.target,
            secrets=self._request.secrets,
            done_runs=number - 1,
            done_warmups=number - 1,
            scratch_path=scratch_path,
        )

        with process.MeasuringProcess(order, self._control) as child:
            # The one measured run lies between two events, and by those it is timed.
            for event in child.events():
                if isinstance(event, process.RunStarted) and event.phase is records.Phase.MEASURED:
                    ours = Ours(trees=self._servers | {child.pid})
                    held_before = ours.held_seconds()
                    began = time.monotonic()
                elif isinstance(event, process.RunFinished) and event.run.phase is records.Phase.MEASURED:
                    seconds = time.monotonic() - began
                    held_seconds = max(0.0, ours.held_seconds() - held_before)
                    self.processor_percent = 100 * held_seconds / seconds if seconds >= LEAST_SECONDS else None
                yield event

    def finish(self) -> Iterator[process.Event]:
        """Nothing is left to be told."""
        return iter(())


def _ignore(_word: process.ControlMessage) -> None:
    """A load that is measured can neither be paused nor continued."""


_LOAD_ENDED = process.Failed(kind=errors.MeasurementError, text="the load ended")


class LoadYardstick:
    """A window of a load with new users; the load generator and its files stay until the end."""

    def __init__(self, request: SeriesRequest, control: process.SeriesControl, window: LoadWindow) -> None:
        self._request = request
        self._control = control
        self._window = window
        self._stack = ExitStack()
        """Ends the load generator."""
        self._engine: EngineProcess | None = None
        self._warned = False
        self.point: load_records.LoadPoint | None = None
        """Of the last window."""
        self.processor_percent = None
        """A load tells that the generator was the limit by its point."""

    def __enter__(self) -> Self:
        load = load_events.LoadPlan(
            targets=(self._request.target,),
            folder=new_folder("load"),
            secrets=self._request.secrets,
            settings=self._request.spec.settings,
            scenario=self._window.scenario,
            processes=self._window.processes,
        )

        with ExitStack() as stack:
            self._engine = stack.enter_context(EngineProcess(load))
            self._control.attach(_ignore, self._engine.cancel)
            stack.callback(self._control.detach)
            for event in self._engine.ready():
                if isinstance(event, load_events.LoadEnded):
                    raise (event.failure or _LOAD_ENDED).error
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:
            for _event in self.finish():
                pass

    def finish(self) -> Iterator[process.Event]:
        """Remove the files of the load; the warnings of that."""
        if self._engine and self._engine.ended is None:
            for event in self._engine.finish():
                if isinstance(event, process.Warned):
                    yield process.Warned(text=event.text)

    def observe(self, number: int, _scratch_path: str | None) -> Iterator[process.Event]:
        """Measure a window, and tell it as the run of that number."""
        assert self._engine
        try:
            with open_client(self._request) as client:
                client.connect()
                yield process.Started(client=client.facts(), size_bytes=0, path_facts=client.facts_of_path())
        except errors.SharebenchError as error:
            yield process.Failed.of(error)
            return

        yield process.RunStarted(number=number, phase=records.Phase.MEASURED, of=None)
        started_at = records.utc_now()
        moved_bytes = 0
        passed_seconds = 0
        for event in self._engine.point(number, self._window.users):
            if isinstance(event, load_events.SecondPassed):
                passed_seconds += 1
                moved_bytes += round(event.read_bytes_per_second + event.write_bytes_per_second)
                yield process.Progressed(seconds=passed_seconds, moved_bytes=moved_bytes, size_bytes=0)
            elif isinstance(event, process.Warned):
                yield process.Warned(text=event.text)
            elif isinstance(event, load_events.LoadEnded):
                yield event.failure or _LOAD_ENDED
            elif isinstance(event, load_events.PointMeasured):
                is_paced = self._window.scenario.pace_seconds is not None
                yield from self._run_of(load_point(event, is_paced=is_paced, started_at=started_at))

    def _run_of(self, point: load_records.LoadPoint) -> Iterator[process.Event]:
        """The load point told as a run of a series."""
        moved_bytes = point.read_bytes + point.write_bytes
        if point.status in {load_records.PointStatus.FAILED, load_records.PointStatus.REJECTED} or not moved_bytes:
            yield process.Failed(
                kind=errors.MeasurementError, text=point.reason or "the users moved no byte in the window"
            )
            return
        if point.reason and not self._warned:
            self._warned = True
            yield process.Warned(text=point.reason)

        self.point = point
        run = records.Run(
            number=point.number,
            phase=records.Phase.MEASURED,
            started_at=point.started_at,
            seconds=point.seconds,
            size_bytes=moved_bytes,
        )
        yield process.RunFinished(run=run)
        yield process.Finished()


Yardstick = TransferYardstick | LoadYardstick


def yardstick_of(request: SeriesRequest, control: process.SeriesControl, load: LoadWindow | None) -> Yardstick:
    """What measures the request: windows of ``load``, or transfers where that is None."""
    return LoadYardstick(request, control, load) if load else TransferYardstick(request, control)
