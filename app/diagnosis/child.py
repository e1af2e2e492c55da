"""The measuring process: plan and stages on stdin, events on stdout; end of stdin cancels. It removes its files."""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from app.base.child_process import keep_memory_to_ourselves, message_of, own_stdout, send
from app.base.errors import SharebenchError
from app.diagnosis import stages
from app.diagnosis.bench import Bench
from app.diagnosis.spec import ORDERS, DiagnosisPlan, Ended, MeasureStage, StageMeasured
from storage.looks import Stage, StageName
from storage.records import SeriesStatus

STAGES: Mapping[StageName, Callable[[Bench], Stage]] = {
    StageName.CONNECT: stages.connect,
    StageName.DISTANCE: stages.distance,
    StageName.SMALL_FILES: stages.small_files,
    StageName.FOLDERS: stages.folders,
    StageName.PROTECTION: stages.protection,
    StageName.LONG_RUN: stages.long_run,
    StageName.CARDS: stages.cards,
}
"""All but the audit, which needs the server's files."""


def main() -> int:
    keep_memory_to_ourselves()
    out = own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cancelled, orders, came = threading.Event(), list[str](), threading.Condition()
    plan: DiagnosisPlan = message_of(sys.stdin.readline(), [DiagnosisPlan])

    def emit(event: object) -> None:
        with suppress(OSError, ValueError):
            send(out, event)

    bench = Bench(plan, emit, cancelled)

    def listen() -> None:
        while line := sys.stdin.readline():
            with came:
                orders.append(line)
                came.notify()
        with came:
            cancelled.set()
            came.notify()
        bench.abort()

    threading.Thread(target=listen, name="listen", daemon=True).start()
    while not cancelled.is_set():
        with came:
            came.wait_for(lambda: orders or cancelled.is_set())
            order = message_of(orders.pop(0), ORDERS) if orders and not cancelled.is_set() else None
        if not isinstance(order, MeasureStage):
            break
        emit(StageMeasured(stage=_measured(bench, order.name), client=bench.client_facts))
    bench.cancelled = threading.Event()  # cleaning up is not cancelled
    try:
        bench.remove()
        emit(Ended())
    except SharebenchError as error:
        emit(Ended(problem=str(error)))
    return 0


def _measured(bench: Bench, name: StageName) -> Stage:
    began = time.monotonic()
    try:
        stage = STAGES[name](bench)
    except SharebenchError as error:
        stopped = SeriesStatus.INTERRUPTED if bench.cancelled.is_set() else SeriesStatus.FAILED
        stage = Stage(name=name, status=stopped, error=str(error))
    except Exception as error:  # noqa: BLE001  the other side must hear of it, and the folder must be removed
        traceback.print_exc()
        stage = Stage(name=name, status=SeriesStatus.FAILED, error=f"{type(error).__name__}: {error}")
    return replace(
        stage,
        samples={key: tuple(float(f"{value:.6g}") for value in values) for key, values in stage.samples.items()},
        facts={**stage.facts, "machine.load_per_processor": round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)},
        seconds=round(time.monotonic() - began, 3),
    )


if __name__ == "__main__":
    sys.exit(main())
