"""One measurement under way: its order, what controls it, and its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from app.clients.base import Secrets
from app.guide.world import World
from app.recorder import Control, Order, RecorderEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A new series, or one to be completed; ``events`` is asked for once, in a thread."""

    world: World
    notebook_path: Path
    title: str
    order: Order | None = None
    resumed_id: str | None = None
    """The series to be completed, where there is no order."""
    secrets: Secrets = field(default_factory=Secrets)
    control: Control = field(default_factory=Control)
    opened: Callable[[str], None] = lambda _series_id: None
    """Told the series' id as soon as there is one."""

    def events(self) -> Iterator[RecorderEvent]:
        """Measure; each run is stored before its event comes. Raises SharebenchError."""
        if self.order is not None:
            return self.world.record(self.order, self.notebook_path, self.control)
        assert self.resumed_id is not None
        return self.world.resume(self.resumed_id, self.secrets, self.notebook_path, self.control)
