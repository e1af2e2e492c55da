"""The process that replays a script over SMB: a plan on stdin, one JSON line on stdout; end of stdin cancels.

It forks one process per client after loading script and libraries, so clients share no interpreter lock and start fast.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TextIO

from app.base.child_process import die_with_parent, held_seconds, message_of, own_stdout, send
from app.base.errors import MeasurementError, ProtocolError, SharebenchError
from app.base.targets import DEEPEST
from app.clients.base import DirectoryEntry, Secrets
from app.clients.smb import wire
from app.clients.smb.null_server import null_channel
from app.clients.smb.share import ALL_NAMES, Share, charge, entries
from app.clients.smb.wire import END_OF_FILE, SAME_FILE, SUCCESS, Answer, Opcode, Request, View, status_error
from app.isolation.script import Operation, Script, ScriptLine, load_script, operations_named
from app.recording.process import Failed
from storage.json_reader import named
from storage.plan import Settings
from storage.records import ClientFacts, Target

ACCESS_FILE = 0x00100183
_FOLDER, _REMOVE_AT_CLOSE = 0x1, 0x1000
_OPEN, _CREATE = 1, 2
_CLOSE_SAME = wire.close(SAME_FILE)
_NAMES: dict[int, str] = {int(each): each.name.lower() for each in Opcode} | {
    Opcode.ECHO: "keepalive",
    Opcode.QUERY_DIRECTORY: "find",
    Opcode.QUERY_INFO: "getinfo",
    Opcode.SET_INFO: "setinfo",
}
"""smbd's counter names: ``smb2_NAME``."""
_PASS_THROUGH = 1000
"""SMB1 levels above it are native classes of MS-FSCC."""
_OLD_LEVELS = {257: wire.BASIC_INFORMATION, 258: wire.STANDARD_INFORMATION, 259: 7, 260: 9, 263: 18}
_OLD_DISK_LEVELS = {1: wire.SIZE_INFORMATION, 2: 1, 258: 1, 259: wire.SIZE_INFORMATION, 260: 4, 261: 5}
_UNCHANGED = bytes(40)
"""FileBasicInformation that changes nothing, as nbench sends it."""
MOST_REMOVAL_SECONDS = 60.0
"""A client's files are hundreds, and gone in a second; somebody may put a folder of millions in the place of theirs."""
_HOME = "client1"
"""In a script's paths; replaced by each client's own folder."""


@dataclass(slots=True)
class Tally:
    operations: Counter[str] = field(default_factory=Counter)
    requests: Counter[int] = field(default_factory=Counter)
    moved_bytes: int = 0
    wait_seconds: float = 0.0
    longest_seconds: float = 0.0
    unexpected: int = 0

    def requests_by_name(self) -> Counter[str]:
        return Counter({_NAMES[command]: count for command, count in self.requests.items()})


