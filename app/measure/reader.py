"""The other end of the measuring process: starts it and reads its events."""

import contextlib
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from typing import IO, Self

from app.children import end_input, own_command, own_environment
from app.measure.control import ControlMessage, SeriesControl
from app.measure.events import Event, Failed, Finished, from_line
from app.measure.plan import MeasurementPlan

GRACE_SECONDS = 30.0
"""How long a cancelled measuring process may take to clean up after itself."""


class MeasuringProcess:
    """One measuring process; iterate over :meth:`events` to the end, inside ``with``."""

    def __init__(self, plan: MeasurementPlan, control: SeriesControl) -> None:
        self._plan = plan
        self._control = control
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed in __exit__
        self._process = subprocess.Popen(
            own_command("app.measure.child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            env=own_environment(),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The measuring process's id."""
        return self._process.pid

    def __enter__(self) -> Self:
        self._write(self._plan.to_json())
        self._control.attach(self._say, self._end)
        return self

    def __exit__(self, *_: object) -> None:
        self._control.detach()
        self._end()
        assert self._process.stdout
        self._process.stdout.close()  # first: a process that waits for room in the pipe could not clean up
        self._wait()
        self._errors.close()

    def _wait(self) -> int:
        """The exit code, of a process that may clean up first, but not for ever."""
        try:
            return self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _write(self, line: str) -> None:
        """Write a line; a process that is gone has no use for it, and its end is seen by the reading side."""
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def _say(self, word: ControlMessage) -> None:
        self._write(word.value)

    def _end(self) -> None:
        assert self._process.stdin
        end_input(self._process.stdin)

    def events(self) -> Iterator[Event]:
        """All events to the last one, which is Finished or Failed, whatever becomes of the process."""
        assert self._process.stdout
        for line in self._process.stdout:
            if not line.endswith("\n"):  # it died in the middle of a word
                break
            event = from_line(line)
            yield event
            if isinstance(event, Finished | Failed):
                return
        yield Failed(kind="ChildDiedError", text=self._epitaph())

    def _epitaph(self) -> str:
        code = self._wait()
        if code < 0:
            how = f"was ended by signal {-code} ({signal.Signals(-code).name})"
        else:
            how = f"ended with exit code {code}"
        self._errors.seek(0)
        last = self._errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        why = f": {last[-1]}" if last else ""
        return f"the measuring process {how}{why}; what was measured before is kept, `run --resume` goes on"
