"""A survey while it is measured, and what it found."""

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Label, Static

from app.measure.control import SeriesControl
from app.recorder.recording import RecorderEvent
from app.tui.export import ExportScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.survey.progress import begin
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.recording_screen import RecordingScreen
from app.workflows.survey import SurveyRound, measure_round, result
from forms.experiments.report import survey_report
from forms.experiments.survey import Survey
from forms.exporters.text import report_text
from forms.layout import visible

REDRAW_SECONDS = 1.0
"""The screen is drawn no more often while a run is timed."""


class SurveyRunScreen(RecordingScreen):
    """Measures a planned survey in turns, then shows table, findings and the next step."""

    ABOUT = (
        "The survey's series take turns, run by run; a run that ended is kept, whatever happens. At the end come the"
        " table, the findings and the one thing to look at first. Up and down scroll."
    )
    KEYS: ClassVar = (
        KeyCommand(
            "survey.stop",
            "s",
            "Stop",
            "Stop at once; what was measured is kept, and the same survey goes on later.",
            footer="Stop",
        ),
        KeyCommand("survey.export", "x", "Export", "Write the survey to a file.", footer="Export"),
    )
    STOP_HEADING = "Stop the survey?"
    STOP_TEXT = "The survey is not done. What was measured is kept, and the same survey goes on where it was."
    GO_ON = "Go on"
    QUIT_TEXT = "A survey is under way. What was measured is kept; the rest can be done later."
    DEFAULT_CSS = """
    SurveyRunScreen #survey-now { height: auto; padding: 0 1; text-style: bold; }
    SurveyRunScreen #survey-warnings { height: auto; max-height: 4; padding: 0 1; color: $text-warning; }
    SurveyRunScreen #survey-box { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def __init__(self, planned: SurveyRound) -> None:
        super().__init__(SeriesControl())
        self.planned = planned
        self.surveying = begin(planned.stations)
        self.survey: Survey | None = None

    def compose(self) -> ComposeResult:
        """What happens now, warnings, and a line a series; at the end the survey."""
        yield Label(Content(f"sharebench · {visible(self.planned.experiment.name)}"), classes="title-line")
        yield Static(id="survey-now")
        yield Static(id="survey-warnings")
        with VerticalScroll(id="survey-box"):
            yield AnsiView(id="survey-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#survey-box").focus()
        self.listen(self._events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def _events(self) -> Iterator[tuple[int, RecorderEvent]]:
        return measure_round(self.planned, self.context.notebook_path, self.control)

    def heard(self, index: int, event: RecorderEvent) -> None:
        self.surveying = self.surveying.heard(index, event)

    def ended(self, error: Exception | None) -> None:
        if error is not None:
            self.work_failed(error)
        self.with_notebook(lambda notebook: result(self.planned, notebook), self._show)

    def _show(self, filled: Survey) -> None:
        self.survey = filled
        self.query_one("#survey-now", Static).update(Content(visible(filled.next_step)))
        self.query_one("#survey-warnings", Static).update("")
        report = survey_report(filled)
        self.query_one("#survey-text", AnsiView).show(
            lambda width, _height: report_text(report, width=width, ansi=True)
        )
        self.query_one("#survey-box").scroll_home(animate=False)
        self.refresh_bindings()

    def tick(self) -> None:
        """Show what has been heard, where it can be seen."""
        self.catch_up()
        if not self.is_covered:
            self.draw()

    def draw(self) -> None:
        """Show what has been heard, until the survey itself is shown."""
        if self.survey is not None:
            return
        surveying = self.surveying
        now = "Stopping …" if self.control.cancelled.is_set() else "Measuring in turns …"
        warnings = visible(" ".join(surveying.warnings[-2:]))
        for place, text in (("#survey-now", now), ("#survey-warnings", warnings)):
            line = self.query_one(place, Static)
            if str(line.content) != text:
                line.update(Content(text))
        self.query_one("#survey-text", AnsiView).show(lambda width, _height: surveying.text(width))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  Textual's
        return not (self.is_over if action == "stop" else action == "export" and self.survey is None)

    def action_export(self) -> None:
        if self.survey is not None:
            report = survey_report(self.survey)
            self.sharebench_app.push_screen(ExportScreen(gather=lambda _: [report], name=self.survey.name))
