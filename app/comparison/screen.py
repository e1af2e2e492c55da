"""Two series measured again with their runs interleaved, which settles what a client's setting does."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from random import SystemRandom
from time import monotonic
from typing import Any, ClassVar

from app.base.errors import CancelledError, LoginError, UsageError
from app.charts.series_charts import bars_chart
from app.guide.choices import INTERLEAVED
from app.recording.process import RunFinished, RunStarted, ScratchMade, Started
from app.recording.spec import Lineage, SeriesRequest
from app.series.progress import RunPace
from app.series.record import SeriesClosed, SeriesOpened, record_interleaved, words
from app.series.requests import series_request, spec_of, with_label
from app.tui.notebook.reading import CompareScreen
from app.tui.widgets.asking import log_in, log_in_again
from app.tui.widgets.recording import PART_SECONDS, REDRAW_SECONDS, ReportRunScreen, run_keys
from forms import wording
from forms.comparison.pair_tables import alternating_runs
from forms.layout import Tone, cut, visible
from forms.report import Bar
from forms.stats.summary import mean
from forms.wording import duration
from storage.records import Phase, Series

_SIDES, _TONES = ("base", "other"), (Tone.FAINT, Tone.PLAIN)


class InterleavedScreen(ReportRunScreen):
    KEYS: ClassVar = run_keys("comparison", "Stop at once; the runs measured so far are kept.")
    STOP_HEADING = "Stop measuring?"
    STOP_TEXT = "The runs measured so far are kept."
    QUIT_TEXT = "Two series are being measured. The runs measured so far are kept."

    def __init__(self, base: str, other: str, runs: int) -> None:
        super().__init__("Interleaved")
        self.ids, self.runs = (base, other), runs
        self.series: list[Series] = []
        self.requests: list[SeriesRequest] = []
        self._rates: tuple[list[float], list[float]] = ([], [])
        self._ended_series: dict[int, SeriesClosed] = {}
        self._is_timed, self._drawn_at = False, -inf
        self._doing, self._pace = "", RunPace([0, 0])

    @property
    def is_over(self) -> bool:
        return not self.requests or not self._recording

    def begin(self) -> None:
        self.draw()
        self.with_notebook(lambda notebook: [notebook.series(one) for one in self.ids], self._log_in)

    def _log_in(self, series: list[Series]) -> None:
        self.series = series
        if imported := next((one.id for one in series if one.imported_at is not None), None):
            self.work_failed(UsageError(f"series {imported} was imported: measure it here first (a), then compare"))
        else:
            log_in(self, series[0].target, lambda _: log_in(self, series[1].target, self._measure))

    def _measure(self, _: object) -> None:
        requests = []
        for one, beside in zip(self.series, self.series[::-1], strict=True):
            label = f"{wording.name_of(one, beside=beside).removesuffix(INTERLEAVED)}{INTERLEAVED}"
            spec = with_label(spec_of(one), label)
            spec = replace(
                spec,
                counts=replace(spec.counts, runs=self.runs, until_percent=None),
                lineage=Lineage(base_id=one.id),
            )
            requests.append(series_request(spec, one.target, self.context.logins.find(one.target)))
        self.requests = requests
        self._pace = RunPace([one.spec.counts.warmups + one.spec.counts.runs for one in requests])
        self.refresh_bindings()
        self.listen(self.events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def events(self) -> Iterator[tuple[int, Any]]:
        self.watch_machine(self.series[0].target)
        chance = SystemRandom()
        return record_interleaved(self.requests, self.context.notebook_path, self.control, chance=chance)

    def tick(self) -> None:
        """Draw between two runs, and seldom during one: drawing takes processor time from the transfer."""
        self.catch_up()
        waits = self._is_timed and not (self.is_over or self.control.cancelled.is_set())
        if not self.is_covered and (not waits or monotonic() >= self._drawn_at + PART_SECONDS):
            self._drawn_at = monotonic()
            self.draw()

    def take_event(self, index: int, event: Any) -> None:
        self._pace.heard(index, event)
        if isinstance(event, SeriesOpened | Started | ScratchMade | RunStarted):
            self._doing = f"{_SIDES[index]}, {words(event)}"
        if isinstance(event, RunStarted | RunFinished):
            self._is_timed = isinstance(event, RunStarted)
        match event:
            case RunFinished(run=run) if run.phase is Phase.MEASURED and run.bytes_per_second:
                self._rates[index].append(run.bytes_per_second)
            case SeriesClosed():
                self._ended_series[index] = event

    def now(self) -> str:
        if not self.requests:
            return "Looking at the series …"
        done = min(map(len, self._rates))
        if self.is_over:
            return f"{done} pairs of runs measured."
        left = self._pace.seconds_left
        rest = f": {self._doing or 'connecting'}" if not any(self._rates) else ""
        rest += f"; about {duration(left)} left" if left else ""
        return f"Pair {min(done + 1, self.runs)} of {self.runs}{rest}"

    def heard_text(self, width: int) -> str:
        lines: list[str] = []
        sides: list[list[Bar]] = []
        for name, tone, one, rates in zip(_SIDES, _TONES, self.requests, self._rates, strict=False):
            label = visible(one.spec.texts.label)
            said = f"{name} ({label}): {wording.count(len(rates), 'run')}, {wording.rate(mean(rates))}"
            lines.append(cut(said, width))
            sides.append([Bar(name=f"{name} {n}", value=rate, tone=tone) for n, rate in enumerate(rates, 1)])
        if any(sides):
            rows = self.query_one("#run-box").size.height - len(lines) - 1
            lines += ["", bars_chart(alternating_runs(sides), width, rows)]
        return "\n".join(lines)

    def measurement_ended(self, error: Exception | None) -> None:
        error = error or next((one.failure.error for one in self._ended_series.values() if one.failure), None)
        targets = [one.target for one in self.series]
        if isinstance(error, LoginError) and log_in_again(self, targets, str(error), self._again):
            return
        self.draw()
        self.refresh_bindings()
        if all(self._rates) and len(self._ended_series) == len(self.ids):
            show = self.app.push_screen if self.is_covered else self.app.switch_screen
            show(CompareScreen(*(self._ended_series[index].series_id for index in range(len(self.ids)))))
        if error is not None and not isinstance(error, CancelledError):
            self.sharebench_app.tell_error(error)

    def _again(self, _: object) -> None:
        self.app.switch_screen(InterleavedScreen(*self.ids, self.runs))
