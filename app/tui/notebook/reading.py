"""Reading screens: one series, two compared, several against the first, or a path's history."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Label, Static

from app.charts.series_charts import bars_chart, curve_chart
from app.comparison.history import sides_to_compare
from app.method.next_steps import NextStep, after_comparison, after_series
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
from forms.report import Chart, Report
from forms.series.report import series_report
from forms.series.summary import SeriesSummary, run_form
from forms.trial.report import tried_lines
from forms.watch.history import History, HistoryPoint
from forms.watch.history_report import history_chart, history_report, history_sentence
from storage.notebook import Notebook
from storage.records import to_minute


class SeriesScreen(SeriesActions, FollowsRecording, Copies, GoesOn, ZoomsCharts):
    KEYS = (*GoesOn.KEYS, *keys("series.chart chart.zoom series.settings"), *ACTING_KEYS)

    def __init__(self, series_id: str) -> None:
        super().__init__()
        self.series_id = series_id
        self.shown_series = series_id

    def compose(self) -> ComposeResult:
        yield SeriesView()
        yield KeyBar()

    def action_chart(self) -> None:
        self.query_one(SeriesView).next_picture()

    def next_steps(self) -> Iterable[NextStep]:
        form = self.query_one(SeriesView).form
        return after_series(form.series) if form else ()

    def pointed_id(self) -> str:
        return self.series_id

    def on_mount(self) -> None:
        self.query_one("#series-form-box").focus()
        self.look()

    def changed(self, *series_ids: str) -> None:
        self.look()

    def read_page(self, notebook: Notebook) -> SeriesSummary:
        return run_form(notebook.series(self.series_id))

    def show_page(self, page: SeriesSummary) -> None:
        self.report = series_report(page)
        self.query_one(SeriesView).show_series(page)


class _Charts(Vertical):
    """The runs of both sides stand below the averages where the report leaves room for them."""

    ROOM_FOR_RUNS = 20

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= self.ROOM_FOR_RUNS, "-roomy")


class BothWays(NamedTuple):
    """A comparison of two series alone, and one with the series that repeat the two, or stand for them."""

    alone: ComparisonSummary
    with_others: ComparisonSummary


class CompareScreen(Copies, GoesOn, ShowsMore, ZoomsCharts):
    KEYS = keys(
        "screen.next report.more report.less compare.alone compare.whole compare.swap compare.chart chart.zoom"
        " compare.export"
    )
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (160, "-wide")]  # noqa: RUF012  declared so in Textual

    def __init__(self, base: str, other: str) -> None:
        super().__init__()
        self.base_id = base
        self.other_id = other
        self.shows_two_alone = True
        self.comparisons: BothWays | None = None

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

    # Reading and showing

    def on_mount(self) -> None:
        self.query_one("#comparison-box").focus()
        self._look()

    def on_screen_resume(self) -> None:
        if self.comparisons:  # what was measured since may judge them
            self._look()

    def _look(self) -> None:
        read = partial(_read_both_ways, ids=(self.base_id, self.other_id))
        self.with_notebook(read, self._show, group="compare", exclusive=True)

    @property
    def form(self) -> ComparisonSummary | None:
        """The comparison that is shown."""
        if self.comparisons is None:
            return None
        return self.comparisons.alone if self.shows_two_alone else self.comparisons.with_others

    def _show(self, both_ways: BothWays) -> None:
        self.comparisons = both_ways
        assert self.form is not None
        self.report = pair_report(self.form)
        title = f"sharebench · Compare · {comparison_title(self.form.comparison)}"
        self.query_one("#comparison-pane", Pane).set_title(title)
        self.refresh_bindings()
        self.show_again()

    def show_again(self) -> None:
        if self.comparisons is None or self.form is None or self.report is None:
            return

        self.set_class(self.shows_more, "-more")
        report = self.of_now(self.report)
        blame = [Toned(visible(line.text), line.tone) for line in report.fields if line.name == BLAME]
        verdict = [*self._verdict_lines(self.form, self.comparisons.with_others), *blame]
        self.query_one("#verdict", Label).update(join_toned(verdict, "\n"))

        figures = replace(report, fields=())
        self.query_one("#comparison", AnsiView).show(partial(_draw_figures, figures))
        self._show_picture("#compared-picture", figures.chart)
        self._show_picture("#compared-runs-picture", runs_of_both(self.form))

    def _verdict_lines(self, form: ComparisonSummary, with_others: ComparisonSummary) -> list[Toned]:
        """The verdict on the two; where others count too, also that of all, which goes first where it decides."""
        comparison = form.comparison
        lines = tried_lines(comparison.tried)
        verdict = Toned(f"{comparison.sign} {comparison_sentences(comparison)}", comparison.tone)
        if not self._others_count:
            return [*lines, verdict]

        of_all = with_others.comparison
        by_whom = "By their interleaved series" if of_all.stands_in else "By all series of their settings"
        verdict_of_all = Toned(f"{of_all.sign} {by_whom} (o): {comparison_headline(of_all)}", of_all.tone)
        if not self.shows_two_alone:
            return [*lines, verdict, Toned(f"{by_whom} (o: the two you marked).")]
        if not of_all.known:
            return [*lines, verdict, verdict_of_all]

        of_two = f"The two you marked, alone: {comparison.sign} {comparison_headline(comparison)}"
        return [verdict_of_all, Toned(of_two, comparison.tone)]

    def _show_picture(self, selector: str, chart: Chart | None) -> None:
        self.query_one(selector).border_title = chart.title if chart else ""
        view = self.query_one(f"{selector} ChartView", ChartView)
        view.show_chart(partial(bars_chart, chart) if chart else None)

    @property
    def _others_count(self) -> bool:
        """Whether other series are judged with the two that were marked, or in their place."""
        if self.comparisons is None:
            return False
        of_all = self.comparisons.with_others.comparison
        return {*of_all.base_ids, *of_all.other_ids} != {self.base_id, self.other_id}

    # What can be done

    def next_steps(self) -> Iterable[NextStep]:
        if self.comparisons is None or self.form is None:
            return ()
        of_all = self.comparisons.with_others.comparison
        return after_comparison(of_all if of_all.known else self.form.comparison)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "only":
            return self._others_count and parameters != (self.shows_two_alone,)
        return super().check_action(action, parameters)

    def action_chart(self) -> None:
        self.toggle_class("-pictured")

    def action_only(self, alone: bool) -> None:
        self.shows_two_alone = alone
        self._look()

    def action_swap(self) -> None:
        self.base_id, self.other_id = self.other_id, self.base_id
        self._look()


def _read_both_ways(notebook: Notebook, ids: tuple[str, str]) -> BothWays:
    alone, *_ = comparisons(sides_to_compare(notebook, ids, alone=True))
    with_others, *_ = comparisons(sides_to_compare(notebook, ids, alone=False))
    return BothWays(alone, with_others)


def _draw_figures(report: Report, width: int, _height: int) -> str:
    return figures_text(report, width=width, ansi=True)


class TableScreen(ReportScreen, GoesOn):
    summaries: Sequence[ComparisonSummary] = ()

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__("Compare", self._read_table)
        self.ids = tuple(ids)

    def _read_table(self, notebook: Notebook) -> Report:
        self.summaries = comparisons(sides_to_compare(notebook, self.ids, each=True))
        return comparison_report([notebook.series(series_id) for series_id in self.ids], self.summaries)

    def next_steps(self) -> Iterable[NextStep]:
        for summary in self.summaries:
            comparison = summary.comparison
            if not (comparison.known or comparison.interleaved_since):
                step = next(iter(after_comparison(comparison)))
                yield replace(step, name=f"{comparison_title(comparison)}: {step.name}")
            yield NextStep(
                name=f"Compare just these two: {comparison_title(comparison)}",
                screen="compare",
                arguments={"base": comparison.base_id, "other": comparison.other_id},
            )


_LISTED = 50
"""Rows of a history on the screen, the newest."""


class HistoryScreen(ReportScreen, ZoomsCharts):
    history: History
    KEYS: ClassVar[tuple[KeyCommand, ...]] = keys("history.normal history.line chart.zoom")

    def __init__(self, reference: str) -> None:
        super().__init__("History", self._read_history)
        self.reference = reference
        self._line = -1

    def on_mount(self) -> None:
        self.mount(ChartView(id="curve"), before="#report-box")

    def _read_history(self, notebook: Notebook) -> Report:
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
        self._draw_curve()

    def _draw_curve(self) -> None:
        lines = self.history.lines
        chart = history_chart(lines[self._line % len(lines)], self.history)
        self.query_one("#curve", ChartView).show_chart(partial(curve_chart, chart))

    def draw_report(self, report: Report, width: int, height: int, zoomed: bool) -> str:
        newest = history_report(self.history, newest=_LISTED)
        return self.query_one(FiguresView).figures(newest, width, height, zoomed)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "normal":
            return self.report is not None
        if action == "line":
            return self.report is not None and len(self.history.lines) > 1
        return super().check_action(action, parameters)

    def action_line(self) -> None:
        self._line += 1
        self._draw_curve()

    def action_normal(self) -> None:
        points = {point.recording: point for line in self.history.lines for point in line.points}
        newest_first = sorted(points.values(), key=_created_at, reverse=True)
        rows = [(point.recording, self._describe_point(point)) for point in newest_first]

        def turn_mark(recording_id: str) -> None:
            is_new_normal = not points[recording_id].new_normal
            write = partial(_write_new_normal, recording_id=recording_id, on=is_new_normal)
            self.with_notebook(write, self._look_at_normal)

        about = "From this recording on the level is the usual one. Enter sets or removes the mark."
        self.ask(PickDialog("New normal", rows, about=about), turn_mark)

    def _look_at_normal(self, _result: None) -> None:
        self.look()

    def _describe_point(self, point: HistoryPoint) -> str:
        mark = "●" if point.new_normal else " "
        average = f"{point.average:,.1f} requests/s" if self.history.of_loads else wording.rate(point.average)
        return f"{mark} {to_minute(point.created_at)}  {average}"


def _created_at(point: HistoryPoint) -> str:
    return point.created_at


def _write_new_normal(notebook: Notebook, recording_id: str, *, on: bool) -> None:
    notebook.set_new_normal(recording_id, on=on)
