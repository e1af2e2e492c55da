"""What is known of series while they are measured with their runs interleaved, for the screen that shows it.

Whatever is a sequence here has the base first; ``index`` is 0 for the base, and from 1 on for the others.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from app.charts.series_charts import bars_chart
from app.recording import process
from app.series import events
from app.series.pace import RunPace
from forms import wording
from forms.comparison.pair_tables import alternating_runs
from forms.layout import Tone, cut, visible
from forms.report import Bar
from forms.series.progress import RunProgress, run_progress
from forms.stats.decision import LEAST_RUNS
from forms.stats.summary import mean
from storage.plan import RunCounts
from storage.records import Phase

TWO_SIDES = ("base", "other")
"""What two sides are called that have no names of their own."""


class InterleavedProgress:
    """Takes the events of the measurement, and tells in words and bars how far it is."""

    def __init__(self, runs: int, names: Sequence[str] = TWO_SIDES) -> None:
        """``names``: what the sides are called."""
        self._names = [visible(name) for name in names]
        self.runs = runs
        """How many runs of each side are to be measured."""
        self.pace = RunPace([0] * len(names))
        """Tells the time left."""
        self.is_timed = False
        """Whether a run is under way, which drawing would slow down."""
        self.ended_series: dict[int, events.SeriesClosed] = {}
        """By index; those of all sides once all is measured."""

        self._rates: list[list[float]] = [[] for _ in names]
        """In bytes/s, of the measured runs of each side so far."""
        self._doing = ""
        """What is done before the first run has a rate, in words."""
        self._run_progress: RunProgress | None = None
        """How far the run under way is; None between two runs."""
        self._running = ""
        """Which run is under way, in words."""

    @property
    def has_all_series(self) -> bool:
        """Whether all series have ended, with a measured run in each."""
        return all(self._rates) and len(self.ended_series) == len(self._names)

    @property
    def failure(self) -> Exception | None:
        """Why a series failed; None while none did."""
        failures = [closed.failure for closed in self.ended_series.values() if closed.failure]
        return failures[0].error if failures else None

    def expect_runs(self, counts_of_sides: Sequence[RunCounts]) -> None:
        """Say how many runs are to come, before the first event."""
        self.pace = RunPace([counts.warmups + counts.runs for counts in counts_of_sides])

    def take_event(self, index: int, event: Any) -> None:
        self.pace.take_event(index, event)
        if isinstance(event, events.SeriesOpened | process.Started | process.ScratchMade | process.RunStarted):
            self._doing = f"{self._side_name(index)}, {events.words(event)}"
        if isinstance(event, process.RunStarted | process.RunFinished):
            self.is_timed = isinstance(event, process.RunStarted)
            self._run_progress = None

        match event:
            case process.RunStarted():
                self._running = f"{self._side_name(index)}, {events.words(event)}"
            case process.Progressed(seconds=seconds, moved_bytes=moved, size_bytes=size):
                self._run_progress = run_progress(seconds, moved, size)
            case process.RunFinished(run=run) if run.phase is Phase.MEASURED and run.bytes_per_second:
                self._rates[index].append(run.bytes_per_second)
            case events.SeriesClosed():
                self.ended_series[index] = event

    def _side_name(self, index: int) -> str:
        return self._names[index]

    def sentence(self, *, is_over: bool) -> str:
        """What happens now, in one line."""
        measured_turns = min(map(len, self._rates))
        turn_name = "pair" if len(self._names) == len(TWO_SIDES) else "round"
        if is_over:
            return f"{wording.count(measured_turns, turn_name)} of runs measured."

        if measured_turns >= self.runs:
            return f"All {self.runs} {turn_name}s of runs are measured; looking at the servers once more …"

        turn = measured_turns + 1
        doing = "" if any(self._rates) else f": {self._doing or 'connecting'}"
        if self._run_progress is not None:
            doing = f": {self._running}, {wording.byte_rate(self._run_progress.bytes_per_second)}"
        seconds_left = self.pace.seconds_left
        time_left = f"; about {wording.duration(seconds_left)} left" if seconds_left else ""
        return f"{turn_name.capitalize()} {turn} of {self.runs}{doing}{time_left}"

    def _difference_so_far(self, index: int) -> str:
        """That other beside the base by the pairs measured so far; empty before a verdict could follow from them."""
        pairs = list(zip(self._rates[0], self._rates[index], strict=False))
        if len(pairs) < LEAST_RUNS:
            return ""
        # As the comparison judges them at the end, and as the averages above have it.
        base_rates, other_rates = zip(*pairs, strict=True)
        percent = 100 * (fmean(other_rates) / fmean(base_rates) - 1)
        way = "faster" if percent >= 0 else "slower"
        names = f"{self._names[index]} is {abs(percent):.1f} % {way} than {self._names[0]}"
        return f"So far {names}, by {len(pairs)} pairs."

    def text(self, labels: Sequence[str], width: int, height: int) -> str:
        """The average of each side and a bar for each run; ``labels`` are the series', empty before they are known."""
        lines: list[str] = []
        bars_of_sides: list[list[Bar]] = []
        for index, (side, label, rates) in enumerate(zip(self._names, labels, self._rates, strict=False)):
            tone = Tone.PLAIN if index else Tone.FAINT
            runs = wording.count(len(rates), "run")
            in_brackets = "" if label == side else f" ({visible(label)})"
            lines.append(cut(f"{side}{in_brackets}: {runs}, {wording.rate(mean(rates))}", width))
            bars = [Bar(name=f"{side} {number}", value=rate, tone=tone) for number, rate in enumerate(rates, 1)]
            bars_of_sides.append(bars)
        lines += [cut(self._difference_so_far(index), width) for index in range(1, len(self._names))]

        if any(bars_of_sides):
            rows = height - len(lines) - 1
            lines += ["", bars_chart(alternating_runs(bars_of_sides), width, rows)]
        return "\n".join(lines)
