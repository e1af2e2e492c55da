"""What `sharebench diagnose` prints while a diagnosis is measured."""

from app.diagnosis import events
from app.recording.process import Warned
from forms.diagnosis.stage_names import STAGE_NAMES
from forms.wording import duration
from storage.records import SeriesStatus

_PROBLEM = "sharebench: "
"""Begins what goes wrong."""


def progress_line(event: events.DiagnosisEvent) -> str:
    """What is printed of an event; empty for nothing."""
    match event:
        case events.DiagnosisOpened(diagnosis=diagnosis):
            return f"diagnosis {diagnosis.id}"
        case events.StageBegan(progress_text=text):
            return f"  {text}"
        case events.DiagnosisChanged(stage=stage) if stage and stage.status is not SeriesStatus.COMPLETE:
            return f"{_PROBLEM}{STAGE_NAMES[stage.name]}: {stage.error}"
        case Warned(text=text):
            return f"{_PROBLEM}{text}"
    return ""


class PlacesProgress:
    """What is printed while several machines measure, each in its turn."""

    def __init__(self) -> None:
        self._later_seconds: dict[str, float] = {}
        """How long the later stages of each machine that has begun will probably take, by its host."""

    def line(self, host: str, event: events.DiagnosisEvent) -> str:
        """What is printed of an event; empty for nothing."""
        if isinstance(event, events.StageBegan):
            self._later_seconds[host] = 0.0
            seconds = event.seconds + sum(self._later_seconds.values())
            self._later_seconds[host] = event.later_seconds
            return f"  {host}: {event.place_text}; about {duration(seconds)} left"

        text = progress_line(event)
        if not text:
            return ""
        if text.startswith(_PROBLEM):
            return f"{_PROBLEM}{host}: {text.removeprefix(_PROBLEM)}"
        return f"{host}: {text}"
