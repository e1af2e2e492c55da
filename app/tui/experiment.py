"""An experiment on the screen: each step, what came of it, and the total gain."""

from dataclasses import replace
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.charts.series_charts import bars_chart
from app.guide.experiments import rename_experiment
from app.guide.known import decide
from app.guide.rounds import after_comparison, branch_from, repeat_of
from app.tui.frame.base import MeasureMixin
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import AskDialog, PickDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane, text_behind_drawing
from app.tui.notebook.stored import StoredScreen
from app.tui.widgets.reading import Copies
from app.tui.widgets.views import AnsiView, ChartView, ZoomsCharts, content_of
from forms.experiments.report import gain_fields, gain_headlines, short_steps_table, step_report, steps_report
from forms.experiments.summary import ExperimentStep, ExperimentSummary, experiment_summary
from forms.exporters.text import WIDTH, drawn_table, report_text
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import Decision, Experiment, ExperimentEntry, ExperimentKind

NONE_YET = (
    "There is no experiment yet.\n\nMeasure a series (F3), then change ONE thing and measure again: the guide's"
    " last step does that, and the catalogue (C) says what can be changed.\n\nTrials, sweeps, surveys and self-tests"
    " of the notebook are opened by e."
)

_OF_AN_EXPERIMENT = frozenset(
    {"decide", "settle", "compare", "chart", "zoom", "branch", "again", "export", "rename", "copy"}
)
_AROUND_STEPS = 6


