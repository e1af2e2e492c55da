"""An estimate of time that was told before a measurement, and when a new one has to be told while it runs."""

from collections.abc import Callable
from time import monotonic

from forms.wording import duration

WRONG_BY = 0.5
"""Of an estimate: a user who was told 2 minutes waits 3 without a word, and not longer."""


def is_wrong_by_half(estimated_seconds: float, seconds: float) -> bool:
    """Whether a time is longer or shorter than estimated by more than half of the estimate."""
    return abs(seconds - estimated_seconds) > WRONG_BY * estimated_seconds


LEAST_LEFT_SECONDS = 5.0
"""With less left the end comes before anybody has read a new estimate."""


class ToldEstimate:
    """How long a measurement takes from now on, as it was told; :meth:`correction` says when that is wrong."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._began_at = clock()

    def correction(self, seconds_left: float) -> str:
        """The new estimate in words, which counts as told from then on; empty while the last one is not wrong."""
        whole_seconds = self._clock() - self._began_at + seconds_left
        if seconds_left < LEAST_LEFT_SECONDS or not is_wrong_by_half(self._seconds, whole_seconds):
            return ""

        way = "longer" if whole_seconds > self._seconds else "less"
        self._seconds = whole_seconds
        return f"takes {way} than estimated: about {duration(seconds_left)} left"
