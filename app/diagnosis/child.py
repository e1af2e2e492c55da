"""The measuring process of a diagnosis: plan and orders on stdin, events on stdout; the end of stdin cancels.

However it ends, it removes its folder from the share. `app.diagnosis.measurement` is the other side.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress

from app.base import messages, this_process
from app.base.errors import SharebenchError
from app.diagnosis import own_folder
from app.diagnosis import plan as diagnosis_plan
from app.diagnosis.bench import Bench
from app.diagnosis.stages import measure_stage
from app.recording.process import Failed


def main() -> int:
    this_process.keep_memory_to_ourselves()
    out = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plan: diagnosis_plan.DiagnosisPlan = messages.message_of(sys.stdin.readline(), [diagnosis_plan.DiagnosisPlan])

    def emit(event: object) -> None:
        # Where nobody reads any more, our folder is removed all the same.
        with suppress(OSError, ValueError):
            messages.send(out, event)

    cancelled = threading.Event()
    bench = Bench(plan, emit, cancelled)
    orders = _Orders(bench)
    threading.Thread(target=orders.listen, name="listen", daemon=True).start()
    for order in orders.until_the_end():
        if isinstance(order, diagnosis_plan.CheckShare):
            emit(_share_checked(plan))
            continue
        stage = measure_stage(bench, order.name)
        emit(diagnosis_plan.StageMeasured(stage=stage, client=bench.client_facts))

    # Cleaning up is not cancelled.
    bench.cancelled = threading.Event()
    try:
        bench.remove()
        emit(diagnosis_plan.Ended())
    except SharebenchError as error:
        emit(diagnosis_plan.Ended(problem=str(error)))
    return 0


def _share_checked(plan: diagnosis_plan.DiagnosisPlan) -> diagnosis_plan.ShareChecked:
    try:
        own_folder.check_share(plan.target, plan.secrets, plan.settings)
    except SharebenchError as error:
        return diagnosis_plan.ShareChecked(failure=Failed.of(error))
    return diagnosis_plan.ShareChecked()


_Order = diagnosis_plan.MeasureStage | diagnosis_plan.CheckShare


class _Orders:
    """The orders on stdin: a thread hears them while stages are measured; the end of stdin cancels."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._cancelled = bench.cancelled
        self._lines: list[str] = []
        self._are_over = False
        """Whether no stage is measured any more, so that our folder is being removed."""
        self._line_or_end = threading.Condition()

    def listen(self) -> None:
        while line := sys.stdin.readline():
            with self._line_or_end:
                self._lines.append(line)
                self._line_or_end.notify()
        with self._line_or_end:
            self._cancelled.set()
            # Under the lock: the removal of our folder, which begins after it, keeps its connections.
            if not self._are_over:
                self._bench.abort()
            self._line_or_end.notify()

    def until_the_end(self) -> Iterator[_Order]:
        """Each order as it comes, until the diagnosis is finished or cancelled."""
        while (order := self._next_order()) is not None:
            yield order

    def _next_order(self) -> _Order | None:
        with self._line_or_end:
            while not self._lines and not self._cancelled.is_set():
                self._line_or_end.wait()
            if not self._cancelled.is_set():
                order = messages.message_of(self._lines.pop(0), diagnosis_plan.ORDERS)
                if isinstance(order, _Order):
                    return order

            self._are_over = True
            return None


if __name__ == "__main__":
    sys.exit(main())
