"""Reading screens: one series, two compared, several against the first, or a path's history."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Label, Static

from app.charts.series_charts import bars_chart, curve_chart
from app.comparison.history import sides_to_compare
from app.guide.rounds import NextStep, after_comparison, after_series
from app.tui.frame.commands import KeyCommand, keys
from app.tui.frame.dialogs import PickDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.notebook.series_actions import ACTING_KEYS, SeriesActions
from app.tui.notebook.series_view import SeriesView
from app.tui.widgets.following import FollowsRecording
from app.tui.widgets.reading import Copies, GoesOn, ReportScreen
from app.tui.widgets.views import AnsiView, ChartView, FiguresView, ShowsMore, ZoomsCharts, content_of, join_toned
from app.watch.record import MOST_SHOWN, history_of_recording
from forms import wording
from forms.comparison.blame_report import BLAME
from forms.comparison.pair_tables import runs_of_both
from forms.comparison.report import comparison_report, pair_report
from forms.comparison.summary import ComparisonSummary, comparisons
from forms.comparison.wording import comparison_headline, comparison_sentences, comparison_title
from forms.exporters.text import figures_text
from forms.layout import Toned, visible
from forms.report import Report
from forms.series.report import series_report
from forms.series.summary import SeriesSummary, run_form
from forms.trial.report import tried_lines
from forms.watch.history import History
from forms.watch.history_report import history_chart, history_report, history_sentence
from storage.notebook import Notebook
from storage.records import to_minute


class SeriesScreen(SeriesActions, FollowsRecording, Copies, GoesOn, ZoomsCharts):
    KEYS = (*GoesOn.KEYS, *keys("series.chart chart.zoom series.settings"), *ACTING_KEYS)

    def __init__(self, series_id: str) -> None:
        super().__init__()
        self.series_id = self.shown_series = series_id

    def compose(self) -> ComposeResult:
        yield SeriesView()
        yield KeyBar()

    def action_chart(self) -> None:
        self.query_one(SeriesView).next_picture()

    def next_steps(self) -> Iterable[NextStep]:
        form = self.query_one(SeriesView).form
        return after_series(form.series) if form else ()

    def chosen(self) -> str:
        return self.series_id

    def on_mount(self) -> None:
        self.query_one("#series-form-box").focus()
        self.look()

    def changed(self, *series_ids: str) -> None:  # noqa: ARG002  it shows one
        self.look()

    def read_page(self, notebook: Notebook) -> SeriesSummary:
        return run_form(notebook.series(self.series_id))

    def show_page(self, page: SeriesSummary) -> None:
        self.report = series_report(page)
        self.query_one(SeriesView).show(page)


class _Charts(Vertical):
    """The runs of both sides stand below the averages where the report leaves room for them."""

    ROOM_FOR_RUNS = 20

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= self.ROOM_FOR_RUNS, "-roomy")


class CompareScreen(Copies, GoesOn, ShowsMore, ZoomsCharts):
    KEYS = keys(
        "screen.next report.more report.less compare.alone compare.whole compare.swap compare.chart chart.zoom"
        " compare.export"
    )
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (160, "-wide")]  # noqa: RUF012  declared so in Textual

    def __init__(self, base: str, other: str) -> None:
        super().__init__()
        self.base_id, self.other_id = base, other
        self.form: ComparisonSummary | None = None
        self.alone = True
        self.whole: ComparisonSummary | None = None
        """With the series that repeat the two, or stand for them."""

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Compare", id="comparison-pane"):
            yield Label(id="verdict", classes="answer", markup=False)
            with Horizontal(id="compared"):
                with VerticalScroll(id="comparison-box"):
                    yield AnsiView(id="comparison")
                with _Charts(id="compared-charts"):
                    with Vertical(id="compared-picture", classes="pane"):
                        yield ChartView(id="compared-chart")
                    with Vertical(id="compared-runs-picture", classes="pane"):
                        yield ChartView(id="compared-runs")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#comparison-box").focus()
        self._look()

    def on_screen_resume(self) -> None:
        if self.form:  # what was measured since may judge them
            self._look()

    def _look(self) -> None:
        def read(notebook: Notebook) -> list[ComparisonSummary]:
            named = self.base_id, self.other_id
            return [comparisons(sides_to_compare(notebook, named, alone=alone))[0] for alone in (True, False)]

        self.with_notebook(read, self._show, group="compare", exclusive=True)

    def _show(self, forms: Sequence[ComparisonSummary]) -> None:
        marked, self.whole = forms
        form = self.form = marked if self.alone else self.whole
        self.report = pair_report(form)
        self.query_one("#comparison-pane", Pane).set_title(
            f"sharebench · Compare · {comparison_title(form.comparison)}"
        )
        self.refresh_bindings()
        self.show_again()

    def show_again(self) -> None:
        if self.form is None or self.report is None:
            return
        self.set_class(self.shows_more, "-more")
        comparison, report = self.form.comparison, self.of_now(self.report)
        verdict = [
            *tried_lines(comparison.tried),
            Toned(f"{comparison.sign} {comparison_sentences(comparison)}", comparison.tone),
        ]
        if self._others_count and self.whole:
            whole = self.whole.comparison
            by = "By their interleaved series" if whole.stands_in else "By all series of their settings"
            if not self.alone:
                verdict += [Toned(f"{by} (o: the two you marked).")]
            elif whole.known:
                alone = f"The two you marked, alone: {comparison.sign} {comparison_headline(comparison)}"
                verdict = [
                    Toned(f"{whole.sign} {by} (o): {comparison_headline(whole)}", whole.tone),
                    Toned(alone, comparison.tone),
                ]
            else:
                verdict += [Toned(f"{whole.sign} {by} (o): {comparison_headline(whole)}", whole.tone)]
        blamed = [Toned(visible(one.text), one.tone) for one in report.fields if one.name == BLAME]
        self.query_one("#verdict", Label).update(join_toned([*verdict, *blamed], "\n"))
        report = replace(report, fields=())
        self.query_one("#comparison", AnsiView).show(
            lambda width, _height: figures_text(report, width=width, ansi=True)
        )
        charts = (("#compared-picture", report.chart), ("#compared-runs-picture", runs_of_both(self.form)))
        for picture, chart in charts:
            self.query_one(picture).border_title = chart.title if chart else ""
            self.query_one(f"{picture} ChartView", ChartView).show_chart(partial(bars_chart, chart) if chart else None)

    @property
    def _others_count(self) -> bool:
        """Whether other series are judged with the two that were marked, or in their place."""
        whole = self.whole.comparison if self.whole else None
        return whole is not None and {*whole.base_ids, *whole.other_ids} != {self.base_id, self.other_id}

    def next_steps(self) -> Iterable[NextStep]:
        shown = self.whole if self.alone and self.whole and self.whole.comparison.known else self.form
        return after_comparison(shown.comparison) if shown else ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "only":
            return self._others_count and parameters != (self.alone,)
        return super().check_action(action, parameters)

    def action_chart(self) -> None:
        self.toggle_class("-pictured")

    def action_only(self, alone: bool) -> None:
        self.alone = alone
        self._look()

    def action_swap(self) -> None:
        self.base_id, self.other_id = self.other_id, self.base_id
        self._look()


class TableScreen(ReportScreen, GoesOn):
    found: Sequence[ComparisonSummary] = ()

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__("Compare", self._read)
        self.ids = tuple(ids)

    def _read(self, notebook: Notebook) -> Report:
        self.found = comparisons(sides_to_compare(notebook, self.ids, each=True))
        return comparison_report([notebook.series(each) for each in self.ids], self.found)

    def next_steps(self) -> Iterable[NextStep]:
        for one in (form.comparison for form in self.found):
            if not (one.known or one.interleaved_since):
                step = next(iter(after_comparison(one)))
                yield replace(step, name=f"{comparison_title(one)}: {step.name}")
            both = {"base": one.base_id, "other": one.other_id}
            yield NextStep(name=f"Compare just these two: {comparison_title(one)}", screen="compare", arguments=both)


_LISTED = 50


class HistoryScreen(ReportScreen, ZoomsCharts):
    history: History
    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("history.normal history.line chart.zoom")

    def __init__(self, reference: str) -> None:
        super().__init__("History", self._read)
        self.reference = reference
        self._line = -1

    def on_mount(self) -> None:
        self.mount(ChartView(id="curve"), before="#report-box")

    def _read(self, notebook: Notebook) -> Report:
        self.history = history_of_recording(notebook, self.reference, most=MOST_SHOWN)
        return history_report(self.history)

    def show(self, report: Report) -> None:
        super().show(report)
        history = self.history
        self.heading = f"History · {history.command or 'loads'} {history.subject}"
        self.set_pane_title(self.heading)
        headline = self.query_one("#headline", Static)
        headline.update(content_of(Toned(history_sentence(history), report.fields[0].tone)))
        headline.display = True
        self._draw()

    def _draw(self) -> None:
        history = self.history
        chart = history_chart(history.lines[self._line % len(history.lines)], history)
        self.query_one("#curve", ChartView).show_chart(partial(curve_chart, chart))

    def draw_report(self, report: Report, width: int, height: int, zoomed: bool) -> str:  # noqa: ARG002  of fewer rows
        return self.query_one(FiguresView).figures(history_report(self.history, newest=_LISTED), width, height, zoomed)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"line", "normal"}:
            return self.report is not None and (action == "normal" or len(self.history.lines) > 1)
        return super().check_action(action, parameters)

    def action_line(self) -> None:
        self._line += 1
        self._draw()

    def action_normal(self) -> None:
        history = self.history
        points = {one.recording: one for line in history.lines for one in line.points}
        rows = []
        for one in sorted(points.values(), key=lambda one: one.created_at, reverse=True):
            said = f"{one.average:,.1f} requests/s" if history.of_loads else wording.rate(one.average)
            rows.append((one.recording, f"{'●' if one.new_normal else ' '} {to_minute(one.created_at)}  {said}"))

        def chosen(recording: str) -> None:
            on = not points[recording].new_normal
            self.with_notebook(lambda notebook: notebook.set_new_normal(recording, on=on), lambda _: self.look())

        about = "From this recording on the level is the usual one. Enter sets or removes the mark."
        self.ask(PickDialog("New normal", rows, about=about), chosen)