class ExperimentScreen(Copies, MeasureMixin, ZoomsCharts):
    KEYS = keys(
        "experiment.keep experiment.restore experiment.settle experiment.compare experiment.chart chart.zoom"
        " experiment.branch experiment.again experiment.export experiment.rename experiment.choose"
    )

    def __init__(self, experiment: str = "") -> None:
        super().__init__()
        self.experiment = experiment
        self.summary: ExperimentSummary | None = None

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Experiment", id="steps-pane"):
            yield Static(id="gain")
            yield Static(id="headings")
            yield OptionList(id="steps")
        with Horizontal(id="below"):
            with VerticalScroll(id="step-box", can_focus=False, classes="pane"):
                yield AnsiView(lambda _width, _height: "Reading the notebook …", id="step")
            with Pane("Average of each step", id="picture-pane"):
                yield ChartView(id="picture")
        yield KeyBar()

    def on_screen_resume(self) -> None:
        self._look()

    def _look(self) -> None:
        name = self.experiment
        self.with_notebook(lambda notebook: _read(notebook, name), self._show, group="experiment", exclusive=True)

    def _show(self, summary: ExperimentSummary | None) -> None:
        steps = self.query_one("#steps", OptionList)
        if summary is None:
            self.query_one("#step", AnsiView).show(lambda _width, _height: NONE_YET)
            return
        before = self.summary.steps[-1].series.id if self.summary else None
        grown = before != summary.steps[-1].series.id
        self.summary, self.experiment = summary, summary.name
        self.refresh_bindings()
        at = steps.highlighted
        self.query_one("#steps-pane", Pane).set_title(f"sharebench · Experiment · {summary.name}")
        self._list_steps(summary)
        self.query_one("#gain", Static).update(Content("\n").join(map(content_of, gain_headlines(summary))))
        self.report = steps_report(summary)
        chart = self.report.chart
        self.query_one("#picture", ChartView).show_chart(partial(bars_chart, chart) if chart else None)
        steps.highlighted = len(summary.steps) - 1 if grown or at is None or at >= len(summary.steps) else at
        steps.focus()

    def _list_steps(self, summary: ExperimentSummary) -> None:
        steps = self.query_one("#steps", OptionList)
        steps.clear_options()
        drawn = drawn_table(short_steps_table(summary), max(self.size.width - _AROUND_STEPS, WIDTH - 2))
        self.query_one("#headings", Static).update(Content("\n".join(drawn.headings)))
        steps.add_options([Option(Content("\n".join(lines))) for lines in drawn.rows])

    def on_resize(self) -> None:
        if self.summary is not None:
            steps = self.query_one("#steps", OptionList)
            at = steps.highlighted
            self._list_steps(self.summary)
            steps.highlighted = at

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.summary is None and action in _OF_AN_EXPERIMENT:
            return False
        return super().check_action(action, parameters)

    @property
    def step(self) -> ExperimentStep | None:
        at = self.query_one("#steps", OptionList).highlighted
        return None if self.summary is None or at is None else self.summary.steps[at]

    @on(OptionList.OptionHighlighted, "#steps")
    def _point(self) -> None:
        if self.summary is not None and self.step is not None:
            report = step_report(self.step)
            text = replace(report, title="", results=(*report.results, *gain_fields(self.summary)))
            self.query_one("#step", AnsiView).show(
                lambda width, _height: report_text(text, width=width, ansi=True).lstrip("\n")
            )
            box = self.query_one("#step-box")
            box.border_title = Content(plain(report.title))
            box.scroll_home(animate=False)

    @on(OptionList.OptionSelected, "#steps")
    def _open(self) -> None:
        if self.step is not None:
            self.sharebench_app.visit("series", series_id=self.step.series.id)

    def action_decide(self, decision: str) -> None:
        step = self.step
        if step is None:
            return
        if step.change is None:
            self.notify("This step names no change, so there is nothing to decide.", severity="warning")
            return
        wanted = Decision(decision)
        decided = None if step.decision is wanted else wanted
        self.with_notebook(lambda notebook: decide(notebook, step.series.id, decided), lambda _: self._look())

    def action_settle(self) -> None:
        found = self.step.comparison if self.step else None
        if found is None or found.known:
            self.notify("There is a verdict: nothing is left to settle.")
        else:
            self.take_step(next(iter(after_comparison(found))))

    def action_compare(self) -> None:
        step = self.step
        if step is not None and step.comparison is not None:
            self.sharebench_app.visit("compare", base=step.comparison.base_id, other=step.series.id)
        elif step is not None:
            self.notify("This step was made from no other one.", severity="warning")

    def action_branch(self) -> None:
        if (step := self.step) is not None:
            self.with_notebook(lambda notebook: branch_from(notebook, step.series.id), self.measure_with)

    def action_again(self) -> None:
        if (step := self.step) is not None:
            self.with_notebook(lambda notebook: repeat_of(notebook, step.series.id), self.measure_with)

    def action_rename(self) -> None:
        if self.summary is None:
            return
        name = self.summary.name

        def answered(typed: str) -> None:
            if (new_name := text_behind_drawing(name, typed).strip()) != name:
                rename = partial(rename_experiment, name=name, new_name=new_name)
                self.with_notebook(rename, lambda _: renamed(new_name))

        def renamed(new_name: str) -> None:
            self.experiment = new_name
            self.tell_guide_of_name(name, new_name)
            self._look()

        text = "What the experiment is called; its series follow."
        self.ask(AskDialog("Rename", text, value=name, needed=True), answered)

    def action_chart(self) -> None:
        if self.summary is not None:
            self.toggle_class("-pictured")

    def action_choose(self) -> None:
        def ask(found: list[ExperimentEntry]) -> None:
            if found:
                about = "The experiments, surveys and self-tests in the notebook. Enter opens one."
                rows = [(one.experiment, _line(one)) for one in found]
                self.ask(PickDialog("Experiments", rows, about=about, wide=True), answered)
            else:
                self.notify("The notebook has no experiment of any kind yet.")

        def answered(chosen: Experiment) -> None:
            if chosen.kind is ExperimentKind.STEPS:
                self.experiment = chosen.name
                self._look()
            else:
                self.app.push_screen(StoredScreen(chosen.recording_id or chosen.name))

        self.with_notebook(lambda notebook: notebook.experiments(), ask)


def _line(one: ExperimentEntry) -> str:
    told = f"{one.last_at[:10]}  {one.series_count:>3} series  {one.experiment.kind.word:<10} "
    return f"{told} {plain(one.experiment.name)}"


def _read(notebook: Notebook, name: str) -> ExperimentSummary | None:
    name = name or next((one.experiment.name for one in notebook.experiments(ExperimentKind.STEPS)), "")
    series = notebook.experiment(name) if name else []
    return experiment_summary(name, series) if series else None