class Replayer:
    """Repeats a script in this client's folder; where SMB1 asks once about a path, SMB2 opens, queries and closes."""

    def __init__(self, share: Share, folder: str, number: int) -> None:
        self._channel = share.channel
        self._tree = share.tree_id
        self._folder = folder
        self._home = f"client{number}"
        self._names: dict[str, bytes] = {}
        self._files: dict[int, bytes] = {}
        self._top: bytes | None = None
        self._content = memoryview(bytes(range(256)) * 4096)
        self.tally = Tally()
        self._handlers: dict[Operation, Callable[[ScriptLine], bool]] = {
            Operation.NTCREATEX: self._create,
            Operation.CLOSE: lambda line: self._simple(wire.close(self._files.pop(line.numbers[0], bytes(16)))),
            Operation.READX: self._read,
            Operation.WRITEX: self._write,
            Operation.FLUSH: lambda line: self._simple(wire.flush(self._file(line))),
            Operation.LOCKX: lambda line: self._lock(line, unlock=False),
            Operation.UNLOCKX: lambda line: self._lock(line, unlock=True),
            Operation.RENAME: lambda line: self._about(
                line.texts[0], wire.ACCESS_DELETE, 0, wire.rename(SAME_FILE, self._name(line.texts[1]))
            ),
            Operation.UNLINK: lambda line: self._removed(self._name(line.texts[0]), 0),
            Operation.MKDIR: lambda line: self.make_folder(line.texts[0]),
            Operation.DELTREE: lambda line: self.remove_tree(line.texts[0]),
            Operation.FIND_FIRST: self._find,
            Operation.QUERY_PATH_INFORMATION: lambda line: self._about(
                line.texts[0], wire.ACCESS_ATTRIBUTES, 0, _query_file(SAME_FILE, line.numbers[0])
            ),
            Operation.QUERY_FILE_INFORMATION: lambda line: self._simple(_query_file(self._file(line), line.numbers[1])),
            Operation.QUERY_FS_INFORMATION: lambda line: self._simple(
                wire.query(
                    self._top_folder(),
                    _class_of(line.numbers[0], _OLD_DISK_LEVELS, wire.SIZE_INFORMATION),
                    wire.FILE_SYSTEM,
                )
            ),
            Operation.SET_FILE_INFORMATION: lambda line: self._simple(
                wire.set_info(self._file(line), wire.BASIC_INFORMATION, _UNCHANGED)
            ),
        }

    def replay(self, script: Script, until: Callable[[float], bool]) -> bool:
        """Replay the script once, stopping early when ``until(now)`` is true. Returns whether the pass completed."""
        clock, handlers = time.monotonic, self._handlers
        began = clock()
        for line in script.lines:
            as_expected = handlers[line.operation](line) is line.succeeds
            ended = clock()
            if until(ended):
                return False
            tally = self.tally
            took = ended - began
            tally.operations[line.operation] += 1
            tally.wait_seconds += took
            tally.unexpected += not as_expected
            tally.longest_seconds = max(tally.longest_seconds, took)
            began = ended
        self._close_all()
        return True

    def make_folder(self, path: str) -> bool:
        self._together(wire.create(self._name(path), wire.ACCESS_LIST, _CREATE, _FOLDER), _CLOSE_SAME)
        return True

    def remove_tree(self, path: str) -> bool:
        self._close_all()
        self._remove_folder(self._name(path), time.monotonic() + MOST_REMOVAL_SECONDS)
        return True

    def clean_up(self) -> None:
        self.remove_tree(f"\\clients\\{_HOME}")
        for path in (r"\clients", "\\"):
            self._removed(self._name(path), _FOLDER)

    def _create(self, line: ScriptLine) -> bool:
        options, disposition, handle = line.numbers
        file_id = self._open(
            self._name(line.texts[0]), wire.ACCESS_LIST if options & _FOLDER else ACCESS_FILE, disposition, options
        )
        if file_id is not None:
            self._files[handle] = file_id
        return file_id is not None

    def _read(self, line: ScriptLine) -> bool:
        _handle, offset, length, expected = line.numbers
        status, message = self._ask(wire.read(self._file(line), offset, length), charge=charge(length))
        if status == END_OF_FILE:
            return not expected
        data = wire.read_data(message) if status == SUCCESS else None
        self.tally.moved_bytes += len(data or b"")
        return data is not None and len(data) == expected

    def _write(self, line: ScriptLine) -> bool:
        _handle, offset, length, _expected = line.numbers
        request = wire.write(self._file(line), offset, length)
        status, message = self._ask(request, self._content[:length], charge=charge(length))
        written = wire.written_bytes(message) if status == SUCCESS else 0
        self.tally.moved_bytes += written
        return written == length

    def _lock(self, line: ScriptLine, *, unlock: bool) -> bool:
        return self._simple(wire.lock(self._file(line), line.numbers[1], line.numbers[2], unlock=unlock))

    def _find(self, line: ScriptLine) -> bool:
        folder, _, pattern = line.texts[0].rpartition("\\")
        found = wire.find(SAME_FILE, pattern.encode("utf-16-le"), wire.BOTH_DIRECTORY_INFORMATION, restart=True)
        return self._about(folder, wire.ACCESS_LIST, _FOLDER, found)

    def _about(self, path: str, access: int, options: int, request: Request) -> bool:
        """Open, query and close as one compound. Returns whether the query succeeded."""
        return self._together(wire.create(self._name(path), access, _OPEN, options), request, _CLOSE_SAME)

    def _ask(self, request: Request, payload: View = b"", *, charge: int = 1) -> Answer:
        self.tally.requests[request[0]] += 1
        return self._channel.ask_at_once(self._tree, (request,), payload, charge=charge)[0]

    def _simple(self, request: Request) -> bool:
        return self._ask(request)[0] == SUCCESS

    def _open(self, name: bytes, access: int, disposition: int, options: int) -> bytes | None:
        status, message = self._ask(wire.create(name, access, disposition, options))
        if status != SUCCESS:
            return None
        opened = wire.parse_created(message)
        if opened is None:
            raise self._channel.fail(ProtocolError, "the server's answer is cut off; see its log")
        return opened.file_id

    def _together(self, *related: Request) -> bool:
        """Whether all compound requests succeed; after a failed first one the server counts no other."""
        while self._channel.credits < len(related):
            self._ask(wire.ECHO)
        statuses = [status for status, _message in self._channel.ask_at_once(self._tree, related)]
        counts = self.tally.requests
        for command, _body in related if statuses[0] == SUCCESS else related[:1]:
            counts[command] += 1
        return not any(statuses)

    def _removed(self, name: bytes, options: int) -> bool:
        return self._together(wire.create(name, wire.ACCESS_DELETE, _OPEN, options | _REMOVE_AT_CLOSE), _CLOSE_SAME)

    def _remove_folder(self, name: bytes, until: float, depth: int = 0) -> None:
        if depth > DEEPEST or time.monotonic() > until:
            raise MeasurementError(
                f"the clients' folder {self._folder} has in it what no client made, and was left: look at it there, and"
                " measure where nobody else works"
            )
        file_id = self._open(name, wire.ACCESS_LIST, _OPEN, _FOLDER)
        if file_id is None:
            return
        inside: list[DirectoryEntry] = []
        while True:
            status, message = self._ask(wire.find(file_id, ALL_NAMES))
            if status != SUCCESS:
                break
            inside += [entry for entry, _bytes in entries(message)]
        self._ask(wire.close(file_id))
        for entry in inside:
            path = name + f"\\{entry.name}".encode("utf-16-le")
            if entry.is_folder:
                self._remove_folder(path, until, depth + 1)
            else:
                self._removed(path, 0)
        self._removed(name, _FOLDER)

    def _file(self, line: ScriptLine) -> bytes:
        """An id that no server knows if nothing was opened under the handle."""
        return self._files.get(line.numbers[0], bytes(16))

    def _top_folder(self) -> bytes:
        if self._top is None:
            self._top = self._open(self._name("\\"), wire.ACCESS_LIST, _OPEN, _FOLDER)
            if self._top is None:
                raise status_error(0xC0000034, self._channel.where)
        return self._top

    def _close_all(self) -> None:
        for file_id in filter(None, (*self._files.values(), self._top)):
            self._ask(wire.close(file_id))
        self._files.clear()
        self._top = None

    def _name(self, path: str) -> bytes:
        known = self._names.get(path)
        if known is None:
            parts = [self._folder, *(part for part in path.replace(_HOME, self._home).split("\\") if part)]
            known = self._names[path] = "\\".join(part for part in parts if part).encode("utf-16-le")
        return known


