"""The other end of the engine: starts its process, asks for points, reads its events."""

import contextlib
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from typing import IO, Self

from app.children import end_input, own_command, own_environment
from app.load.events import LoadEnded, LoadEvent, PointMeasured, UsersGone, WorkersReady, load_event_of
from app.load.plan import LoadPlan

GRACE_SECONDS = 120.0
"""How long a cancelled engine may take to remove its files."""


class EngineProcess:
    """One engine, inside ``with``."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        self.ended: LoadEnded | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed in __exit__
        self._process = subprocess.Popen(
            own_command("app.load.process", "engine"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            env=own_environment(),
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        self._write(self._plan.to_json())
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._wait()
        self._errors.close()

    def ready(self) -> Iterator[LoadEvent]:
        """The events until the workers are there, or the end."""
        return self._until(WorkersReady)

    def point(self, number: int, users: int, size_bytes: int | None = None) -> Iterator[LoadEvent]:
        """Ask for a point: its events, the last of which is PointMeasured or LoadEnded."""
        self._write(f"point {number} {users} {size_bytes or 0}")
        return self._until(PointMeasured)

    def rest(self) -> Iterator[LoadEvent]:
        """Have all users leave until the next point: the events, the last of which is UsersGone or LoadEnded."""
        self._write("rest")
        return self._until(UsersGone)

    def finish(self) -> Iterator[LoadEvent]:
        """End it as it should: the events of its cleaning up."""
        self._write("finish")
        return self._until(LoadEnded)

    def cancel(self) -> None:
        """End it at once; it cleans up. May be called from any thread."""
        assert self._process.stdin is not None
        end_input(self._process.stdin)

    def _until(self, last: type[LoadEvent]) -> Iterator[LoadEvent]:
        assert self._process.stdout is not None
        while self.ended is None:
            line = self._process.stdout.readline()
            event = load_event_of(line) if line.endswith("\n") else self._epitaph()
            if isinstance(event, LoadEnded):
                self.ended = event
            yield event
            if isinstance(event, last):
                return

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _wait(self) -> int:
        try:
            return self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _epitaph(self) -> LoadEnded:
        code = self._wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._errors.seek(0)
        last = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        why = f": {last[-1]}" if last else ""
        return LoadEnded(kind="ChildDiedError", text=f"the load's engine {how}{why}; the points before it are kept")
