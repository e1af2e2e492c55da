"""One client of a replay, in a process that the replay process forked for it.

The sequence: it logs in and says ClientReady; it is told StartAt; it replays the script until the time is over; it
removes its files and tells its ClientResult, or Failed. SIGTERM ends its replay early.
"""

import itertools
import os
import select
import signal
import threading
import time
import traceback
from collections import Counter
from dataclasses import replace
from typing import NoReturn, TextIO

from app.base import errors, messages, this_process
from app.isolation import replay_messages
from app.isolation.replay_share import connected_share
from app.isolation.replayer import Replayer, Tally
from app.isolation.script import Script
from app.recording.process import Failed

_LOOK_SECONDS = 0.1
"""How often a client looks whether the replay was stopped while it waits."""
_LEAST_SECONDS = 1e-6
"""Rates are by the measured seconds, which must not be none."""


def live(
    plan: replay_messages.ReplayPlan, script: Script, number: int, orders_end: int, answering_end: int
) -> NoReturn:
    """Replay the script in this forked process, answering through a pipe, and end the process."""
    this_process.die_with_parent()
    code = 1

    try:
        with (
            os.fdopen(answering_end, "w", encoding="utf-8") as answers,
            os.fdopen(orders_end, encoding="utf-8") as orders,
        ):
            _log_in_and_replay(plan, script, number, orders, answers)
            code = 0
    except BaseException:  # noqa: BLE001  the parent reads what it did not say
        traceback.print_exc()
    finally:
        os._exit(code)


def _log_in_and_replay(
    plan: replay_messages.ReplayPlan, script: Script, number: int, orders: TextIO, answers: TextIO
) -> None:
    stopped = threading.Event()

    def stop(*_signal: object) -> None:
        stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        with connected_share(plan) as share:
            replayer = Replayer(share, plan.folder, number)
            messages.send(answers, replay_messages.ClientReady())
            if not _wait_for_orders(orders, stopped):
                return

            start: replay_messages.StartAt = messages.message_of(orders.readline(), [replay_messages.StartAt])
            result = _measure(plan, script, replayer, start.seconds, stopped)
            replayer.clean_up()
            requests = replayer.tally.requests_by_name() + Counter(result.requests)
            messages.send(answers, replace(result, requests=dict(requests)))
    except errors.SharebenchError as error:
        messages.send(answers, Failed.of(error))
    except Exception as error:  # noqa: BLE001  whatever it was, the parent must hear of it
        text = f"a client of the replay failed: {type(error).__name__}: {error}"
        messages.send(answers, Failed(kind=errors.MeasurementError, text=text))


def _wait_for_orders(orders: TextIO, stopped: threading.Event) -> bool:
    """Whether they have come; not if the replay is stopped before."""
    while not stopped.is_set():
        readable, _, _ = select.select([orders], [], [], _LOOK_SECONDS)
        if readable:
            break
    return not stopped.is_set()


class _Window:
    """The part of a client's replay that counts: after the warm-up, until the time is over or it is stopped.

    The replayer asks :meth:`is_over` after each operation. The first call after the warm-up begins the window.
    """

    def __init__(self, plan: replay_messages.ReplayPlan, replayer: Replayer, stopped: threading.Event) -> None:
        self._replayer = replayer
        self._stopped = stopped
        self._counts_from = time.monotonic() + plan.warm_up_seconds
        self.ends_at = float("inf") if plan.passes else self._counts_from + plan.seconds
        self.began_at: float | None = None
        """None during the warm-up."""
        # As they were when the window began
        self.requests_before: Counter[str] = Counter()
        self.cpu_seconds_before = 0.0
        self.held_seconds_before = 0.0

    def is_over(self, now: float) -> bool:
        if self.began_at is None and now >= self._counts_from:
            # What was done until now is no part of the window: it has a tally of its own.
            self.requests_before = self._replayer.tally.requests_by_name()
            self._replayer.tally = Tally()
            self.cpu_seconds_before = time.process_time()
            self.held_seconds_before = this_process.held_seconds()
            self.began_at = now
        return now >= self.ends_at or self._stopped.is_set()


def _measure(
    plan: replay_messages.ReplayPlan,
    script: Script,
    replayer: Replayer,
    start_at: float,
    stopped: threading.Event,
) -> replay_messages.ClientResult:
    time.sleep(max(0.0, start_at - time.monotonic()))
    window = _Window(plan, replayer, stopped)
    for completed_passes in itertools.count(1):
        is_completed = replayer.replay(script, window.is_over)
        if not is_completed or completed_passes == plan.passes:
            break

    ended_at = time.monotonic()
    # What follows, such as cleaning up, is no part of the window.
    tally = replayer.tally
    replayer.tally = Tally()
    requests = window.requests_before + tally.requests_by_name()
    cpu_seconds = time.process_time() - window.cpu_seconds_before
    held_seconds = this_process.held_seconds() - window.held_seconds_before

    has_begun = window.began_at is not None
    seconds = 0.0
    if window.began_at is not None:
        seconds = max(_LEAST_SECONDS, min(ended_at, window.ends_at) - window.began_at)
    return replay_messages.ClientResult(
        seconds=seconds,
        operations=dict(tally.operations) if has_begun else {},
        requests=dict(requests),
        window_requests=sum(tally.requests.values()) if has_begun else 0,
        moved_bytes=tally.moved_bytes if has_begun else 0,
        wait_seconds=tally.wait_seconds,
        longest_seconds=tally.longest_seconds,
        unexpected=tally.unexpected,
        cpu_seconds=cpu_seconds,
        held_seconds=held_seconds,
    )
