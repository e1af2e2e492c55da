"""A series while it is measured: rate, time left, and what to say now."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from app.base.errors import CancelledError
from app.charts import canvas
from app.charts.series_charts import bar
from app.recording import process
from app.series.record import QuietWait, RecorderEvent, SeriesClosed, SeriesOpened, SeriesStored, run_name, words
from forms import wording
from forms.series.estimate import ExpectedRate, estimate_text
from forms.series.progress import RunProgress, run_progress
from forms.stats.distributions import student_t
from forms.wording import byte_rate, duration
from storage.records import Phase, Run, RunStatus, SeriesStatus

NamedCurve = tuple[str, tuple[tuple[float, int], ...]]
SHOWN_RUNS, SAMPLES_OF_A_RUN = 40, 100
"""Of which the throughput within is drawn, and how finely."""
MOST_SAMPLES = 600
"""More than a chart can show; beyond it every other sample is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesProgress:
    series_id: str | None = None
    doing: str = "checking the environment"
    number: int | None = None
    of: int | None = None
    phase: Phase = Phase.WARM_UP
    now: RunProgress | None = None
    curve: tuple[tuple[float, int], ...] = ()
    ended: tuple["NamedCurve", ...] = ()
    planned: tuple[int, int] | None = None
    """Warm-up and measured runs, as far as that is known."""
    done_runs: int = 0
    """Measured before it was resumed."""
    open_ended: bool = False
    """Whether more measured runs may follow, until the average is known well enough."""
    all_ended: bool = False
    """Of the runs, though the series is not closed yet."""
    last_run_seconds: float | None = None
    finished_runs: int = 0
    valid_runs: int = 0
    waiting: str = ""
    """What keeps the machine from being quiet; empty where it does not wait."""
    paused: bool = False
    pause_asked: bool = False
    ending: bool = False
    warnings: tuple[str, ...] = ()
    status: SeriesStatus | None = None
    failure: process.Failed | None = None

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

    def heard(self, event: RecorderEvent) -> "SeriesProgress":  # noqa: PLR0911  one answer for each kind of event
        match event:
            case SeriesStored(series_id=series_id):
                return replace(self, series_id=series_id)
            case process.Started(size_bytes=size):
                said = f"{words(event)}; the file has {wording.file_size(size)}"
                return replace(self, doing=said, waiting="")
            case QuietWait(reason=reason):
                return replace(
                    self, doing=words(replace(event, reason="")), waiting=reason or "other programs are busy"
                )
            case SeriesOpened() | process.ScratchMade() | process.Finished():
                return replace(self, doing=words(event), waiting="", all_ended=isinstance(event, process.Finished))
            case process.RunStarted(number=number, phase=phase, of=of):
                return replace(
                    self, number=number, of=of, phase=phase, now=None, curve=(), paused=False, doing="running"
                )
            case process.Progressed(seconds=seconds, moved_bytes=moved, size_bytes=size):
                kept = self.curve if len(self.curve) < MOST_SAMPLES else self.curve[1::2]
                return replace(self, now=run_progress(seconds, moved, size), curve=(*kept, (seconds, moved)))
            case process.RunFinished(run=run):
                return replace(
                    self,
                    finished_runs=self.finished_runs + 1,
                    valid_runs=self.valid_runs + (run.phase is Phase.MEASURED and run.status is RunStatus.VALID),
                    now=None,
                    curve=run.progress or self.curve,
                    ended=_with_run(self.ended, run, self.curve),
                    last_run_seconds=run.seconds or self.last_run_seconds,
                    doing=words(event),
                )
            case process.Paused():
                return replace(self, paused=True, pause_asked=False)
            case process.Warned(text=text):
                return replace(self, warnings=(*self.warnings, text))
            case process.Failed():
                return replace(self, failure=event)
            case SeriesClosed(status=status, failure=failure, stored=stored):
                ended = replace(self, status=status, failure=failure or self.failure, paused=False, waiting="")
                return ended if stored else replace(ended, series_id=None)
            case _:
                return self

    def asked(self, *, pause: bool | None = None, end: bool = False) -> "SeriesProgress":
        return replace(
            self,
            pause_asked=bool(pause) if pause is not None else self.pause_asked,
            paused=self.paused and pause is not False,
            ending=self.ending or end,
        )

    @property
    def offers(self) -> tuple[bool, ...]:
        return (self.paused, self.pause_asked, self.is_over, bool(self.waiting))

    @property
    def all_curves(self) -> tuple["NamedCurve", ...]:
        is_moving = self.now is not None and self.number is not None
        return (*self.ended, (_short(self.phase, self.number), self.curve)) if is_moving else self.ended

    @property
    def transfer_seconds(self) -> float:
        return sum(curve[-1][0] for _, curve in self.all_curves if curve)

    @property
    def run_name(self) -> str:
        return "" if self.number is None else run_name(self.number, self.phase, self.of).capitalize()

    def line(self, width: int, average_bytes_per_second: float | None = None) -> str:
        if self.status is not None:
            runs = wording.count(self.valid_runs, "run")
            if self.status is SeriesStatus.COMPLETE:
                rate = f", {wording.rate(average_bytes_per_second)} on average" if average_bytes_per_second else ""
                return f"Complete: {runs}{rate}. Enter shows the review."
            rest = "; what was measured is kept." if self.valid_runs else "."
            if self.failure and self.failure.kind is not CancelledError:
                rest += f" {wording.plain(self.failure.text)}"
            return f"{str(self.status).capitalize()} after {runs}{rest}"
        if self.paused:
            return "Paused. g resumes, s stops."
        asked = " (pausing after it)" if self.pause_asked else " (ending after it)" if self.ending else ""
        if self.now is None:
            return f"{self.run_name or 'Starting'}: {self.doing}{asked}"
        rate = byte_rate(last_second(self.curve))
        percent = "" if self.now.percent is None else f"{self.now.percent:3.0f} %"
        name = self.run_name or self.doing[:1].upper() + self.doing[1:]
        ends = f"{name}{asked}", f"{percent}  {rate:>9}  {left_text(self.now, self.seconds_left, self.open_ended)}"
        spare = width - len(ends[0]) - len(ends[1]) - 4
        drawn = f"  {bar(self.now.percent, min(40, spare))}" if spare >= 8 else ""
        return f"{ends[0]}{drawn}  {ends[1]}"[:width]

    @property
    def seconds_left(self) -> float | None:
        """To the end of the series, as long as all runs take as long as the last one; None where that is not known."""
        if self.planned is None or self.number is None or self.now is None or self.now.seconds_left is None:
            return None
        warmups, runs = self.planned
        rest = self.done_runs if self.phase is Phase.WARM_UP else self.number
        to_come = runs - rest + (warmups - self.number if self.phase is Phase.WARM_UP else 0)
        each = self.last_run_seconds or self.now.seconds + self.now.seconds_left
        return self.now.seconds_left + max(0, 0 if self.ending else to_come) * each


