"""An experiment on the screen: each step, what came of it, and the total gain.

An experiment is a row of series in which one thing was changed at a time. A step is one of its series with the change
that it was measured with; the user decides whether the change is kept.
"""

from dataclasses import replace
from functools import partial

from textual import containers, on, widgets
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets.option_list import Option

from app.charts.series_charts import bars_chart
from app.method import experiments, next_after_comparison, rounds
from app.tui.frame import commands, dialogs, key_bar, parts
from app.tui.frame.measuring import MeasureMixin
from app.tui.notebook.stored import StoredScreen
from app.tui.widgets import views
from app.tui.widgets.reading import Copies
from forms.experiments import gain_texts, steps_table
from forms.experiments import report as experiments_report
from forms.experiments import summary as experiments_summary
from forms.exporters import text as exporters_text
from forms.exporters import text_tables
from forms.report import Report
from forms.wording import plain
from storage import records
from storage.notebook import Notebook

NONE_YET = (
    "There is no experiment yet.\n\nMeasure a series (F3), then change ONE thing and measure again: the guide's"
    " last step does that, and the catalogue (C) says what can be changed.\n\nTrials, sweeps, surveys and self-tests"
    " of the notebook are opened by e."
)

# What has no key while none is shown.
_ACTIONS_OF_AN_EXPERIMENT = frozenset(
    {"decide", "settle", "compare", "chart", "zoom", "branch", "again", "export", "rename", "copy"}
)
_AROUND_STEPS = 6
"""Columns of the screen that the steps do not have: borders, padding and the scrollbar."""


