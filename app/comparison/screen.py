"""The screen that measures two stored series again with their runs interleaved, and then shows their comparison."""

from dataclasses import replace

from app.base import errors
from app.comparison.run_screen import PairedRunScreen
from app.method.choices import INTERLEAVED
from app.recording.spec import Lineage, SeriesRequest
from app.series import requests as series_requests
from app.series import versus
from app.tui.notebook.compare_screen import CompareScreen
from app.tui.widgets import logins
from forms.series.names import names_beside
from storage.notebook import Notebook
from storage.records import Series


class InterleavedScreen(PairedRunScreen):
    """Measures two series again with their runs interleaved, then shows their comparison.

    Each step calls the next one: ``begin`` reads the two series, ``_log_in`` and ``_log_in_to_other`` ask for
    passwords, ``_measure`` begins, and ``measurement_ended`` opens the comparison.
    """

    def __init__(self, base: str, other: str, runs: int) -> None:
        super().__init__("Interleaved", runs)
        self.ids = (base, other)
        self.series: list[Series] = []
        """Both, once the notebook was read."""

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
        """The secrets are those that ``context.logins`` keeps for either target."""
        base, other = self.series
        requests = versus.interleaved([self._request_of(base, beside=other), self._request_of(other, beside=base)])
        self.measure(
            requests,
            targets=[base.target, other.target],
            labels=[request.spec.texts.label for request in requests],
            runs_to_come=[request.spec.counts.warmups + request.spec.counts.runs for request in requests],
        )

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

    def measurement_ended(self, error: Exception | None) -> None:
        if error is None:
            error = self.progress.failure

        targets = [series.target for series in self.series]
        if isinstance(error, errors.LoginError) and logins.log_in_again(self, targets, str(error), self._measure_again):
            return

        self.draw()
        self.refresh_bindings()
        if self.progress.has_all_series:
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
