"""The measuring process: plan and stages on stdin, events on stdout; end of stdin cancels. It removes its files."""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from app.base import child_process, messages
from app.base.errors import SharebenchError
from app.diagnosis import card_stage, connect_stage, file_stages, folder_stage, transfer_stages
from app.diagnosis import plan as diagnosis_plan
from app.diagnosis.bench import Bench
from storage import looks
from storage.records import SeriesStatus

STAGES: dict[looks.StageName, Callable[[Bench], looks.Stage]] = {
    looks.StageName.CONNECT: connect_stage.connect,
    looks.StageName.DISTANCE: transfer_stages.distance,
    looks.StageName.SMALL_FILES: file_stages.small_files,
    looks.StageName.FOLDERS: folder_stage.folders,
    looks.StageName.PROTECTION: transfer_stages.protection,
    looks.StageName.LONG_RUN: transfer_stages.long_run,
    looks.StageName.CARDS: card_stage.cards,
}
"""All but the audit, which needs the server's files."""


def main() -> int:
    child_process.keep_memory_to_ourselves()
    out = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    cancelled = threading.Event()
    orders: list[str] = []
    order_or_end = threading.Condition()
    plan: diagnosis_plan.DiagnosisPlan = messages.message_of(sys.stdin.readline(), [diagnosis_plan.DiagnosisPlan])

    def emit(event: object) -> None:
        with suppress(OSError, ValueError):
            messages.send(out, event)

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
            while not orders and not cancelled.is_set():
                order_or_end.wait()
            if cancelled.is_set():
                break
            order = messages.message_of(orders.pop(0), diagnosis_plan.ORDERS)
        if not isinstance(order, diagnosis_plan.MeasureStage):
            break
        emit(diagnosis_plan.StageMeasured(stage=_measure_stage(bench, order.name), client=bench.client_facts))

    # Cleaning up is not cancelled.
    bench.cancelled = threading.Event()
    try:
        bench.remove()
        emit(diagnosis_plan.Ended())
    except SharebenchError as error:
        emit(diagnosis_plan.Ended(problem=str(error)))
    return 0


def _measure_stage(bench: Bench, name: looks.StageName) -> looks.Stage:
    began = time.monotonic()
    try:
        stage = STAGES[name](bench)
    except SharebenchError as error:
        status = SeriesStatus.INTERRUPTED if bench.cancelled.is_set() else SeriesStatus.FAILED
        stage = looks.Stage(name=name, status=status, error=str(error))
    except Exception as error:  # noqa: BLE001  the other side must hear of it, and the folder must be removed
        traceback.print_exc()
        stage = looks.Stage(name=name, status=SeriesStatus.FAILED, error=f"{type(error).__name__}: {error}")

    load_per_processor = round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)
    return replace(
        stage,
        samples={key: _six_digits(values) for key, values in stage.samples.items()},
        facts={**stage.facts, "machine.load_per_processor": load_per_processor},
        seconds=round(time.monotonic() - began, 3),
    )


def _six_digits(values: tuple[float, ...]) -> tuple[float, ...]:
    """More digits than a clock tells make the notebook large, and nothing of them is shown."""
    return tuple(float(f"{value:.6g}") for value in values)


if __name__ == "__main__":
    sys.exit(main())
