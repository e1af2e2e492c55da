"""The server layer, seen from here: the process that replays a script, started, listened to and ended."""

import contextlib
import json
import subprocess

from app.children import own_command, own_environment
from app.errors import MeasurementError
from app.isolation.replay_child import ReplayPlan, ReplayResult
from storage.records import ClientFacts

REPLAY_MODULE = "app.isolation.replay_child"
_SLACK_SECONDS = 120.0
"""For logins, the last request under way, and the removal of what was made."""


class Replay:
    """One run of the script over SMB by several clients at once."""

    def __init__(self, plan: ReplayPlan, module: str = REPLAY_MODULE) -> None:
        self._seconds = plan.warm_up_seconds + plan.seconds
        self._process = subprocess.Popen(
            own_command(module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=own_environment(),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(plan.to_json() + "\n")
        self._process.stdin.flush()

    def wait(self) -> ReplayResult:
        """What the clients did. Raises MeasurementError."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        try:
            answer = json.loads(line)
        except ValueError as error:
            said = self._end().strip().splitlines()
            raise MeasurementError(
                f"the replay ended without a result ({said[-1] if said else 'it said nothing'}); measure again"
            ) from error
        self._end()
        if "error" in answer:
            raise MeasurementError(answer["error"])
        return ReplayResult(**answer | {"client": ClientFacts(**answer["client"])})

    def hang_up(self) -> None:
        """Have the clients stop and remove what they made, without waiting for that: for a signal."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def _end(self) -> str:
        process = self._process
        self.hang_up()
        try:
            process.wait(self._seconds + _SLACK_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        said = process.stderr.read() if process.stderr and not process.stderr.closed else ""
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
        return said
