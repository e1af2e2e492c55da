"""The machine that measures in place of this one, reached before a measurement begins."""

from collections.abc import Generator
from contextlib import closing

from app.recording import process
from app.recording.reaching import reach
from app.series.observer import ObserverElsewhere
from app.server.elsewhere.place import MeasuringPlace
from app.server.facts import ClientSide
from storage.records import Command, Target


def reach_machine(
    host: str, target: Target, control: process.SeriesControl
) -> Generator[process.Warned, None, tuple[MeasuringPlace, ClientSide]]:
    """The machine, and what it says of itself; tells what was carried to it. Raises SharebenchError."""
    place = reach(host, control)
    if place.carried_bytes:
        yield process.Warned(text=place.carried_text)
    with closing(ObserverElsewhere(place, target, Command.GET)) as observer:
        return place, observer.side