def _query_file(file_id: bytes, level: int) -> Request:
    return wire.query(file_id, _class_of(level, _OLD_LEVELS, wire.BASIC_INFORMATION))


def _class_of(level: int, old: dict[int, int], otherwise: int) -> int:
    return level - _PASS_THROUGH if _PASS_THROUGH < level < _PASS_THROUGH + 256 else old.get(level, otherwise)


_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
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
    client: ClientFacts


@contextlib.contextmanager
def _share(plan: ReplayPlan) -> Iterator[Share]:
    """The target's, or that of a server that does almost nothing."""
    if plan.null:
        assert plan.client
        with null_channel(plan.client) as channel:
            yield Share(channel, 1)
        return
    from app.clients.smb.client import SMBClient  # noqa: PLC0415  loaded once, before the clients are forked

    with contextlib.closing(SMBClient(plan.target, plan.secrets, plan.settings)) as client:
        yield client.connected_share()


def main() -> int:
    out = own_stdout()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    plan: ReplayPlan = message_of(sys.stdin.readline(), [ReplayPlan])
    try:
        answer: ReplayResult | Failed = _replay(plan)
    except SharebenchError as error:
        answer = Failed.of(error)
    send(out, answer)
    return 0


def _replay(plan: ReplayPlan) -> ReplayResult:
    if plan.null:
        if plan.client is None:
            raise MeasurementError("nothing was negotiated yet: measure the server first")
        return _replay_by_all(plan, plan.client, Counter())
    from app.clients.smb.client import SMBClient  # noqa: PLC0415  loaded once, before the clients are forked

    with contextlib.closing(SMBClient(plan.target, plan.secrets, plan.settings)) as first:
        maker = Replayer(first.connected_share(), plan.folder, 0)
        maker.make_folder("\\")
        facts = first.facts()
    return _replay_by_all(plan, facts, maker.tally.requests_by_name())


_SUMMED = ("window_requests", "moved_bytes", "wait_seconds", "unexpected", "cpu_seconds", "held_seconds")


