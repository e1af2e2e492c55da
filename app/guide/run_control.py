"""A series that is measured on a screen: what its events change, and what its user asks of it; not how it is drawn."""

from dataclasses import replace
from functools import partial
from time import monotonic

from app.base import errors
from app.clients.base import Secrets
from app.guide.needs import MeasurementJob
from app.recording import process
from app.series.events import RecorderEvent
from app.series.progress import SeriesProgress
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets.logins import log_in_again
from app.tui.widgets.recording import RecordingScreen
from storage import records
from storage.notebook import Notebook


class ControlledRunScreen(RecordingScreen):
    """Answers with the id of its series once everything is stored, or with a job that logs in anew.

    Hooks of a subclass: ``draw_line`` after the user has asked for something; ``runs_changed`` when a run or the series
    has ended; ``first_run_ended`` besides when the first one has. :class:`RecordingScreen` listens to the measurement,
    asks before it is stopped, and calls ``take_event`` and ``measurement_ended``.
    """

    def __init__(self, measurement: MeasurementJob) -> None:
        super().__init__(measurement.control)
        self.measurement = measurement
        self.running = SeriesProgress()
        """What the series is doing, by the events that were taken so far."""
        self._moved_at = monotonic()
        """When bytes were last moved, or no run was under way."""

    def draw_line(self) -> None:
        raise NotImplementedError

    def runs_changed(self) -> None:
        raise NotImplementedError

    def first_run_ended(self) -> None:
        raise NotImplementedError

    @property
    def is_over(self) -> bool:
        """Whether the series has ended, by its last event; its process may still be ending."""
        return self.running.is_over

    def take_event(self, index: int, event: RecorderEvent) -> None:  # noqa: ARG002  there is one series
        before = self.running
        running = before.with_event(event)
        self.running = running
        if running.now is None or before.now is None or running.now.moved_bytes > before.now.moved_bytes:
            self._moved_at = monotonic()
        if running.series_id and before.series_id is None:
            self.measurement.opened(running.series_id)
        if (before.finished_runs, before.is_over) != (running.finished_runs, running.is_over):
            self.runs_changed()
        if running.finished_runs and not before.finished_runs:
            self.first_run_ended()

    @property
    def _is_timed(self) -> bool:
        """Whether a run may be under way, which drawing would take time from."""
        return self._recording and self.running.is_timed

    # The end

    def measurement_ended(self, error: Exception | None) -> None:
        """Tell what ended it early; where the login was refused, ask for another one and measure again with that."""
        if error is not None:
            self.dismiss(None)
            self.sharebench_app.tell_error(error)
            return

        failure = self.running.failure
        if failure is None:
            self._leave_if_followed()
            return
        if failure.kind is errors.CancelledError:
            return
        target = self.measurement.target
        is_of_login = failure.kind is errors.LoginError and not self.running.finished_runs
        may_ask = is_of_login and not self.measurement.secrets.kerberos
        if may_ask and target and log_in_again(self, [target], failure.text, self._measure_again):
            return
        self.sharebench_app.tell_text("The series ended early", failure.text)

    def on_screen_resume(self) -> None:
        """A dialog that lay over the end of the series is closed."""
        self._leave_if_followed()

    def _leave_if_followed(self) -> None:
        """Make room for the next repeat, unless the user has ended this one or reads something over it."""
        running = self.running
        is_whole = running.status is records.SeriesStatus.COMPLETE and not running.ending
        may_leave = not self._recording and not self.is_covered
        if self.measurement.is_followed and is_whole and may_leave:
            self.dismiss(running.series_id)

    def _measure_again(self, secrets: Secrets) -> None:
        request = self.measurement.request
        again = request and replace(request, secrets=secrets)
        self.dismiss(replace(self.measurement, request=again, secrets=secrets, control=process.SeriesControl()))

    # What the user asks for

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        running = self.running
        match action:
            case "pause":
                return not running.is_over and not running.paused
            case "end" | "stop":
                return not running.is_over
            case "review":
                return running.is_over and running.finished_runs > 0
            case "resume":
                return running.paused or running.pause_asked
            case "now":
                return bool(running.waiting) and not (running.is_over or running.pause_asked)
        return super().check_action(action, parameters)

    def action_pause(self) -> None:
        self.control.tell(process.ControlMessage.PAUSE)
        self.running = self.running.with_request(pause=True)
        self.draw_line()

    def action_resume(self) -> None:
        self.control.tell(process.ControlMessage.RESUME)
        self.running = self.running.with_request(pause=False)
        self.draw_line()

    def action_now(self) -> None:
        self.control.waited_enough.set()
        self.running = replace(self.running, waiting="", doing="measuring without waiting")
        self.draw_line()

    def action_end(self) -> None:
        """End after the run under way, at once where a measured run is there to be reviewed; otherwise after a yes."""
        series_id = self.running.series_id
        if self.running.valid_runs:
            self._end()
        elif series_id is None:
            self._ask_to_end()
        else:
            self.with_notebook(partial(_has_measured_run, series_id=series_id), self._end_or_ask, group="end")

    def _end_or_ask(self, has_measured_run: bool) -> None:
        if has_measured_run:
            self._end()
        else:
            self._ask_to_end()

    def _ask_to_end(self) -> None:
        if self.running.is_over or self.is_covered:
            return
        text = "No measured run has ended yet: after the run under way there may be nothing to review."
        self.ask(ConfirmDialog("End the series?", text, yes="End", no=self.KEEP_ON), lambda _: self._end())

    def _end(self) -> None:
        self.control.tell(process.ControlMessage.FINISH)
        # What is to end is waited for no longer.
        self.control.waited_enough.set()
        self.running = self.running.with_request(end=True)
        self.draw_line()

    def action_back(self) -> None:
        # Only once the series is over: `RecordingScreen.check_action` refuses it before.
        self.dismiss(self.running.series_id)

    action_review = action_back


def _has_measured_run(notebook: Notebook, series_id: str) -> bool:
    return bool(notebook.series(series_id).measured())
