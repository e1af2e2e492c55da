"""The calibration process: measures how fast a client can be on this machine, against next to nothing.

A :class:`CalibrationOrder` comes in on stdin, :class:`Calibrated` goes out.
"""

import gc
import sys
from collections.abc import Callable
from importlib import import_module

from app.clients.registry import MODULES, OWN
from app.measure.plan import Calibrated, CalibrationOrder
from app.messages import line_of, message_of
from storage.records import ClientFacts, Command

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


def main() -> int:
    """Calibrate what stdin describes."""
    order: CalibrationOrder = message_of(sys.stdin.read(), [CalibrationOrder])
    facts, command = order.client, order.command
    home = MODULES[order.protocol].ceiling
    rate = None
    if home and facts.name == OWN:
        rate = ceiling_bytes_per_second(import_module(home).ceiling_seconds, facts, command)
    print(line_of(Calibrated(bytes_per_second=rate)))  # noqa: T201  the answer on the pipe
    return 0


if __name__ == "__main__":
    sys.exit(main())
