"""A series while it is measured: progress, the form as it fills in, and the charts."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.widgets import Footer, Label, Static
from textual.worker import get_current_worker

from app.charts import rates_chart, within_chart
from app.guide.form_table import form_table
from app.guide.running import Running
from app.guide.work import Measurement
from app.recorder import Control, RecorderEvent
from app.tui.base import BaseScreen
from app.tui.commands import KeyCommand
from app.tui.dialogs import ConfirmDialog
from app.tui.drawing import Drawing
from forms.cells import visible
from forms.run_form import RunForm, run_form
from storage.notebook import Notebook

REDRAW_SECONDS = 1.0
"""The screen is drawn no more often while a run is timed: what it takes is missing from the transfer."""
CURVE_SECONDS = 3.0
"""The throughput within a run, the dearest part, is drawn no more often."""


class Heard(Message):
    """An event of the series, from the thread that records it."""

    def __init__(self, event: RecorderEvent) -> None:
        super().__init__()
        self.event = event


class Ended(Message):
    """The recording thread has nothing more to do."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error


class RunScreen(BaseScreen):
    """Measures one series; answers with its id once everything is stored."""

    ROOM = "guide"
    ABOUT = (
        "A series is being measured. The form above fills in as runs end; a run that ended is kept, whatever happens."
        " The charts show the rate of each run, and the throughput over time within the current one."
    )
    KEYS: ClassVar = (
        KeyCommand(
            id="run.back", keys="escape,enter", action="back", name="Back", footer="Back",
            help="Leave this screen; a series under way is asked about first.",
        ),
        KeyCommand(
            id="run.pause", keys="p", action="pause", name="Pause", footer="Pause", help="Wait after this run."
        ),
        KeyCommand(id="run.go-on", keys="g", action="go_on", name="Go on", footer="Go on", help="End the pause."),
        KeyCommand(
            id="run.end", keys="e", action="end", name="End", footer="End",
            help="End the series after this run, with the runs that it then has.",
        ),
        KeyCommand(
            id="run.stop", keys="s", action="stop", name="Stop", footer="Stop",
            help="Stop at once; the runs that ended are kept, and the series can be completed later.",
        ),
        KeyCommand(
            id="run.chart", keys="c", action="chart", name="Other chart", footer="Chart",
            help="Show the rate of each run, or the throughput within the run.",
        ),
    )  # fmt: skip
    DEFAULT_CSS = """
    RunScreen {
        #now { height: 1; padding: 0 1; text-style: bold; }
        #warnings { height: auto; max-height: 3; padding: 0 1; color: $text-warning; }
        #form-box { height: auto; max-height: 60%; padding: 0 1; }
        #charts { height: 1fr; min-height: 5; padding: 0 1; }
        #charts Drawing { height: 1fr; }
    }
    """

    def __init__(self, measurement: Measurement) -> None:
        super().__init__()
        self.measurement = measurement
        self.running = Running()
        self.form: RunForm | None = None
        self._drawn: Running | None = None
        self._offers: tuple[bool, ...] = ()
        self._drawn_form: tuple[RunForm, int] | None = None
        self._drawn_warnings: tuple[str, ...] = ()
        self._curve_due = 0.0
        self._leave: Callable[[], None] | None = None

    @property
    def control(self) -> Control:
        """What says words to the series."""
        return self.measurement.control

    def compose(self) -> ComposeResult:
        """What happens now, warnings, the form, the charts."""
        yield Label(Text(f"sharebench · {visible(self.measurement.title)}"), classes="title-line")
        yield Static(id="now")
        yield Static(id="warnings")
        with VerticalScroll(id="form-box", can_focus=False):
            yield Static(id="form")
        with Horizontal(id="charts"):
            yield Drawing(id="rates")
            yield Drawing(id="within")
        yield Footer()

    def on_mount(self) -> None:
        """Begin, and draw twice a second from now on."""
        self.run_worker(self._measure, thread=True, group="measure", exit_on_error=False)
        self.set_interval(REDRAW_SECONDS, self.draw)
        self.draw()

    def _measure(self) -> None:
        """In a thread: hand on what the recorder says."""
        worker = get_current_worker()
        error: Exception | None = None
        try:
            for event in self.measurement.events():
                if not worker.is_cancelled:
                    self.post_message(Heard(event))
        except Exception as fault:  # noqa: BLE001  told in the one dialog, by the screen's thread
            error = fault
        if not worker.is_cancelled:
            self.post_message(Ended(error))

    @on(Heard)
    def _heard(self, message: Heard) -> None:
        message.stop()
        before = self.running
        self.running = before.heard(message.event)
        if self.running.series_id and before.series_id is None:
            self.measurement.opened(self.running.series_id)
        if self.running.series_id and (before.finished_runs, before.is_over) != (
            self.running.finished_runs,
            self.running.is_over,
        ):
            self._read_form(self.running.series_id)

    def _read_form(self, series_id: str) -> None:
        def read(notebook: Notebook) -> RunForm:
            return run_form(notebook.series(series_id))

        self.with_notebook(read, self._take_form, group="form", exclusive=True)

    def _take_form(self, form: RunForm) -> None:
        self.form = form
        self._drawn = None
        if self.running.is_over:
            self.draw()

    @on(Ended)
    def _ended(self, message: Ended) -> None:
        message.stop()
        self.draw()
        while (
            self.app.screen is not self and self in self.app.screen_stack and isinstance(self.app.screen, ConfirmDialog)
        ):
            self.app.pop_screen()
        if self._leave is not None:
            self._leave()
        elif message.error is not None:
            self.dismiss(None)
            self.bench.tell_error(message.error)
        elif self.running.failure is not None and self.running.failure.kind != "CancelledError":
            self.bench.tell_text("The series ended early", self.running.failure.text)

    def draw(self) -> None:
        """Bring the screen up to date; nothing where nothing has changed."""
        if self._drawn is self.running:
            return
        self._drawn = self.running
        with self.app.batch_update():
            self._draw_all()
        if self._offers != self.running.offers:
            self._offers = self.running.offers
            self.refresh_bindings()

    def _draw_all(self) -> None:
        running = self.running
        self.query_one("#now", Static).update(Text(running.line(self.size.width - 2)), layout=False)
        if running.warnings != self._drawn_warnings:
            self._drawn_warnings = running.warnings
            warnings = "\n".join(f"! {visible(text)}" for text in running.warnings[-3:])
            self.query_one("#warnings", Static).update(Text(warnings))
        now = monotonic()
        if running.is_over or now >= self._curve_due:
            self._curve_due = now + CURVE_SECONDS
            curve = running.curve
            self.query_one("#within", Drawing).show(lambda width, height: within_chart(curve, width, height))
        if self.form is not None:
            self._draw_form(self.form)

    def _draw_form(self, form: RunForm) -> None:
        if self._drawn_form is not None and self._drawn_form[0] is form and self._drawn_form[1] == self.size.width:
            return
        self._drawn_form = (form, self.size.width)
        text = form_table(form, max(40, self.size.width - 4), remarks=False)
        self.query_one("#form", Static).update(Text.from_ansi(text))
        self.query_one("#rates", Drawing).show(lambda width, height: rates_chart(form, width, height))
        self.query_one("#form-box", VerticalScroll).scroll_end(animate=False)

    def on_resize(self) -> None:
        """Draw for the new size at the next turn."""
        self._drawn = None
        self._curve_due = 0.0

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002  Textual's shape
        """Offer only what has an effect now."""
        if action in {"pause", "end", "stop"}:
            return not self.running.is_over and not (action == "pause" and self.running.paused)
        if action == "go_on":
            return self.running.paused or self.running.pause_asked
        if action == "chart":
            return self.has_class("-narrow")
        return True

    def action_pause(self) -> None:
        """Wait after this run."""
        self.control.pause()
        self.running = self.running.asked(pause=True)
        self.draw()

    def action_go_on(self) -> None:
        """End the pause."""
        self.control.go_on()
        self.running = self.running.asked(pause=False)
        self.draw()

    def action_end(self) -> None:
        """End after this run."""
        self.control.finish_after_run()
        self.running = self.running.asked(end=True)
        self.draw()

    def action_stop(self) -> None:
        """Stop at once, if that is meant."""

        def answered(yes: bool | None) -> None:
            if yes:
                self.control.cancel()

        question = "The runs that ended are kept. The series can be completed later."
        self.app.push_screen(ConfirmDialog("Stop measuring?", question, yes="Stop", no="Go on measuring"), answered)

    def action_chart(self) -> None:
        """The other chart, where there is room for one."""
        self.toggle_class("-within")

    def action_back(self) -> None:
        """To the review, or ask about stopping."""
        if self.running.is_over:
            self.dismiss(self.running.series_id)
        else:
            self.action_stop()

    def quit_question(self) -> str | None:
        """Asked before the program is left."""
        if self.running.is_over:
            return None
        return "A series is being measured. It is stopped, and the runs that ended are kept."

    def leave(self, then: Callable[[], None]) -> None:
        """Stop the series and leave once everything is stored."""
        self._leave = then
        self.control.cancel()
