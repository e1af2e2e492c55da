"""What processes that work beside others say, however it is cut, and how their failure is told."""

from __future__ import annotations

import os
from typing import Any

import pytest

from app.base.errors import MeasurementError, NoSpaceError
from app.base.messages import line_of
from app.diagnosis.side_by_side import Workers, _LoggedIn, _Worked
from app.recording.process import Failed


def heard(kind: type, *texts: str) -> list[Any]:
    """What is heard of processes that have written these texts and ended."""
    workers: Workers[Any] = Workers(lambda: None, lambda *_: None, lambda: None)
    for text in texts:
        end, written = os.pipe()
        os.write(written, text.encode())
        os.close(written)
        workers._pids[end] = 0
        workers._lines[end] = bytearray()
    try:
        return workers._hear(kind)
    finally:
        for end in workers._pids:
            os.close(end)


def test_each_is_heard_once():
    one, other = _Worked(began=1.0, ended=2.5), _Worked(began=1.5, ended=2.0)
    assert {each.ended for each in heard(_Worked, f"{line_of(one)}\n", f"{line_of(other)}\n")} == {2.5, 2.0}


@pytest.mark.parametrize("cut", ["", line_of(_LoggedIn())[:9], line_of(_LoggedIn())])
def test_one_that_ends_before_its_line_does_has_died(cut: str):
    with pytest.raises(MeasurementError, match="beside others died"):
        heard(_LoggedIn, f"{line_of(_LoggedIn())}\n", cut)


def test_a_failure_keeps_its_kind():
    with pytest.raises(NoSpaceError, match="the quota is full"):
        heard(_Worked, f"{line_of(Failed(kind=NoSpaceError, text='the quota is full'))}\n")
