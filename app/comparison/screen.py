"""Two series measured again with their runs interleaved, which settles what a client's setting does."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import inf
from random import SystemRandom
from time import monotonic
from typing import Any, ClassVar

from app.base.errors import CancelledError, LoginError, UsageError
from app.charts.series_charts import bars_chart
from app.method.choices import INTERLEAVED
from app.recording.process import RunFinished, RunStarted, ScratchMade, Started
from app.recording.spec import Lineage, SeriesRequest
from app.series.events import SeriesClosed, SeriesOpened, words
from app.series.interleaved import record_interleaved
from app.series.pace import RunPace
from app.series.requests import series_request, spec_of, with_label
from app.tui.notebook.compare_screen import CompareScreen
from app.tui.widgets.logins import log_in, log_in_again
from app.tui.widgets.recording import PART_SECONDS, REDRAW_SECONDS
from app.tui.widgets.report_run import ReportRunScreen, run_keys
from forms import wording
from forms.comparison.pair_tables import alternating_runs
from forms.layout import Tone, cut, visible
from forms.report import Bar
from forms.stats.summary import mean
from forms.wording import duration
from storage.notebook import Notebook
from storage.records import Phase, Series

_SIDES = ("base", "other")
_TONES = (Tone.FAINT, Tone.PLAIN)


class InterleavedScreen(ReportRunScreen):
    """Measures two series again with their runs interleaved, then shows their comparison.

    Whatever is a pair here has the base first. Steps: read the two series, log in to both, measure, compare.
    """

    KEYS: ClassVar = run_keys("comparison", "Stop at once; the runs measured so far are kept.")
    STOP_HEADING = "Stop measuring?"
    STOP_TEXT = "The runs measured so far are kept."
    QUIT_TEXT = "Two series are being measured. The runs measured so far are kept."

    def __init__(self, base: str, other: str, runs: int) -> None:
        super().__init__("Interleaved")
        self.ids = (base, other)
        self.runs = runs
        # Both are empty until the notebook was read, and until both are logged in to.
        self.series: list[Series] = []
        self.requests: list[SeriesRequest] = []

        # In bytes/s, of the measured runs of each side so far.
        self._rates: tuple[list[float], list[float]] = ([], [])
        # By the place of the side.
        self._ended_series: dict[int, SeriesClosed] = {}
        # Whether a run is under way, which drawing would slow down.
        self._is_timed = False
        self._drawn_at = -inf
        # What is done before the first run has a rate, for people.
        self._doing = ""
        self._pace = RunPace([0, 0])

    @property
    def is_over(self) -> bool:
        return not self.requests or not self._recording

    def begin(self) -> None:
        self.draw()
        self.with_notebook(self._read_series, self._log_in)

    def _read_series(self, notebook: Notebook) -> list[Series]:
        return [notebook.series(series_id) for series_id in self.ids]

    def _log_in(self, series: list[Series]) -> None:
        self.series = series
        imported_ids = [side.id for side in series if side.imported_at is not None]
        if imported_ids:
            text = f"series {imported_ids[0]} was imported: measure it here first (a), then compare"
            self.work_failed(UsageError(text))
            return

        base, other = series
        log_in(self, base.target, partial(self._log_in_to_other, other))

    def _log_in_to_other(self, other: Series, _secrets: object) -> None:
        log_in(self, other.target, self._measure)

    def _measure(self, _secrets: object) -> None:
        base, other = self.series
        self.requests = [self._request_of(base, beside=other), self._request_of(other, beside=base)]
        self._pace = RunPace([request.spec.counts.warmups + request.spec.counts.runs for request in self.requests])
        self.refresh_bindings()
        self.listen(self.events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def _request_of(self, series: Series, *, beside: Series) -> SeriesRequest:
        """The order to measure a series again, interleaved with the one beside it."""
        name = wording.name_of(series, beside=beside).removesuffix(INTERLEAVED)
        spec = with_label(spec_of(series), f"{name}{INTERLEAVED}")
        spec = replace(
            spec,
            counts=replace(spec.counts, runs=self.runs, until_percent=None),
            lineage=Lineage(base_id=series.id),
        )
        return series_request(spec, series.target, self.context.logins.find(series.target))

    def events(self) -> Iterator[tuple[int, Any]]:
        self.watch_machine(self.series[0].target)
        chance = SystemRandom()
        return record_interleaved(self.requests, self.context.notebook_path, self.control, chance=chance)

    def tick(self) -> None:
        """Draw between two runs, and seldom during one: drawing takes processor time from the transfer."""
        self.catch_up()
        spares_processor = self._is_timed and not (self.is_over or self.control.cancelled.is_set())
        is_due = not spares_processor or monotonic() >= self._drawn_at + PART_SECONDS
        if is_due and not self.is_covered:
            self._drawn_at = monotonic()
            self.draw()

    def take_event(self, index: int, event: Any) -> None:
        self._pace.take_event(index, event)
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

        measured_pairs = min(map(len, self._rates))
        if self.is_over:
            return f"{measured_pairs} pairs of runs measured."

        pair = min(measured_pairs + 1, self.runs)
        doing = "" if any(self._rates) else f": {self._doing or 'connecting'}"
        seconds_left = self._pace.seconds_left
        time_left = f"; about {duration(seconds_left)} left" if seconds_left else ""
        return f"Pair {pair} of {self.runs}{doing}{time_left}"

    def draw_heard(self, width: int) -> str:
        lines: list[str] = []
        bars_of_sides: list[list[Bar]] = []
        for name, tone, request, rates in zip(_SIDES, _TONES, self.requests, self._rates, strict=False):
            runs = wording.count(len(rates), "run")
            line = f"{name} ({visible(request.spec.texts.label)}): {runs}, {wording.rate(mean(rates))}"
            lines.append(cut(line, width))
            bars_of_sides.append(
                [Bar(name=f"{name} {number}", value=rate, tone=tone) for number, rate in enumerate(rates, 1)]
            )

        if any(bars_of_sides):
            rows = self.query_one("#run-box").size.height - len(lines) - 1
            lines += ["", bars_chart(alternating_runs(bars_of_sides), width, rows)]
        return "\n".join(lines)

    def measurement_ended(self, error: Exception | None) -> None:
        if error is None:
            failures = [ended.failure for ended in self._ended_series.values() if ended.failure]
            error = failures[0].error if failures else None

        targets = [side.target for side in self.series]
        if isinstance(error, LoginError) and log_in_again(self, targets, str(error), self._measure_again):
            return

        self.draw()
        self.refresh_bindings()
        if all(self._rates) and len(self._ended_series) == len(self.ids):
            base_id = self._ended_series[0].series_id
            other_id = self._ended_series[1].series_id
            show = self.app.push_screen if self.is_covered else self.app.switch_screen
            show(CompareScreen(base_id, other_id))
        if error is not None and not isinstance(error, CancelledError):
            self.sharebench_app.tell_error(error)

    def _measure_again(self, _secrets: object) -> None:
        base_id, other_id = self.ids
        self.app.switch_screen(InterleavedScreen(base_id, other_id, self.runs))
