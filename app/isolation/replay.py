"""Start, read and end the process that replays a script over SMB."""

from app.child_process import ChildProcess
from app.errors import MeasurementError
from app.isolation.replay_child import ReplayPlan, ReplayResult
from app.measure.events import Failed
from app.messages import line_of, message_of

REPLAY_MODULE = "app.isolation.replay_child"
_SLACK_SECONDS = 120.0
"""For logins, the last request, and cleaning up."""


class Replay:
    """One run of the script over SMB by several clients at once."""

    def __init__(self, plan: ReplayPlan, module: str = REPLAY_MODULE) -> None:
        grace_seconds = plan.warm_up_seconds + plan.seconds + _SLACK_SECONDS
        self._process = ChildProcess(module, grace_seconds=grace_seconds)
        self._process.say(line_of(plan))

    def wait(self) -> ReplayResult:
        """Raises MeasurementError."""
        try:
            line = next(self._process.lines(), None)
            if line is None:
                self._process.cancel()
                raise MeasurementError(f"the replay {self._process.how_it_ended()}; measure again")
        finally:
            self._process.close()
        answer: ReplayResult | Failed = message_of(line, [ReplayResult, Failed])
        if isinstance(answer, Failed):
            raise MeasurementError(answer.text)
        return answer

    def hang_up(self) -> None:
        """Stop the clients without waiting for their cleanup; for a signal handler."""
        self._process.cancel()
