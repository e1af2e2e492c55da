"""How many runs of an isolation have begun, and how long those to come will take."""

from statistics import fmean
from time import monotonic

from app.isolation.timetable import WHOLE_RUN


class RunTimes:
    """The runs of an isolation under way; :meth:`begin_run` is called as each begins."""

    def __init__(self, rounds: int, run_seconds: float) -> None:
        """``run_seconds`` is the length of a run as it was asked for, without its warm-up."""
        self._rounds = rounds
        self._expected_seconds = WHOLE_RUN * run_seconds
        self.planned = 0
        """Runs of the whole isolation."""
        self.begun = 0
        self.began_at = 0.0
        """When the newest run began (monotonic clock)."""
        self.run_seconds: list[float] = []
        """Of each run that has ended, until the next began."""

    def begin_run(self, number: int) -> None:
        now = monotonic()
        if self.begun:
            self.run_seconds.append(now - self.began_at)
        self.begun = number
        self.began_at = now

    def seconds_left(self) -> float:
        # A round as planned counts too, since the first runs are of few clients and short.
        runs_of_a_round = max(1, self.planned // self._rounds)
        mean_seconds = fmean([*(runs_of_a_round * [self._expected_seconds]), *self.run_seconds])

        runs_to_begin = max(0, self.planned - self.begun)
        left_of_this_run = max(0.0, mean_seconds - (monotonic() - self.began_at))
        return mean_seconds * runs_to_begin + left_of_this_run
