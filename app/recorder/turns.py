"""Several series that take turns, a run each, so that drift hits all alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from app.measure.control import Control, Word
from app.measure.events import Paused
from app.recorder.order import Order
from app.recorder.recording import RecorderEvent, open_notebook, recording


def record_in_turns(
    orders: Sequence[Order], notebook_path: Path, control: Control
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure series side by side, run by run: 1 2 3, 3 2 1, 1 2 3 …; each event comes with its order's index.

    One that fails leaves the others going on. Raises NotebookError.
    """
    controls = [Control() for _ in orders]
    control.attach(lambda word: _tell(controls, word), lambda: _cancel(controls))
    try:
        with open_notebook(notebook_path) as notebook:
            stepped = [replace(order, plan=replace(order.plan, stepped=True)) for order in orders]
            series = [recording(o, notebook, c) for o, c in zip(stepped, controls, strict=True)]
            going = list(range(len(series)))
            while going:
                for index in tuple(going):
                    controls[index].step()
                    for event in series[index]:
                        yield index, event
                        if isinstance(event, Paused):
                            break
                    else:
                        going.remove(index)
                going.reverse()
    finally:
        control.detach()
        _cancel(controls)


def _tell(controls: Sequence[Control], word: Word) -> None:
    for control in controls:
        control.tell(word)


def _cancel(controls: Sequence[Control]) -> None:
    for control in controls:
        control.cancel()
