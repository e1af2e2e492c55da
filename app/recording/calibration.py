"""How fast our own client is where network and server cost nothing: carried out by the measuring process."""

import gc
import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from app.clients import base, registry
from app.clients.random_requests import RandomWorkload
from app.recording.process import Calibrated, CalibrationOrder
from app.server.host_activity import Wire, sample_between, take_reading
from app.server.processes import Ours
from storage.records import ClientFacts, Command

FIRST_BYTES = 32 * 1024 * 1024
"""Of the first transfer."""
LARGEST_BYTES = 1024 * 1024 * 1024
LONG_ENOUGH_SECONDS = 0.25
"""A shorter transfer is doubled, up to the largest."""
TIMES = 4
"""Transfers of the size that takes long enough, or runs of random requests."""
RANDOM_SECONDS = 0.5
"""Of a run of random requests: thousands of them."""


def calibrate_and_watch(order: CalibrationOrder) -> Calibrated:
    """The ceiling of our own client, and how busy others keep this machine meanwhile."""
    # Of the processors alone: no link is watched (an empty Wire), and our own ticks are counted below (no Ours).
    before = take_reading(Wire(), Ours())
    our_ticks_before = _our_ticks()
    rate = calibrate(order)
    after = take_reading(Wire(), Ours())

    others_cpu_percent = 0.0
    if before and after:
        our_ticks = _our_ticks() - our_ticks_before
        sample = sample_between(replace(before, our_ticks=0), replace(after, our_ticks=our_ticks), Wire())
        others_cpu_percent = sample.others_cpu_percent
    return Calibrated(bytes_per_second=float(rate) if rate else None, others_cpu_percent=others_cpu_percent)


def _our_ticks() -> int:
    """Processor ticks of this process and of its children that have ended."""
    times = os.times()
    seconds = times.user + times.system + times.children_user + times.children_system
    return round(seconds * os.sysconf("SC_CLK_TCK"))


def calibrate(order: CalibrationOrder) -> float | None:
    """The ceiling of our own client; None for another program, and where there is nothing to move bytes to."""
    module_name = registry.MODULES[order.protocol].ceiling
    if not module_name or order.client.name != base.OWN:
        return None

    module = import_module(module_name)
    if order.read_percent is None:
        return ceiling_bytes_per_second(module.ceiling_seconds, order.client, order.command)
    return random_ceiling(module.random_bytes_per_second, order.client, order.read_percent)


def random_ceiling(
    request: Callable[[ClientFacts, RandomWorkload], float], facts: ClientFacts, read_percent: int
) -> float | None:
    """The best bytes per second of four short runs of random requests; None where nobody knows their size."""
    if not (facts.block_bytes and facts.in_flight):
        return None

    workload = RandomWorkload(
        block_bytes=facts.block_bytes,
        in_flight=facts.in_flight,
        seconds=RANDOM_SECONDS,
        read_percent=read_percent,
    )
    gc.disable()  # until the end of the process, which does nothing else
    return max(request(facts, workload) for _ in range(TIMES))


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
