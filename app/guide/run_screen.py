"""A series while it is measured, as it is drawn: progress, the form as it fills in, and the charts."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, inf
from time import monotonic, thread_time
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from app.charts import series_charts
from app.guide.form_table import filling_table
from app.guide.needs import MeasurementJob
from app.guide.run_control import ControlledRunScreen
from app.recording import process
from app.series import progress
from app.series.curve import STALL_SECONDS
from app.series.events import RecorderEvent
from app.server.machine_meter import MachineNow
from app.tui.frame.commands import keys
from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets import recording, views
from forms import layout, report
from forms.series import summary as series_summary
from storage.notebook import Notebook
from storage.plan import Settings

DRAWING_SHARE = 0.005
"""Where no processor is idle, drawing takes no more than this of one: the transfer goes without what drawing takes."""
LONG_RUN_SECONDS = 1.0
"""From this length of a run on, the form is drawn as soon as the run has ended."""
_TABLE_FRAME = 5
"""Lines of the form's table beside those of its runs."""
_MOST_POINTS = 400
"""Of the chart of this machine's processors; of more samples it has every second, or every third."""
_GROWS_BY = 4
"""Lines by which the form's table grows: each time the whole screen is laid out again."""


class RunScreen(ControlledRunScreen, views.ZoomsCharts):
    """Draws the series: the line of what happens now at each tick, the slow parts (form and charts) less often.

    What drawing takes of a processor is missing from the transfer, so that it is drawn less often where none is idle.

    The *slow parts* are three, named by the ids of their widgets: ``form`` (with the chart of the rates), ``within``
    (the throughput within the runs) and ``cpu``. The base classes call ``tick``, ``draw_line``, ``runs_changed`` and
    ``first_run_ended``, all in the screen's thread; only ``_events`` runs in another one.
    """

    ENTRY = "guide"
    KEYS: ClassVar = keys("run.review run.now run.pause run.resume run.end run.stop run.chart chart.zoom")
    STOP_HEADING = "Stop measuring?"
    STOP_TEXT = "Runs that have ended are kept, and the series can be completed with them later."
    KEEP_ON = "Keep measuring"
    QUIT_TEXT = "A series is being measured. It is stopped, and the runs that ended are kept."

    def __init__(self, measurement: MeasurementJob) -> None:
        super().__init__(measurement)

        # The form, which is read from the notebook when a run has ended.
        self.form: series_summary.SeriesSummary | None = None
        self._unread = False
        """Whether a run has ended since it was read."""
        self._read_at = -inf
        """When it was read last, by ``monotonic``."""

        # This machine.
        self._meter: Callable[[], MachineNow | None] = _no_machine
        self._machine: MachineNow | None = None
        self._cpu: dict[float, float] = {}
        """Percent that this machine was busy, by the seconds of the transfer."""

        # What was drawn last, and when.
        self._offers: tuple[bool, ...] = ()
        """What decided which keys were offered."""
        self._drawn_line = ("", "")
        self._drawn_warnings: tuple[str, ...] = ()
        self._drawn: dict[str, tuple[float, object]] = dict.fromkeys(("form", "within", "cpu"), (-inf, None))
        """When each slow part was drawn, and of what: the form; `_newest_curve`; the number of processors' samples."""
        self._drawn_runs = -1
        """How many runs had ended when the chart within them was drawn."""
        self._drawn_at = -inf
        self._processor_seconds = 0.0
        """What this thread had taken of a processor by then."""

    def compose(self) -> ComposeResult:
        with Pane(self.measurement.title, id="progress"):
            yield Static(id="now")
            yield Static(id="machine")
            yield Static(id="warnings")
            yield views.AnsiView(id="form")
        with Pane("Rate of each run; throughput within them; CPU of this machine", id="charts"):
            yield views.ChartView(id="within")
            with Horizontal(id="beside"):
                yield views.ChartView(id="rates")
                yield views.ChartView(id="cpu")
        yield KeyBar()

    def on_mount(self) -> None:
        if (request := self.measurement.request) is not None:
            self.running = progress.SeriesProgress.of_order(process.MeasuringOrder.of_request(request))
        if self.measurement.repeat:
            self.running = replace(self.running, name=self.measurement.repeat)
        self.add_class("-within")  # until a run has ended, there is no rate of one
        self.listen(self._events, every_seconds=recording.REDRAW_SECONDS)
        self.draw()

    def _events(self) -> Iterator[tuple[int, RecorderEvent]]:
        """In the thread of the measurement: its events, all of the one series at place 0."""
        progress.prepare()
        self._meter = self.context.backend.meter(self.measurement.target)
        for event in self.measurement.events():
            yield 0, event

    def runs_changed(self) -> None:
        self._unread = True

    def first_run_ended(self) -> None:
        self.remove_class("-within")

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_bindings)  # a key for the other chart where one has no room

    @property
    def _is_busy(self) -> bool:
        """Whether no processor is idle."""
        if self._machine is None:
            return False
        idle_percent = (100 - self._machine.cpu_percent) * (os.cpu_count() or 1)
        return idle_percent < 100

    def _read_form(self) -> None:
        """Read the form in a thread where a run has ended since it was read; not too often while a run is timed."""
        interval = recording.PART_SECONDS if self._is_busy else recording.REDRAW_SECONDS
        is_due = not self._is_timed or monotonic() >= self._read_at + interval
        series_id = self.running.series_id
        if not self._unread or not is_due or series_id is None:
            return
        self._unread = False
        self._read_at = monotonic()

        def read_form(notebook: Notebook) -> series_summary.SeriesSummary:
            return series_summary.run_form(notebook.series(series_id))

        self.with_notebook(read_form, self._take_form, group="form", exclusive=True)

    def _take_form(self, form: series_summary.SeriesSummary) -> None:
        self.form = form
        if not self._is_timed:
            self.draw()
        elif not self.is_covered and (self.running.last_run_seconds or 0.0) >= LONG_RUN_SECONDS:
            self._draw_part("form")

    def tick(self) -> None:
        """Draw the line of what happens now, and one of the slow parts that are due: a key press never waits for all.

        While nothing is timed, everything that is stale is drawn at once.
        """
        self.catch_up()
        # After its end the machine is none of the series' business.
        self._machine = None if self.is_over else self._meter()
        transfer_seconds = self.running.transfer_seconds
        if self._machine is not None and transfer_seconds:
            self._cpu[transfer_seconds] = self._machine.cpu_percent
        self._read_form()

        if not self._is_timed:
            self.draw()
        elif not self.is_covered and self._may_draw():
            self.draw_line()
            stale_parts = self._stale()
            if stale_parts:
                drawn_at, stalest_part = stale_parts[0]
                if monotonic() >= drawn_at + recording.PART_SECONDS:
                    self._draw_part(stalest_part)

    def _may_draw(self) -> bool:
        """Whether so long has passed that what drawing took last is no more than its share of that time.

        Where that is so, it is noted as drawn now. A processor that is idle, or PART_SECONDS, are reason enough.
        """
        now = monotonic()
        processor_seconds = thread_time()
        waited_seconds = now - self._drawn_at
        cost_seconds = processor_seconds - self._processor_seconds
        # So long drawing would have to rest for its cost to be DRAWING_SHARE of the time.
        rest_seconds = cost_seconds / DRAWING_SHARE
        is_worth_it = not self._is_busy or waited_seconds >= min(recording.PART_SECONDS, rest_seconds)
        if is_worth_it:
            self._drawn_at = now
            self._processor_seconds = processor_seconds
        return is_worth_it

    def draw(self) -> None:
        self.catch_up()
        with self.app.batch_update():
            self.draw_line()
            for _, part in self._stale():
                self._draw_part(part)

    def _stale(self) -> list[tuple[float, str]]:
        """The slow parts that show what is past, each after when it was drawn; the one drawn longest ago first."""
        _, drawn_form = self._drawn["form"]
        _, drawn_curve = self._drawn["within"]
        _, drawn_count = self._drawn["cpu"]
        # Forms and curves are made anew where they change: to compare what is in them takes long.
        is_stale = {
            "form": drawn_form is not self.form,
            "within": drawn_curve is not self._newest_curve or self._drawn_runs != self.running.finished_runs,
            "cpu": drawn_count != len(self._cpu),
        }
        return sorted((drawn_at, part) for part, (drawn_at, _) in self._drawn.items() if is_stale[part])

    @property
    def _newest_curve(self) -> object:
        """The samples of the run under way, which the chart within the runs was drawn of with those that have ended.

        Between two runs there are none: then the number of ended runs tells whether the chart is stale.
        """
        return self.running.curve or None

    def stalled_text(self) -> str:
        """That no byte has moved for some seconds; empty where bytes move or no run is under way."""
        silent_seconds = monotonic() - self._moved_at
        if self.running.now is None or not self.running.is_timed or silent_seconds < STALL_SECONDS:
            return ""

        settings = self._settings()
        end = f", gives up at {settings.timeout_seconds:.0f} s" if settings is not None else ""
        return f"! {self.running.run_name} stalled {silent_seconds:.0f} s{end}"

    def _settings(self) -> Settings | None:
        """How the client moves bytes; None of a series to be completed whose form was not read yet."""
        if self.measurement.request is not None:
            return self.measurement.request.spec.settings
        plan = self.form.series.plan if self.form else None
        return plan.settings if plan is not None else None

    def draw_line(self) -> None:
        """Draw what changes at each tick, and cheaply: the line of what happens now, the warnings and the keys."""
        running = self.running
        self._draw_now()
        newest_warnings = tuple(f"! {warning}" for warning in running.warnings[-3:])
        told = (*running.wait_advice, *newest_warnings)
        if told != self._drawn_warnings:
            self._drawn_warnings = told
            self._draw_warnings(told)
        if running.offers != self._offers:
            self._offers = running.offers
            self.refresh_bindings()

    def _draw_now(self) -> None:
        """The run under way, or that it stalled; and the machine, or what is waited for."""
        width = max(0, self.size.width - 4)
        stalled = self.stalled_text()
        average = self.form.average_rate if self.form else None
        run_line = stalled or self.running.line(width, average)
        machine = "" if self._machine is None else recording.machine_line(self._machine, width)
        second_line = layout.cut(layout.visible(self.running.waiting), width) or machine
        if (run_line, second_line) == self._drawn_line:
            return

        self._drawn_line = (run_line, second_line)
        now = self.query_one("#now", Static)
        now.set_class(bool(stalled), "-stalled")
        # What ended it is told whole; while it measures, nothing is laid out anew.
        self.set_class(self.is_over, "-ended")
        now.update(Text(run_line, no_wrap=not self.is_over), layout=self.is_over)
        self.query_one("#machine", Static).update(Text(second_line), layout=False)

    def _draw_warnings(self, warnings: Sequence[str]) -> None:
        text = "\n".join(layout.visible(warning) for warning in warnings)
        view = self.query_one("#warnings", Static)
        view.update(Text(text))
        view.display = bool(text)
        self.set_class(bool(text), "-warned")

    def _draw_part(self, part: str) -> None:
        running = self.running
        until_seconds = running.transfer_seconds + (running.seconds_left or 0.0)
        match part:
            case "within":
                self._drawn[part] = (monotonic(), self._newest_curve)
                self._drawn_runs = running.finished_runs
                without = series_charts.TOO_SHORT if running.finished_runs else "no run has ended yet"
                chart = partial(
                    series_charts.runs_chart, running.all_curves, until_seconds=until_seconds, without=without
                )
                self.query_one("#within", views.ChartView).show_chart(chart)
            case "cpu":
                self._drawn[part] = (monotonic(), len(self._cpu))
                cpu = partial(series_charts.area_chart, cpu_chart(self._cpu), until=until_seconds)
                self.query_one("#cpu", views.ChartView).show_chart(cpu)
            case "form":
                self._drawn[part] = (monotonic(), self.form)
                # Beside its row no run is shown as under way.
                self._draw_now()
                self._draw_form()

    def _draw_form(self) -> None:
        form = self.form
        if form is None:
            return
        table = self.query_one("#form", views.AnsiView)
        lines = len(form.all_rows) + _TABLE_FRAME
        table.styles.height = ceil(lines / _GROWS_BY) * _GROWS_BY
        table.show(partial(filling_table, form))
        self.query_one("#rates", views.ChartView).show_chart(partial(series_charts.rates_chart, form))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "chart":
            return self.has_class("-narrow")
        return super().check_action(action, parameters)

    def action_chart(self) -> None:
        """Show the chart within the runs in place of the one of their rates, or the other way round."""
        self.toggle_class("-within")


def cpu_chart(percents: Mapping[float, float]) -> report.Chart:
    """How busy this machine was, by the seconds of the transfer; the first value holds from its beginning."""
    step = 1 + len(percents) // _MOST_POINTS
    seconds = sorted(percents)[::step]
    values = [percents[at] for at in seconds]
    first_value = values[:1]
    bars = tuple(report.Bar(name="", value=value) for value in [*first_value, *values])
    places = (0.0, *seconds) if seconds else ()
    return report.Chart(title="CPU, this machine", unit="%", bars=bars, places=places)


def _no_machine() -> MachineNow | None:
    return None
