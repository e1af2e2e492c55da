"""The recorder's events in words."""

from app.measure.events import Failed, Finished, Paused, RunFinished, RunStarted, ScratchMade, Started
from app.recorder.recording import RecorderEvent, SeriesClosed, SeriesOpened
from forms.wording import byte_rate
from storage.records import Phase, RunStatus, SeriesStatus


def words(event: RecorderEvent) -> str:
    """What the series is doing after this event; empty if nothing changed."""
    said = ""
    match event:
        case SeriesOpened():
            said = "looking around"
        case Started():
            said = "connected"
        case ScratchMade():
            said = "making the file"
        case RunStarted(number=number, phase=phase, of=of):
            said = run_name(number, phase, of)
        case RunFinished(run=run):
            said = "failed" if run.status is RunStatus.FAILED else byte_rate(run.bytes_per_second)
        case Paused():
            said = "waiting"
        case Failed(text=text):
            said = f"failed: {text}"
        case Finished():
            said = "tidying up"
        case SeriesClosed(status=SeriesStatus.INTERRUPTED):
            said = "interrupted"
        case SeriesClosed(status=SeriesStatus.COMPLETE):
            said = "done"
        case _:
            pass
    return said


def run_name(number: int, phase: Phase, of: int | None) -> str:
    """The name of a run, such as ``warm-up 1 of 2``."""
    name = "warm-up" if phase is Phase.WARM_UP else "run"
    return f"{name} {number} of {of}" if of else f"{name} {number}"
