"""When the measuring process of a diagnosis interrupts its connections, and when it lets them be."""

import threading
from typing import Any

import pytest

from app.base import messages
from app.diagnosis import plan
from app.diagnosis.child import _Orders
from storage.looks import StageName

STAGE = messages.line_of(plan.MeasureStage(name=StageName.CONNECT))
FINISH = messages.line_of(plan.FinishDiagnosis())


class Connections:
    """A bench that counts how often its connections are interrupted."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.aborted = 0

    def abort(self) -> None:
        self.aborted += 1


@pytest.mark.parametrize(
    ("lines", "is_over_before_the_end", "aborted"),
    [
        ([STAGE], False, 1),
        ([STAGE, FINISH], False, 1),
        ([STAGE, FINISH], True, 0),
    ],
)
def test_the_end_of_stdin_interrupts_a_stage_and_never_the_cleaning_up(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], is_over_before_the_end: bool, aborted: int
):
    bench: Any = Connections()
    orders = _Orders(bench)
    monkeypatch.setattr("sys.stdin", Stdin(lines, orders if is_over_before_the_end else None))
    orders.listen()
    assert bench.aborted == aborted
    assert bench.cancelled.is_set()


class Stdin:
    """The orders; where they are carried out, that is done before the end is heard."""

    def __init__(self, lines: list[str], carried_out: _Orders | None) -> None:
        self._lines = iter(lines)
        self._carried_out = carried_out

    def readline(self) -> str:
        line = next(self._lines, "")
        if not line and self._carried_out:
            assert list(self._carried_out.until_the_end()) == [plan.MeasureStage(name=StageName.CONNECT)]
        return line
