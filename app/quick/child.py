"""The measuring process of a quick test: an order on stdin, then steps; events on stdout; the end of stdin cancels.

However it ends, it removes its file; where it was killed, another one is ordered to. `app.quick.measurement` is the
other side.
"""

import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from app.base import messages, this_process
from app.base.errors import NoSuchFileError, SharebenchError
from app.clients import registry
from app.quick import plan
from app.quick.engine import QuickEngine
from app.recording import process


def main() -> int:
    this_process.keep_memory_to_ourselves()
    out = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gate = process.RunGate()
    signal.signal(signal.SIGTERM, lambda *_: gate.cancel())
    order: plan.QuickOrder | plan.RemovalOrder = messages.message_of(sys.stdin.readline(), plan.ORDERS)

    def emit(event: plan.ChildEvent) -> None:
        # Where nobody reads any more, our file is removed all the same.
        with suppress(OSError, ValueError):
            messages.send(out, event)

    threading.Thread(target=_listen, args=(gate,), name="listen", daemon=True).start()
    try:
        if isinstance(order, plan.RemovalOrder):
            _remove(order, emit)
        else:
            QuickEngine(order, gate, emit).measure()
    except SharebenchError as error:
        emit(process.Failed.of(error))
    return 0


def _listen(gate: process.RunGate) -> None:
    for line in sys.stdin:
        gate.hear(messages.message_of(line, [process.Control]).word)
    gate.cancel()


def _remove(order: plan.RemovalOrder, emit: Callable[[plan.ChildEvent], None]) -> None:
    # A process that was cut off may have removed its file by itself since.
    with registry.connected_files(order.target, order.secrets, order.settings) as files, suppress(NoSuchFileError):
        files.remove(order.path)
    emit(process.ScratchRemoved(path=order.path))
    emit(process.Finished())


if __name__ == "__main__":
    sys.exit(main())
