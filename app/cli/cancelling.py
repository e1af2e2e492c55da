"""How a command that measures ends early: by a signal, or when the time of ``--within`` is over; and its exit code."""

import math
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from app.base.errors import CancelledError, MeasurementError
from app.recording.process import SeriesControl
from storage.isolation import Isolation
from storage.looks import Diagnosis
from storage.quick.records import Quick
from storage.records import SeriesStatus


def _never() -> bool:
    return False


@contextmanager
def cancel_on_signals(control: SeriesControl, must_go_on: Callable[[], bool] = _never) -> Iterator[None]:
    """Inside it, a signal cancels the measurement, as does the end of its time, and the measurement cleans up.

    A second signal raises KeyboardInterrupt, unless ``must_go_on`` says that a setting has to be restored yet. The
    signals are SIGINT (Ctrl-C), SIGTERM and SIGHUP; afterwards they have the handlers of before again.
    """

    def cancel(_number: int, _frame: FrameType | None) -> None:
        if not control.cancelled.is_set():
            control.cancel()
        elif not must_go_on():
            raise KeyboardInterrupt

    numbers = [signal.SIGINT, signal.SIGTERM]
    # Under nohup the measurement continues when its terminal is closed.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    handlers_before = {number: signal.signal(number, cancel) for number in numbers}

    control.limit.start()
    timer = threading.Timer(min(control.limit.seconds_left, threading.TIMEOUT_MAX), control.end_in_time)
    timer.daemon = True
    if control.limit.seconds < math.inf:
        timer.start()

    try:
        yield
    finally:
        timer.cancel()
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


def exit_code_when_complete(
    record: Isolation | Diagnosis | Quick, control: SeriesControl, noun: str, resumed_by: str = ""
) -> int:
    """0. Raises CancelledError or MeasurementError of a recording that is not complete, with how to complete it.

    ``resumed_by`` is the command that can; empty where none does.
    """
    problem = problem_of(record, noun)
    if control.cancelled.is_set() and problem:
        raise CancelledError(f"{control.why_cancelled}; {_how_to_complete([record], resumed_by)}")
    if problem:
        raise MeasurementError(problem)
    return 0


def problem_of(record: Isolation | Diagnosis | Quick, noun: str) -> str:
    """Why the recording is not complete; empty where it is."""
    if record.status is SeriesStatus.COMPLETE:
        return ""
    return record.error or f"the {noun} did not end"


def _how_to_complete(records: Sequence[Isolation | Diagnosis | Quick], resumed_by: str) -> str:
    if not resumed_by:
        return "what was measured is kept"
    return "; ".join(f"`sharebench {resumed_by} --resume {record.id}` completes it" for record in records)


def raise_if_cancelled(
    control: SeriesControl,
    problem_by_host: Mapping[str, str],
    records: Sequence[Diagnosis | Quick],
    resumed_by: str = "",
) -> None:
    """Raises CancelledError where one of several machines was cancelled, with how to complete what it measured.

    ``records`` are those that were recorded; ``resumed_by`` is as above.
    """
    interrupted = [record for record in records if record.status is SeriesStatus.INTERRUPTED]
    if interrupted:
        reason = interrupted[0].error or control.why_cancelled
        raise CancelledError(f"{reason}; {_how_to_complete(interrupted, resumed_by)}")
    if control.cancelled.is_set() and any(problem_by_host.values()):
        raise CancelledError(control.why_cancelled)


def exit_code_of_places(problem_by_host: Mapping[str, str]) -> int:
    """0. Raises MeasurementError, which names the machines that did not measure to their end: those with a problem."""
    problems = {host: problem for host, problem in problem_by_host.items() if problem}
    if len(problems) > 1:
        raise MeasurementError(f"not measured to the end from {', '.join(problems)}: the answer says why")
    for host, problem in problems.items():
        raise MeasurementError(f"{host}: {problem}")
    return 0
