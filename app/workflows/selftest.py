"""The self-test as the recorder is to measure it: one order twice or more, told apart by their labels."""

from dataclasses import replace

from app.recorder.request import SeriesRequest
from storage.records import ExperimentKind, dated_experiment
from storage.target_url import format_target

LABELS = ("self-test, first", "self-test, second")


def selftest_orders(order: SeriesRequest) -> tuple[SeriesRequest, SeriesRequest]:
    """The same order twice, to be measured in turns, run by run."""
    target = order.plan.target
    title = f"Self-test of {order.plan.command}: {format_target(target)}"
    experiment = dated_experiment(ExperimentKind.SELFTEST, target.host or target.path)
    first, second = (replace(order, label=label, title=title, experiment=experiment) for label in LABELS)
    return first, second


def repeat_orders(order: SeriesRequest, times: int) -> tuple[SeriesRequest, ...]:
    """The same order several times, to be measured one whole series after the other."""
    target = order.plan.target
    title = f"Repeats of {order.plan.command}: {format_target(target)}"
    experiment = dated_experiment(ExperimentKind.REPEATS, target.host or target.path)
    return tuple(
        replace(order, label=f"repeat {number}", title=title, experiment=experiment) for number in range(1, times + 1)
    )
