"""The program's own side of the replay process, which measures the server layer."""

from app.base import errors
from app.base.child_process import ChildProcess
from app.isolation import bench_programs
from app.isolation.replay_messages import ReplayPlan, ReplayResult
from app.recording.process import Failed


class Replay:
    """The process whose clients replay the script against the share."""

    def __init__(self, plan: ReplayPlan) -> None:
        grace_seconds = plan.warm_up_seconds + plan.seconds + bench_programs.SLACK_SECONDS
        self._process = ChildProcess("app.isolation.replay_child", grace_seconds=grace_seconds)
        self._process.say(plan)

    def wait(self) -> ReplayResult:
        """The result of all clients. Raises MeasurementError."""
        try:
            answer: ReplayResult | Failed | None = next(self._process.events([ReplayResult, Failed]), None)
            if answer is None:
                self._process.cancel()
                raise errors.MeasurementError(f"the replay {self._process.how_it_ended()}; measure again")
        finally:
            self._process.close()
        if isinstance(answer, Failed):
            raise errors.MeasurementError(answer.text)
        return answer

    def hang_up(self) -> None:
        """Stop the clients without waiting for their cleanup; for a signal handler."""
        self._process.cancel()
