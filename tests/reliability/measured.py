"""One run of one series, in this process, and whether what came of it may be."""

from __future__ import annotations

import math
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from app.clients.base import Client
from app.clients.registry import make_client, make_files
from app.clients.tree_client import TreeClient
from app.recording.engine import Engine
from app.recording.process import Event, Failed, Finished, MeasuringOrder, RunFinished, RunGate, ScratchMade, Warned
from storage.records import Command, Run, RunStatus


@dataclass(slots=True)
class Measured:
    """What one series came to."""

    plan: MeasuringOrder
    folder: Path
    """Where the server keeps its files."""
    seconds: float = 0.0
    events: list[Event] = field(default_factory=list)
    crash: str = ""
    hung: bool = False
    stored_bytes: dict[str, int | None] = field(default_factory=dict)
    """By path, the size of each file that was put, as it lay there before it was first removed."""

    def run(self, limit_seconds: float) -> None:
        """Measure; after ``limit_seconds`` it counts as hung and is ended."""
        gate = RunGate()

        def give_up() -> None:
            self.hung = True
            gate.cancel()

        timer = threading.Timer(limit_seconds, give_up)
        timer.start()
        began = time.monotonic()
        try:
            Engine(self.plan, self._client, gate, self.events.append).measure()
        except Exception as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            self.crash = f"{type(error).__name__}: {error} ({at.filename}:{at.lineno})"
        finally:
            self.seconds = time.monotonic() - began
            timer.cancel()

    def _client(self) -> Client:
        plan = self.plan
        client = make_client(
            plan.target, plan.spec.client, plan.secrets, plan.spec.settings, plan.spec.counts.size_bytes
        )
        if plan.spec.counts.files is not None:
            files = make_files(plan.target, plan.secrets, plan.spec.settings)
            return TreeClient(client, files, plan.spec.counts.files)
        remove = client.remove

        def look_and_remove(path: str) -> None:
            file = self.folder / path.strip("/")
            self.stored_bytes.setdefault(path, file.stat().st_size if file.exists() else None)
            remove(path)

        client.remove = look_and_remove  # type: ignore[method-assign]
        return client

    @property
    def completed(self) -> bool:
        """Whether the series came to its planned end."""
        return bool(self.events) and isinstance(self.events[-1], Finished)

    def losses(self, size_bytes: int) -> list[str]:
        """What must not be, with a file of ``size_bytes``."""
        if self.crash or self.hung:
            return [self.crash or f"hung for {self.seconds:.1f} s"]
        last = self.events[-1] if self.events else None
        if not isinstance(last, Finished | Failed):
            return [f"ended with {type(last).__name__}"]
        told = [event.text for event in self.events if isinstance(event, Failed | Warned)]
        found = [f"not one line: {text!r}" for text in told if "\n" in text or not 10 < len(text) < 1_500]
        runs = [event.run for event in self.events if isinstance(event, RunFinished)]
        valid = [run for run in runs if run.status is RunStatus.VALID]
        stored = [*self.stored_bytes.values(), *[None] * len(valid)]
        for run, stored_bytes in zip(valid, stored, strict=False):
            if not self._is_right(run, size_bytes, stored_bytes, told):
                found.append(f"wrong number kept: {run}")
        made = [event.path for event in self.events if isinstance(event, ScratchMade)]
        left = [path for path in made if (self.folder / path.strip("/")).exists()]
        return found + [f"left without a word: {path}" for path in left if not any(path in text for text in told)]

    def _is_right(self, run: Run, size_bytes: int, stored_bytes: int | None, told: list[str]) -> bool:
        if run.seconds is None or not 0 < run.seconds < min(self.seconds, math.inf):
            return False
        if self.plan.spec.command is Command.PUT:
            if self.plan.spec.counts.files is not None:
                return run.size_bytes == size_bytes
            return run.size_bytes == size_bytes == stored_bytes
        return run.size_bytes == size_bytes or any("changed its size" in text for text in told)
