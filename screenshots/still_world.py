"""The outside in the pictures: nothing can be reached, and the link is always the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.clients.base import Secrets
from app.errors import UnreachableError
from app.guide.browsing import Place
from app.guide.known import QuietSeen
from app.measure.control import Control
from app.recorder import Order, RecorderEvent
from forms.file_choice import Surroundings
from screenshots.invented import GIGABIT
from storage.records import Command, Target


class StillWorld:
    """Answers without looking."""

    def look(self, target: Target, secrets: Secrets, around: Surroundings) -> Place:  # noqa: ARG002  the protocol's
        """Reach nothing."""
        raise UnreachableError(f"{target.host} is only invented")

    def link(self, target: Target) -> tuple[int | None, str]:  # noqa: ARG002  the protocol's
        """A gigabit."""
        return GIGABIT, "eth0 runs at this rate"

    def memory_bytes(self, target: Target) -> int | None:  # noqa: ARG002  the protocol's
        """Not known."""
        return None

    def quiet(self, target: Target, command: Command) -> QuietSeen:  # noqa: ARG002  the protocol's
        """Not known."""
        return QuietSeen(verdict="unknown")

    def record(self, order: Order, notebook_path: Path, control: Control) -> Iterator[RecorderEvent]:  # noqa: ARG002  the protocol's
        """Measure nothing."""
        return iter(())

    def resume(
        self,
        series_id: str,  # noqa: ARG002  the protocol's
        secrets: Secrets,  # noqa: ARG002  the protocol's
        notebook_path: Path,  # noqa: ARG002  the protocol's
        control: Control,  # noqa: ARG002  the protocol's
    ) -> Iterator[RecorderEvent]:
        """Complete nothing."""
        return iter(())
