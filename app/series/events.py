"""The events of a series while it is recorded: those of the measuring process, and the recorder's own; and in words.

Their order: BeginWait where it is to begin later, SeriesOpened, ProgramCarried where another machine measures that did
not have it, QuietWait while the machine is busy, then those of the measuring process, among them once SeriesStored, and
SeriesClosed as the last.
"""

from dataclasses import dataclass

from app.recording import process
from app.server.elsewhere.place import MeasuringPlace
from forms.wording import byte_rate, duration, listed, operations_rate
from storage.records import Phase, Run, RunStatus, SeriesStatus, time_of_day


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOpened:
    """The series has its id; nothing is measured or stored yet."""

    series_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietWait:
    """The series waits for a quiet time."""

    left_seconds: float
    """The longest that it still waits."""
    reason: str = ""
    """What keeps the machine busy."""
    programs: tuple[str, ...] = ()
    """Its busiest programs, with the share of the machine that each takes: ``make (48 %)``."""
    waited_seconds: float = 0.0
    """How long it has waited, without one quiet look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginWait:
    """The series waits for the time at which it is to begin; comes before SeriesOpened."""

    begins_at: float
    """In seconds since 1970."""
    reason: str
    """Why it does not begin at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCarried:
    """This program was carried to the machine that measures; its time is no part of what is measured."""

    place: MeasuringPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesStored:
    """The series is stored: a run ended, or our file is on the target."""

    series_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesClosed:
    """The series is over and stored; always the last event."""

    series_id: str
    status: SeriesStatus
    failure: process.Failed | None = None
    stored: bool = True
    """False for a series that ended before its first run."""


RecorderEvent = process.Event | BeginWait | SeriesOpened | ProgramCarried | QuietWait | SeriesStored | SeriesClosed


_WORDS = {
    SeriesOpened: "checking the environment",
    process.Started: "connected",
    process.ScratchMade: "making the file",
    process.Paused: "waiting",
    process.Finished: "tidying up",
}

_WORDS_OF_END = {SeriesStatus.INTERRUPTED: "interrupted", SeriesStatus.COMPLETE: "done"}
"""What a series that failed says was said before."""


def words(event: RecorderEvent) -> str:
    """What the series is doing after this event; empty if nothing changed."""
    match event:
        case process.RunStarted(number=number, phase=phase, of=of):
            return run_name(number, phase, of)
        case process.HookStarted(option=option, number=number, phase=phase):
            return f"{option} of {run_name(number, phase, None)}"
        case process.RunFinished(run=run):
            return "failed" if run.status is RunStatus.FAILED else _rate_text(run)
        case process.Failed(text=text):
            return f"failed: {text}"
        case QuietWait(left_seconds=left_seconds, reason=reason, programs=programs):
            wait = f"waiting for a quiet time, at most {duration(left_seconds)} more"
            busiest = f"; busiest now: {listed(list(programs))}" if programs else ""
            return f"{wait}: {reason}{busiest}" if reason else wait
        case BeginWait(begins_at=begins_at):
            return f"waits until {time_of_day(begins_at)}"
        case SeriesClosed(status=status):
            return _WORDS_OF_END.get(status, "")

    return _WORDS.get(type(event), "")


def _rate_text(run: Run) -> str:
    """``118 MB/s``; of random requests ``15,500 operations/s, 63.5 MB/s``."""
    operations = run.operations_per_second
    rate = byte_rate(run.bytes_per_second)
    return rate if operations is None else f"{operations_rate(operations)}, {rate}"


def run_name(number: int, phase: Phase, of: int | None) -> str:
    name = "warm-up" if phase is Phase.WARM_UP else "run"
    return f"{name} {number} of {of}" if of else f"{name} {number}"
