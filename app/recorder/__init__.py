"""The recorder: runs plans, stores each run the moment it ended, and hands the events on."""

from __future__ import annotations

from app.measure.control import Control
from app.recorder.order import CeilingWish, Order, QuietTime
from app.recorder.recording import Closed, Opened, RecorderEvent, failure_of, open_notebook, record, resume
from app.recorder.turns import Resumption, record_in_turns

__all__ = [
    "CeilingWish",
    "Closed",
    "Control",
    "Opened",
    "Order",
    "QuietTime",
    "RecorderEvent",
    "Resumption",
    "failure_of",
    "open_notebook",
    "record",
    "record_in_turns",
    "resume",
]