def _replay_by_all(plan: ReplayPlan, facts: ClientFacts, requests: Counter[str]) -> ReplayResult:
    script = load_script(plan.script_path)
    if plan.without:
        script = script.without(operations_named(",".join(plan.without)))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until each client can take it
    clients = [_Forked(plan, script, number) for number in range(1, plan.clients + 1)]
    threading.Thread(target=_cancel_at_end_of_stdin, args=(clients,), daemon=True).start()
    try:
        for each in clients:
            each.hear(_ClientReady)
        start = time.monotonic() + 0.05
        for each in clients:
            each.go(start)
        results = [each.hear(_ClientResult) for each in clients]
    finally:
        for each in clients:
            each.end()
    sums: Counter[str] = Counter()
    for one in results:
        sums.update(one.operations)
        requests.update(one.requests)
    return ReplayResult(
        seconds=sum(one.seconds for one in results) / len(results),
        operations=dict(sums),
        requests=dict(requests),
        **{name: sum(getattr(one, name) for one in results) for name in _SUMMED},
        longest_seconds=max(one.longest_seconds for one in results),
        began_at=start + plan.warm_up_seconds,
        client=facts,
    )


def _cancel_at_end_of_stdin(clients: "list[_Forked]") -> None:
    sys.stdin.read()
    for each in clients:
        each.stop_early()


class _Forked:
    def __init__(self, plan: ReplayPlan, script: Script, number: int) -> None:
        here, there = os.pipe(), os.pipe()
        self._ended = False
        self._pid = os.fork()
        if not self._pid:
            os.close(here[0])
            os.close(there[1])
            _live(plan, script, number, there[0], here[1])
        os.close(here[1])
        os.close(there[0])
        self._from = os.fdopen(here[0], "r", encoding="utf-8")
        self._to = os.fdopen(there[1], "w", encoding="utf-8")

    def go(self, start: float) -> None:
        send(self._to, _StartAt(seconds=start))

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

    def hear(self, kind: type) -> Any:
        """Raises MeasurementError, also where the client says that it failed."""
        line = self._from.readline()
        if not line:
            raise MeasurementError("a client of the replay ended without a word; see what it printed")
        message = message_of(line, [kind, Failed])
        if isinstance(message, Failed):
            raise MeasurementError(message.text)
        return message


def _live(plan: ReplayPlan, script: Script, number: int, heard: int, told: int) -> NoReturn:
    die_with_parent()
    code = 1
    try:
        with os.fdopen(told, "w", encoding="utf-8") as out, os.fdopen(heard, encoding="utf-8") as orders:
            _work(plan, script, number, orders, out)
            code = 0
    except BaseException:  # noqa: BLE001  the parent reads what it did not say
        traceback.print_exc()
    finally:
        os._exit(code)


def _work(plan: ReplayPlan, script: Script, number: int, orders: TextIO, out: TextIO) -> None:
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        with _share(plan) as share:
            replayer = Replayer(share, plan.folder, number)
            send(out, _ClientReady())
            while not stopped.is_set() and not select.select([orders], [], [], _LOOK_SECONDS)[0]:
                continue
            if stopped.is_set():
                return
            start: _StartAt = message_of(orders.readline(), [_StartAt])
            result = _measured(plan, script, replayer, start.seconds, stopped)
            replayer.clean_up()
            requests = replayer.tally.requests_by_name() + Counter(result.requests)
            send(out, replace(result, requests=dict(requests)))
    except SharebenchError as error:
        send(out, Failed.of(error))
    except Exception as error:  # noqa: BLE001  whatever it was, the parent must hear of it
        send(out, Failed(kind=MeasurementError, text=f"a client of the replay failed: {type(error).__name__}: {error}"))


def _measured(
    plan: ReplayPlan, script: Script, replayer: Replayer, start: float, stopped: threading.Event
) -> _ClientResult:
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
    replayer.tally = Tally()
    return _ClientResult(
        seconds=max(1e-6, min(ended, ends_at) - began) if began else 0.0,
        operations=dict(tally.operations) if began else {},
        requests=dict(requests),
        window_requests=sum(tally.requests.values()) if began else 0,
        moved_bytes=tally.moved_bytes if began else 0,
        **named(tally, "wait_seconds", "longest_seconds", "unexpected"),
        cpu_seconds=time.process_time() - cpu_before,
        held_seconds=held_seconds() - held_before,
    )


if __name__ == "__main__":
    sys.exit(main())
