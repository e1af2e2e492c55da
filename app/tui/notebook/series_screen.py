"""The form and the chart of one series on a screen of their own."""

from collections.abc import Iterable
from typing import NamedTuple

from textual.app import ComposeResult

from app.comparison.stored_base import power_of_own_baseline
from app.method import next_steps as method_next_steps
from app.tui.frame import commands
from app.tui.frame.key_bar import KeyBar
from app.tui.notebook import series_actions
from app.tui.notebook.series_view import SeriesView
from app.tui.widgets import reading, views
from app.tui.widgets.following import FollowsRecording
from forms.series import summary as series_summary
from forms.series.report import series_report
from forms.stats.before_change import BasePower
from storage.notebook import Notebook


class SeriesPage(NamedTuple):
    """What the notebook has of a series."""

    form: series_summary.SeriesSummary
    baselines: tuple[str, ...]
    """The names that it has as a baseline."""
    power: BasePower | None
    """What that baseline shows after a change; None where it is none."""


class SeriesScreen(series_actions.SeriesActions, FollowsRecording, reading.Copies, reading.GoesOn, views.ZoomsCharts):
    """A series, drawn anew where the notebook has changed.

    FollowsRecording calls ``read_page`` in a thread, and ``show_page`` with what that returned. SeriesActions asks
    ``pointed_id`` what its keys act on, and calls ``changed`` when they have written; GoesOn calls ``next_steps``.
    """

    KEYS = (
        *reading.GoesOn.KEYS,
        *commands.keys("series.chart chart.zoom series.settings"),
        *series_actions.ACTING_KEYS,
    )

    def __init__(self, series_id: str) -> None:
        super().__init__()
        self.series_id = series_id
        self.baselines: tuple[str, ...] = ()
        """The names that it has as a baseline, when it was read last."""
        self.shown_series = series_id
        """Asked for by the application: the catalogue opened from here is that for this series."""

    def compose(self) -> ComposeResult:
        yield SeriesView()
        yield KeyBar()

    def action_chart(self) -> None:
        self.query_one(SeriesView).next_picture()

    def next_steps(self) -> Iterable[method_next_steps.NextStep]:
        form = self.query_one(SeriesView).form
        return method_next_steps.after_series(form.series, self.baselines) if form else ()

    def pointed_id(self) -> str:
        return self.series_id

    def on_mount(self) -> None:
        self.query_one("#series-form-box").focus()
        self.look()

    def changed(self, *series_ids: str) -> None:
        self.look()

    def read_page(self, notebook: Notebook) -> SeriesPage:
        form = series_summary.run_form(notebook.series(self.series_id))
        names = [baseline.name for baseline in notebook.baselines() if baseline.recording_id == form.series.id]
        power = power_of_own_baseline(notebook, form.series.id)
        return SeriesPage(form=form, baselines=tuple(names), power=power)

    def show_page(self, page: SeriesPage) -> None:
        self.baselines = page.baselines
        self.report = series_report(page.form, page.power)
        self.query_one(SeriesView).show_series(page.form, power=page.power)
