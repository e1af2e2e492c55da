"""The progress of several series that take turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.cli import common
from app.cli.progress import ProgressLine
from app.measure.control import SeriesControl
from app.recorder.recording import RecorderEvent, SeriesClosed, SeriesOpened


def watch_turns(
    events: Iterable[tuple[int, RecorderEvent]], control: SeriesControl, names: Sequence[str]
) -> list[SeriesClosed]:
    """Draw the events of all series to their end, each with its name; Ctrl-C cancels all.

    How each of them ended, in the order in which they were given; one that never began is left out.
    """
    progress = ProgressLine()
    closed: dict[int, SeriesClosed] = {}
    with common.cancel_on_signals(control):
        for index, event in events:
            if isinstance(event, SeriesClosed):
                closed[index] = event
            elif not isinstance(event, SeriesOpened):
                progress.about = f"{names[index]}: "
                progress.show(event)
    progress.clear()
    return [closed[index] for index in sorted(closed)]
