"""An experiment on the screen: step by step what was changed, what came of it, and what was gained in all."""

from dataclasses import replace

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.charts.bars import bars_chart
from app.kinds import stored_experiment
from app.tui.export import ExportScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.dialogs import AskDialog, PickDialog
from app.tui.frame.parts import KeyBar, Pane, kept
from app.tui.measuring.stored import StoredScreen
from app.tui.widgets.measure_mixin import MeasureMixin
from app.tui.widgets.reading import Copies, ReportScreen
from app.tui.widgets.views import ZOOM, AnsiView, ChartView, ZoomsCharts, content_of
from app.workflows.experiments import rename_experiment
from app.workflows.guide.known import decide
from app.workflows.guide.rounds import branch_from, repeat_of
from forms.experiments.ladder import Ladder, Rung, build_ladder
from forms.experiments.report import gain_fields, gain_headlines, ladder_report, rung_report, rungs_table
from forms.exporters.text import WIDTH, drawn_table, report_text
from forms.wording import plain
from storage.notebook import Notebook
from storage.records import Decision, Experiment, ExperimentEntry, ExperimentKind

NONE_YET = (
    "There is no ladder of changes yet.\n\nMeasure a series (f3), then change ONE thing and measure again: the guide's"
    " last step does that, and the catalogue (f6) says what can be changed.\n\nTrials, sweeps, surveys and self-tests"
    " of the notebook are opened by e."
)

_OF_A_LADDER = frozenset(
    {"decide", "settle", "compare", "chart", "zoom", "branch", "again", "export", "rename", "copy"}
)
"""What can be done only where there is one."""
_AROUND_RUNGS = 6
"""Columns of a wide screen that its frame and scrollbar take from the table of rungs."""


