"""Two series side by side: the verdict, their figures and their charts."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Label

from app.charts import series_charts
from app.comparison.sides import sides_to_compare
from app.method import next_after_comparison
from app.method import next_steps as method_next_steps
from app.tui.frame import commands
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets import reading, views
from forms import layout
from forms.comparison import summary as comparison_summary
from forms.comparison import wording as comparison_wording
from forms.comparison.blame_report import BLAME
from forms.comparison.pair_report import pair_report
from forms.comparison.pair_tables import runs_of_both
from forms.exporters.text import figures_text
from forms.report import Chart, Report
from forms.trial.report import tried_lines
from storage.notebook import Notebook


class _Charts(Vertical):
    """The runs of both sides stand below the averages where the report leaves room for them."""

    ROOM_FOR_RUNS = 20

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= self.ROOM_FOR_RUNS, "-roomy")


class BothWays(NamedTuple):
    """A comparison of two series alone, and one with the series that repeat the two, or stand for them."""

    of_two: comparison_summary.ComparisonSummary
    with_others: comparison_summary.ComparisonSummary


class CompareScreen(reading.Copies, reading.GoesOn, views.ShowsMore, views.ZoomsCharts):
    KEYS = commands.keys(
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
                    yield views.AnsiView(id="comparison")
                with _Charts(id="compared-charts"):
                    with Vertical(id="compared-picture", classes="pane"):
                        yield views.ChartView(id="compared-chart")
                    with Vertical(id="compared-runs-picture", classes="pane"):
                        yield views.ChartView(id="compared-runs")
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
    def form(self) -> comparison_summary.ComparisonSummary | None:
        """The comparison that is shown."""
        if self.comparisons is None:
            return None
        return self.comparisons.of_two if self.shows_two_alone else self.comparisons.with_others

    def _show(self, both_ways: BothWays) -> None:
        self.comparisons = both_ways
        assert self.form is not None
        self.report = pair_report(self.form)
        title = f"sharebench · Compare · {comparison_wording.comparison_title(self.form.comparison)}"
        self.query_one("#comparison-pane", Pane).set_title(title)
        self.refresh_bindings()
        self.show_again()

    def show_again(self) -> None:
        if self.comparisons is None or self.form is None or self.report is None:
            return

        self.set_class(self.shows_more, "-more")
        report = self.of_now(self.report)
        blame = [layout.Toned(layout.visible(line.text), line.tone) for line in report.fields if line.name == BLAME]
        verdict = [*self._verdict_lines(self.form, self.comparisons.with_others), *blame]
        self.query_one("#verdict", Label).update(views.join_toned(verdict, "\n"))

        figures = replace(report, fields=())
        self.query_one("#comparison", views.AnsiView).show(partial(_draw_figures, figures))
        self._show_picture("#compared-picture", figures.chart)
        self._show_picture("#compared-runs-picture", runs_of_both(self.form))

    def _verdict_lines(
        self, form: comparison_summary.ComparisonSummary, with_others: comparison_summary.ComparisonSummary
    ) -> list[layout.Toned]:
        """The verdict on the two; where others count too, also that of all, which goes first where it decides."""
        comparison = form.comparison
        lines = tried_lines(comparison.tried)
        verdict = layout.Toned(
            f"{comparison.sign} {comparison_wording.comparison_sentences(comparison)}", comparison.tone
        )
        if not self._others_count:
            return [*lines, verdict]

        of_all = with_others.comparison
        by_whom = "By their interleaved series" if of_all.stands_in else "By all series of their settings"
        verdict_of_all = layout.Toned(
            f"{of_all.sign} {by_whom} (o): {comparison_wording.comparison_headline(of_all)}", of_all.tone
        )
        if not self.shows_two_alone:
            return [*lines, verdict, layout.Toned(f"{by_whom} (o: the two you marked).")]
        if not of_all.known:
            return [*lines, verdict, verdict_of_all]

        of_two = f"The two you marked, alone: {comparison.sign} {comparison_wording.comparison_headline(comparison)}"
        return [verdict_of_all, layout.Toned(of_two, comparison.tone)]

    def _show_picture(self, selector: str, chart: Chart | None) -> None:
        self.query_one(selector).border_title = chart.title if chart else ""
        view = self.query_one(f"{selector} ChartView", views.ChartView)
        view.show_chart(partial(series_charts.bars_chart, chart) if chart else None)

    @property
    def _others_count(self) -> bool:
        """Whether other series are judged with the two that were marked, or in their place."""
        if self.comparisons is None:
            return False
        of_all = self.comparisons.with_others.comparison
        return {*of_all.base_ids, *of_all.other_ids} != {self.base_id, self.other_id}

    # What can be done

    def next_steps(self) -> Iterable[method_next_steps.NextStep]:
        if self.comparisons is None or self.form is None:
            return ()
        of_all = self.comparisons.with_others.comparison
        return next_after_comparison.after_comparison(of_all if of_all.known else self.form.comparison)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "only":
            return self._others_count and parameters != (self.shows_two_alone,)
        return super().check_action(action, parameters)

    def action_chart(self) -> None:
        self.toggle_class("-pictured")

    def action_only(self, shows_two_alone: bool) -> None:
        self.shows_two_alone = shows_two_alone
        self._look()

    def action_swap(self) -> None:
        self.base_id, self.other_id = self.other_id, self.base_id
        self._look()


def _read_both_ways(notebook: Notebook, ids: tuple[str, str]) -> BothWays:
    of_two, *_ = comparison_summary.comparisons(sides_to_compare(notebook, ids, only_named=True))
    with_others, *_ = comparison_summary.comparisons(sides_to_compare(notebook, ids, only_named=False))
    return BothWays(of_two, with_others)


def _draw_figures(report: Report, width: int, _height: int) -> str:
    return figures_text(report, width=width, ansi=True)
