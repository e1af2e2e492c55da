"""The server layer, seen from here: the process that replays a script, started, listened to and ended."""

from app.child_process import ChildProcess
from app.errors import MeasurementError
from app.isolation.replay_child import ReplayPlan, ReplayResult
from app.measure.events import Failed
from app.messages import line_of, message_of

REPLAY_MODULE = "app.isolation.replay_child"
_SLACK_SECONDS = 120.0
"""For logins, the last request under way, and the removal of what was made."""


class Replay:
    """One run of the script over SMB by several clients at once."""

    def __init__(self, plan: ReplayPlan, module: str = REPLAY_MODULE) -> None:
        grace_seconds = plan.warm_up_seconds + plan.seconds + _SLACK_SECONDS
        self._process = ChildProcess(module, grace_seconds=grace_seconds)
        self._process.say(line_of(plan))

    def wait(self) -> ReplayResult:
        """What the clients did. Raises MeasurementError."""
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
        """Have the clients stop and remove what they made, without waiting for that: for a signal."""
        self._process.cancel()
