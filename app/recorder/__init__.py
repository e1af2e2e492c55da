"""The recorder: runs plans, stores each run the moment it ended, and hands the events on."""

from __future__ import annotations

from app.measure.control import SeriesControl
from app.recorder.recording import RecorderEvent, SeriesClosed, SeriesOpened, failure_of, open_notebook, record, resume
from app.recorder.request import CeilingPolicy, QuietTime, SeriesRequest
from app.recorder.turns import Resumption, record_in_turns

__all__ = [
    "CeilingPolicy",
    "QuietTime",
    "RecorderEvent",
    "Resumption",
    "SeriesClosed",
    "SeriesControl",
    "SeriesOpened",
    "SeriesRequest",
    "failure_of",
    "open_notebook",
    "record",
    "record_in_turns",
    "resume",
]
