"""What is told while a series is recorded, beside the events of the measuring process; and each event in words."""

from dataclasses import dataclass

from app.recording import process
from forms.wording import byte_rate, duration
from storage.records import Phase, RunStatus, SeriesStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesOpened:
    series_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietWait:
    left_seconds: float
    reason: str = ""


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


RecorderEvent = process.Event | SeriesOpened | QuietWait | SeriesStored | SeriesClosed

_DOING = {
    SeriesOpened: "checking the environment",
    process.Started: "connected",
    process.ScratchMade: "making the file",
    process.Paused: "waiting",
    process.Finished: "tidying up",
}


def words(event: RecorderEvent) -> str:
    """What the series is doing after this event; empty if nothing changed."""
    match event:
        case process.RunStarted(number=number, phase=phase, of=of):
            return run_name(number, phase, of)
        case process.RunFinished(run=run):
            return "failed" if run.status is RunStatus.FAILED else byte_rate(run.bytes_per_second)
        case process.Failed(text=text):
            return f"failed: {text}"
        case QuietWait(left_seconds=left_seconds, reason=reason):
            wait = f"waiting for a quiet time, at most {duration(left_seconds)} more"
            return f"{wait}: {reason}" if reason else wait
        case SeriesClosed(status=SeriesStatus.INTERRUPTED):
            return "interrupted"
        case SeriesClosed(status=SeriesStatus.COMPLETE):
            return "done"

    return _DOING.get(type(event), "")


def run_name(number: int, phase: Phase, of: int | None) -> str:
    name = "warm-up" if phase is Phase.WARM_UP else "run"
    return f"{name} {number} of {of}" if of else f"{name} {number}"
