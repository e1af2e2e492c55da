"""One series: its form, and a chart beside it or in its place."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from app.tui.frame.parts import Pane
from app.tui.widgets.views import AnsiView, ChartView, join_toned

if TYPE_CHECKING:
    from forms.layout import Toned
    from forms.report import Report
    from forms.series.summary import SeriesSummary


class SeriesView(Widget):
    form: "SeriesSummary | None" = None
    _within = False

    def compose(self) -> ComposeResult:
        with Pane(id="series-pane"):
            yield Static(id="series-headline", classes="answer")
            with Horizontal():
                with VerticalScroll(id="series-form-box"):
                    yield AnsiView(id="series-form")
                with Vertical(id="series-picture", classes="pane"):
                    yield ChartView(id="series-chart")

    def show(
        self, shown: "SeriesSummary | Report | None", answer: "Toned | None" = None, baselines: Sequence[str] = ()
    ) -> None:
        from forms import wording  # noqa: PLC0415  the first paint does not wait for what draws a form
        from forms.exporters.text import figures_text  # noqa: PLC0415  as above
        from forms.report import Report  # noqa: PLC0415  as above
        from forms.series.report import series_report  # noqa: PLC0415  as above
        from forms.series.wording import GAP, series_headline  # noqa: PLC0415  as above

        report = shown if isinstance(shown, Report) else series_report(shown) if shown else None
        before, form = self.form, None if isinstance(shown, Report) else shown
        self.form = form
        self.set_class(form is None, "-report")
        self.query_one("#series-headline", Static).update(
            join_toned(series_headline(form) if form else [answer or ""], GAP)
        )
        name = wording.name_of(form.series) if form else wording.plain(report.title) if report else ""
        self.query_one("#series-pane", Pane).set_title(" · ".join([name, *(f"baseline {one}" for one in baselines)]))
        self.query_one("#series-form", AnsiView).show(
            None if report is None else lambda width, _: figures_text(report, width=width, ansi=True)
        )
        if not (before and form and before.series.id == form.series.id):
            self.query_one("#series-form-box").scroll_home(animate=False)
        self._show_chart()

    def next_picture(self) -> None:
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
        from app.charts.series_charts import rates_chart, runs_chart  # noqa: PLC0415  as for the form

        chart, form = self.query_one("#series-chart", ChartView), self.form
        within = [run for run in form.series.measured() if run.progress] if form and self._within else []
        run = within[-1] if within else None
        caption = f"Throughput within run {run.number}" if run else "Throughput within a run"
        self.query_one("#series-picture").border_title = caption if self._within else "Rate of each run"
        if form is None:
            chart.show_chart(None)
        elif self._within:
            chart.show_chart(partial(runs_chart, [("0 s", run.progress if run else ())]))
        else:
            chart.show_chart(partial(rates_chart, form, begins_zoomed=True))
