"""Loads from several machines, each in its turn: a point of one, then a point of the next, and never two at a time."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from app.base import errors
from app.load.measurement import LoadChanged, LoadClosed, LoadStep
from app.load.record import record_into
from app.load.spec import LoadRequest
from app.recording.process import SeriesControl
from app.recording.rescue import notebook_to_measure_into
from app.recording.turns import in_turns


def record_places(
    requests: Sequence[LoadRequest], notebook_path: Path, control: SeriesControl
) -> Iterator[tuple[int, LoadStep | errors.SharebenchError]]:
    """Measure a load of each request; yields as `in_turns` does. Raises NotebookError."""
    with notebook_to_measure_into(notebook_path) as notebook:
        recorders = [partial(record_into, notebook, request) for request in requests]
        yield from in_turns(recorders, control, _ends_turn, _refuses_login)


def _ends_turn(step: LoadStep) -> bool:
    """Whether a point is over, and its users are gone."""
    return isinstance(step, LoadChanged) and step.done


def _refuses_login(step: LoadStep) -> bool:
    failure = step.failure if isinstance(step, LoadClosed) else None
    return failure is not None and issubclass(failure.kind, errors.LoginError)
