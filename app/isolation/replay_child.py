"""The process that replays a script over SMB: a plan on stdin, one JSON line on stdout; end of stdin cancels.

It forks one process per client after loading script and libraries, so clients share no interpreter lock and start fast.
"""

import contextlib
import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

from app.child_process import die_with_parent, held_seconds
from app.clients.base import Secrets
from app.clients.smb.errors import NO_MORE_FILES, SUCCESS
from app.clients.smb.null_server import NullServer, null_channel
from app.clients.smb.share import Share
from app.clients.smb.wire import Opcode
from app.errors import MeasurementError, SharebenchError
from app.isolation.replayer import Replayer, Tally
from app.isolation.script import Script, load_script, operations_named
from app.measure.process import Failed
from app.messages import line_of, message_of, own_stdout
from storage.json_reader import named
from storage.plan import Settings
from storage.records import ClientFacts, Target

_LOOK_SECONDS = 0.1
NULL = "null"
"""The argument for a replay against a server that does almost nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
    """One run of the server layer."""

    target: Target
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
    client: ClientFacts | None = None
    """What was negotiated, for the null server that imitates it without a login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What all clients of one run did."""

    seconds: float
    operations: Mapping[str, int]
    requests: Mapping[str, int]
    """From login to log-off."""
    window_requests: int
    """In the measured part."""
    moved_bytes: int
    wait_seconds: float
    longest_seconds: float
    unexpected: int
    cpu_seconds: float
    held_seconds: float
    """Time in which they worked or waited for a processor."""
    began_at: float
    """Start of the measured part, monotonic clock."""
    client: ClientFacts


Connect = Callable[[ReplayPlan], AbstractContextManager[Share]]
"""Context manager of a client's share."""


@contextlib.contextmanager
def log_in(plan: ReplayPlan) -> Iterator[Share]:
    """The connected share of the target."""
    from app.clients.smb.client import SMBClient  # noqa: PLC0415  loaded once, before the clients are forked

    client = SMBClient(plan.target, plan.secrets, plan.settings)
    try:
        yield client.connected_share()
    finally:
        client.close()


_LONGEST_ANSWER = memoryview(bytes(88))
_ANSWER_BYTES: dict[int, int] = {Opcode.CREATE: 88, Opcode.CLOSE: 60, Opcode.QUERY_INFO: 8}
_SHORT_BYTES = 4


class NullShare(NullServer):
    """A share that has every file and lists none."""

    def answer(self, request: memoryview, command: int) -> tuple[int, bytes, memoryview]:
        """Success without content; folders are empty."""
        if command in {Opcode.READ, Opcode.WRITE}:
            return super().answer(request, command)
        status = NO_MORE_FILES if command == Opcode.QUERY_DIRECTORY else SUCCESS
        return status, bytes(_LONGEST_ANSWER[: _ANSWER_BYTES.get(command, _SHORT_BYTES)]), _LONGEST_ANSWER[:0]


@contextlib.contextmanager
def _null_share(plan: ReplayPlan) -> Iterator[Share]:
    assert plan.client
    with null_channel(plan.client, NullShare) as channel:
        yield Share(channel, 1)


def _replay_null(plan: ReplayPlan) -> ReplayResult:
    """Our own limit, against a server that does almost nothing."""
    if plan.client is None:
        raise MeasurementError("nothing was negotiated yet: measure the server first")
    return replay_by_all(plan, _null_share, plan.client, Counter())


def main(*, null: bool) -> int:
    """Carry out the plan on the first line of stdin and print the result."""
    out = own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plan: ReplayPlan = message_of(sys.stdin.readline(), [ReplayPlan])
    try:
        answer: ReplayResult | Failed = _replay_null(plan) if null else _replay(plan)
    except SharebenchError as error:
        answer = Failed.of(error)
    out.write(line_of(answer) + "\n")
    out.flush()
    return 0


def _replay(plan: ReplayPlan) -> ReplayResult:
    from app.clients.smb.client import SMBClient  # noqa: PLC0415  loaded once, before the clients are forked

    first = SMBClient(plan.target, plan.secrets, plan.settings)
    try:
        maker = Replayer(first.connected_share(), plan.folder, 0)
        maker.make_folder("\\")
        facts = first.facts()
    finally:
        first.close()
    return replay_by_all(plan, log_in, facts, maker.tally.requests_by_name())


def replay_by_all(plan: ReplayPlan, connect: Connect, facts: ClientFacts, requests: Counter[str]) -> ReplayResult:
    """Replay with all clients at once; ``requests`` were made before."""
    script = load_script(plan.script_path)
    if plan.without:
        script = script.without(operations_named(",".join(plan.without)))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until each client can take it
    clients = [_Forked(plan, script, connect, number) for number in range(1, plan.clients + 1)]
    threading.Thread(target=_cancel_at_end_of_stdin, args=(clients,), daemon=True).start()
    try:
        for each in clients:
            each.wait_until_ready()
        start = time.monotonic() + 0.05
        for each in clients:
            each.go(start)
        told = [each.result() for each in clients]
    finally:
        for each in clients:
            each.end()
    sums: Counter[str] = Counter()
    for one in told:
        sums.update(one["operations"])
        requests.update(one["requests"])
    return ReplayResult(
        seconds=sum(one["seconds"] for one in told) / len(told),
        operations=dict(sums),
        requests=dict(requests),
        window_requests=sum(one["window_requests"] for one in told),
        moved_bytes=sum(one["moved_bytes"] for one in told),
        wait_seconds=sum(one["wait_seconds"] for one in told),
        longest_seconds=max(one["longest_seconds"] for one in told),
        unexpected=sum(one["unexpected"] for one in told),
        cpu_seconds=sum(one["cpu_seconds"] for one in told),
        held_seconds=sum(one["held_seconds"] for one in told),
        began_at=start + plan.warm_up_seconds,
        client=facts,
    )


