"""Two series side by side: the verdict, their figures and their charts.

Where other series of the notebook were measured as repeats of the two, the verdict is on all of them, as on the pages
of the guide. The comparison of the two alone is a key away (``both_ways``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from textual import containers, events
from textual.app import ComposeResult

from app.charts.series_charts import bars_chart
from app.method import next_after_comparison
from app.method import next_steps as method_next_steps
from app.tui.export_files import Gather
from app.tui.frame import commands, key_bar, parts
from app.tui.notebook import both_ways
from app.tui.widgets import reading, views
from app.tui.widgets.sentences import SentencesView
from forms import layout
from forms.comparison import pair_tables
from forms.comparison import wording as comparison_wording
from forms.comparison.blame_report import BLAME
from forms.comparison.pair_report import pair_report
from forms.comparison.several.likely_links import would_be_certain
from forms.comparison.summary import ComparisonSummary
from forms.exporters.text import figures_text
from forms.pages import comparison_page
from forms.report import Chart, Report
from storage.notebook import Notebook


class _Charts(containers.Vertical):
    """The runs of both sides stand below the averages where the report leaves room for them."""

    ROOM_FOR_RUNS = 20

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height >= self.ROOM_FOR_RUNS, "-roomy")


_LEAST_PICTURE = 8
"""Lines of a picture and its title; as in the style sheet."""


class CompareScreen(reading.Copies, reading.GoesOn, views.ShowsMore, views.ZoomsCharts):
    """Reads both comparisons, shows one of them, and reads them again when the screen comes to the front.

    ShowsMore calls ``show_again`` when its key is pressed, and its ``of_now`` leaves statistics out; GoesOn calls
    ``next_steps``; Copies copies and exports ``report``.
    """

    KEYS = commands.keys(
        "screen.next report.more report.less compare.alone compare.whole compare.swap compare.chart chart.zoom"
        " compare.export report.hand-over"
    )
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (160, "-wide")]  # noqa: RUF012  declared so in Textual

    def __init__(self, base: str, other: str) -> None:
        """Either is the id of a series, or the name of a baseline, which stands for all its series."""
        super().__init__()
        self.base_reference = base
        self.other_reference = other
        self.shows_two_alone = False
        """Which of both comparisons is shown."""
        self.comparisons: both_ways.BothWays | None = None

    def compose(self) -> ComposeResult:
        with parts.Pane("sharebench · Compare", id="comparison-pane"):
            yield SentencesView(id="verdict", classes="answer")
            with containers.Horizontal(id="compared"):
                with containers.VerticalScroll(id="comparison-box"):
                    yield views.AnsiView(id="comparison")
                with _Charts(id="compared-charts"):
                    with containers.Vertical(id="compared-picture", classes="pane"):
                        yield views.ChartView(id="compared-chart")
                    with containers.Vertical(id="compared-runs-picture", classes="pane"):
                        yield views.ChartView(id="compared-runs")
        yield key_bar.KeyBar()

    # Reading and showing

    def on_mount(self) -> None:
        self.query_one("#comparison-box").focus()
        self._look()

    def on_screen_resume(self) -> None:
        if self.comparisons:  # what was measured since may judge them
            self._look()

    def _look(self) -> None:
        references = (self.base_reference, self.other_reference)
        read = partial(both_ways.read_both_ways, references=references)
        self.with_notebook(read, self._show, group="compare", exclusive=True)

    @property
    def form(self) -> ComparisonSummary | None:
        """The comparison that is shown."""
        if self.comparisons is None:
            return None
        return self.comparisons.of_two if self.shows_two_alone else self.comparisons.with_others

    def _show(self, comparisons: both_ways.BothWays) -> None:
        self.comparisons = comparisons
        assert self.form is not None
        self.report = pair_report(self.form)
        title = f"sharebench · Compare · {comparison_wording.comparison_title(self.form.comparison)}"
        self.query_one("#comparison-pane", parts.Pane).set_title(title)
        self.refresh_bindings()
        self.show_again()

    def export_name(self, report: Report) -> str:
        return report.title

    def gather_page(self) -> Gather | None:
        form = self.form
        report = self.report
        if form is None or report is None:
            return None

        def gather(_notebook: Notebook) -> Sequence[Report]:
            return [comparison_page([form], report)]

        return gather

    def show_again(self) -> None:
        if self.comparisons is None or self.form is None or self.report is None:
            return

        self.set_class(self.shows_more, "-more")
        report = self.of_now(self.report)
        blame = [layout.Toned(layout.visible(line.text), line.tone) for line in report.fields if line.name == BLAME]
        verdict = [*both_ways.verdict_lines(self.comparisons, two_alone=self.shows_two_alone), *blame]
        self.query_one("#verdict", SentencesView).show(verdict)

        figures = replace(report, fields=())
        self.query_one("#comparison", views.AnsiView).show(partial(_draw_figures, figures))
        self.call_after_refresh(self._share_room)
        self._show_picture("#compared-picture", figures.chart)
        self._show_picture("#compared-runs-picture", pair_tables.runs_of_both(self.form))

    def _show_picture(self, selector: str, chart: Chart | None) -> None:
        self.query_one(selector).border_title = chart.title if chart else ""
        view = self.query_one(f"{selector} ChartView", views.ChartView)
        view.show_chart(partial(bars_chart, chart) if chart else None)

    def on_resize(self) -> None:
        self.call_after_refresh(self._share_room)

    def _share_room(self) -> None:
        """Where the picture would leave no room for the rows of the averages, it is left to its key."""
        if self.report is None:
            return
        room = self.query_one("#compared").size.height
        room_beside_picture = min(room - _LEAST_PICTURE, room // 2)
        # Down to the averages, which the picture draws.
        chart = self.report.chart
        last_place = chart.source[0] if chart is not None and chart.source is not None else 0
        tables = self.report.tables[: last_place + 1]
        top_of_report = replace(self.report, fields=(), tables=tables, results=(), advice=(), drawn=())
        table_lines = figures_text(self.of_now(top_of_report), width=self.size.width).count("\n")
        self.set_class(not self.shows_more and room_beside_picture < table_lines, "-cramped")

    # What can be done

    def next_steps(self) -> Iterable[method_next_steps.NextStep]:
        if self.comparisons is None or self.form is None:
            return ()
        comparison = self.form.comparison
        steps = [*next_after_comparison.after_comparison(comparison)]
        last_steps = [self.report_step("this comparison"), method_next_steps.FINISH]
        first_steps = []
        if would_be_certain(self.form):
            first_steps = [method_next_steps.give_link_step(comparison.base_name, comparison.base_id)]

        needs_past = comparison.settle is not None and comparison.settle.needs_past
        if next_after_comparison.is_answer_of_baseline(comparison) or needs_past:
            # Who asked whether it helped has the answer, or hardly anybody can settle it any more.
            return [*first_steps, *last_steps, *steps]
        return [*first_steps, *steps, *last_steps]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "only":
            others_count = self.comparisons is not None and self.comparisons.others_count
            return others_count and parameters != (self.shows_two_alone,)
        return super().check_action(action, parameters)

    def action_chart(self) -> None:
        self.toggle_class("-pictured")

    def action_only(self, shows_two_alone: bool) -> None:
        self.shows_two_alone = shows_two_alone
        self._look()

    def action_swap(self) -> None:
        base_before = self.base_reference
        self.base_reference = self.other_reference
        self.other_reference = base_before
        self._look()


def _draw_figures(report: Report, width: int, _height: int) -> str:
    return figures_text(report, width=width, ansi=True)
