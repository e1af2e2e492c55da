"""The process that replays a script over SMB: a plan on stdin, one JSON line on stdout; end of stdin cancels.

It forks one process per client (`app.isolation.replay_client`) after loading script and libraries, so clients share no
interpreter lock and start fast.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections import Counter
from typing import Any

from app.base import errors, messages, this_process
from app.isolation import replay_client, replay_messages
from app.isolation.replayer import Replayer
from app.isolation.script import Script, load_script, operations_named
from app.recording.process import Failed
from storage import records

_START_DELAY_SECONDS = 0.05
"""So that all clients have read when to start before it comes."""


def main() -> int:
    this_process.keep_memory_to_ourselves()
    out = messages.own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plan: replay_messages.ReplayPlan = messages.message_of(sys.stdin.readline(), [replay_messages.ReplayPlan])
    try:
        answer: replay_messages.ReplayResult | Failed = _replay(plan)
    except errors.SharebenchError as error:
        answer = Failed.of(error)
    messages.send(out, answer)
    return 0


def _replay(plan: replay_messages.ReplayPlan) -> replay_messages.ReplayResult:
    if plan.null:
        if plan.client is None:
            raise errors.MeasurementError("nothing was negotiated yet: measure the server first")
        return _replay_by_all(plan, plan.client, Counter())

    from app.clients.smb.client import SMBClient

    # A login of its own makes the folder of the clients before any of them needs it.
    with contextlib.closing(SMBClient(plan.target, plan.secrets, plan.settings)) as first:
        maker = Replayer(first.connected_share(), plan.folder, 0)
        maker.make_folder("\\")
        facts = first.facts()
    return _replay_by_all(plan, facts, maker.tally.requests_by_name())


def _replay_by_all(
    plan: replay_messages.ReplayPlan, facts: records.ClientFacts, requests: Counter[str]
) -> replay_messages.ReplayResult:
    script = load_script(plan.script_path)
    if plan.without:
        script = script.without(operations_named(",".join(plan.without)))

    # Until each client can take it, which unblocks it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    clients = [_ForkedClient(plan, script, number) for number in range(1, plan.clients + 1)]
    threading.Thread(target=_cancel_at_end_of_stdin, args=(clients,), daemon=True).start()
    try:
        for client in clients:
            client.hear(replay_messages.ClientReady)
        start_at = time.monotonic() + _START_DELAY_SECONDS
        for client in clients:
            client.go(start_at)
        results: list[replay_messages.ClientResult] = [client.hear(replay_messages.ClientResult) for client in clients]
    finally:
        for client in clients:
            client.end()
    return _sum_of(results, requests, facts, start_at + plan.warm_up_seconds)


def _sum_of(
    results: list[replay_messages.ClientResult], requests: Counter[str], facts: records.ClientFacts, began_at: float
) -> replay_messages.ReplayResult:
    """All clients together; ``requests`` are those that the first login took."""
    operations: Counter[str] = Counter()
    for result in results:
        operations.update(result.operations)
        requests.update(result.requests)

    return replay_messages.ReplayResult(
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
    """A client process, as the replay process sees it: its answers, and the orders to it, go through a pipe each."""

    def __init__(self, plan: replay_messages.ReplayPlan, script: Script, number: int) -> None:
        answers_end, answering_end = os.pipe()
        orders_end, ordering_end = os.pipe()
        self._has_ended = False
        self._pid = os.fork()
        if not self._pid:
            os.close(answers_end)
            os.close(ordering_end)
            replay_client.live(plan, script, number, orders_end, answering_end)

        os.close(answering_end)
        os.close(orders_end)
        self._answers = os.fdopen(answers_end, "r", encoding="utf-8")
        self._orders = os.fdopen(ordering_end, "w", encoding="utf-8")

    def go(self, start_at: float) -> None:
        messages.send(self._orders, replay_messages.StartAt(seconds=start_at))

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


if __name__ == "__main__":
    sys.exit(main())
