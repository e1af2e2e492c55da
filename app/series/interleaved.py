"""Several series measured interleaved: a run of each in every round, so that drift affects all of them alike."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.base.errors import LoginError
from app.recording import process
from app.recording.process import ControlMessage, SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.spec import SeriesRequest
from app.series.events import RecorderEvent
from app.series.record import Resumption, record_into, resume_into
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
    """Measure series run by run, each event with its index; none begins after a cancel or a refusal of its login.

    Once a run of each is measured, no round begins that would not end in time. With ``chance`` two series are measured
    in random order within each pair, else alternating (A B B A).
    """
    controls = [SeriesControl() for _ in requests]

    def tell_all(word: ControlMessage) -> None:
        for of_one in controls:
            of_one.tell(word)

    def cancel_all() -> None:
        for of_one in controls:
            of_one.cancel()

    control.attach(tell_all, cancel_all)
    try:
        with notebook_to_measure_into(notebook_path) as notebook:
            streams = [
                _stepped_events(request, notebook, of_one) for request, of_one in zip(requests, controls, strict=True)
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
    """Let each series go one run further in turn, until all have ended."""
    refused_logins: set[str] = set()
    begun: set[int] = set()
    going = list(range(len(streams)))
    while going:
        rounds.arrange(going)
        if warned := rounds.ended_in_time(going):
            yield going[0], warned

        for index in tuple(going):
            is_refused = bool(logins) and logins[index] in refused_logins
            if index not in begun and (control.cancelled.is_set() or is_refused):
                going.remove(index)
                continue

            begun.add(index)
            controls[index].tell(ControlMessage.STEP)
            for event in streams[index]:
                rounds.take_event(index, event)
                yield index, event
                if logins and isinstance(event, process.Failed) and event.kind is LoginError:
                    refused_logins.add(logins[index])
                if isinstance(event, process.Paused):
                    break
            else:
                going.remove(index)


class _Rounds:
    """Interleaved rounds of one run of each series: their order, and whether another may begin."""

    def __init__(self, control: SeriesControl, base_first: Sequence[bool]) -> None:
        self._control = control
        self._base_first = list(base_first)
        self._has_begun = False
        self._is_measured = False

    def arrange(self, going: list[int]) -> None:
        """Put the series into the order of the next round: as drawn, else the reverse of the round before."""
        if self._base_first:
            going.sort(reverse=not self._base_first.pop(0))
        elif self._has_begun:
            going.reverse()
        self._has_begun = True

    def take_event(self, index: int, event: RecorderEvent) -> None:
        if isinstance(event, process.RunStarted):
            self._control.limit.began()
        elif isinstance(event, process.RunFinished):
            self._control.limit.ended(index)
            self._is_measured = self._is_measured or event.run.phase is Phase.MEASURED

    def ended_in_time(self, going: Sequence[int]) -> process.Warned | None:
        """Let no further round begin that would end too late, or interrupt them if nothing is measured."""
        limit = self._control.limit
        if limit.is_met or limit.allows(*going):
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
