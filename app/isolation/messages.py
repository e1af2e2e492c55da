"""The SMB2 messages of a replayed script that no timed transfer has need of (MS-SMB2 2.2)."""

import struct
from enum import IntEnum

from app.clients.smb.wire import HEADER_BYTES, Request

_CREATE = struct.Struct("<HBBIQQIIIIIHHII")
_CLOSE = struct.Struct("<HHI16s")
_READ = struct.Struct("<HBBIQ16sIIIHHB")
_WRITE = struct.Struct("<HHIQ16sIIHHI")
_FLUSH = struct.Struct("<HHI16s")
_LOCK = struct.Struct("<HHI16sQQII")
_QUERY_DIRECTORY = struct.Struct("<HBBI16sHHI")
_QUERY = struct.Struct("<HBBIHHIII16s")
_SET = struct.Struct("<HBBIHHI16s")
_RENAME = struct.Struct("<B7xQI")
_BASIC_BYTES = 40
_CREATE_NAME_AT = HEADER_BYTES + _CREATE.size
_WRITTEN_AT = HEADER_BYTES + _WRITE.size
_DATA_AT = 0x50
"""Where the server shall put what is read."""
_SHARE_ALL = 0x7
_IMPERSONATION = 2
_FILE, _FILE_SYSTEM = 1, 2
_BASIC, _STANDARD, _RENAMED, _BOTH_DIRECTORY = 4, 5, 10, 3
_SIZE_OF_DISK = 3
_ANSWER_BYTES = 1024
_LIST_BYTES = 65536
_RESTART, _LOCK_NOW, _UNLOCK = 0x1, 0x12, 0x4
_PASS_THROUGH = 1000
"""SMB1's levels above it are the native classes of MS-FSCC."""
_OLD_LEVELS = {257: _BASIC, 258: _STANDARD, 259: 7, 260: 9, 263: 18}
_OLD_DISK_LEVELS = {1: _SIZE_OF_DISK, 2: 1, 258: 1, 259: _SIZE_OF_DISK, 260: 4, 261: 5}


class ReplayCommand(IntEnum):
    """The commands of a replay, by MS-SMB2 2.2.1."""

    CREATE = 5
    CLOSE = 6
    FLUSH = 7
    READ = 8
    WRITE = 9
    LOCK = 10
    KEEPALIVE = 13
    FIND = 14
    GETINFO = 16
    SETINFO = 17


NAMES = {request.value: request.name.lower() for request in ReplayCommand}
"""As smbd's counters name them: ``smb2_NAME``."""


def create(name: bytes, access: int, disposition: int, options: int) -> Request:
    """A CREATE of an encoded name, without an oplock."""
    fixed = _CREATE.pack(
        57, 0, 0, _IMPERSONATION, 0, 0, access, 0, _SHARE_ALL, disposition, options, _CREATE_NAME_AT, len(name), 0, 0
    )
    return ReplayCommand.CREATE, fixed + (name or b"\0")


def close(file_id: bytes) -> Request:
    """A CLOSE that asks for nothing more, as SMB1's does."""
    return ReplayCommand.CLOSE, _CLOSE.pack(24, 0, 0, file_id)


def read(file_id: bytes, offset: int, length: int) -> Request:
    """A READ of so many bytes."""
    return ReplayCommand.READ, _READ.pack(49, _DATA_AT, 0, length, offset, file_id, 0, 0, 0, 0, 0, 0)


def write(file_id: bytes, offset: int, length: int) -> Request:
    """A WRITE of so many bytes, which go behind it."""
    return ReplayCommand.WRITE, _WRITE.pack(49, _WRITTEN_AT, length, offset, file_id, 0, 0, 0, 0, 0)


def echo() -> Request:
    """An ECHO."""
    return ReplayCommand.KEEPALIVE, b"\4\0\0\0"


def flush(file_id: bytes) -> Request:
    """A FLUSH of one file."""
    return ReplayCommand.FLUSH, _FLUSH.pack(24, 0, 0, file_id)


def lock(file_id: bytes, offset: int, length: int, *, unlock: bool) -> Request:
    """An exclusive lock that is had at once or not at all, or its end."""
    flags = _UNLOCK if unlock else _LOCK_NOW
    return ReplayCommand.LOCK, _LOCK.pack(48, 1, 0, file_id, offset, length, flags, 0)


def find(file_id: bytes, pattern: bytes, *, restart: bool = True) -> Request:
    """A QUERY_DIRECTORY for what matches an encoded pattern, as much as one credit pays for."""
    fixed = _QUERY_DIRECTORY.pack(
        33, _BOTH_DIRECTORY, _RESTART if restart else 0, 0, file_id, HEADER_BYTES + _QUERY_DIRECTORY.size,
        len(pattern), _LIST_BYTES,
    )  # fmt: skip
    return ReplayCommand.FIND, fixed + pattern


def found_names(message: memoryview) -> list[tuple[str, bool]]:
    """The names in a QUERY_DIRECTORY answer and whether each is a folder (MS-FSCC 2.4.8). Raises struct.error."""
    start, length = struct.unpack_from("<HI", message, HEADER_BYTES + 2)
    data, at = bytes(message[start : start + length]), 0
    names = []
    while True:
        following, attributes, name_bytes = struct.unpack_from("<I52xII", data, at)
        names.append((data[at + 94 : at + 94 + name_bytes].decode("utf-16-le"), bool(attributes & 0x10)))
        if not following:
            return names
        at += following


def query_file(file_id: bytes, level: int) -> Request:
    """A QUERY_INFO of a file by SMB1's level."""
    return _query(file_id, _FILE, _class_of(level, _OLD_LEVELS, _BASIC))


def query_disk(file_id: bytes, level: int) -> Request:
    """A QUERY_INFO of the file system by SMB1's level."""
    return _query(file_id, _FILE_SYSTEM, _class_of(level, _OLD_DISK_LEVELS, _SIZE_OF_DISK))


def _class_of(level: int, old: dict[int, int], otherwise: int) -> int:
    return level - _PASS_THROUGH if _PASS_THROUGH < level < _PASS_THROUGH + 256 else old.get(level, otherwise)


def _query(file_id: bytes, kind: int, information: int) -> Request:
    return ReplayCommand.GETINFO, _QUERY.pack(41, kind, information, _ANSWER_BYTES, 0, 0, 0, 0, 0, file_id)


def set_basic(file_id: bytes) -> Request:
    """A SET_INFO of times and attributes that leaves each as it is, as nbench's does."""
    return _set(file_id, _BASIC, bytes(_BASIC_BYTES))


def rename(file_id: bytes, name: bytes) -> Request:
    """A SET_INFO that gives an open file another name, which must be free."""
    return _set(file_id, _RENAMED, _RENAME.pack(0, 0, len(name)) + name)


def _set(file_id: bytes, information: int, content: bytes) -> Request:
    fixed = _SET.pack(33, _FILE, information, len(content), HEADER_BYTES + _SET.size, 0, 0, file_id)
    return ReplayCommand.SETINFO, fixed + content
