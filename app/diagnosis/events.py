"""What a diagnosis under way tells: that it begins, each stage, what is to be stored, and its end."""

from dataclasses import dataclass

from app.recording import process
from forms.diagnosis.stage_names import STAGE_NAMES
from forms.wording import duration
from storage import looks


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisOpened:
    """The diagnosis is to be stored: our folder is about to be made, or the first stage has ended."""

    diagnosis: looks.Diagnosis


_LONGER_YET = 0.25
"""By this share of the time so far, a stage that exceeds its plan is taken to last longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageBegan:
    name: looks.StageName
    number: int
    """Its place in this attempt, from 1."""
    of: int
    """Stages of this attempt: a resumed diagnosis measures only those that are missing."""

    # How long it will take.
    seconds: float
    """How long this stage and those after it will probably take."""
    later_seconds: float
    """The same of those after it."""
    most_seconds: float
    """How long this stage and those after it take at most, on a local network."""

    @property
    def progress_text(self) -> str:
        return f"{self.place_text}; about {duration(self.seconds)} left, {duration(self.most_seconds)} at most"

    @property
    def place_text(self) -> str:
        return f"{self.number} of {self.of}: {STAGE_NAMES[self.name]}"

    def seconds_left(self, passed_seconds: float) -> float:
        """What is left that many seconds after the beginning of the stage, counted anew where that takes longer.

        Then it is taken to last a quarter longer than it has so far, up to what this stage and later ones take at most.
        """
        planned_seconds = self.seconds - self.later_seconds
        seconds_of_stage = max(planned_seconds - passed_seconds, _LONGER_YET * passed_seconds)
        most_seconds = max(self.later_seconds, self.most_seconds - passed_seconds)
        return min(self.later_seconds + seconds_of_stage, most_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisChanged:
    """The diagnosis is to be stored anew."""

    diagnosis: looks.Diagnosis
    stage: looks.Stage | None = None
    """The stage that has ended; None where only our folder was noted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisClosed:
    """The diagnosis has ended, well or not; always the last event."""

    diagnosis: looks.Diagnosis


MeasurementEvent = DiagnosisOpened | StageBegan | DiagnosisChanged | process.Warned
"""What a diagnosis under way tells; it returns DiagnosisClosed."""


DiagnosisEvent = MeasurementEvent | DiagnosisClosed
"""What the recorder of a diagnosis tells."""
