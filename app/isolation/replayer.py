"""One client's replay of a script over SMB, request for request, on one connection.

Scripts are of dbench, whose operations are those of SMB 1; each is sent as the requests of SMB 2 that do the same.

A *compound* is several requests in one message, of which the later ones may be about the file that the first one opens.
A *credit* is the server's leave to send one request, or 64 KiB of one: what a request takes of them is its *charge*,
and each answer brings new ones.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from app.base.errors import MeasurementError, ProtocolError
from app.base.own_names import DEEPEST
from app.clients.base import FOLDER_ITSELF, DirectoryEntry
from app.clients.smb import wire
from app.clients.smb.share import ALL_NAMES, Share, entries
from app.clients.smb.transfer import charge
from app.isolation.script import Operation, Script, ScriptLine

ACCESS_FILE = 0x00100183
_REMOVE_AT_CLOSE = 0x1000
_CLOSE_SAME = wire.close(wire.SAME_FILE)
"""Closes the file that an earlier request of the same compound opened."""
_NO_FILE = bytes(16)
"""An id that no server knows."""
_COUNTER_NAMES: dict[int, str] = {int(opcode): opcode.name.lower() for opcode in wire.Opcode} | {
    wire.Opcode.ECHO: "keepalive",
    wire.Opcode.QUERY_DIRECTORY: "find",
    wire.Opcode.QUERY_INFO: "getinfo",
    wire.Opcode.SET_INFO: "setinfo",
}
"""smbd's counter names: ``smb2_NAME``."""
_PASS_THROUGH = 1000
"""SMB 1 levels of information above it are classes of MS-FSCC, plus this number; below it each has its counterpart."""
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
    """What a client has done since it was given this tally."""

    operations: Counter[str] = field(default_factory=Counter)
    """Lines of the script."""
    requests: Counter[int] = field(default_factory=Counter)
    """SMB requests, by their command."""
    moved_bytes: int = 0
    wait_seconds: float = 0.0
    longest_seconds: float = 0.0
    """Of one operation."""
    unexpected: int = 0
    """Operations that did not end as the script says."""

    def requests_by_name(self) -> Counter[str]:
        return Counter({_COUNTER_NAMES[command]: count for command, count in self.requests.items()})


