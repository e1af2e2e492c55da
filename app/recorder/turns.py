"""Several series that take turns, a run each, so that drift hits all alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.clients.base import Secrets
from app.errors import LoginError
from app.measure.control import ControlMessage, SeriesControl
from app.measure.events import Failed, Paused
from app.recorder.recording import RecorderEvent, open_notebook, recording, resuming
from app.recorder.request import SeriesRequest
from storage.notebook import Notebook


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A stored series to be completed."""

    series_id: str
    secrets: Secrets


def record_in_turns(
    requests: Sequence[SeriesRequest | Resumption],
    notebook_path: Path,
    control: SeriesControl,
    logins: Sequence[str] = (),
) -> Iterator[tuple[int, RecorderEvent]]:
    """Measure series side by side, run by run: 1 2 3, 3 2 1, 1 2 3 …; each event comes with its order's index.

    One that fails leaves the others going on; one that has not begun when all are cancelled is not begun, nor one of
    the same login as another that was refused: each try more may lock the account. ``logins`` tells them apart, one
    a series; none where it does not matter. Raises NotebookError.
    """
    refused: set[str] = set()
    controls = [SeriesControl() for _ in requests]
    control.attach(lambda word: _tell(controls, word), lambda: _cancel(controls))
    try:
        with open_notebook(notebook_path) as notebook:
            series = [_stepped(o, notebook, c) for o, c in zip(requests, controls, strict=True)]
            going = list(range(len(series)))
            begun: set[int] = set()
            while going:
                for index in tuple(going):
                    is_refused = bool(logins) and logins[index] in refused
                    if index not in begun and (control.cancelled.is_set() or is_refused):
                        going.remove(index)
                        continue
                    begun.add(index)
                    controls[index].step()
                    for event in series[index]:
                        yield index, event
                        if logins and isinstance(event, Failed) and event.kind == LoginError.__name__:
                            refused.add(logins[index])
                        if isinstance(event, Paused):
                            break
                    else:
                        going.remove(index)
                going.reverse()
    finally:
        control.detach()
        _cancel(controls)


def _stepped(
    request: SeriesRequest | Resumption, notebook: Notebook, control: SeriesControl
) -> Iterator[RecorderEvent]:
    if isinstance(request, Resumption):
        return resuming(request.series_id, request.secrets, notebook, control, stepped=True)
    return recording(replace(request, plan=replace(request.plan, stepped=True)), notebook, control)


def _tell(controls: Sequence[SeriesControl], word: ControlMessage) -> None:
    for control in controls:
        control.tell(word)


def _cancel(controls: Sequence[SeriesControl]) -> None:
    for control in controls:
        control.cancel()
