"""A series while it is measured: progress, the form as it fills in, and the charts."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import inf
from time import monotonic, thread_time
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from app.base.errors import CancelledError, LoginError
from app.charts.series_charts import TOO_SHORT, area_chart, rates_chart, runs_chart
from app.clients.base import Secrets
from app.guide.before_run import filling_table
from app.guide.session import MeasurementJob
from app.recording.process import ControlMessage, MeasuringOrder, SeriesControl
from app.series.progress import STALL_SECONDS, SeriesProgress, prepare
from app.series.record import RecorderEvent
from app.server.host_activity import MachineNow
from app.tui.frame.commands import keys
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets.logins import log_in_again
from app.tui.widgets.recording import PART_SECONDS, REDRAW_SECONDS, RecordingScreen, machine_line
from app.tui.widgets.views import AnsiView, ChartView, ZoomsCharts
from forms.layout import cut, visible
from forms.report import Bar, Chart
from forms.series.summary import SeriesSummary, run_form
from storage.notebook import Notebook

DRAWING_SHARE = 0.005
"""Of a processor, where none is idle: what drawing takes is missing from the transfer."""
LONG_RUN_SECONDS = 1.0
_TABLE_FRAME = 5
_GROWS_BY = 4
"""Lines by which the form's table grows: each time the whole screen is laid out again."""