def left_text(run: RunProgress, whole_seconds: float | None, is_open: bool = False) -> str:
    if run.seconds_left is None:
        return ""
    least = "at least " if is_open else ""
    whole = "" if whole_seconds is None else f" (series: {least}{duration(whole_seconds)})"
    return f"{duration(run.seconds_left)} left{whole}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What equal series will take, told as soon as the size of their file is known."""

    order: process.MeasuringOrder
    rate: ExpectedRate
    series: int = 1

    def text(self, size_bytes: int) -> str:
        counts = self.order.spec.counts
        runs = counts.runs
        if counts.until_percent is None:
            runs -= self.order.done_runs
        return estimate_text(
            runs=runs,
            size_bytes=size_bytes,
            makes_file_first=counts.make_file,
            rate=self.rate,
            series=self.series,
            warmups=counts.warmups,
            until_percent=counts.until_percent,
            max_runs=counts.max_runs,
        )


class RunPace:
    """The time that interleaved series still take, as long as runs end as fast as those before."""

    def __init__(self, runs_to_come: Sequence[int], clock: Callable[[], float] = monotonic) -> None:
        self._to_come, self._clock = list(runs_to_come), clock
        self._began_at: float | None = None
        self._ended_at = 0.0
        self._ended = 0

    def heard(self, index: int, event: RecorderEvent) -> None:
        if isinstance(event, process.RunStarted) and self._began_at is None:
            self._began_at = self._clock()  # looking around and making files comes before, and once
        elif isinstance(event, process.RunFinished):
            self._to_come[index] -= 1
            self._ended, self._ended_at = self._ended + 1, self._clock()
        elif isinstance(event, SeriesClosed):
            self._to_come[index] = 0

    @property
    def seconds_left(self) -> float | None:
        if not self._ended or self._began_at is None:
            return None
        each = (self._ended_at - self._began_at) / self._ended
        return max(0.0, each * sum(self._to_come) - (self._clock() - self._ended_at))


def prepare() -> None:
    """Load what forms and charts are computed and drawn with: a third of a second, before anything is timed."""
    canvas.prepare()
    student_t(0.95, 1)
    gc.collect()
    gc.freeze()


def _short(phase: Phase, number: int | None) -> str:
    return f"{'W' if phase is Phase.WARM_UP else ''}{number}"


def _with_run(
    ended: tuple["NamedCurve", ...], run: Run, heard: tuple[tuple[float, int], ...]
) -> tuple["NamedCurve", ...]:
    whole = ((run.seconds, run.size_bytes),) if run.seconds else ()
    curve = tuple(run.progress or heard) or whole  # of a run that no sample was taken of, its average
    step = max(1, len(curve) // SAMPLES_OF_A_RUN)
    thin = (*curve[step - 1 : -1 : step], *curve[-1:])
    return (*ended, (_short(run.phase, run.number), thin))[-SHOWN_RUNS:]


SHOWN_SECONDS = 60
STALL_SECONDS = 3.0
"""Without a byte for so long, a run is called stalled."""
_BLOCKS = "▁▂▃▄▅▆▇█"

Curve = Sequence[tuple[float, int]]
"""(seconds since the first request, bytes moved), in order."""


def last_second(curve: Curve) -> float | None:
    """The rate over the last second of a run, in bytes per second; of all of it while it is younger."""
    if not curve or curve[-1][0] <= 0:
        return None
    end, moved = curve[-1]
    start = max(0.0, end - 1.0)
    return (moved - moved_at(curve, start)) / (end - start)


def moved_at(curve: Curve, seconds: float) -> float:
    """What had moved then, between two samples in proportion."""
    earlier, before = 0.0, 0
    for later, after in curve:
        if later >= seconds:
            share = (seconds - earlier) / (later - earlier) if later > earlier else 1.0
            return before + share * (after - before)
        earlier, before = later, after
    return float(before)


def sparkline(rates: Sequence[float | None], cells: int) -> str:
    """The last rates, a block each of the nearest eighth of the highest: the least for nothing, none for unknown."""
    shown = rates[-cells:] if cells > 0 else ()
    highest = max(filter(None, shown), default=1.0)
    return "".join(" " if rate is None else _BLOCKS[max(0, round(rate / highest * len(_BLOCKS)) - 1)] for rate in shown)
