"""How a command that measures from several machines ends, by what became of each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.base.errors import CancelledError, MeasurementError
from app.cli import cancelling
from app.recording.process import SeriesControl
from storage.records import SeriesStatus
from tests.diagnoses import HEALTHY

WHOLE = replace(HEALTHY, status=SeriesStatus.COMPLETE)
CUT = replace(HEALTHY, status=SeriesStatus.INTERRUPTED, error="time is over (--within 10)")


def test_machines_with_a_problem_are_named_one_with_its_reason():
    assert cancelling.exit_code_of_places({"a": "", "b": ""}) == 0
    with pytest.raises(MeasurementError, match=r"^b: no answer$"):
        cancelling.exit_code_of_places({"a": "", "b": "no answer"})
    with pytest.raises(MeasurementError, match=r"a, b: the answer says why$"):
        cancelling.exit_code_of_places({"a": "no answer", "b": "no answer"})


def test_a_recording_that_is_not_complete_has_a_problem():
    assert cancelling.problem_of(WHOLE, "diagnosis") == ""
    assert cancelling.problem_of(CUT, "diagnosis") == "time is over (--within 10)"
    failed = replace(HEALTHY, status=SeriesStatus.FAILED, error=None)
    assert cancelling.problem_of(failed, "diagnosis") == "the diagnosis did not end"


def test_what_was_interrupted_is_told_with_how_to_complete_it():
    with pytest.raises(CancelledError, match=f"time is over .*`sharebench diagnose --resume {CUT.id}`"):
        cancelling.raise_if_cancelled(SeriesControl(), {"a": "time is over"}, [WHOLE, CUT], resumed_by="diagnose")


def test_a_cancel_that_came_when_all_was_complete_is_none():
    control = SeriesControl()
    control.cancel()
    cancelling.raise_if_cancelled(control, {"a": "", "b": ""}, [WHOLE, WHOLE])
    with pytest.raises(CancelledError, match=r"^cancelled$"):
        cancelling.raise_if_cancelled(control, {"a": "", "b": "cancelled"}, [WHOLE])


def test_what_failed_was_not_cancelled():
    failed = replace(HEALTHY, status=SeriesStatus.FAILED, error="was cut off")
    cancelling.raise_if_cancelled(SeriesControl(), {"a": "was cut off"}, [failed])
