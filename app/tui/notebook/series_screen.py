"""One series on a screen of its own: its form, its chart, its advice."""

from collections.abc import Iterable

from textual.app import ComposeResult

from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.notebook.series_actions import ACTING_KEYS, SeriesActions
from app.tui.notebook.series_view import SeriesView
from app.tui.widgets.chart_view import ZOOM, ZoomsCharts
from app.tui.widgets.clipboard import Copies
from app.tui.widgets.next_dialog import GoesOn
from app.workflows.next_steps import NextStep, after_series
from forms.exporters.text import run_form_text
from forms.series.summary import SeriesSummary, run_form


class SeriesScreen(ZoomsCharts, Copies, GoesOn, SeriesActions):
    """The filled form of a series."""

    ABOUT = (
        "One series: the filled form, what weakens it and what to do about that. Up and down scroll; Enter lists what"
        " can be done next."
    )
    KEYS = (
        *GoesOn.KEYS,
        KeyCommand(
            "series.chart",
            "v",
            "Chart",
            "The next view: the rate of each run, the throughput within a run, the form.",
            footer="Chart",
        ),
        ZOOM,
        *ACTING_KEYS,
    )

    def __init__(self, series_id: str) -> None:
        super().__init__()
        self.series_id = series_id

    def compose(self) -> ComposeResult:
        yield SeriesView()
        yield KeyBar()

    def action_chart(self) -> None:
        self.query_one(SeriesView).next_picture()

    def text_to_copy(self) -> str:
        form = self.query_one(SeriesView).form
        return run_form_text(form) if form else ""

    def next_steps(self) -> Iterable[NextStep]:
        form = self.query_one(SeriesView).form
        return after_series(form.series) if form else ()

    def chosen(self) -> str:
        return self.series_id

    def on_mount(self) -> None:
        self.query_one("#series-form-box").focus()
        self.changed()

    def changed(self, *series_ids: str) -> None:  # noqa: ARG002  it shows one
        series_id = self.series_id
        self.with_notebook(
            lambda notebook: run_form(notebook.series(series_id)), self._show, group="form", exclusive=True
        )

    def _show(self, form: SeriesSummary) -> None:
        self.query_one(SeriesView).show(form)
