"""Several series measured interleaved: a run of each in every round, so that drift affects all of them alike.

Each series has its recorder and a measuring process of its own, which is *stepped*: before each run it pauses, until
its control is told STEP. Series that are *going* have not ended yet. A round tells one series after another STEP, and
passes on the events of its recorder until that says Paused, or ends.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.base.errors import LoginError
from app.recording import process
from app.recording.process import ControlMessage, SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent
from app.series.record import record_into
from app.series.resume import Resumption, resume_into
from forms.stats.paired import drawn_order
from storage.notebook import Notebook
from storage.records import Phase


def record_interleaved(
    requests: Sequence[SeriesRequest | Resumption],
    notebook_path: Path,
    control: SeriesControl,
    logins: Sequence[str] = (),
    chance: random.Random | None = None,
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure series run by run; yields each event with the index of its series.

    ``logins`` names the login of each series: once a login was refused, no other series begins that uses it. None
    begins after a cancel either. Once a run of each is measured, no round begins that would not end in time. With
    ``chance`` two series are measured in random order within each pair, else alternating (A B B A).
    """
    controls = [SeriesControl() for _ in requests]
    """One of each series; ``control`` is the user's, and reaches all of them."""

    def tell_all(word: ControlMessage) -> None:
        for series_control in controls:
            series_control.tell(word)

    def cancel_all() -> None:
        for series_control in controls:
            series_control.cancel()

    control.attach(tell_all, cancel_all)
    try:
        with notebook_to_measure_into(notebook_path) as notebook:
            streams = [
                _stepped_events(request, notebook, series_control)
                for request, series_control in zip(requests, controls, strict=True)
            ]
            rounds = _Rounds(control, _drawn_rounds(requests, chance))
            yield from _events_in_turn(streams, controls, control, rounds, logins)
    finally:
        control.detach()
        cancel_all()


def _stepped_events(
    request: SeriesRequest | Resumption, notebook: Notebook, control: SeriesControl
) -> Iterator[RecorderEvent]:
    if isinstance(request, Resumption):
        return resume_into(notebook, request, control, stepped=True)
    return record_into(notebook, request, control, stepped=True)


def _events_in_turn(
    streams: Sequence[Iterator[RecorderEvent]],
    controls: Sequence[SeriesControl],
    control: SeriesControl,
    rounds: "_Rounds",
    logins: Sequence[str],
) -> Iterator[tuple[int, RecorderEvent]]:
    """Let each series go one run further in turn, until all have ended.

    A series that says Paused goes on in the next round; one whose events end without that has ended.
    """
    refused_logins: set[str] = set()
    begun: set[int] = set()
    going = list(range(len(streams)))
    while going:
        rounds.arrange(going)
        warning = rounds.end_in_time(going)
        if warning:
            yield going[0], warning

        for index in tuple(going):
            is_refused = bool(logins) and logins[index] in refused_logins
            if index not in begun and (control.cancelled.is_set() or is_refused):
                going.remove(index)
                continue

            begun.add(index)
            controls[index].tell(ControlMessage.STEP)
            has_ended = True
            for event in streams[index]:
                rounds.take_event(index, event)
                yield index, event
                if logins and isinstance(event, process.Failed) and event.kind is LoginError:
                    refused_logins.add(logins[index])
                if isinstance(event, process.Paused):
                    has_ended = False
                    break
            if has_ended:
                going.remove(index)


class _Rounds:
    """Interleaved rounds of one run of each series: their order, and whether another may begin."""

    def __init__(self, control: SeriesControl, base_first: Sequence[bool]) -> None:
        """``base_first``: for each round of two series, whether the first one begins; empty to alternate."""
        self._control = control
        self._base_first = list(base_first)
        self._has_begun = False
        self._is_measured = False
        """Whether a measured run has ended."""

    def arrange(self, going: list[int]) -> None:
        """Put the series into the order of the next round: as drawn, else the reverse of the round before."""
        if self._base_first:
            going.sort(reverse=not self._base_first.pop(0))
        elif self._has_begun:
            going.reverse()
        self._has_begun = True

    def take_event(self, index: int, event: RecorderEvent) -> None:
        """Tell the user's time limit (``--within``) when a run begins and ends: it keeps the longest of each series."""
        if isinstance(event, process.RunStarted):
            self._control.limit.begin_timing()
        elif isinstance(event, process.RunFinished):
            self._control.limit.end_timing(index)
            self._is_measured = self._is_measured or event.run.phase is Phase.MEASURED

    def end_in_time(self, going: Sequence[int]) -> process.Warned | None:
        """Where another round would end too late, have the series finish, and say so; cancel if nothing is measured."""
        limit = self._control.limit
        if limit.was_told_to_finish or limit.has_time_for_another(*going):
            return None
        if self._is_measured:
            return self._control.finish_in_time("run")
        self._control.end_in_time()
        return None


def _drawn_rounds(requests: Sequence[SeriesRequest | Resumption], chance: random.Random | None) -> list[bool]:
    """Whether the base comes first in each round, warm-up rounds included; empty where no order is drawn."""
    if chance is None or len(requests) != 2:
        return []
    counts = [request.spec.counts for request in requests if isinstance(request, SeriesRequest)]
    if len(counts) < 2:
        return []  # resumed series: what was drawn is not known any more
    warm_ups = [True] * counts[0].warmups
    return [*warm_ups, *drawn_order(min(count.runs for count in counts), chance)]
