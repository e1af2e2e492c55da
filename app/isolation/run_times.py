"""How many runs of an isolation have begun, and how long those to come will take."""

from statistics import fmean
from time import monotonic

from app.isolation.spec import WHOLE_RUN
from app.recording.told_estimate import is_wrong_by_half


class RunTimes:
    """The runs of an isolation under way; :meth:`begin_run` is called as each begins."""

    def __init__(self, rounds: int, run_seconds: float, within_seconds: float) -> None:
        """``run_seconds`` is the length of a run as it was asked for, without its warm-up.

        Within ``within_seconds`` the whole isolation ends, with fewer rounds where need be.
        """
        self._rounds = rounds
        self._expected_seconds = WHOLE_RUN * run_seconds
        self._within_seconds = within_seconds
        self.planned = 0
        """Runs of the whole isolation."""
        self.begun = 0
        self.first_began_at = 0.0
        self.began_at = 0.0
        """When the newest run began (monotonic clock)."""
        self.run_seconds: list[float] = []
        """Of each run that has ended, until the next began."""

    def begin_run(self, number: int) -> None:
        now = monotonic()
        if self.begun:
            self.run_seconds.append(now - self.began_at)
        else:
            self.first_began_at = now
        self.begun = number
        self.began_at = now

    def planned_seconds(self) -> float:
        """How long all runs take, as planned."""
        return min(self._within_seconds, self._expected_seconds * self.planned)

    def seconds_left(self) -> float:
        now = monotonic()
        run_seconds = self._seconds_of_a_run()
        runs_to_begin = max(0, self.planned - self.begun)
        left_of_this_run = max(0.0, run_seconds - (now - self.began_at))

        until_time_is_over = max(0.0, self._within_seconds - (now - self.first_began_at))
        return min(run_seconds * runs_to_begin + left_of_this_run, until_time_is_over)

    def _seconds_of_a_run(self) -> float:
        """As planned, until the runs that have ended show that this is wrong."""
        if not self.run_seconds:
            return self._expected_seconds

        measured_seconds = fmean(self.run_seconds)
        if is_wrong_by_half(self._expected_seconds, measured_seconds):
            return measured_seconds

        # A round as planned counts too, since the first runs are of few clients and short.
        runs_of_a_round = max(1, self.planned // self._rounds)
        return fmean([*(runs_of_a_round * [self._expected_seconds]), *self.run_seconds])
