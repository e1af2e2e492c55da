"""One series: its form, and a chart beside it or in its place."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import containers
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Static

from app.tui.frame.parts import Pane
from app.tui.widgets import views

if TYPE_CHECKING:
    from forms.layout import Toned
    from forms.report import Report
    from forms.series.summary import SeriesSummary
    from forms.stats.before_change import BasePower
    from storage.records import Run

# The first paint does not wait for what draws a form, so that is imported in the functions below.


class SeriesView(Widget):
    """The form of a series, or that of another recording, which has no chart here (``show_series``, ``show_report``).

    The chart is that of the rates of all runs, or that of the throughput within the newest one; ``next_picture`` goes
    from one to the other.
    """

    form: "SeriesSummary | None" = None
    """What is shown of a series; None where it is another recording, or nothing."""
    _shows_newest_run = False
    """Whether the chart is that within the newest run, not that of the rates of all."""

    def compose(self) -> ComposeResult:
        with Pane(id="series-pane"):
            yield Static(id="series-headline", classes="answer")
            with containers.Horizontal():
                with containers.VerticalScroll(id="series-form-box"):
                    yield views.AnsiView(id="series-form")
                with containers.Vertical(id="series-picture", classes="pane"):
                    yield views.ChartView(id="series-chart")

    def show_series(
        self, form: "SeriesSummary", baselines: Sequence[str] = (), power: "BasePower | None" = None
    ) -> None:
        from forms import wording
        from forms.series import wording as series_wording
        from forms.series.report import series_report

        is_same_series = self.form is not None and self.form.series.id == form.series.id
        self.form = form
        self.remove_class("-report")
        self.query_one("#series-headline", Static).update(
            views.join_toned(series_wording.series_headline(form), series_wording.GAP)
        )
        self._show(wording.name_of(form.series), series_report(form, power), baselines)
        if not is_same_series:
            self._scroll_home()
        self._show_chart()

    def show_report(
        self, report: "Report | None", answer: "Toned | None" = None, baselines: Sequence[str] = ()
    ) -> None:
        """Show the form of another recording, or that there is none."""
        from forms import wording

        self.form = None
        self.add_class("-report")
        self.query_one("#series-headline", Static).update(views.join_toned([answer or ""], ""))
        self._show(wording.plain(report.title) if report else "", report, baselines)
        self._scroll_home()
        self._show_chart()

    def _show(self, name: str, report: "Report | None", baselines: Sequence[str]) -> None:
        title = [name, *(f"baseline {baseline}" for baseline in baselines)]
        self.query_one("#series-pane", Pane).set_title(" · ".join(title))
        self.query_one("#series-form", views.AnsiView).show(partial(_draw_figures, report) if report else None)

    def _scroll_home(self) -> None:
        self.query_one("#series-form-box").scroll_home(animate=False)

    def next_picture(self) -> None:
        """From the text to the chart of all runs, to that within the newest run, and back where both have no room."""
        form_box = self.query_one("#series-form-box")
        picture = self.query_one("#series-picture")
        is_beside = form_box.display and picture.display

        if is_beside:
            self._shows_newest_run = not self._shows_newest_run
        elif not self.has_class("-pictured"):
            self.add_class("-pictured")
            self._shows_newest_run = False
        elif not self._shows_newest_run:
            self._shows_newest_run = True
        else:
            self.remove_class("-pictured")
        self._show_chart()

    def _show_chart(self) -> None:
        from app.charts.series_charts import rates_chart, runs_chart

        run = self._newest_run_with_progress() if self._shows_newest_run else None
        caption = f"Throughput within run {run.number}" if run else "Throughput within a run"
        self.query_one("#series-picture").border_title = caption if self._shows_newest_run else "Rate of each run"

        chart = self.query_one("#series-chart", views.ChartView)
        if self.form is None:
            chart.show_chart(None)
        elif self._shows_newest_run:
            chart.show_chart(partial(runs_chart, [("0 s", run.progress if run else ())]))
        else:
            chart.show_chart(partial(rates_chart, self.form))

    def _newest_run_with_progress(self) -> "Run | None":
        if self.form is None:
            return None
        runs = [run for run in self.form.series.measured() if run.progress]
        return runs[-1] if runs else None


def _draw_figures(report: "Report", width: int, _height: int) -> str:
    from forms.exporters.text import figures_text

    return figures_text(report, width=width, ansi=True)
