"""A load while it runs, and its form at the end."""

from collections.abc import Iterator
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Label, Static

from app.measure.control import SeriesControl
from app.recorder.recording import RecorderEvent
from app.tui.export import ExportScreen
from app.tui.frame.commands import KeyCommand
from app.tui.frame.key_bar import KeyBar
from app.tui.load.progress import LoadProgressState
from app.tui.widgets.ansi_view import AnsiView
from app.tui.widgets.recording_screen import RecordingScreen
from app.workflows.load import LoadRequest, LoadStep
from app.workflows.load_forms import load_form
from forms.layout import visible

REDRAW_SECONDS = 1.0


class LoadRunScreen(RecordingScreen):
    """Runs a load point by point, then shows its form."""

    ABOUT = (
        "Users log in (ramp), work a while (settle), and then what they do counts (steady). Each point that ended is"
        " kept. At the end stand the form, the capacity and what stood in the way. Up and down scroll."
    )
    KEYS: ClassVar = (
        KeyCommand(
            "load.finish", "s", "End after this point", "Measure this number of users and no further one.",
            footer="End after point",
        ),
        KeyCommand("load.export", "x", "Export", "Write the load's form to a file.", footer="Export"),
    )  # fmt: skip
    STOP_HEADING = "Stop the load?"
    STOP_TEXT = "The load is not done. Finished points are kept, and the scenario's files are removed."
    GO_ON = "Go on"
    QUIT_TEXT = "A load is under way. Finished points are kept, and the scenario's files are removed."
    DEFAULT_CSS = """
    LoadRunScreen #load-now { height: auto; padding: 0 1; text-style: bold; }
    LoadRunScreen #load-warnings { height: auto; max-height: 4; padding: 0 1; color: $text-warning; }
    LoadRunScreen #load-box { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def __init__(self, request: LoadRequest) -> None:
        super().__init__(SeriesControl())
        self.request = request
        self.state = LoadProgressState()
        self._finishing = False

    def compose(self) -> ComposeResult:
        """The phase, warnings, the last seconds and the points so far."""
        yield Label(Content(f"sharebench · Load {visible(self.request.scenario.name)}"), classes="title-line")
        yield Static(id="load-now")
        yield Static(id="load-warnings")
        with VerticalScroll(id="load-box"):
            yield AnsiView(id="load-text")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#load-box").focus()
        self.listen(self._steps, every_seconds=REDRAW_SECONDS)
        self.draw()

    def _steps(self) -> Iterator[tuple[int, RecorderEvent]]:
        for step in self.context.backend.load(self.request, self.context.notebook_path, self.control):
            yield cast("tuple[int, RecorderEvent]", (0, step))

    def heard(self, index: int, event: RecorderEvent) -> None:  # noqa: ARG002  there is one load
        """Keep what the step says."""
        self.state = self.state.heard(cast("LoadStep", event))

    def ended(self, error: Exception | None) -> None:
        """Show the form, whatever became of it."""
        if error is not None:
            self.work_failed(error)
        self.draw()
        self.query_one("#load-box").scroll_home(animate=False)
        self.refresh_bindings()

    def tick(self) -> None:
        """Show what has been heard, where it can be seen."""
        self.catch_up()
        if not self.is_covered:
            self.draw()

    def draw(self) -> None:
        """Show what has been heard."""
        state = self.state
        now = state.now()
        if state.closed is not None:
            now = "The load has ended."
        elif self.control.cancelled.is_set():
            now = "Stopping …"
        elif self._finishing:
            now += " (the last point)"
        for place, text in (("#load-now", now), ("#load-warnings", state.told())):
            line = self.query_one(place, Static)
            if str(line.content) != text:
                line.update(Content(text))
        self.query_one("#load-text", AnsiView).show(lambda width, _height: state.text(width))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  Textual's
        if action == "finish":
            return not self.is_over
        return action != "export" or bool(self.state.load and self.state.load.points)

    def action_finish(self) -> None:
        self._finishing = True
        self.control.finish_after_run()
        self.draw()

    def action_export(self) -> None:
        load = self.state.load
        if load is not None:
            self.sharebench_app.push_screen(
                ExportScreen(gather=lambda notebook: [load_form(notebook, load)], name=f"load-{load.id}")
            )
