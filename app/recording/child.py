"""The measuring process: one order on stdin, then messages of the user; events on stdout; EOF on stdin cancels.

The order is a series to measure, or the calibration of a client, which has one answer. `app.recording.process` has the
messages and the other side.
"""

import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from app.base import messages, this_process
from app.base.errors import SharebenchError
from app.clients import base
from app.recording import process
from app.recording.calibration import calibrate_and_watch
from app.recording.engine import Engine
from app.recording.measuring_clients import client_of_order
from app.recording.spec import NO_HOOKS, SeriesSpec

if TYPE_CHECKING:
    from app.recording.hooks import HookRunner


def main() -> int:
    this_process.keep_memory_to_ourselves()
    events_out = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gate = process.RunGate()
    signal.signal(signal.SIGTERM, lambda *_: gate.cancel())

    order = messages.message_of(sys.stdin.readline(), [process.MeasuringOrder, process.CalibrationOrder])
    if isinstance(order, process.CalibrationOrder):
        messages.send(events_out, calibrate_and_watch(order))
    else:
        _carry_out(order, gate, events_out)
    return 0


def _carry_out(order: process.MeasuringOrder, gate: process.RunGate, events_out: TextIO) -> None:
    threading.Thread(target=_listen, args=(gate,), name="listen", daemon=True).start()

    def emit(event: process.Event) -> None:
        try:
            messages.send(events_out, event)
        except BrokenPipeError:  # our parent is gone
            gate.cancel()

    try:
        measure_series(order, gate, emit)
    except SharebenchError as error:
        emit(process.Failed.of(error))


def _listen(gate: process.RunGate) -> None:
    for line in sys.stdin:
        gate.hear(messages.message_of(line, [process.Control]).word)
    gate.cancel()


def measure_series(order: process.MeasuringOrder, gate: process.RunGate, emit: Callable[[process.Event], None]) -> None:
    """Measure the series of an order. Raises SharebenchError where a client or a profile cannot be made."""
    spec = order.spec
    settings = spec.settings
    if spec.counts.make_file and spec.counts.files is None and order.target.abilities.is_local:
        # What is still being written to the disk would slow the timed gets of the same file.
        settings = replace(settings, flush=True)

    def make_client() -> base.Client:
        return client_of_order(order, settings)

    hooks = _hook_runner(spec)
    if order.profile_conf is None:
        Engine(order, make_client, gate, emit, hooks=hooks).measure()
        return

    from app.server.smbd import Profiler

    with Profiler(order.profile_ssh, order.profile_conf) as profiler:
        Engine(order, make_client, gate, emit, profiler=profiler, hooks=hooks).measure()


def _hook_runner(spec: SeriesSpec) -> "HookRunner | None":
    if spec.hooks == NO_HOOKS:
        return None
    # Imported only where somebody asked: what it needs to run programs takes its time to load.
    from app.recording.hooks import HookRunner

    return HookRunner(spec.hooks, spec.monitor.server_ssh, spec.monitor.from_host)


if __name__ == "__main__":
    sys.exit(main())
