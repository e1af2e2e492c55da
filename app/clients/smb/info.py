"""The SMB2 messages about a file that is open: its state asked and set, flushed, locked (MS-SMB2 2.2.17 to 2.2.39)."""

import struct
from typing import NamedTuple

from app.clients.smb import wire
from app.clients.smb.wire import HEADER_BYTES, Opcode

SAME_FILE = b"\xff" * 16
"""In a related request: the file that the request before opened (MS-SMB2 3.2.4.1.4)."""
_FILE, _FILE_SYSTEM = 1, 2
_RENAME, _STANDARD, _DISPOSITION = 10, 5, 13
_FULL_SIZE = 7
_QUERY = struct.Struct("<HBBIHHIII16s")
_SET = struct.Struct("<HBBIHHI16s")
_STANDARD_INFORMATION = struct.Struct("<8xQ4xBB")
_FULL_SIZE_INFORMATION = struct.Struct("<8xQ8xII")
_ANSWER = struct.Struct("<2xHI")
_MOST_ANSWER_BYTES = 1024


class OpenFileState(NamedTuple):
    """What FileStandardInformation tells (MS-FSCC 2.4.47)."""

    size_bytes: int
    is_deleted: bool
    is_folder: bool


def query_state_frame(tree_id: int, file_id: bytes) -> bytearray:
    """A QUERY_INFO for size and kind."""
    return _query(tree_id, file_id, _FILE, _STANDARD)


def query_space_frame(tree_id: int, file_id: bytes) -> bytearray:
    """A QUERY_INFO for the space of the file system (MS-FSCC 2.5.4)."""
    return _query(tree_id, file_id, _FILE_SYSTEM, _FULL_SIZE)


def _query(tree_id: int, file_id: bytes, kind: int, information: int) -> bytearray:
    body = _QUERY.pack(41, kind, information, _MOST_ANSWER_BYTES, 0, 0, 0, 0, 0, file_id)
    return wire.frame(Opcode.QUERY_INFO, body + b"\0", tree_id)


def parse_state(message: memoryview) -> OpenFileState | None:
    """The state in a QUERY_INFO response; None where the message does not hold one."""
    data = _content(message)
    if data is None or len(data) < _STANDARD_INFORMATION.size:
        return None
    size_bytes, is_deleted, is_folder = _STANDARD_INFORMATION.unpack_from(data)
    return OpenFileState(size_bytes, bool(is_deleted), bool(is_folder))


def parse_free_bytes(message: memoryview) -> int | None:
    """What this user may still write, in a QUERY_INFO response; None where the message does not hold it."""
    data = _content(message)
    if data is None or len(data) < _FULL_SIZE_INFORMATION.size:
        return None
    units, sectors, sector_bytes = _FULL_SIZE_INFORMATION.unpack_from(data)
    return int(units * sectors * sector_bytes)


def _content(message: memoryview) -> memoryview | None:
    if len(message) < HEADER_BYTES + _ANSWER.size:
        return None
    start, length = _ANSWER.unpack_from(message, HEADER_BYTES)
    if start < HEADER_BYTES + _ANSWER.size or start + length > len(message):
        return None
    return message[start : start + length]


def rename_frame(tree_id: int, file_id: bytes, new_name: str) -> bytearray:
    """A SET_INFO that renames, and replaces nothing (MS-FSCC 2.4.43)."""
    raw = new_name.encode("utf-16-le")
    return _set(tree_id, file_id, _RENAME, struct.pack("<B7xQI", 0, 0, len(raw)) + raw)


def remove_frame(tree_id: int, file_id: bytes) -> bytearray:
    """A SET_INFO that removes the file or empty folder when it is closed (MS-FSCC 2.4.11)."""
    return _set(tree_id, file_id, _DISPOSITION, b"\1")


def _set(tree_id: int, file_id: bytes, information: int, data: bytes) -> bytearray:
    head = _SET.pack(33, _FILE, information, len(data), HEADER_BYTES + _SET.size, 0, 0, file_id)
    return wire.frame(Opcode.SET_INFO, head + data, tree_id)


def flush_frame(tree_id: int, file_id: bytes) -> bytearray:
    """A FLUSH request (MS-SMB2 2.2.17)."""
    return wire.frame(Opcode.FLUSH, struct.pack("<HHI16s", 24, 0, 0, file_id), tree_id)
