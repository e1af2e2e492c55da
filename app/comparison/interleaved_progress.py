"""What is known of series while they are measured with their runs interleaved, for the screen that shows it.

Whatever is a sequence here has the base first; ``index`` is 0 for the base, and from 1 on for the others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from app.charts.series_charts import bars_chart
from app.recording import process
from app.series import events
from app.series.pace import RunPace
from forms import layout, verdict_wording, wording
from forms.comparison.pair_tables import alternating_runs
from forms.comparison.pairs import joint_limits
from forms.report import Bar
from forms.series.progress import RunProgress, run_progress
from forms.stats.decision import LEAST_RUNS
from forms.stats.summary import mean
from forms.stats.verdict_rule import decide_interleaved
from storage.records import Phase

TWO_SIDES = ("base", "other")
"""What two sides are called that have no names of their own."""


class InterleavedProgress:
    """Takes the events of the measurement, and tells in words and bars how far it is."""

    def __init__(
        self, runs: int, names: Sequence[str] = TWO_SIDES, rates_before: Sequence[Mapping[int, float]] = ()
    ) -> None:
        """``names``: what the sides are called. ``rates_before``: as ``_rates``, of a comparison that is resumed."""
        self._names = [layout.visible(name) for name in names]
        self.runs = runs
        """How many measured runs each side has in the end."""
        self.pace = RunPace([0] * len(names))
        """Tells the time left."""
        self.is_timed = False
        """Whether a run is under way, which drawing would slow down."""
        self.ended_series: dict[int, events.SeriesClosed] = {}
        """By index; those of all sides once all is measured."""

        self._rates_before = [dict(rates) for rates in rates_before] or [{} for _ in names]
        """Those of the runs that were there at the begin."""
        self._rates = [dict(rates) for rates in self._rates_before]
        """In bytes/s, of the measured runs of each side so far, by their numbers."""
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

    def expect_runs(self, runs_to_come: Sequence[int]) -> None:
        """Say how many runs of each side are to come, warm-up runs included, before the first event."""
        self.pace = RunPace(runs_to_come)

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
                self._rates[index][run.number] = run.bytes_per_second
            case events.SeriesClosed():
                self.ended_series[index] = event

    def _side_name(self, index: int) -> str:
        return self._names[index]

    def sentence(self, *, is_over: bool) -> str:
        """What happens now, in one line."""
        measured_turns = len(self._numbers_of_all())
        turn_name = "pair" if len(self._names) == len(TWO_SIDES) else "round"
        if is_over:
            return f"{wording.count(measured_turns, turn_name)} of runs measured."

        if measured_turns >= self.runs:
            return f"All {self.runs} {turn_name}s of runs are measured; looking at the servers once more …"

        turn = measured_turns + 1
        has_new_rates = self._rates != self._rates_before
        doing = "" if has_new_rates else f": {self._doing or 'connecting'}"
        if self._run_progress is not None:
            doing = f": {self._running}, {wording.byte_rate(self._run_progress.bytes_per_second)}"
        seconds_left = self.pace.seconds_left
        time_left = f"; about {wording.duration(seconds_left)} left" if seconds_left else ""
        return f"{turn_name.capitalize()} {turn} of {self.runs}{doing}{time_left}"

    def _numbers_of_all(self) -> set[int]:
        """The numbers of the rounds in which each side has a measured run."""
        return set.intersection(*map(set, self._rates))

    def _pairs(self, index: int) -> list[tuple[float, float]]:
        """The rates of the base and of that other, pair by pair."""
        base_rates = self._rates[0]
        other_rates = self._rates[index]
        # What slowed one run of a pair need not have met the other where the break lay between them.
        interrupted = self._rates_before[0].keys() ^ self._rates_before[index].keys()
        numbers = sorted((base_rates.keys() & other_rates.keys()) - interrupted)
        return [(base_rates[number], other_rates[number]) for number in numbers]

    def _answer_so_far(self, index: int) -> str:
        """What the pairs measured so far say of that other; empty before a verdict could follow from them."""
        pairs = self._pairs(index)
        if len(pairs) < LEAST_RUNS:
            return ""

        # As the comparison judges them at the end.
        limits = joint_limits(others=len(self._names) - 1)
        base_rates, other_rates = zip(*pairs, strict=True)
        decision = decide_interleaved(base_rates, other_rates, limits=limits)
        verdict = verdict_wording.verdict_sentence(
            decision.verdict, decision.change_percent or 0.0, decision.interval_percent
        )
        answer = verdict_wording.verdict_on_two(verdict, decision.verdict, self._names[index], self._names[0])
        change = answer.removeprefix(verdict_wording.INCONCLUSIVE)
        lead = f"By {len(pairs)} pairs" if change == answer else f"Inconclusive by {len(pairs)} pairs"
        so_far = " so far" if len(pairs) < self.runs else ""
        return f"{lead}{so_far}: {change}."

    def text(self, labels: Sequence[str], width: int, height: int) -> str:
        """The average of each side and a bar for each run; ``labels`` are the series', empty before they are known."""
        lines: list[str] = []
        bars_of_sides: list[list[Bar]] = []
        for index, (side, label, rates) in enumerate(zip(self._names, labels, self._rates, strict=False)):
            tone = layout.Tone.PLAIN if index else layout.Tone.FAINT
            runs = wording.count(len(rates), "run")
            in_brackets = "" if label == side else f" ({layout.visible(label)})"
            average = wording.rate(mean([*rates.values()]))
            lines.append(layout.cut(f"{side}{in_brackets}: {runs}, {average}", width))
            bars = [Bar(name=f"{side} {number}", value=rate, tone=tone) for number, rate in sorted(rates.items())]
            bars_of_sides.append(bars)

        for index in range(1, len(self._names)):
            answer = self._answer_so_far(index)
            lines += layout.wrap(answer, width) or [""]

        if any(bars_of_sides):
            rows = height - len(lines) - 1
            lines += ["", bars_chart(alternating_runs(bars_of_sides), width, rows)]
        return "\n".join(lines)
