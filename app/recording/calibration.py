"""How fast our own client is where network and server cost nothing: carried out by the measuring process."""

import gc
from collections.abc import Callable
from importlib import import_module

from app.clients import base, registry
from app.recording.process import CalibrationOrder
from storage.records import ClientFacts, Command

FIRST_BYTES = 32 * 1024 * 1024
"""Of the first transfer."""
LARGEST_BYTES = 1024 * 1024 * 1024
LONG_ENOUGH_SECONDS = 0.25
"""A shorter transfer is doubled, up to the largest."""
TIMES = 4
"""Transfers of the size that takes long enough."""


def calibrate(order: CalibrationOrder) -> float | None:
    """The ceiling of our own client; None for another program, and where there is nothing to move bytes to."""
    module_name = registry.MODULES[order.protocol].ceiling
    if not module_name or order.client.name != base.OWN:
        return None
    return ceiling_bytes_per_second(import_module(module_name).ceiling_seconds, order.client, order.command)


def ceiling_bytes_per_second(
    transfer: Callable[[ClientFacts, Command, int], float], facts: ClientFacts, command: Command
) -> float:
    """The best of four transfers of at least a quarter of a second."""
    size_bytes = FIRST_BYTES
    seconds = transfer(facts, command, size_bytes)
    while seconds < LONG_ENOUGH_SECONDS and size_bytes < LARGEST_BYTES:
        size_bytes *= 2
        seconds = transfer(facts, command, size_bytes)

    gc.disable()  # until the end of the process, which does nothing else
    other_seconds = [transfer(facts, command, size_bytes) for _ in range(TIMES - 1)]
    return size_bytes / min(seconds, *other_seconds)
