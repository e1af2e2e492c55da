"""One client of the server layer: sends an SMB 2 or 3 server what a script says, line by line.

What SMB1 asked about a path in one request is an open, a query and a close in SMB2. Requests are counted by command, to
compare with the server's counters.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from app.clients.base import DirectoryEntry
from app.clients.smb import wire
from app.clients.smb.errors import END_OF_FILE, SUCCESS, status_error
from app.clients.smb.share import ALL_NAMES, Share, entries
from app.clients.smb.wire import SAME_FILE, Answer, Opcode, Request, View
from app.errors import ProtocolError
from app.isolation.script import Operation, Script, ScriptLine

_SYNCHRONIZE, _DELETE = 0x00100000, 0x00010000
ACCESS_FILE = _SYNCHRONIZE | 0x183
"""Read and write data and attributes, as nbench asks for."""
_ACCESS_FOLDER = _SYNCHRONIZE | 0x81
_ACCESS_ASK = _SYNCHRONIZE | 0x80
_ACCESS_REMOVE = _SYNCHRONIZE | _DELETE | 0x80
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
_HOME = "client1"
"""In a script's paths; replaced by each client's own folder."""


@dataclass(slots=True)
class Tally:
    """What one client did in a stretch of time."""

    operations: Counter[str] = field(default_factory=Counter)
    requests: Counter[int] = field(default_factory=Counter)
    """SMB2 requests by command."""
    moved_bytes: int = 0
    wait_seconds: float = 0.0
    longest_seconds: float = 0.0
    unexpected: int = 0
    """Lines whose result the script did not expect."""

    def requests_by_name(self) -> Counter[str]:
        """By the names of smbd's counters."""
        return Counter({_NAMES[command]: count for command, count in self.requests.items()})


