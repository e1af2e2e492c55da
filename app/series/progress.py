"""A series while it is measured, as screens and the status line of a command show it: rate, time left, what it does.

``SeriesProgress`` is made anew by each event of the recorder, and by each request of the user (to pause, to end).
"""

import gc
from dataclasses import dataclass, replace

from app.base.errors import CancelledError
from app.charts import canvas
from app.charts.series_charts import bar
from app.recording import process
from app.series.curve import last_second
from app.series.events import (
    BeginWait,
    QuietWait,
    RecorderEvent,
    SeriesClosed,
    SeriesOpened,
    SeriesStored,
    run_name,
    words,
)
from forms import wording
from forms.series import progress
from forms.stats.distributions import student_t
from storage import records

Curve = tuple[tuple[float, int], ...]
"""(seconds since the run began, bytes moved by then), in order."""
NamedCurve = tuple[str, Curve]
"""The course of a run, with its short name: W1 for the first warm-up run, 1 for the first measured one."""

SHOWN_RUNS = 40
"""The newest runs whose course is drawn."""
SAMPLES_OF_A_RUN = 100
"""Points of the course of a run that has ended."""
MOST_SAMPLES = 600
"""Points of the run under way: more than a chart can show; beyond it every other one is left out."""
_NARROWEST_BAR = 8
_WIDEST_BAR = 40