class LadderScreen(ZoomsCharts, Copies, MeasureMixin):
    """An experiment as a ladder."""

    ABOUT = (
        "An experiment: each series with the one change that made it, compared with the series that it was made from."
        " Up and down move from rung to rung; k keeps a change, r notes that it was put back."
    )
    KEYS = (
        KeyCommand(
            "ladder.keep",
            "k",
            "Keep",
            "Note that the change stays; again: undecided.",
            action="decide('kept')",
            footer="Keep",
        ),
        KeyCommand(
            "ladder.revert",
            "r",
            "Put back",
            "Note that you have put the change back on the server; again: undecided.",
            action="decide('reverted')",
            footer="Put back",
        ),
        KeyCommand("ladder.settle", "t", "Settle it", "Take the cheapest step that settles this step.", footer="Try"),
        KeyCommand(
            "ladder.compare",
            "c",
            "Compare",
            "The rung and the series that it was made from, side by side.",
            footer="Compare",
        ),
        KeyCommand(
            "ladder.chart",
            "v",
            "Chart",
            "The chart of the ladder, or the words again, where there is no room for both.",
            footer="Chart",
        ),
        ZOOM,
        KeyCommand(
            "ladder.branch",
            "n",
            "New branch",
            "Go on from this rung: the next change is made from it.",
            footer="Branch",
        ),
        KeyCommand(
            "ladder.again",
            "a",
            "Measure again",
            "Measure the settings of this rung once more: the base at the end tells whether a gain is one.",
            footer="Again",
        ),
        KeyCommand("ladder.export", "x", "Export", "Write the ladder to a file.", footer="Export"),
        KeyCommand("ladder.rename", "l", "Rename", "Give the experiment another name.", footer="Rename"),
        KeyCommand("ladder.choose", "e", "Experiments", "Choose another experiment.", footer="Experiments"),
    )
    HINTS = {  # noqa: RUF012  declared so in the base
        "rungs": "The rungs, in the order measured; x was put back. The last line says the way to the settings in"
        " force. Enter opens the series."
    }
    DEFAULT_CSS = """
    LadderScreen #rungs-pane { height: auto; max-height: 60%; }
    LadderScreen #rungs { height: auto; border: none; padding: 0; text-wrap: nowrap; text-overflow: ellipsis; }
    LadderScreen #headings { color: $text-muted; text-style: bold; }
    LadderScreen #below { height: 1fr; }
    LadderScreen #rung-box { width: 1fr; scrollbar-size-vertical: 1; }
    LadderScreen #picture-pane { width: 1fr; height: 1fr; display: none; }
    LadderScreen #picture { height: 1fr; max-height: 30; }
    LadderScreen #gain { height: auto; width: 100%; text-style: bold; }
    LadderScreen.-wide #picture-pane { display: block; }
    LadderScreen.-narrow.-pictured #rung-box { display: none; }
    LadderScreen.-narrow.-pictured #picture-pane { display: block; }
    """

    def __init__(self, experiment: str = "") -> None:
        """``experiment`` is the one to show; empty for the newest."""
        super().__init__()
        self.experiment = experiment
        self.ladder: Ladder | None = None

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Experiment", id="rungs-pane"):
            yield Static(id="gain")
            yield Static(id="headings")
            yield OptionList(id="rungs")
        with Horizontal(id="below"):
            with VerticalScroll(id="rung-box", can_focus=False, classes="pane"):
                yield AnsiView(lambda _width, _height: "Reading the notebook …", id="rung")
            with Pane("Average of each step", id="picture-pane"):
                yield ChartView(id="picture")
        yield KeyBar()

    def on_screen_resume(self) -> None:
        self._look()

    def _look(self) -> None:
        name = self.experiment
        self.with_notebook(lambda notebook: _read(notebook, name), self._show, group="ladder", exclusive=True)

    def _show(self, ladder: Ladder | None) -> None:
        rungs = self.query_one("#rungs", OptionList)
        if ladder is None:
            self.query_one("#rung", AnsiView).show(lambda _width, _height: NONE_YET)
            return
        before = self.ladder.rungs[-1].series.id if self.ladder else None
        grown = before != ladder.rungs[-1].series.id
        self.ladder, self.experiment = ladder, ladder.name
        self.refresh_bindings()
        at = rungs.highlighted
        self.query_one("#rungs-pane", Pane).called(f"sharebench · Experiment · {ladder.name}")
        self._list_rungs(ladder)
        self.query_one("#gain", Static).update(Content("\n").join(map(content_of, gain_headlines(ladder))))
        chart = ladder_report(ladder).chart
        self.query_one("#picture", ChartView).show_chart(
            None if chart is None else lambda width, height, zoomed: bars_chart(chart, width, height, zoomed=zoomed)
        )
        rungs.highlighted = len(ladder.rungs) - 1 if grown or at is None or at >= len(ladder.rungs) else at
        rungs.focus()

    def _list_rungs(self, ladder: Ladder) -> None:
        rungs = self.query_one("#rungs", OptionList)
        rungs.clear_options()
        drawn = drawn_table(rungs_table(ladder), max(self.size.width - _AROUND_RUNGS, WIDTH - 2))
        self.query_one("#headings", Static).update(Content("\n".join(drawn.headings)))
        rungs.add_options([Option(Content("\n".join(lines))) for lines in drawn.rows])

    def on_resize(self) -> None:
        if self.ladder is not None:
            rungs = self.query_one("#rungs", OptionList)
            at = rungs.highlighted
            self._list_rungs(self.ladder)
            rungs.highlighted = at

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.ladder is None and action in _OF_A_LADDER:
            return False
        return super().check_action(action, parameters)

    def text_to_copy(self) -> str:
        return report_text(ladder_report(self.ladder)) if self.ladder else ""

    @property
    def rung(self) -> Rung | None:
        at = self.query_one("#rungs", OptionList).highlighted
        return None if self.ladder is None or at is None else self.ladder.rungs[at]

    @on(OptionList.OptionHighlighted, "#rungs")
    def _point(self) -> None:
        if self.ladder is not None and self.rung is not None:
            report = rung_report(self.rung)
            text = replace(report, title="", results=(*report.results, *gain_fields(self.ladder)))
            self.query_one("#rung", AnsiView).show(
                lambda width, _height: report_text(text, width=width, ansi=True).lstrip("\n")
            )
            box = self.query_one("#rung-box")
            box.border_title = Content(plain(report.title))
            box.scroll_home(animate=False)

    @on(OptionList.OptionSelected, "#rungs")
    def _open(self) -> None:
        if self.rung is not None:
            self.sharebench_app.visit("series", series_id=self.rung.series.id)

    def action_decide(self, decision: str) -> None:
        rung = self.rung
        if rung is None:
            return
        if rung.change is None:
            self.notify("This rung claims no change, so there is nothing to decide.", severity="warning")
            return
        wanted = Decision(decision)
        decided = None if rung.decision is wanted else wanted
        self.with_notebook(lambda notebook: decide(notebook, rung.series.id, decided), lambda _: self._look())

    def action_settle(self) -> None:
        self.settle(self.rung.comparison if self.rung else None)

    def action_compare(self) -> None:
        rung = self.rung
        if rung is not None and rung.comparison is not None:
            self.sharebench_app.visit("compare", base=rung.comparison.base_id, other=rung.series.id)
        elif rung is not None:
            self.notify("This rung was made from no other one.", severity="warning")

    def action_branch(self) -> None:
        if (rung := self.rung) is not None:
            self.with_notebook(lambda notebook: branch_from(notebook, rung.series.id), self.measure_with)

    def action_again(self) -> None:
        if (rung := self.rung) is not None:
            self.with_notebook(lambda notebook: repeat_of(notebook, rung.series.id), self.measure_with)

    def action_export(self) -> None:
        if self.ladder is not None:
            report = ladder_report(self.ladder)
            self.app.push_screen(ExportScreen(gather=lambda _: [report], name=self.ladder.name))

    def action_rename(self) -> None:
        if self.ladder is None:
            return
        name = self.ladder.name

        def answered(typed: str | None) -> None:
            if typed is not None and (new_name := kept(name, typed).strip()) != name:
                self.with_notebook(
                    lambda notebook: rename_experiment(notebook, name, new_name), lambda _: renamed(new_name)
                )

        def renamed(new_name: str) -> None:
            self.experiment = new_name
            self.tell_guide_of_name(name, new_name)
            self._look()

        text = "What the experiment is called; its series follow."
        self.app.push_screen(AskDialog("Rename", text, value=name, needed=True), answered)

    def action_chart(self) -> None:
        if self.ladder is not None:
            self.toggle_class("-pictured")

    def action_choose(self) -> None:
        def ask(found: list[ExperimentEntry]) -> None:
            if found:
                about = "The experiments, surveys and self-tests in the notebook. Enter opens one."
                rows = [(one.experiment, _line(one)) for one in found]
                self.app.push_screen(PickDialog("Experiments", rows, about=about, wide=True), answered)
            else:
                self.notify("The notebook has no experiment of any kind yet.")

        def answered(chosen: Experiment | None) -> None:
            if chosen is None:
                return
            if chosen.kind is ExperimentKind.LADDER:
                self.experiment = chosen.name
                self._look()
                return
            if chosen.kind is ExperimentKind.TRIAL:
                self.app.push_screen(StoredScreen(chosen.name))
                return
            self.app.push_screen(ReportScreen(chosen.name, lambda notebook: stored_experiment(notebook, chosen.name)))

        self.with_notebook(lambda notebook: notebook.experiments(), ask)


def _line(one: ExperimentEntry) -> str:
    told = f"{one.last_at[:10]}  {one.series_count:>3} series  {one.experiment.kind:<8} "
    return f"{told} {plain(one.experiment.name)}"


def _read(notebook: Notebook, name: str) -> Ladder | None:
    if not name:
        found = notebook.experiments(ExperimentKind.LADDER)
        if not found:
            return None
        name = found[0].experiment.name
    series = notebook.experiment(name)
    return build_ladder(name, series) if series else None
