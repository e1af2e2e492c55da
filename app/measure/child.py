"""The measuring process: plan on stdin, events on stdout; EOF on stdin cancels.

A :class:`CalibrationOrder` in place of the plan has it measure how fast a client can be on this machine, against next
to nothing: :class:`Calibrated` goes out.
"""

import gc
import signal
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from app.child_process import keep_memory_to_ourselves
from app.errors import SharebenchError
from app.measure.process import Calibrated, CalibrationOrder, ControlMessage, Event, Failed, MeasurementPlan, RunGate
from app.messages import line_of, message_of, own_stdout
from storage.records import ClientFacts, Command

if TYPE_CHECKING:
    from app.clients.base import Client


def main() -> int:
    """Do what the first line of stdin says; returns 0 once the last event is written."""
    keep_memory_to_ourselves()
    out = own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    brake = RunGate()
    signal.signal(signal.SIGTERM, lambda *_: brake.cancel())
    plan: MeasurementPlan | CalibrationOrder = message_of(sys.stdin.readline(), [MeasurementPlan, CalibrationOrder])
    if isinstance(plan, CalibrationOrder):
        out.write(line_of(_calibrated(plan)) + "\n")
        out.flush()
        return 0
    threading.Thread(target=_listen, args=(brake,), name="listen", daemon=True).start()

    def emit(event: Event) -> None:
        try:
            out.write(line_of(event) + "\n")
            out.flush()
        except BrokenPipeError:
            brake.cancel()

    try:
        _measure(plan, brake, emit)
    except SharebenchError as error:
        emit(Failed.of(error))
    return 0


Transfer = Callable[[ClientFacts, Command, int], float]
FIRST_BYTES = 32 * 1024 * 1024
LARGEST_BYTES = 1024 * 1024 * 1024
LONG_ENOUGH_SECONDS = 0.25
TIMES = 4


def ceiling_bytes_per_second(transfer: Transfer, facts: ClientFacts, command: Command) -> float:
    """The best of four transfers of at least a quarter of a second."""
    size_bytes = FIRST_BYTES
    seconds = transfer(facts, command, size_bytes)
    while seconds < LONG_ENOUGH_SECONDS and size_bytes < LARGEST_BYTES:
        size_bytes *= 2
        seconds = transfer(facts, command, size_bytes)
    gc.disable()
    return size_bytes / min(seconds, *(transfer(facts, command, size_bytes) for _ in range(TIMES - 1)))


def _calibrated(order: CalibrationOrder) -> Calibrated:
    from app.clients.base import MODULES, OWN  # noqa: PLC0415  the plan says which libraries are needed

    home = MODULES[order.protocol].ceiling
    if not home or order.client.name != OWN:
        return Calibrated(bytes_per_second=None)
    rate = ceiling_bytes_per_second(import_module(home).ceiling_seconds, order.client, order.command)
    return Calibrated(bytes_per_second=rate)


def _measure(plan: MeasurementPlan, brake: RunGate, emit: Callable[[Event], None]) -> None:
    from app.clients.base import TreeClient, make_client, make_files  # noqa: PLC0415  the plan says which libraries
    from app.measure.engine import Engine  # noqa: PLC0415

    def client() -> "Client":
        made = make_client(plan.target, plan.client, plan.secrets, plan.settings, plan.size_bytes)
        if plan.files is None:
            return made
        return TreeClient(made, make_files(plan.target, plan.secrets, plan.settings), plan.files)

    if plan.profile_conf is None:
        Engine(plan, client, brake, emit).measure()
        return
    from app.environment.samba.control import Profiler  # noqa: PLC0415  few series have a profile

    with Profiler(plan.profile_ssh, plan.profile_conf) as profiler:
        Engine(plan, client, brake, emit, profiler=profiler).measure()


def _listen(brake: RunGate) -> None:
    for line in sys.stdin:
        brake.hear(ControlMessage(line.strip()))
    brake.cancel()


if __name__ == "__main__":
    sys.exit(main())
