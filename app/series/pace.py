"""How long series will take: before they begin from their plan, and while they run from the runs that have ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from app.recording import process
from app.series.events import RecorderEvent, SeriesClosed
from forms.series.estimate import ExpectedRate, estimate_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What equal series will take, told as soon as the size of their file is known."""

    order: process.MeasuringOrder
    """That of the first series."""
    rate: ExpectedRate
    series: int = 1
    """How many equal series there are."""

    def estimate(self, size_bytes: int) -> str:
        """How long it will take, in words."""
        counts = self.order.spec.counts
        runs = counts.runs
        if counts.until_percent is None:
            runs -= self.order.done_runs

        return estimate_text(
            runs=runs,
            size_bytes=size_bytes,
            makes_file_first=counts.make_file,
            rate=self.rate,
            series=self.series,
            warmups=counts.warmups,
            until_percent=counts.until_percent,
            max_runs=counts.max_runs,
            random_seconds=counts.random_seconds,
        )


class RunPace:
    """The time that interleaved series still take, as long as runs end as fast as those before."""

    def __init__(self, runs_to_come: Sequence[int], clock: Callable[[], float] = monotonic) -> None:
        """``runs_to_come``: the number of runs of each series, warm-up runs included."""
        self._to_come = list(runs_to_come)
        self._clock = clock
        self._began_at: float | None = None
        """When the first run began."""
        self._ended_at = 0.0
        """When the newest run ended."""
        self._ended_runs = 0

    def take_event(self, index: int, event: RecorderEvent) -> None:
        """Count an event of the series with that index."""
        if isinstance(event, process.RunStarted) and self._began_at is None:
            self._began_at = self._clock()  # looking around and making files comes before, and once
        elif isinstance(event, process.RunFinished):
            self._to_come[index] -= 1
            self._ended_runs += 1
            self._ended_at = self._clock()
        elif isinstance(event, SeriesClosed):
            self._to_come[index] = 0

    @property
    def seconds_left(self) -> float | None:
        if not self._ended_runs or self._began_at is None:
            return None

        # Seconds a run, times the runs to come, less what has passed of the run under way.
        seconds_a_run = (self._ended_at - self._began_at) / self._ended_runs
        since_last = self._clock() - self._ended_at
        return max(0.0, seconds_a_run * sum(self._to_come) - since_last)
