"""The self-test as the recorder is to measure it: one order twice, told apart by their labels."""

from __future__ import annotations

from dataclasses import replace

from app.recorder.request import SeriesRequest
from app.targets import format_target

LABELS = ("self-test, first", "self-test, second")


def selftest_orders(order: SeriesRequest) -> tuple[SeriesRequest, SeriesRequest]:
    """The same order twice, to be measured in turns, run by run."""
    title = f"Self-test of {order.plan.command}: {format_target(order.plan.target)}"
    first, second = (replace(order, label=label, title=title) for label in LABELS)
    return first, second
