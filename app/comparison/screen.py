"""The screen that measures two series again with their runs interleaved: a run of the base, a run of the other, …

What else slows the path down meanwhile then meets both, so that the difference is the setting's.
"""

from collections.abc import Iterator
from dataclasses import replace
from random import SystemRandom
from time import monotonic
from typing import Any, ClassVar

from app.base import errors
from app.comparison.interleaved_progress import InterleavedProgress
from app.method.choices import INTERLEAVED
from app.recording.spec import Lineage, SeriesRequest
from app.series import requests as series_requests
from app.series.interleaved import record_interleaved
from app.tui.notebook.compare_screen import CompareScreen
from app.tui.widgets import logins, recording, report_run
from forms.series.names import names_beside
from storage.notebook import Notebook
from storage.records import Series


class InterleavedScreen(report_run.ReportRunScreen):
    """Measures two series again with their runs interleaved, then shows their comparison.

    Whatever is a pair here has the base first. Each step calls the next one: ``begin`` reads the two series,
    ``_log_in`` and ``_log_in_to_other`` ask for passwords, ``_measure`` starts the thread in which ``events`` is
    called, ``take_event`` hears of each run, and ``measurement_ended`` opens the comparison. Meanwhile the base class
    calls ``tick`` once a second, and by ``draw`` what says how far it is: ``now`` and ``draw_heard``.
    """

    KEYS: ClassVar = report_run.run_keys("comparison", "Stop at once; the runs measured so far are kept.")
    STOP_HEADING = "Stop measuring?"
    STOP_TEXT = "The runs measured so far are kept."
    QUIT_TEXT = "Two series are being measured. The runs measured so far are kept."

    def __init__(self, base: str, other: str, runs: int) -> None:
        super().__init__("Interleaved")
        self.ids = (base, other)
        self.runs = runs
        self.series: list[Series] = []
        """Both, once the notebook was read."""
        self.requests: list[SeriesRequest] = []
        """To measure both again; empty until both are logged in to."""

        self.progress = InterleavedProgress(runs)
        self._drawn_at = float("-inf")
        """By ``monotonic``."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is measured: not yet, while series are read and logged in to, or no longer."""
        return not self.requests or not self._recording

    def begin(self) -> None:
        """Read the series first: the base class would begin to measure at once."""
        self.draw()
        self.with_notebook(self._read_series, self._log_in)

    def _read_series(self, notebook: Notebook) -> list[Series]:
        return [notebook.series(series_id) for series_id in self.ids]

    def _log_in(self, series: list[Series]) -> None:
        """Ask for the base's password, unless a series is from another machine and so cannot be measured again here."""
        self.series = series
        imported_ids = [stored.id for stored in series if stored.imported_at is not None]
        if imported_ids:
            text = f"series {imported_ids[0]} was imported: measure it here first (a), then compare"
            self.work_failed(errors.UsageError(text))
            return

        logins.log_in(self, series[0].target, self._log_in_to_other)

    def _log_in_to_other(self, _secrets: object) -> None:
        logins.log_in(self, self.series[1].target, self._measure)

    def _measure(self, _secrets: object) -> None:
        """Begin in a thread; the secrets are those that ``context.logins`` keeps for either target."""
        base, other = self.series
        self.requests = [self._request_of(base, beside=other), self._request_of(other, beside=base)]
        self.progress.expect_runs([request.spec.counts for request in self.requests])
        self.refresh_bindings()
        self.listen(self.events, every_seconds=recording.REDRAW_SECONDS)
        self.draw()

    def _request_of(self, series: Series, *, beside: Series) -> SeriesRequest:
        """The order to measure a series again, interleaved with the one beside it."""
        # A series that was interleaved before has the suffix already.
        name = names_beside([series, beside])[series.id].removesuffix(INTERLEAVED)
        spec = series_requests.with_label(series_requests.spec_of(series), f"{name}{INTERLEAVED}")
        spec = replace(
            spec,
            # As many runs for both: neither goes on until its average is known well enough.
            counts=replace(spec.counts, runs=self.runs, until_percent=None),
            lineage=Lineage(base_id=series.id),
        )
        return series_requests.series_request(spec, series.target, self.context.logins.find(series.target))

    def events(self) -> Iterator[tuple[int, Any]]:
        self.watch_machine(self.series[0].target)
        chance = SystemRandom()
        return record_interleaved(
            self.requests, self.context.notebook_path, self.control, chance=chance, equal_files=True
        )

    def tick(self) -> None:
        """Draw between two runs, and seldom during one: drawing takes processor time from the transfer."""
        self.catch_up()
        # Once the user stops, what happens is shown at once.
        spares_processor = self.progress.is_timed and not (self.is_over or self.control.cancelled.is_set())
        is_due = not spares_processor or monotonic() >= self._drawn_at + recording.PART_SECONDS
        if is_due and not self.is_covered:
            self._drawn_at = monotonic()
            self.draw()

    def take_event(self, index: int, event: Any) -> None:
        """``index`` is 0 for the base, 1 for the other."""
        self.progress.take_event(index, event)

    def now(self) -> str:
        if not self.requests:
            return "Looking at the series …"
        return self.progress.sentence(is_over=self.is_over)

    def draw_heard(self, width: int) -> str:
        labels = [request.spec.texts.label for request in self.requests]
        height = self.query_one("#run-box").size.height
        return self.progress.text(labels, width, height)

    def measurement_ended(self, error: Exception | None) -> None:
        if error is None:
            error = self.progress.failure

        targets = [series.target for series in self.series]
        if isinstance(error, errors.LoginError) and logins.log_in_again(self, targets, str(error), self._measure_again):
            return

        self.draw()
        self.refresh_bindings()
        if self.progress.has_both_series:
            base_id = self.progress.ended_series[0].series_id
            other_id = self.progress.ended_series[1].series_id
            # Under a dialog this screen cannot be replaced: the comparison then comes above both.
            show = self.app.push_screen if self.is_covered else self.app.switch_screen
            show(CompareScreen(base_id, other_id))
        if error is not None and not isinstance(error, errors.CancelledError):
            self.sharebench_app.tell_error(error)

    def _measure_again(self, _secrets: object) -> None:
        base_id, other_id = self.ids
        self.app.switch_screen(InterleavedScreen(base_id, other_id, self.runs))