class ExperimentScreen(Copies, MeasureMixin, views.ZoomsCharts):
    """The steps as a list, above it the gain, and below it the step with the cursor and a chart of all.

    It is read again each time that it comes to the front. Copies copies and exports ``report``; MeasureMixin leads to
    the guide, and ``take_step`` goes where a next step leads.
    """

    KEYS = commands.keys(
        "experiment.keep experiment.restore experiment.settle experiment.compare experiment.chart chart.zoom"
        " experiment.branch experiment.again experiment.export experiment.rename experiment.choose"
    )

    def __init__(self, experiment: str = "") -> None:
        super().__init__()
        self.experiment = experiment
        """Its name; empty for the newest, until that was read."""
        self.summary: experiments_summary.ExperimentSummary | None = None

    def compose(self) -> ComposeResult:
        with parts.Pane("sharebench · Experiment", id="steps-pane"):
            yield widgets.Static(id="gain")
            yield widgets.Static(id="headings")
            yield widgets.OptionList(id="steps")
        with containers.Horizontal(id="below"):
            with containers.VerticalScroll(id="step-box", can_focus=False, classes="pane"):
                yield views.AnsiView(views.draw_text("Reading the notebook …"), id="step")
            with parts.Pane("Average of each step", id="picture-pane"):
                yield views.ChartView(id="picture")
        yield key_bar.KeyBar()

    # Reading and showing

    def on_screen_resume(self) -> None:
        self._look()

    def _look(self, _result: object = None) -> None:
        read = partial(_read_summary, name=self.experiment)
        self.with_notebook(read, self._show, group="experiment", exclusive=True)

    def _show(self, summary: experiments_summary.ExperimentSummary | None) -> None:
        """Show what was read; the cursor stays where it is, unless the experiment has another last step than before."""
        if summary is None:
            self._show_none()
            return

        last_step_before = self.summary.steps[-1].series.id if self.summary else None
        has_grown = last_step_before != summary.steps[-1].series.id
        self.summary = summary
        self.experiment = summary.name
        self.report = experiments_report.steps_report(summary)
        self.refresh_bindings()

        self.query_one("#steps-pane", parts.Pane).set_title(f"sharebench · Experiment · {summary.name}")
        self.query_one("#gain", widgets.Static).update(
            Content("\n").join(map(views.content_of, gain_texts.gain_headlines(summary)))
        )
        chart = self.report.chart
        self.query_one("#picture", views.ChartView).show_chart(partial(bars_chart, chart) if chart else None)

        steps = self.query_one("#steps", widgets.OptionList)
        row = steps.highlighted
        self._list_steps(summary)
        last_row = len(summary.steps) - 1
        steps.highlighted = last_row if has_grown or row is None or row > last_row else row
        steps.focus()

    def _show_none(self) -> None:
        """There is none, or what was shown is gone: its series were deleted, or another process renamed it."""
        self.summary = None
        self.report = None
        self.refresh_bindings()

        self.query_one("#steps-pane", parts.Pane).set_title("sharebench · Experiment")
        self.query_one("#gain", widgets.Static).update("")
        self.query_one("#headings", widgets.Static).update("")
        self.query_one("#steps", widgets.OptionList).clear_options()
        self.query_one("#picture", views.ChartView).show_chart(None)

        name = plain(self.experiment)
        text = f"No experiment is called {name}. e opens another one." if name else NONE_YET
        self.query_one("#step-box").border_title = None
        self.query_one("#step", views.AnsiView).show_text(text)

    def _list_steps(self, summary: experiments_summary.ExperimentSummary) -> None:
        room = max(self.size.width - _AROUND_STEPS, exporters_text.WIDTH - 2)
        table = text_tables.drawn_table(steps_table.short_steps_table(summary), room)
        self.query_one("#headings", widgets.Static).update(Content("\n".join(table.headings)))

        steps = self.query_one("#steps", widgets.OptionList)
        steps.clear_options()
        steps.add_options([Option(Content("\n".join(lines))) for lines in table.rows])

    def on_resize(self) -> None:
        """Draw the list anew, whose columns depend on the width, with the cursor where it is."""
        if self.summary is not None:
            steps = self.query_one("#steps", widgets.OptionList)
            row = steps.highlighted
            self._list_steps(self.summary)
            steps.highlighted = row

    @property
    def step(self) -> experiments_summary.ExperimentStep | None:
        """The step with the cursor."""
        row = self.query_one("#steps", widgets.OptionList).highlighted
        return None if self.summary is None or row is None else self.summary.steps[row]

    @on(widgets.OptionList.OptionHighlighted, "#steps")
    def _show_step(self) -> None:
        if self.summary is None or self.step is None:
            return

        # Its title is that of the box, and what the experiment gained in all stands below what the step did.
        report = experiments_report.step_report(self.step)
        untitled = replace(
            report,
            title="",
            results=(*report.results, *gain_texts.gain_fields(self.summary)),
            advice=(*report.advice, *experiments_report.joint_intervals_remark(self.summary)),
        )
        self.query_one("#step", views.AnsiView).show(partial(_draw_step, untitled))

        box = self.query_one("#step-box")
        box.border_title = Content(plain(report.title))
        box.scroll_home(animate=False)

    @on(widgets.OptionList.OptionSelected, "#steps")
    def _open_step(self) -> None:
        if self.step is not None:
            self.sharebench_app.visit("series", series_id=self.step.series.id)

    # What can be done with a step

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.summary is None and action in _ACTIONS_OF_AN_EXPERIMENT:
            return False
        return super().check_action(action, parameters)

    def action_decide(self, decision: str) -> None:
        step = self.step
        if step is None:
            return
        if step.change is None:
            self.notify("This step names no change, so there is nothing to decide.", severity="warning")
            return

        # The key of what is decided already takes the decision back.
        pressed_decision = records.Decision(decision)
        new_decision = None if step.decision is pressed_decision else pressed_decision
        self.with_notebook(partial(rounds.decide, series_id=step.series.id, decision=new_decision), self._look)

    def action_settle(self) -> None:
        comparison = self.step.comparison if self.step else None
        if comparison is None or comparison.known:
            self.notify("There is a verdict: nothing is left to settle.")
        else:
            # The first of what can follow is what settles it.
            cheapest_step = next(iter(next_after_comparison.after_comparison(comparison)))
            self.take_step(cheapest_step)

    def action_compare(self) -> None:
        step = self.step
        if step is not None and step.comparison is not None:
            self.sharebench_app.visit("compare", base=step.comparison.base_id, other=step.series.id)
        elif step is not None:
            self.notify("This step was made from no other one.", severity="warning")

    def action_branch(self) -> None:
        """Lead to the guide, to make another change from this step."""
        if self.step is not None:
            self.with_notebook(partial(rounds.branch_from, series_id=self.step.series.id), self.measure_with)

    def action_again(self) -> None:
        """Lead to the guide, to repeat this step."""
        if self.step is not None:
            self.with_notebook(partial(rounds.repeat_of, series_id=self.step.series.id), self.measure_with)

    def action_chart(self) -> None:
        if self.summary is not None:
            self.toggle_class("-pictured")

    # The experiment itself

    def action_rename(self) -> None:
        if self.summary is None:
            return
        name = self.summary.name

        def rename(typed: str) -> None:
            new_name = parts.text_behind_drawing(name, typed).strip()
            if new_name != name:
                job = partial(experiments.rename_experiment, name=name, new_name=new_name)
                self.with_notebook(job, partial(self._take_name, name, new_name))

        text = "What the experiment is called; its series follow."
        self.ask(dialogs.AskDialog("Rename", text, value=name, needed=True), rename)

    def _take_name(self, name: str, new_name: str, _result: object) -> None:
        self.experiment = new_name
        self.tell_guide_of_name(name, new_name)
        self._look()

    def action_choose(self) -> None:
        self.with_notebook(Notebook.experiments, self._ask_for_experiment)

    def _ask_for_experiment(self, entries: list[records.ExperimentEntry]) -> None:
        if not entries:
            self.notify("The notebook has no experiment of any kind yet.")
            return

        rows = [(entry.experiment, _line_of(entry)) for entry in entries]
        about = "The experiments, surveys and self-tests in the notebook. Enter opens one."
        self.ask(dialogs.PickDialog("Experiments", rows, about=about, wide=True), self._open_experiment)

    def _open_experiment(self, experiment: records.Experiment) -> None:
        if experiment.kind is records.ExperimentKind.STEPS:
            self.experiment = experiment.name
            self._look()
        else:
            self.app.push_screen(StoredScreen(experiment.recording_id or experiment.name))


def _draw_step(report: Report, width: int, _height: int) -> str:
    return exporters_text.report_text(report, width=width, ansi=True).lstrip("\n")


def _line_of(entry: records.ExperimentEntry) -> str:
    """A row of the list of experiments: day, series, kind and name."""
    experiment = entry.experiment
    day = entry.last_at[:10]
    return f"{day}  {entry.series_count:>3} series  {experiment.kind.word:<10}  {plain(experiment.name)}"


def _read_summary(notebook: Notebook, name: str) -> experiments_summary.ExperimentSummary | None:
    """The experiment with this name, without one the newest; None where the notebook has none."""
    if not name:
        entries = notebook.experiments(records.ExperimentKind.STEPS)
        if not entries:
            return None
        name = entries[0].experiment.name

    series = notebook.experiment(name)
    return experiments_summary.experiment_summary(name, series) if series else None
