"""What `sharebench load` prints while a load is measured, and the error with which it ends if it failed."""

import time
from collections.abc import Callable
from dataclasses import replace

from app.base import errors
from app.load import events
from app.load.measurement import LoadChanged, LoadClosed, LoadStep
from app.load.progress import LoadProgress, time_text
from app.recording.process import SeriesControl, Warned
from app.recording.told_estimate import ToldEstimate
from forms import wording
from forms.layout import visible
from forms.load.wording import point_text
from storage.load.records import LoadPoint, PointStatus, Scenario
from storage.records import format_target


class LoadProgressLines:
    """The lines of a load under way: one that changes, and above it one for each point and warning."""

    about = ""
    """Which of several loads is meant, in front of every line."""

    def __init__(self, draw: Callable[[str], None], say: Callable[[str], None]) -> None:
        """``draw`` changes the last line; ``say`` prints one that stays."""
        self._draw = draw
        self._say = say
        self._phase = events.PhaseBegan(phase=events.LoadPhase.FILES)
        self._progress = LoadProgress()
        self._estimate: ToldEstimate | None = None
        """None while nobody knows how long the load takes."""

    def show(self, step: LoadStep) -> None:
        before = self._progress
        self._progress = before.after(step)
        match step:
            case Warned(text=text):
                self._tell(text)
            case events.PhaseBegan():
                is_first_phase = before.phase is None
                if is_first_phase:
                    self._tell_whole_time(step.phase)
                self._phase = step
                if step.phase is events.LoadPhase.RAMP:
                    self._tell_time_left()
                self._redraw(f"{step.phase.value}{self._time_left()}")
            case events.FilesMade(files=files, of_files=all_files):
                verb = "removed" if self._phase.phase is events.LoadPhase.CLEANING else "made"
                self._redraw(f"{self._phase.phase.value}{self._time_left()}: {files:,} of {all_files:,} {verb}")
            case events.JobsWait():
                self._redraw(f"{self._phase.phase.value}: {step.jobs:,} of {step.of_jobs:,} jobs wait; Ctrl-C ends it")
            case events.SecondPassed():
                self._redraw(_second_text(step, self._phase, self._time_left()))
            case LoadChanged(point=LoadPoint() as point, done=True):
                load = self._progress.load
                if load is not None:
                    self._tell(_point_text(point, load.scenario))

    def _tell_whole_time(self, first_phase: events.LoadPhase) -> None:
        load = self._progress.load
        if load is not None:
            makes_files = first_phase is events.LoadPhase.FILES
            creates_on = len(load.targets) if makes_files else 0
            self._tell(time_text(load.scenario, load.choices, len(load.points), creates_on))

    @property
    def seconds_left(self) -> float | None:
        """Of this load; None where nobody can say."""
        return self._progress.seconds_left(self._progress.phase_seconds_left(time.monotonic()))

    def _seconds_left_in_all(self) -> float | None:
        return self.seconds_left

    def _tell_time_left(self) -> None:
        """At the beginning of a point: the time left of a search as soon as it is known, and of a wrong estimate."""
        seconds_left = self._seconds_left_in_all()
        if seconds_left is None:
            return

        if self._estimate is None:
            self._estimate = ToldEstimate(seconds_left)
            is_search = self._progress.load is not None and self._progress.load.choices.find_capacity
            if is_search:
                self._tell(f"about {wording.duration(seconds_left)} left")
            return

        correction = self._estimate.correction(seconds_left)
        if correction:
            self._tell(correction)

    def _time_left(self) -> str:
        of_phase = self._progress.phase_seconds_left(time.monotonic())
        of_all = self._seconds_left_in_all()
        in_all = f", {wording.duration(of_all)} left in all" if of_all else ""
        return f" {wording.duration(of_phase)} left{in_all}" if of_phase else ""

    def _tell(self, text: str) -> None:
        self._say(f"sharebench: {self.about}{visible(text)}")

    def _redraw(self, text: str) -> None:
        self._draw(f"{self.about}{text}")


def _second_text(now: events.SecondPassed, phase: events.PhaseBegan, time_left: str) -> str:
    p95 = "" if now.p95_seconds is None else f"  p95 {1000 * now.p95_seconds:.1f} ms"
    failed = f"  {now.errors} errors" if now.errors else ""
    return (
        f"{wording.count(now.users, 'user')}, {phase.phase.value}{time_left}: {now.connected} connected  "
        f"{now.requests_per_second:,.0f} requests/s{p95}  {wording.byte_rate(now.read_bytes_per_second)} read  "
        f"{wording.byte_rate(now.write_bytes_per_second)} written{failed}  CPU here {now.cpu_percent:.0f} %"
    )


def _point_text(point: LoadPoint, scenario: Scenario) -> str:
    if point.status is not PointStatus.VALID:
        return f"{wording.count(point.users, 'user')}: {point.reason or point.status.value}"
    failed = f", {sum(point.errors.values())} errors" if point.errors else ""
    return f"{point_text(point, scenario)}{failed}"


def raise_failure(closed: LoadClosed, control: SeriesControl) -> None:
    """Raises the failure of the load, with how to resume it, or MeasurementError for files that are still there."""
    error = failure_of(closed, control)
    if error is not None:
        raise error


def failure_of(closed: LoadClosed, control: SeriesControl) -> errors.SharebenchError | None:
    """What :func:`raise_failure` raises; None for a load that ended well."""
    load = closed.load
    if closed.failure is not None:
        text = control.why_cancelled if control.limit.is_over else closed.failure.text
        if load.points:
            points = "1 point is" if len(load.points) == 1 else f"{len(load.points)} points are"
            text += f"; {points} kept: `sharebench load --resume {load.id}` measures the rest"
        return replace(closed.failure, text=text).error

    if load.scratch_folder and not load.choices.keep_files:
        return errors.MeasurementError(
            f"{load.scratch_folder} could not be removed and is still there: sharebench clean"
            f" {format_target(load.targets[0])}"
        )
    return None
