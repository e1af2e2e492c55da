"""One series: its filled form, and a chart of it beside the form where there is room, else in its place."""

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from app.charts.series_charts import rates_chart, within_chart
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.chart_view import ChartView
from forms.exporters.text import run_form_text
from forms.series.summary import SeriesSummary
from storage.records import Run


class SeriesView(Widget):
    """The form of a series and one of its charts."""

    SCOPED_CSS = False
    DEFAULT_CSS = """
    SeriesView { layout: horizontal; height: 1fr; }
    SeriesView > #series-form-box { width: 2fr; max-width: 84; padding-left: 1; scrollbar-size-vertical: 1; }
    SeriesView > #series-picture { width: 1fr; display: none; padding-right: 1; }
    SeriesView #series-caption { height: 1; text-style: bold; }
    SeriesView #series-chart { height: 1fr; max-height: 32; }
    .-wide SeriesView > #series-picture { display: block; }
    .-narrow SeriesView.-pictured > #series-form-box { display: none; }
    .-narrow SeriesView.-pictured > #series-picture { display: block; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id)
        self.form: SeriesSummary | None = None
        self._within = False

    def compose(self) -> ComposeResult:
        """The form, then the chart."""
        with VerticalScroll(id="series-form-box"):
            yield AnsiView(id="series-form")
        with Vertical(id="series-picture"):
            yield Static(id="series-caption")
            yield ChartView(id="series-chart")

    def show(self, form: SeriesSummary | None) -> None:
        """Show this form from now on; None for nothing."""
        self.form = form
        text = self.query_one("#series-form", AnsiView)
        text.show(None if form is None else lambda width, _: run_form_text(form, width=width, ansi=True))
        self.query_one("#series-form-box").scroll_home(animate=False)
        self._show_chart()

    def next_picture(self) -> None:
        """Go round: the rate of each run, the throughput within a run; and the form between them where it is narrow."""
        beside = self.query_one("#series-form-box").display and self.query_one("#series-picture").display
        if beside:
            self._within = not self._within
        elif not self.has_class("-pictured"):
            self.add_class("-pictured")
            self._within = False
        elif not self._within:
            self._within = True
        else:
            self.remove_class("-pictured")
        self._show_chart()

    def _show_chart(self) -> None:
        chart, form = self.query_one("#series-chart", ChartView), self.form
        caption = self.query_one("#series-caption", Static)
        if form is None:
            chart.show_chart(None)
            caption.update("")
        elif self._within:
            run = _last_with_progress(form)
            caption.update(Content("Throughput within a run" if run is None else f"Throughput within run {run.number}"))
            chart.show_chart(
                lambda width, height, zoomed: within_chart(run.progress if run else (), width, height, zoomed=zoomed)
            )
        else:
            caption.update(Content("Rate of each run"))
            chart.show_chart(lambda width, height, zoomed: rates_chart(form, width, height, zoomed=zoomed))


def _last_with_progress(form: SeriesSummary) -> Run | None:
    return next((run for run in reversed(form.series.measured()) if run.progress), None)
