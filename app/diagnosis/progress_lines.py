"""What `sharebench diagnose` prints while a diagnosis is measured."""

from app.diagnosis import measurement
from app.recording.process import Warned
from forms.diagnosis.report import STAGE_NAMES
from storage.records import SeriesStatus


def progress_line(event: measurement.DiagnosisEvent) -> str:
    """What is printed of an event; empty for nothing."""
    match event:
        case measurement.DiagnosisOpened(diagnosis=diagnosis):
            return f"diagnosis {diagnosis.id}"
        case measurement.StageBegan(progress_text=text):
            return f"  {text}"
        case measurement.DiagnosisChanged(stage=stage) if stage and stage.status is not SeriesStatus.COMPLETE:
            return f"sharebench: {STAGE_NAMES[stage.name]}: {stage.error}"
        case Warned(text=text):
            return f"sharebench: {text}"
    return ""