class Replayer:
    """Repeats a script in this client's folder; where SMB1 asks once about a path, SMB2 opens, queries and closes."""

    def __init__(self, share: Share, folder: str, number: int) -> None:
        self._channel = share.channel
        self._tree = share.tree_id
        self._folder = folder
        self._home = f"client{number}"

        self._names: dict[str, bytes] = {}
        """Paths of the script as they go over the wire."""
        self._files: dict[int, bytes] = {}
        """The ids of open files, by the script's handles."""
        self._top: bytes | None = None
        """The id of the clients' folder, once it was opened to ask about the disk."""
        self._content = memoryview(bytes(range(256)) * 4096)
        self.tally = Tally()

        self._handlers: dict[Operation, Callable[[ScriptLine], bool]] = {
            Operation.NTCREATEX: self._create,
            Operation.CLOSE: self._close,
            Operation.READX: self._read_block,
            Operation.WRITEX: self._write_block,
            Operation.FLUSH: self._flush,
            Operation.LOCKX: self._lock,
            Operation.UNLOCKX: self._unlock,
            Operation.RENAME: self._rename,
            Operation.UNLINK: self._unlink,
            Operation.MKDIR: self._make_folder,
            Operation.DELTREE: self._remove_tree,
            Operation.FIND_FIRST: self._find,
            Operation.QUERY_PATH_INFORMATION: self._query_path,
            Operation.QUERY_FILE_INFORMATION: self._query_file,
            Operation.QUERY_FS_INFORMATION: self._query_disk,
            Operation.SET_FILE_INFORMATION: self._set_unchanged,
        }

    def replay(self, script: Script, until: Callable[[float], bool]) -> bool:
        """Replay the script once, stopping early when ``until(now)`` is true. Returns whether the pass completed."""
        clock = time.monotonic
        handlers = self._handlers
        began_at = clock()
        for line in script.lines:
            is_as_expected = handlers[line.operation](line) is line.succeeds
            ended_at = clock()
            if until(ended_at):
                return False

            tally = self.tally  # ``until`` may have put a new one in its place
            seconds = ended_at - began_at
            tally.operations[line.operation] += 1
            tally.wait_seconds += seconds
            tally.unexpected += not is_as_expected
            tally.longest_seconds = max(tally.longest_seconds, seconds)
            began_at = ended_at

        self._close_all()
        return True

    def make_folder(self, path: str) -> bool:
        """True also where it exists already."""
        create = wire.create(self._name(path), wire.ACCESS_LIST, wire.DISPOSITION_CREATE, wire.OPTION_A_FOLDER)
        self._ask_together(create, _CLOSE_SAME)
        return True

    def remove_tree(self, path: str) -> bool:
        self._close_all()
        self._remove_folder(self._name(path), time.monotonic() + MOST_REMOVAL_SECONDS)
        return True

    def clean_up(self) -> None:
        """Remove this client's files, and the folders of all clients once they are empty."""
        self.remove_tree(f"\\clients\\{_HOME}")
        for path in (r"\clients", "\\"):
            self._remove(self._name(path), wire.OPTION_A_FOLDER)

    # One method for each operation: returns whether it succeeded

    def _create(self, line: ScriptLine) -> bool:
        options, disposition, handle = line.numbers
        access = wire.ACCESS_LIST if options & wire.OPTION_A_FOLDER else ACCESS_FILE
        file_id = self._open(self._name(line.texts[0]), access, disposition, options)
        if file_id is None:
            return False
        self._files[handle] = file_id
        return True

    def _close(self, line: ScriptLine) -> bool:
        return self._succeeds(wire.close(self._files.pop(line.numbers[0], _NO_FILE)))

    def _read_block(self, line: ScriptLine) -> bool:
        _handle, offset, length, expected = line.numbers
        file_id = self._file_id(line)
        received = 0
        while True:
            # Like any client, in several requests where the server takes none so large.
            asked = min(length - received, self._channel.most_read_bytes)
            status, message = self._ask(wire.read(file_id, offset + received, asked), charge=charge(asked))
            if status == wire.END_OF_FILE:
                break
            data = wire.read_data(message) if status == wire.SUCCESS else None
            if data is None:
                return False
            received += len(data)
            self.tally.moved_bytes += len(data)
            if len(data) < asked or received == length:
                break

        return received == expected

    def _write_block(self, line: ScriptLine) -> bool:
        _handle, offset, length, _expected = line.numbers
        file_id = self._file_id(line)
        moved = 0
        while True:
            asked = min(length - moved, self._channel.most_write_bytes)
            request = wire.write(file_id, offset + moved, asked)
            status, message = self._ask(request, self._content[moved : moved + asked], charge=charge(asked))
            written = wire.written_bytes(message) if status == wire.SUCCESS else 0
            moved += written
            self.tally.moved_bytes += written
            if written < asked or moved == length:
                return moved == length

    def _flush(self, line: ScriptLine) -> bool:
        return self._succeeds(wire.flush(self._file_id(line)))

    def _lock(self, line: ScriptLine) -> bool:
        _handle, offset, length = line.numbers
        return self._succeeds(wire.lock(self._file_id(line), offset, length, unlock=False))

    def _unlock(self, line: ScriptLine) -> bool:
        _handle, offset, length = line.numbers
        return self._succeeds(wire.lock(self._file_id(line), offset, length, unlock=True))

    def _rename(self, line: ScriptLine) -> bool:
        path, new_path = line.texts
        return self._ask_about(path, wire.ACCESS_DELETE, 0, wire.rename(wire.SAME_FILE, self._name(new_path)))

    def _unlink(self, line: ScriptLine) -> bool:
        return self._remove(self._name(line.texts[0]), 0)

    def _make_folder(self, line: ScriptLine) -> bool:
        return self.make_folder(line.texts[0])

    def _remove_tree(self, line: ScriptLine) -> bool:
        return self.remove_tree(line.texts[0])

    def _find(self, line: ScriptLine) -> bool:
        folder, _, pattern = line.texts[0].rpartition("\\")
        name = pattern.encode("utf-16-le")
        most_bytes = self._channel.most_answer_bytes
        find = wire.find(wire.SAME_FILE, name, wire.BOTH_DIRECTORY_INFORMATION, most_bytes=most_bytes, restart=True)
        return self._ask_about(folder, wire.ACCESS_LIST, wire.OPTION_A_FOLDER, find)

    def _query_path(self, line: ScriptLine) -> bool:
        query = _file_query(wire.SAME_FILE, line.numbers[0])
        return self._ask_about(line.texts[0], wire.ACCESS_ATTRIBUTES, 0, query)

    def _query_file(self, line: ScriptLine) -> bool:
        return self._succeeds(_file_query(self._file_id(line), line.numbers[1]))

    def _query_disk(self, line: ScriptLine) -> bool:
        information = _class_of(line.numbers[0], _OLD_DISK_LEVELS, wire.SIZE_INFORMATION)
        return self._succeeds(wire.query(self._top_folder(), information, wire.FILE_SYSTEM))

    def _set_unchanged(self, line: ScriptLine) -> bool:
        return self._succeeds(wire.set_info(self._file_id(line), wire.BASIC_INFORMATION, _UNCHANGED))

    # Requests

    def _ask_about(self, path: str, access: int, options: int, request: wire.Request) -> bool:
        """Open, query and close as one compound. Returns whether the query succeeded."""
        create = wire.create(self._name(path), access, wire.DISPOSITION_OPEN, options)
        return self._ask_together(create, request, _CLOSE_SAME)

    def _ask(self, request: wire.Request, payload: wire.View = b"", *, charge: int = 1) -> wire.Answer:
        command, _body = request
        self.tally.requests[command] += 1
        (answer,) = self._channel.ask_at_once(self._tree, (request,), payload, charge=charge)
        return answer

    def _succeeds(self, request: wire.Request) -> bool:
        status, _message = self._ask(request)
        return status == wire.SUCCESS

    def _open(self, name: bytes, access: int, disposition: int, options: int) -> bytes | None:
        status, message = self._ask(wire.create(name, access, disposition, options))
        if status != wire.SUCCESS:
            return None
        opened = wire.parse_created(message)
        if opened is None:
            raise self._channel.fail(ProtocolError, "the server's answer is cut off; see its log")
        return opened.file_id

    def _ask_together(self, *requests: wire.Request) -> bool:
        """Whether all compound requests succeed; after a failed first one the server counts no other."""
        while self._channel.credits < len(requests):
            # An empty request: its answer brings new credits.
            self._ask(wire.ECHO)
        answers = self._channel.ask_at_once(self._tree, requests)

        status_of_first, _message = answers[0]
        is_opened = status_of_first == wire.SUCCESS
        counts = self.tally.requests
        for command, _body in requests if is_opened else requests[:1]:
            counts[command] += 1
        return all(status == wire.SUCCESS for status, _message in answers)

    def _remove(self, name: bytes, options: int) -> bool:
        create = wire.create(name, wire.ACCESS_DELETE, wire.DISPOSITION_OPEN, options | _REMOVE_AT_CLOSE)
        return self._ask_together(create, _CLOSE_SAME)

    def _remove_folder(self, name: bytes, until: float, depth: int = 0) -> None:
        if depth > DEEPEST or time.monotonic() > until:
            raise MeasurementError(
                f"the clients' folder {self._folder} has in it what no client made, and was left: look at it there, and"
                " measure where nobody else works"
            )
        file_id = self._open(name, wire.ACCESS_LIST, wire.DISPOSITION_OPEN, wire.OPTION_A_FOLDER)
        if file_id is None:
            return
        contents = self._list(file_id)
        self._ask(wire.close(file_id))

        for entry in contents:
            path = name + f"\\{entry.name}".encode("utf-16-le")
            if entry.is_folder:
                self._remove_folder(path, until, depth + 1)
            else:
                self._remove(path, 0)
        self._remove(name, wire.OPTION_A_FOLDER)

    def _list(self, folder_id: bytes) -> list[DirectoryEntry]:
        contents: list[DirectoryEntry] = []
        find = wire.find(folder_id, ALL_NAMES, most_bytes=self._channel.most_answer_bytes)
        while True:
            status, message = self._ask(find)
            if status != wire.SUCCESS:
                return contents
            contents += [entry for entry in entries(message) if entry.name not in FOLDER_ITSELF]

    def _file_id(self, line: ScriptLine) -> bytes:
        return self._files.get(line.numbers[0], _NO_FILE)

    def _top_folder(self) -> bytes:
        if self._top is None:
            self._top = self._open(self._name("\\"), wire.ACCESS_LIST, wire.DISPOSITION_OPEN, wire.OPTION_A_FOLDER)
            if self._top is None:
                raise wire.status_error(wire.OBJECT_NAME_NOT_FOUND, self._channel.where)
        return self._top

    def _close_all(self) -> None:
        for file_id in (*self._files.values(), self._top):
            if file_id:
                self._ask(wire.close(file_id))
        self._files.clear()
        self._top = None

    def _name(self, path: str) -> bytes:
        """As it goes over the wire; paths repeat thousands of times."""
        name = self._names.get(path)
        if name is None:
            own_path = path.replace(_HOME, self._home)
            parts = [self._folder, *own_path.split("\\")]
            name = "\\".join(part for part in parts if part).encode("utf-16-le")
            self._names[path] = name
        return name


def _file_query(file_id: bytes, level: int) -> wire.Request:
    return wire.query(file_id, _class_of(level, _OLD_LEVELS, wire.BASIC_INFORMATION))


def _class_of(level: int, old_levels: dict[int, int], otherwise: int) -> int:
    """The class of MS-FSCC for a level of SMB 1."""
    if _PASS_THROUGH < level < _PASS_THROUGH + 256:
        return level - _PASS_THROUGH
    return old_levels.get(level, otherwise)
