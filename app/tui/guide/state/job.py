"""One measurement under way: its order, what controls it, and its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.clients.base import Secrets
from app.measure.control import SeriesControl
from app.recorder.recording import RecorderEvent
from app.recorder.request import SeriesRequest
from app.tui.guide.state.backend import Backend


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementJob:
    """A new series, or one to be completed; ``events`` is asked for once, in a thread."""

    world: Backend
    notebook_path: Path
    title: str
    order: SeriesRequest | None = None
    resumed_id: str | None = None
    """The series to be completed, where there is no order."""
    secrets: Secrets = field(default_factory=Secrets)
    control: SeriesControl = field(default_factory=SeriesControl)
    opened: Callable[[str], None] = lambda _series_id: None
    """Told the series' id as soon as there is one."""

    def events(self) -> Iterator[RecorderEvent]:
        """Measure; each run is stored before its event comes. Raises SharebenchError."""
        if self.order is not None:
            return self.world.record(self.order, self.notebook_path, self.control)
        assert self.resumed_id is not None
        return self.world.resume(self.resumed_id, self.secrets, self.notebook_path, self.control)