class Replayer:
    """Repeats a script on one share, in this client's own folder."""

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
            Operation.CLOSE: self._close,
            Operation.READX: self._read,
            Operation.WRITEX: self._write,
            Operation.FLUSH: lambda line: self._simple(wire.flush(self._file(line))),
            Operation.LOCKX: lambda line: self._lock(line, unlock=False),
            Operation.UNLOCKX: lambda line: self._lock(line, unlock=True),
            Operation.RENAME: self._rename,
            Operation.UNLINK: lambda line: self._removed(self._name(line.texts[0]), 0),
            Operation.MKDIR: lambda line: self.make_folder(line.texts[0]),
            Operation.DELTREE: lambda line: self.remove_tree(line.texts[0]),
            Operation.FIND_FIRST: self._find,
            Operation.QUERY_PATH_INFORMATION: self._query_path,
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
        """An existing folder counts as success."""
        self._opened(self._name(path), _ACCESS_FOLDER, _CREATE, _FOLDER)
        return True

    def remove_tree(self, path: str) -> bool:
        """A missing folder counts as success."""
        self._close_all()
        self._remove_folder(self._name(path))
        return True

    def clean_up(self) -> None:
        self.remove_tree(f"\\clients\\{_HOME}")
        for path in (r"\clients", "\\"):
            self._removed(self._name(path), _FOLDER)

    # One line

    def _create(self, line: ScriptLine) -> bool:
        options, disposition, handle = line.numbers
        file_id = self._open(
            self._name(line.texts[0]), _ACCESS_FOLDER if options & _FOLDER else ACCESS_FILE, disposition, options
        )
        if file_id is not None:
            self._files[handle] = file_id
        return file_id is not None

    def _close(self, line: ScriptLine) -> bool:
        return self._simple(wire.close(self._files.pop(line.numbers[0], bytes(16))))

    def _read(self, line: ScriptLine) -> bool:
        _handle, offset, length, expected = line.numbers
        status, message = self._ask(wire.read(self._file(line), offset, length), charge=_charge(length))
        if status == END_OF_FILE:
            return not expected
        data = wire.read_data(message) if status == SUCCESS else None
        self.tally.moved_bytes += len(data or b"")
        return data is not None and len(data) == expected

    def _write(self, line: ScriptLine) -> bool:
        _handle, offset, length, _expected = line.numbers
        request = wire.write(self._file(line), offset, length)
        status, message = self._ask(request, self._content[:length], charge=_charge(length))
        written = wire.written_bytes(message) if status == SUCCESS else 0
        self.tally.moved_bytes += written
        return written == length

    def _lock(self, line: ScriptLine, *, unlock: bool) -> bool:
        return self._simple(wire.lock(self._file(line), line.numbers[1], line.numbers[2], unlock=unlock))

    def _rename(self, line: ScriptLine) -> bool:
        new_name = self._name(line.texts[1])
        return self._about(line.texts[0], _ACCESS_REMOVE, 0, wire.rename(SAME_FILE, new_name))

    def _find(self, line: ScriptLine) -> bool:
        folder, _, pattern = line.texts[0].rpartition("\\")
        found = wire.find(SAME_FILE, pattern.encode("utf-16-le"), wire.BOTH_DIRECTORY_INFORMATION, restart=True)
        return self._about(folder, _ACCESS_FOLDER, _FOLDER, found)

    def _query_path(self, line: ScriptLine) -> bool:
        query = _query_file(SAME_FILE, line.numbers[0])
        return self._about(line.texts[0], _ACCESS_ASK, 0, query)

    def _about(self, path: str, access: int, options: int, request: Request) -> bool:
        """Open, query and close as one compound. Returns whether the query succeeded."""
        opened = wire.create(self._name(path), access, _OPEN, options)
        return self._together(opened, request, _CLOSE_SAME)

    # What lines are made of

    def _ask(self, request: Request, payload: View = b"", *, charge: int = 1) -> Answer:
        self.tally.requests[request[0]] += 1
        return self._channel.ask_at_once(self._tree, (request,), payload, charge=charge)[0]

    def _simple(self, request: Request) -> bool:
        return self._ask(request)[0] == SUCCESS

    def _open(self, name: bytes, access: int, disposition: int, options: int) -> bytes | None:
        """None if the server refuses."""
        status, message = self._ask(wire.create(name, access, disposition, options))
        if status != SUCCESS:
            return None
        opened = wire.parse_created(message)
        if opened is None:
            channel = self._channel
            raise channel.fail(ProtocolError(f"{channel.where}: the server's answer is cut off; see its log"))
        return opened.file_id

    def _opened(self, name: bytes, access: int, disposition: int, options: int) -> bool:
        opened = wire.create(name, access, disposition, options)
        return self._together(opened, _CLOSE_SAME)

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
        return self._opened(name, _ACCESS_REMOVE, _OPEN, options | _REMOVE_AT_CLOSE)

    def _remove_folder(self, name: bytes) -> None:
        file_id = self._open(name, _ACCESS_FOLDER, _OPEN, _FOLDER)
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
                self._remove_folder(path)
            else:
                self._removed(path, 0)
        self._removed(name, _FOLDER)

    def _file(self, line: ScriptLine) -> bytes:
        """An id that no server knows if nothing was opened under the handle."""
        return self._files.get(line.numbers[0], bytes(16))

    def _top_folder(self) -> bytes:
        if self._top is None:
            self._top = self._open(self._name("\\"), _ACCESS_FOLDER, _OPEN, _FOLDER)
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


def _charge(length: int) -> int:
    return max(1, -(-length // wire.CREDIT_BYTES))


def _query_file(file_id: bytes, level: int) -> Request:
    return wire.query(file_id, _class_of(level, _OLD_LEVELS, wire.BASIC_INFORMATION))


def _class_of(level: int, old: dict[int, int], otherwise: int) -> int:
    return level - _PASS_THROUGH if _PASS_THROUGH < level < _PASS_THROUGH + 256 else old.get(level, otherwise)
