"""What commands and screens do with surveys."""

from app.recording.made_of_series import MadeOfSeries
from storage.records import ExperimentKind

SURVEY_KIND = MadeOfSeries(ExperimentKind.SURVEY)