class RunScreen(RecordingScreen, ZoomsCharts):
    """Measures one series; answers with its id once everything is stored, or with a job that logs in anew."""

    ENTRY = "guide"
    KEYS: ClassVar = keys("run.review run.now run.pause run.resume run.end run.stop run.chart chart.zoom")
    STOP_HEADING = "Stop measuring?"
    STOP_TEXT = "Runs that have ended are kept, and the series can be completed with them later."
    KEEP_ON = "Keep measuring"
    QUIT_TEXT = "A series is being measured. It is stopped, and the runs that ended are kept."

    def __init__(self, measurement: MeasurementJob) -> None:
        super().__init__(measurement.control)
        self.measurement = measurement
        self.running = SeriesProgress()
        self.form: SeriesSummary | None = None
        self._read_at = -inf
        self._unread = False
        self._offers: tuple[bool, ...] = ()
        self._drawn_line = ("", "")
        self._machine: MachineNow | None = None
        self._meter: Callable[[], MachineNow | None] = lambda: None
        self._moved_at = monotonic()
        self._drawn_warnings: tuple[str, ...] = ()
        self._cpu: dict[float, float] = {}
        self._taken = (-inf, 0.0)
        """When it was last drawn, and what this thread had taken of a processor by then."""
        self._drawn: dict[str, tuple[float, object]] = dict.fromkeys(("form", "within", "cpu"), (-inf, None))

    @property
    def is_over(self) -> bool:
        return self.running.is_over

    def compose(self) -> ComposeResult:
        with Pane(self.measurement.title, id="progress"):
            yield Static(id="now")
            yield Static(id="machine")
            yield Static(id="warnings")
            yield AnsiView(id="form")
        with Pane("Rate of each run; throughput within them; CPU of this machine", id="charts"):
            yield ChartView(id="within")
            with Horizontal(id="beside"):
                yield ChartView(id="rates")
                yield ChartView(id="cpu")
        yield KeyBar()

    def on_mount(self) -> None:
        if (request := self.measurement.request) is not None:
            self.running = SeriesProgress.of_order(MeasuringOrder.of_request(request))
        self.add_class("-within")  # until a run has ended, there is no rate of one
        self.listen(self._events, every_seconds=REDRAW_SECONDS)
        self.draw()

    def _events(self) -> Iterator[tuple[int, RecorderEvent]]:
        prepare()
        self._meter = self.context.backend.meter(self.measurement.target)
        for event in self.measurement.events():
            yield 0, event

    def take_event(self, index: int, event: RecorderEvent) -> None:  # noqa: ARG002  there is one series
        before = self.running
        self.running = before.heard(event)
        if self.running.now is None or before.now is None or self.running.now.moved_bytes > before.now.moved_bytes:
            self._moved_at = monotonic()
        if self.running.series_id and before.series_id is None:
            self.measurement.opened(self.running.series_id)
        if (before.finished_runs, before.is_over) != (self.running.finished_runs, self.running.is_over):
            self._unread = True
        if self.running.finished_runs and not before.finished_runs:
            self.remove_class("-within")

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_bindings)  # a key for the other chart where one has no room

    @property
    def _is_timed(self) -> bool:
        return self._recording and self.running.is_timed

    @property
    def _is_busy(self) -> bool:
        """Whether no processor is idle."""
        machine, processors = self._machine, os.cpu_count() or 1
        return machine is not None and (100 - machine.cpu_percent) * processors < 100

    def _read_form(self) -> None:
        every = PART_SECONDS if self._is_busy else REDRAW_SECONDS
        due = not self._is_timed or monotonic() >= self._read_at + every
        series_id = self.running.series_id
        if not self._unread or not due or series_id is None:
            return
        self._unread, self._read_at = False, monotonic()

        def read(notebook: Notebook) -> SeriesSummary:
            return run_form(notebook.series(series_id))

        self.with_notebook(read, self._take_form, group="form", exclusive=True)

    def _take_form(self, form: SeriesSummary) -> None:
        self.form = form
        if not self._is_timed:
            self.draw()
        elif not self.is_covered and (self.running.last_run_seconds or 0.0) >= LONG_RUN_SECONDS:
            self._draw_part("form")

    def measurement_ended(self, error: Exception | None) -> None:
        if error is not None:
            self.dismiss(None)
            self.sharebench_app.tell_error(error)
            return
        failure, target = self.running.failure, self.measurement.target
        if failure is None or failure.kind is CancelledError:
            return
        asks = failure.kind is LoginError and not (self.running.finished_runs or self.measurement.secrets.kerberos)
        if not (asks and target and log_in_again(self, [target], failure.text, self._measure_again)):
            self.sharebench_app.tell_text("The series ended early", failure.text)

    def _measure_again(self, secrets: Secrets) -> None:
        request = self.measurement.request
        again = request and replace(request, secrets=secrets)
        self.dismiss(replace(self.measurement, request=again, secrets=secrets, control=SeriesControl()))

    def tick(self) -> None:
        """Draw the line of what happens now, and one of the slow parts that are due: no key press waits for all."""
        self.catch_up()
        self._machine = None if self.is_over else self._meter()  # afterwards it is none of the series' business
        if self._machine is not None and (at := self.running.transfer_seconds):
            self._cpu[at] = self._machine.cpu_percent
        self._read_form()
        if not self._is_timed:
            self.draw()
        elif not self.is_covered and self._may_draw():
            self._draw_line()
            for drawn_at, part in self._stale()[:1]:
                if monotonic() >= drawn_at + PART_SECONDS:
                    self._draw_part(part)

    def _may_draw(self) -> bool:
        """Whether the time since it was last drawn is worth what that took."""
        at, taken = monotonic(), thread_time()
        waited, cost = at - self._taken[0], taken - self._taken[1]
        due = not self._is_busy or waited >= min(PART_SECONDS, cost / DRAWING_SHARE)
        if due:
            self._taken = at, taken
        return due

    def draw(self) -> None:
        self.catch_up()
        with self.app.batch_update():
            self._draw_line()
            for _, part in self._stale():
                self._draw_part(part)

    def _stale(self) -> list[tuple[float, str]]:
        shows = {"form": self.form, "within": self._within, "cpu": len(self._cpu)}
        return sorted((at, part) for part, (at, shown) in self._drawn.items() if shown is not shows[part])

    @property
    def _within(self) -> object:
        return self.running.curve or self.running.finished_runs > 0

    def stalled_text(self) -> str:
        silent = monotonic() - self._moved_at
        if self.running.now is None or not self.running.is_timed or silent < STALL_SECONDS:
            return ""
        request, plan = self.measurement.request, self.form.series.plan if self.form else None
        settings = request.spec.settings if request is not None else plan.settings if plan is not None else None
        ends = f", gives up at {settings.timeout_seconds:.0f} s" if settings is not None else ""
        return f"! {self.running.run_name} stalled {silent:.0f} s{ends}"

    def _draw_line(self) -> None:
        running, width = self.running, max(0, self.size.width - 4)
        stalled = self.stalled_text()
        average = self.form.average_rate if self.form else None
        machine = "" if self._machine is None else machine_line(self._machine, width)
        machine = cut(visible(running.waiting), width) or machine
        lines = stalled or running.line(width, average), machine
        if lines != self._drawn_line:
            self._drawn_line = lines
            now = self.query_one("#now", Static)
            now.set_class(bool(stalled), "-stalled")
            now.update(Text(lines[0], no_wrap=True), layout=False)
            self.query_one("#machine", Static).update(Text(machine), layout=False)
        if running.warnings != self._drawn_warnings:
            self._drawn_warnings = running.warnings
            warnings = "\n".join(f"! {visible(text)}" for text in running.warnings[-3:])
            lines_of = self.query_one("#warnings", Static)
            lines_of.update(Text(warnings))
            lines_of.display = bool(warnings)
            self.set_class(bool(warnings), "-warned")
        if running.offers != self._offers:
            self._offers = running.offers
            self.refresh_bindings()

    def _draw_part(self, part: str) -> None:
        form, running = self.form, self.running
        self._drawn[part] = (monotonic(), {"within": self._within, "cpu": len(self._cpu)}.get(part, form))
        until = running.transfer_seconds + (running.seconds_left or 0.0)
        drawn: Callable[..., str]
        if part == "within":
            without = TOO_SHORT if running.finished_runs else "no run has ended yet"
            drawn = partial(runs_chart, running.all_curves, until_seconds=until, without=without)
        elif part == "cpu":
            drawn = partial(area_chart, cpu_chart(self._cpu), until=until)
        elif form is None:
            return
        else:
            drawing = self.query_one("#form", AnsiView)
            lines = len(form.all_rows) + _TABLE_FRAME
            drawing.styles.height = -(-lines // _GROWS_BY) * _GROWS_BY
            drawing.show(partial(filling_table, form))
            part, drawn = "rates", partial(rates_chart, form)
        self.query_one(f"#{part}", ChartView).show_chart(drawn)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"pause", "end", "stop"}:
            return not self.running.is_over and not (action == "pause" and self.running.paused)
        if action == "review":
            return self.running.is_over and self.running.finished_runs > 0
        if action == "resume":
            return self.running.paused or self.running.pause_asked
        if action == "now":
            return bool(self.running.waiting) and not (self.running.is_over or self.running.pause_asked)
        return self.has_class("-narrow") if action == "chart" else super().check_action(action, parameters)

    def action_pause(self) -> None:
        self.control.tell(ControlMessage.PAUSE)
        self.running = self.running.asked(pause=True)
        self._draw_line()

    def action_resume(self) -> None:
        self.control.tell(ControlMessage.RESUME)
        self.running = self.running.asked(pause=False)
        self._draw_line()

    def action_now(self) -> None:
        self.control.waited.set()
        self.running = replace(self.running, waiting="", doing="measuring without waiting")
        self._draw_line()

    def action_end(self) -> None:
        series_id = self.running.series_id
        if self.running.valid_runs:
            self._end()
        elif series_id is None:
            self._ask_to_end()
        else:
            self.with_notebook(
                lambda notebook: bool(notebook.series(series_id).measured()),
                lambda measured: self._end() if measured else self._ask_to_end(),
                group="end",
            )

    def _ask_to_end(self) -> None:
        if self.running.is_over or self.is_covered:
            return
        text = "No measured run has ended yet: after the run under way there may be nothing to review."
        self.ask(ConfirmDialog("End the series?", text, yes="End", no=self.KEEP_ON), lambda _: self._end())

    def _end(self) -> None:
        self.control.tell(ControlMessage.FINISH)
        self.running = self.running.asked(end=True)
        self._draw_line()

    def action_chart(self) -> None:
        self.toggle_class("-within")

    def action_back(self) -> None:
        self.dismiss(self.running.series_id)

    action_review = action_back


def cpu_chart(percents: Mapping[float, float]) -> Chart:
    places = sorted(percents)[:: 1 + len(percents) // 400]
    values = [percents[at] for at in places]
    bars = tuple(Bar(name="", value=value) for value in [*values[:1], *values])
    return Chart(title="CPU, this machine", unit="%", bars=bars, places=tuple([0.0, *places] if places else []))
