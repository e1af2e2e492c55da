"""The measuring process: plan and stages on stdin, events on stdout; end of stdin cancels. It removes its files."""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from app.base.child_process import keep_memory_to_ourselves, message_of, own_stdout, send
from app.base.errors import SharebenchError
from app.diagnosis import file_stages, stages
from app.diagnosis.bench import Bench
from app.diagnosis.plan import ORDERS, DiagnosisPlan, Ended, MeasureStage, StageMeasured
from storage.looks import Stage, StageName
from storage.records import SeriesStatus

STAGES: Mapping[StageName, Callable[[Bench], Stage]] = {
    StageName.CONNECT: stages.connect,
    StageName.DISTANCE: stages.distance,
    StageName.SMALL_FILES: file_stages.small_files,
    StageName.FOLDERS: file_stages.folders,
    StageName.PROTECTION: stages.protection,
    StageName.LONG_RUN: stages.long_run,
    StageName.CARDS: stages.cards,
}
"""All but the audit, which needs the server's files."""


def main() -> int:
    keep_memory_to_ourselves()
    out = own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    cancelled = threading.Event()
    orders: list[str] = []
    order_or_end = threading.Condition()
    plan: DiagnosisPlan = message_of(sys.stdin.readline(), [DiagnosisPlan])

    def emit(event: object) -> None:
        with suppress(OSError, ValueError):
            send(out, event)

    bench = Bench(plan, emit, cancelled)

    def listen() -> None:
        while line := sys.stdin.readline():
            with order_or_end:
                orders.append(line)
                order_or_end.notify()
        with order_or_end:
            cancelled.set()
            order_or_end.notify()
        bench.abort()

    threading.Thread(target=listen, name="listen", daemon=True).start()
    while not cancelled.is_set():
        with order_or_end:
            order_or_end.wait_for(lambda: orders or cancelled.is_set())
            order = message_of(orders.pop(0), ORDERS) if orders and not cancelled.is_set() else None
        if not isinstance(order, MeasureStage):
            break
        emit(StageMeasured(stage=_measure_stage(bench, order.name), client=bench.client_facts))

    # Cleaning up is not cancelled.
    bench.cancelled = threading.Event()
    try:
        bench.remove()
        emit(Ended())
    except SharebenchError as error:
        emit(Ended(problem=str(error)))
    return 0


def _measure_stage(bench: Bench, name: StageName) -> Stage:
    began = time.monotonic()
    try:
        stage = STAGES[name](bench)
    except SharebenchError as error:
        status = SeriesStatus.INTERRUPTED if bench.cancelled.is_set() else SeriesStatus.FAILED
        stage = Stage(name=name, status=status, error=str(error))
    except Exception as error:  # noqa: BLE001  the other side must hear of it, and the folder must be removed
        traceback.print_exc()
        stage = Stage(name=name, status=SeriesStatus.FAILED, error=f"{type(error).__name__}: {error}")

    load_per_processor = round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)
    return replace(
        stage,
        samples={key: _six_digits(values) for key, values in stage.samples.items()},
        facts={**stage.facts, "machine.load_per_processor": load_per_processor},
        seconds=round(time.monotonic() - began, 3),
    )


def _six_digits(values: Sequence[float]) -> tuple[float, ...]:
    """More digits than a clock tells make the notebook large, and nothing of them is shown."""
    return tuple(float(f"{value:.6g}") for value in values)


if __name__ == "__main__":
    sys.exit(main())
