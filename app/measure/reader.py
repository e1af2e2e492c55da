"""Starts the measuring process and reads its events."""

from collections.abc import Iterator
from typing import Self

from app.child_process import ChildProcess
from app.measure.control import SeriesControl
from app.measure.events import EVENTS, Event, Failed, Finished
from app.measure.plan import MeasurementPlan
from app.messages import line_of, message_of

GRACE_SECONDS = 30.0


class MeasuringProcess:
    """One measuring process; read :meth:`events` to the end, inside ``with``."""

    def __init__(self, plan: MeasurementPlan, control: SeriesControl) -> None:
        self._plan = plan
        self._control = control
        self._process = ChildProcess("app.measure.child", grace_seconds=GRACE_SECONDS)

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        self._process.say(line_of(self._plan))
        self._control.attach(lambda word: self._process.say(word.value), self._process.cancel)
        return self

    def __exit__(self, *_: object) -> None:
        self._control.detach()
        self._process.close()

    def events(self) -> Iterator[Event]:
        """The last event is Finished or Failed, however the process ends."""
        for line in self._process.lines():
            event: Event = message_of(line, EVENTS)
            yield event
            if isinstance(event, Finished | Failed):
                return
        how = self._process.how_it_ended()
        text = f"the measuring process {how}; what was measured before is kept, and the series can be gone on with"
        yield Failed(kind="ChildDiedError", text=text, options="--resume")