def _cancel_at_end_of_stdin(clients: "list[_Forked]") -> None:
    for _line in sys.stdin:
        continue
    for each in clients:
        each.stop_early()


class _Forked:
    def __init__(self, plan: ReplayPlan, script: Script, connect: Connect, number: int) -> None:
        here, there = os.pipe(), os.pipe()
        self._ended = False
        self._pid = os.fork()
        if not self._pid:
            os.close(here[0])
            os.close(there[1])
            _live(plan, script, connect, number, there[0], here[1])
        os.close(here[1])
        os.close(there[0])
        self._from = os.fdopen(here[0], "r", encoding="utf-8")
        self._to = os.fdopen(there[1], "w", encoding="utf-8")

    def wait_until_ready(self) -> None:
        """Raises MeasurementError if the login fails."""
        self._line()

    def go(self, start: float) -> None:
        """``start`` by the monotonic clock."""
        self._to.write(f"{start}\n")
        self._to.flush()

    def result(self) -> dict[str, Any]:
        """Raises MeasurementError."""
        return self._line()

    def stop_early(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            if not self._ended:
                os.kill(self._pid, signal.SIGTERM)

    def end(self) -> None:
        self.stop_early()
        os.waitpid(self._pid, 0)
        self._ended = True
        self._from.close()
        self._to.close()

    def _line(self) -> dict[str, Any]:
        line = self._from.readline()
        if not line:
            raise MeasurementError("a client of the replay ended without a word; see what it printed")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise MeasurementError(answer["error"])
        return answer


def _live(plan: ReplayPlan, script: Script, connect: Connect, number: int, heard: int, told: int) -> NoReturn:
    die_with_parent()
    code = 1
    try:
        with os.fdopen(told, "w", encoding="utf-8") as out, os.fdopen(heard, encoding="utf-8") as orders:
            _work(plan, script, connect, number, orders, out)
            code = 0
    except BaseException:  # noqa: BLE001  the parent reads what it did not say
        traceback.print_exc()
    finally:
        os._exit(code)


def _work(plan: ReplayPlan, script: Script, connect: Connect, number: int, orders: TextIO, out: TextIO) -> None:
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        with connect(plan) as share:
            replayer = Replayer(share, plan.folder, number)
            _tell(out, {"ready": number})
            while not stopped.is_set() and not select.select([orders], [], [], _LOOK_SECONDS)[0]:
                continue
            if stopped.is_set():
                return
            found = _measured(plan, script, replayer, float(orders.readline() or 0), stopped)
            replayer.clean_up()
            found["requests"] = dict(replayer.tally.requests_by_name() + Counter(found["requests"]))
            _tell(out, found)
    except SharebenchError as error:
        _tell(out, {"error": str(error)})
    except Exception as error:  # noqa: BLE001  whatever it was, the parent must hear of it
        _tell(out, {"error": f"a client of the replay failed: {type(error).__name__}: {error}"})


def _tell(out: TextIO, answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()


def _measured(
    plan: ReplayPlan, script: Script, replayer: Replayer, start: float, stopped: threading.Event
) -> dict[str, Any]:
    """Requests of the whole session are counted apart."""
    requests: Counter[str] = Counter()
    time.sleep(max(0.0, start - time.monotonic()))
    counts_from = time.monotonic() + plan.warm_up_seconds
    ends_at = float("inf") if plan.passes else counts_from + plan.seconds
    cpu_before, held_before, began = 0.0, 0.0, 0.0

    def over(now: float) -> bool:
        nonlocal cpu_before, held_before, began
        if not began and now >= counts_from:
            requests.update(replayer.tally.requests_by_name())
            replayer.tally = Tally()
            cpu_before, held_before, began = time.process_time(), held_seconds(), now
        return now >= ends_at or stopped.is_set()

    passes = 0
    while replayer.replay(script, over) and not 0 < plan.passes <= (passes := passes + 1):
        continue
    tally, ended = replayer.tally, time.monotonic()
    requests.update(tally.requests_by_name())
    found = {
        "seconds": max(1e-6, min(ended, ends_at) - began) if began else 0.0,
        "operations": dict(tally.operations) if began else {},
        "requests": dict(requests),
        "window_requests": sum(tally.requests.values()) if began else 0,
        "moved_bytes": tally.moved_bytes if began else 0,
        **named(tally, "wait_seconds", "longest_seconds", "unexpected"),
        "cpu_seconds": time.process_time() - cpu_before,
        "held_seconds": held_seconds() - held_before,
    }
    replayer.tally = Tally()
    return found


if __name__ == "__main__":
    sys.exit(main(null=sys.argv[1:] == [NULL]))
