"""The process that replays a script over SMB: a plan on stdin, one JSON line on stdout; end of stdin cancels.

It forks one process per client after loading script and libraries, so clients share no interpreter lock and start fast.
"""

import contextlib
import itertools
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TextIO

from app.base import child_process, errors, messages
from app.clients.base import Secrets
from app.clients.smb.ceiling import null_channel
from app.clients.smb.share import Share
from app.isolation import replayer as isolation_replayer
from app.isolation import script as isolation_script
from app.recording.process import Failed
from storage import records
from storage.plan import Settings

_LOOK_SECONDS = 0.1
_LEAST_SECONDS = 1e-6
"""Rates are by the measured seconds, which must not be none."""
_START_DELAY_SECONDS = 0.05
"""So that all clients have read when to start before it comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
    target: records.Target
    secrets: Secrets
    settings: Settings
    script_path: str | None
    without: tuple[str, ...]
    folder: str
    clients: int
    warm_up_seconds: float
    seconds: float
    passes: int = 0
    """Whole passes per client, if not 0, instead of a time."""
    client: records.ClientFacts | None = None
    """What was negotiated, for the null server that imitates it without a login."""
    null: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClientReady:
    """A client to the process that forked it: logged in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _StartAt:
    seconds: float
    """Monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClientResult:
    seconds: float
    operations: Mapping[str, int]
    requests: Mapping[str, int]
    """From login to log-off."""
    window_requests: int
    moved_bytes: int
    wait_seconds: float
    longest_seconds: float
    unexpected: int
    cpu_seconds: float
    held_seconds: float
    """Time in which the processes worked or waited for a processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult(_ClientResult):
    began_at: float
    """Start of the measured part, monotonic clock."""
    client: records.ClientFacts


@contextlib.contextmanager
def _connected_share(plan: ReplayPlan) -> Iterator[Share]:
    """The target's, or that of a server that does almost nothing."""
    if plan.null:
        assert plan.client
        with null_channel(plan.client) as channel:
            yield Share(channel, 1)
        return
    from app.clients.smb.client import SMBClient

    with contextlib.closing(SMBClient(plan.target, plan.secrets, plan.settings)) as client:
        yield client.connected_share()


def main() -> int:
    child_process.keep_memory_to_ourselves()
    out = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plan: ReplayPlan = messages.message_of(sys.stdin.readline(), [ReplayPlan])
    try:
        answer: ReplayResult | Failed = _replay(plan)
    except errors.SharebenchError as error:
        answer = Failed.of(error)
    messages.send(out, answer)
    return 0


def _replay(plan: ReplayPlan) -> ReplayResult:
    if plan.null:
        if plan.client is None:
            raise errors.MeasurementError("nothing was negotiated yet: measure the server first")
        return _replay_by_all(plan, plan.client, Counter())
    from app.clients.smb.client import SMBClient

    with contextlib.closing(SMBClient(plan.target, plan.secrets, plan.settings)) as first:
        maker = isolation_replayer.Replayer(first.connected_share(), plan.folder, 0)
        maker.make_folder("\\")
        facts = first.facts()
    return _replay_by_all(plan, facts, maker.tally.requests_by_name())


def _replay_by_all(plan: ReplayPlan, facts: records.ClientFacts, requests: Counter[str]) -> ReplayResult:
    script = isolation_script.load_script(plan.script_path)
    if plan.without:
        script = script.without(isolation_script.operations_named(",".join(plan.without)))

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until each client can take it
    clients = [_ForkedClient(plan, script, number) for number in range(1, plan.clients + 1)]
    threading.Thread(target=_cancel_at_end_of_stdin, args=(clients,), daemon=True).start()
    try:
        for client in clients:
            client.hear(_ClientReady)
        start_at = time.monotonic() + _START_DELAY_SECONDS
        for client in clients:
            client.go(start_at)
        results: list[_ClientResult] = [client.hear(_ClientResult) for client in clients]
    finally:
        for client in clients:
            client.end()
    return _sum_of(results, requests, facts, start_at + plan.warm_up_seconds)


def _sum_of(
    results: list[_ClientResult], requests: Counter[str], facts: records.ClientFacts, began_at: float
) -> ReplayResult:
    """``requests`` are those that the first login took."""
    operations: Counter[str] = Counter()
    for result in results:
        operations.update(result.operations)
        requests.update(result.requests)

    return ReplayResult(
        seconds=sum(result.seconds for result in results) / len(results),
        operations=dict(operations),
        requests=dict(requests),
        window_requests=sum(result.window_requests for result in results),
        moved_bytes=sum(result.moved_bytes for result in results),
        wait_seconds=sum(result.wait_seconds for result in results),
        longest_seconds=max(result.longest_seconds for result in results),
        unexpected=sum(result.unexpected for result in results),
        cpu_seconds=sum(result.cpu_seconds for result in results),
        held_seconds=sum(result.held_seconds for result in results),
        began_at=began_at,
        client=facts,
    )


def _cancel_at_end_of_stdin(clients: "list[_ForkedClient]") -> None:
    sys.stdin.read()
    for client in clients:
        client.stop_early()