_LONG_WAIT_SECONDS = 30.0
"""What keeps a machine busy for so long is no passing moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesProgress:
    """How far a series is.

    A run that was *done* belongs to what is resumed; one that is *finished* was measured since, of any kind; a *valid*
    one is finished, measured and counts.
    """

    # The series
    name: str = "Starting"
    """What is told before its first run, such as which of several repeats it is."""
    series_id: str | None = None
    """None until it is stored, and again where nothing of it was worth storing."""
    doing: str = "checking the environment"
    """For people, in the course of a sentence: what it does while no bytes move."""
    status: records.SeriesStatus | None = None
    """How it ended; None while it is measured."""
    failure: process.Failed | None = None
    warnings: tuple[str, ...] = ()

    # What was planned
    planned: tuple[int, int] | None = None
    """All warm-up and measured runs, with those done before it was resumed; None where that is not known."""
    done_runs: int = 0
    """Measured runs of before it was resumed."""
    open_ended: bool = False
    """Whether more measured runs may follow, until the average is known well enough."""

    # The run that began last
    number: int | None = None
    """Its number within its phase; None before the first run."""
    of: int | None = None
    """The number of runs in its phase; None where that is open."""
    phase: records.Phase = records.Phase.WARM_UP
    now: progress.RunProgress | None = None
    """How far it is; None before its first bytes and after its end."""
    curve: Curve = ()

    # The runs that have ended
    finished_runs: int = 0
    """Warm-up runs and failed ones included."""
    valid_runs: int = 0
    """Measured runs that count."""
    last_run_seconds: float | None = None
    ended: tuple[NamedCurve, ...] = ()
    """The course of the newest of them."""
    all_ended: bool = False
    """Whether no run follows, though the series is not closed yet."""

    # What it waits for, and what the user asked for
    waiting: str = ""
    """Why it waits: what keeps the machine from being quiet, or why it begins later; empty where it does not wait."""
    quiet_wait: QuietWait | None = None
    """The last look that was not quiet; None where no quiet time is waited for."""
    paused: bool = False
    """Whether it stands still; asked for before, and told by the recorder."""
    pause_asked: bool = False
    """Whether it will pause after the run under way."""
    ending: bool = False
    """Whether it will end after the run under way."""

    @classmethod
    def of_order(cls, order: process.MeasuringOrder) -> "SeriesProgress":
        """The progress of a series before it begins, or goes on after the runs that are done."""
        counts = order.spec.counts
        return cls(
            planned=(order.done_warmups + counts.warmups, counts.runs),
            done_runs=order.done_runs,
            open_ended=counts.until_percent is not None,
        )

    @property
    def is_over(self) -> bool:
        return self.status is not None

    @property
    def is_timed(self) -> bool:
        """Whether a run may be under way, so that drawing takes something away from it."""
        return self.number is not None and not (self.paused or self.all_ended or self.is_over)

    def with_event(self, event: RecorderEvent) -> "SeriesProgress":
        """The progress after an event of the recorder."""
        match event:
            case process.RunStarted() | process.Progressed() | process.RunFinished():
                return self._with_event_of_run(event)

            case process.HookStarted(number=number, phase=phase):
                return replace(self, number=number, phase=phase, now=None, curve=(), doing=words(event))
            case SeriesOpened() | process.ScratchMade() | process.Finished():
                return replace(
                    self, doing=words(event), waiting="", quiet_wait=None, all_ended=isinstance(event, process.Finished)
                )
            case process.Started(size_bytes=size):
                doing = f"{words(event)}; the file has {wording.file_size(size)}"
                return replace(self, doing=doing, waiting="", quiet_wait=None)
            case QuietWait(reason=reason):
                waiting = reason or "other programs are busy"
                return replace(self, doing=words(replace(event, reason="")), waiting=waiting, quiet_wait=event)
            case BeginWait(reason=reason):
                return replace(self, doing=words(event), waiting=reason)
            case _:
                return self._with_rare_event(event)

    def _with_event_of_run(
        self, event: process.RunStarted | process.Progressed | process.RunFinished
    ) -> "SeriesProgress":
        match event:
            case process.RunStarted(number=number, phase=phase, of=of):
                return replace(
                    self, number=number, of=of, phase=phase, now=None, curve=(), paused=False, doing="running"
                )

            case process.Progressed(seconds=seconds, moved_bytes=moved, size_bytes=size):
                # Of too many, every other one is left out: the older ones then lie further apart.
                curve = self.curve if len(self.curve) < MOST_SAMPLES else self.curve[1::2]
                return replace(self, now=progress.run_progress(seconds, moved, size), curve=(*curve, (seconds, moved)))

            case process.RunFinished(run=run):
                is_counted = run.phase is records.Phase.MEASURED and run.status is records.RunStatus.VALID
                return replace(
                    self,
                    finished_runs=self.finished_runs + 1,
                    valid_runs=self.valid_runs + is_counted,
                    now=None,
                    curve=run.progress or self.curve,
                    ended=_with_run(self.ended, run, self.curve),
                    last_run_seconds=run.seconds or self.last_run_seconds,
                    doing=words(event),
                )

    def _with_rare_event(self, event: RecorderEvent) -> "SeriesProgress":
        """The progress after an event that says nothing of what the series is doing."""
        match event:
            case SeriesStored(series_id=series_id):
                return replace(self, series_id=series_id)
            case process.Paused():
                return replace(self, paused=True, pause_asked=False)
            case process.Warned(text=text):
                return replace(self, warnings=(*self.warnings, text))
            case process.Failed():
                return replace(self, failure=event)

            case SeriesClosed(status=status, failure=failure, stored=stored):
                ended = replace(
                    self, status=status, failure=failure or self.failure, paused=False, waiting="", quiet_wait=None
                )
                return ended if stored else replace(ended, series_id=None)
            case _:
                return self

    def with_request(self, *, pause: bool | None = None, end: bool = False) -> "SeriesProgress":
        """The progress after somebody asked for a pause, to go on, or for the end."""
        return replace(
            self,
            pause_asked=bool(pause) if pause is not None else self.pause_asked,
            paused=self.paused and pause is not False,
            ending=self.ending or end,
        )

    @property
    def offers(self) -> tuple[bool, ...]:
        """All that decides which keys a screen offers: where it changes, they are shown anew."""
        return (self.paused, self.pause_asked, self.is_over, bool(self.waiting))

    @property
    def wait_advice(self) -> tuple[str, ...]:
        """While a quiet time is waited for: who is busy, whether waiting has any hope, and what can be done instead."""
        wait = self.quiet_wait
        if wait is None or not self.waiting:
            return ()
        busy = f"Busiest now: {wording.listed(list(wait.programs))}." if wait.programs else ""
        hope = "It measures by itself as soon as it is quiet."
        if wait.waited_seconds >= _LONG_WAIT_SECONDS:
            waited = wording.duration(wait.waited_seconds)
            hope = f"Not once quiet in {waited}: waiting helps only once these programs stop."
        choice = "g measures now, and the form says that it was busy."
        return tuple(filter(None, (busy, f"{hope} {choice}")))

    @property
    def all_curves(self) -> tuple[NamedCurve, ...]:
        """The course of the ended runs, and of the one under way."""
        is_moving = self.now is not None and self.number is not None
        if not is_moving:
            return self.ended
        return (*self.ended, (_short_name(self.phase, self.number), self.curve))

    @property
    def transfer_seconds(self) -> float:
        """The seconds of these runs together, which are the axis of time of their charts."""
        return sum(curve[-1][0] for _, curve in self.all_curves if curve)

    @property
    def run_name(self) -> str:
        return "" if self.number is None else run_name(self.number, self.phase, self.of).capitalize()

    def line(self, width: int, average_bytes_per_second: float | None = None) -> str:
        """What the series is doing, in one line of at most that many columns."""
        if self.status is records.SeriesStatus.COMPLETE:
            return self._complete_line(average_bytes_per_second)
        if self.status is not None:
            return self._ended_line(self.status)
        if self.paused:
            return "Paused. g resumes, s stops."
        if self.now is None:
            return f"{self.run_name or self.name}: {self.doing}{self._request_text}"
        return self._moving_line(self.now, width)

    def _complete_line(self, average_bytes_per_second: float | None) -> str:
        rate = f", {wording.rate(average_bytes_per_second)} on average" if average_bytes_per_second else ""
        return f"Complete: {wording.count(self.valid_runs, 'run')}{rate}. Enter shows the review."

    def _ended_line(self, status: records.SeriesStatus) -> str:
        line = f"{str(status).capitalize()} after {wording.count(self.valid_runs, 'run')}"
        line += "; what was measured is kept." if self.valid_runs else "."
        if self.failure and self.failure.kind is not CancelledError:
            line += f" {wording.plain(self.failure.text)}"
        return line

    @property
    def _request_text(self) -> str:
        if self.pause_asked:
            return " (pausing after it)"
        return " (ending after it)" if self.ending else ""

    def _moving_line(self, run: progress.RunProgress, width: int) -> str:
        name = self.run_name or self.doing[:1].upper() + self.doing[1:]
        rate = wording.byte_rate(last_second(self.curve))
        percent = "" if run.percent is None else f"{run.percent:3.0f} %"
        left = f"{name}{self._request_text}"
        right = f"{percent}  {rate:>9}  {left_text(run, self.seconds_left, self.open_ended)}"

        # The bar takes what room there is between both, with two blanks on each side.
        spare = width - len(left) - len(right) - 4
        middle = f"  {bar(run.percent, min(_WIDEST_BAR, spare))}" if spare >= _NARROWEST_BAR else ""
        return f"{left}{middle}  {right}"[:width]

    @property
    def seconds_left(self) -> float | None:
        """To the end of the series, as long as all runs take as long as the last one; None where that is not known."""
        if self.planned is None or self.number is None or self.now is None or self.now.seconds_left is None:
            return None
        if self.ending:
            return self.now.seconds_left

        # A number counts within its phase, on from the runs done before. In a warm-up, all measured runs are to come.
        warmups, runs = self.planned
        if self.phase is records.Phase.WARM_UP:
            runs_to_come = warmups - self.number + runs - self.done_runs
        else:
            runs_to_come = runs - self.number
        seconds_a_run = self.last_run_seconds or self.now.seconds + self.now.seconds_left
        return self.now.seconds_left + max(0, runs_to_come) * seconds_a_run


def left_text(run: progress.RunProgress, whole_seconds: float | None, is_open: bool = False) -> str:
    """The time left of the run and of the whole series; ``is_open``: of which more runs may follow."""
    if run.seconds_left is None:
        return ""

    of_series = ""
    if whole_seconds is not None:
        least = "at least " if is_open else ""
        of_series = f" (series: {least}{wording.duration(whole_seconds)})"
    return f"{wording.duration(run.seconds_left)} left{of_series}"


def prepare() -> None:
    """Load what forms and charts are computed and drawn with: a third of a second, before anything is timed."""
    canvas.prepare()
    student_t(0.95, 1)
    gc.collect()
    gc.freeze()


def _short_name(phase: records.Phase, number: int | None) -> str:
    return f"W{number}" if phase is records.Phase.WARM_UP else str(number)


def _with_run(ended: tuple[NamedCurve, ...], run: records.Run, samples: Curve) -> tuple[NamedCurve, ...]:
    """The courses of the ended runs with that of the run; ``samples`` are those of its progress events."""
    average = ((run.seconds, run.size_bytes),) if run.seconds else ()
    curve = tuple(run.progress or samples) or average  # a run may end before a sample of it is taken

    # One sample of each step, and always the last, which is the average of the whole run.
    step = max(1, len(curve) // SAMPLES_OF_A_RUN)
    thinned = (*curve[step - 1 : -1 : step], *curve[-1:])
    return (*ended, (_short_name(run.phase, run.number), thinned))[-SHOWN_RUNS:]
