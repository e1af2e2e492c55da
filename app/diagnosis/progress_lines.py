"""What `sharebench diagnose` prints while a diagnosis is measured."""

from app.diagnosis import events
from app.recording.process import Warned
from forms.diagnosis.stage_names import STAGE_NAMES
from storage.records import SeriesStatus


def progress_line(event: events.DiagnosisEvent) -> str:
    """What is printed of an event; empty for nothing."""
    match event:
        case events.DiagnosisOpened(diagnosis=diagnosis):
            return f"diagnosis {diagnosis.id}"
        case events.StageBegan(progress_text=text):
            return f"  {text}"
        case events.DiagnosisChanged(stage=stage) if stage and stage.status is not SeriesStatus.COMPLETE:
            return f"sharebench: {STAGE_NAMES[stage.name]}: {stage.error}"
        case Warned(text=text):
            return f"sharebench: {text}"
    return ""