class _ForkedClient:
    def __init__(self, plan: ReplayPlan, script: isolation_script.Script, number: int) -> None:
        answers_end, answering_end = os.pipe()
        orders_end, ordering_end = os.pipe()
        self._has_ended = False
        self._pid = os.fork()
        if not self._pid:
            os.close(answers_end)
            os.close(ordering_end)
            _live(plan, script, number, orders_end, answering_end)

        os.close(answering_end)
        os.close(orders_end)
        self._answers = os.fdopen(answers_end, "r", encoding="utf-8")
        self._orders = os.fdopen(ordering_end, "w", encoding="utf-8")

    def go(self, start_at: float) -> None:
        messages.send(self._orders, _StartAt(seconds=start_at))

    def stop_early(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if not self._has_ended:
                os.kill(self._pid, signal.SIGTERM)

    def end(self) -> None:
        self.stop_early()
        os.waitpid(self._pid, 0)
        self._has_ended = True
        self._answers.close()
        self._orders.close()

    def hear(self, kind: type) -> Any:
        """Raises MeasurementError, also where the client says that it failed."""
        line = self._answers.readline()
        if not line:
            raise errors.MeasurementError("a client of the replay ended without a word; see what it printed")
        message = messages.message_of(line, [kind, Failed])
        if isinstance(message, Failed):
            raise errors.MeasurementError(message.text)
        return message


def _live(
    plan: ReplayPlan, script: isolation_script.Script, number: int, orders_end: int, answering_end: int
) -> NoReturn:
    child_process.die_with_parent()
    code = 1

    try:
        with (
            os.fdopen(answering_end, "w", encoding="utf-8") as answers,
            os.fdopen(orders_end, encoding="utf-8") as orders,
        ):
            _work(plan, script, number, orders, answers)
            code = 0
    except BaseException:  # noqa: BLE001  the parent reads what it did not say
        traceback.print_exc()
    finally:
        os._exit(code)


def _work(plan: ReplayPlan, script: isolation_script.Script, number: int, orders: TextIO, answers: TextIO) -> None:
    stopped = threading.Event()

    def stop(*_signal: object) -> None:
        stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        with _connected_share(plan) as share:
            replayer = isolation_replayer.Replayer(share, plan.folder, number)
            messages.send(answers, _ClientReady())
            if not _wait_for_orders(orders, stopped):
                return

            start: _StartAt = messages.message_of(orders.readline(), [_StartAt])
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
    """False if the replay is stopped before they come."""
    while not stopped.is_set():
        readable, _, _ = select.select([orders], [], [], _LOOK_SECONDS)
        if readable:
            break
    return not stopped.is_set()


class _Window:
    """The part of a client's replay that counts: after the warm-up, until the time is over or it is stopped."""

    def __init__(self, plan: ReplayPlan, replayer: isolation_replayer.Replayer, stopped: threading.Event) -> None:
        self._replayer = replayer
        self._stopped = stopped
        self._counts_from = time.monotonic() + plan.warm_up_seconds
        self.ends_at = float("inf") if plan.passes else self._counts_from + plan.seconds
        self.began_at: float | None = None
        self.requests_before: Counter[str] = Counter()
        self.cpu_seconds_before = 0.0
        self.held_seconds_before = 0.0

    def is_over(self, now: float) -> bool:
        """Asked after each operation: the first one after the warm-up begins the window with a new tally."""
        if self.began_at is None and now >= self._counts_from:
            self.requests_before = self._replayer.tally.requests_by_name()
            self._replayer.tally = isolation_replayer.Tally()
            self.cpu_seconds_before = time.process_time()
            self.held_seconds_before = child_process.held_seconds()
            self.began_at = now
        return now >= self.ends_at or self._stopped.is_set()


def _measure(
    plan: ReplayPlan,
    script: isolation_script.Script,
    replayer: isolation_replayer.Replayer,
    start_at: float,
    stopped: threading.Event,
) -> _ClientResult:
    time.sleep(max(0.0, start_at - time.monotonic()))
    window = _Window(plan, replayer, stopped)
    for completed_passes in itertools.count(1):
        is_completed = replayer.replay(script, window.is_over)
        if not is_completed or completed_passes == plan.passes:
            break

    ended_at = time.monotonic()
    tally = replayer.tally
    replayer.tally = isolation_replayer.Tally()
    requests = window.requests_before + tally.requests_by_name()
    cpu_seconds = time.process_time() - window.cpu_seconds_before
    waited_or_worked_seconds = child_process.held_seconds() - window.held_seconds_before

    has_begun = window.began_at is not None
    seconds = 0.0
    if window.began_at is not None:
        seconds = max(_LEAST_SECONDS, min(ended_at, window.ends_at) - window.began_at)
    return _ClientResult(
        seconds=seconds,
        operations=dict(tally.operations) if has_begun else {},
        requests=dict(requests),
        window_requests=sum(tally.requests.values()) if has_begun else 0,
        moved_bytes=tally.moved_bytes if has_begun else 0,
        wait_seconds=tally.wait_seconds,
        longest_seconds=tally.longest_seconds,
        unexpected=tally.unexpected,
        cpu_seconds=cpu_seconds,
        held_seconds=waited_or_worked_seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
