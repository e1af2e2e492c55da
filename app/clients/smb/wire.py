"""The SMB2 messages, packed and parsed by offset (MS-SMB2 2.2): the only encoder of transfers, file operations and
replays. A request is its command and its body; :func:`frame` puts it behind a header, for a channel to stamp.
"""

import struct
from enum import IntEnum
from typing import NamedTuple

View = bytes | bytearray | memoryview

FRAME_BYTES = 4
"""The direct-TCP prefix: a zero byte and the message's length in three (MS-SMB2 2.1)."""
HEADER_BYTES = 64
CREDIT_BYTES = 65536
"""What one credit pays for (MS-SMB2 3.2.4.1.5)."""
UNSOLICITED = 0xFFFFFFFFFFFFFFFF
"""The message id of an oplock or lease break (MS-SMB2 2.2.23)."""

SMB2_ID = b"\xfeSMB"
TRANSFORM_ID = b"\xfdSMB"
TRANSFORM_BYTES = 52
KEEP_ALIVE = 0x85

FLAG_RESPONSE = 0x1
FLAG_ASYNC = 0x2
FLAG_RELATED = 0x4
"""About the file of the request before it (MS-SMB2 2.2.1.2)."""
FLAG_SIGNED = 0x8

DIALECTS = {0x0202: "2.0.2", 0x0210: "2.1", 0x0300: "3.0", 0x0302: "3.0.2", 0x0311: "3.1.1"}
SMB_2_0_2, SMB_2_1, SMB_3_0, SMB_3_0_2, SMB_3_1_1 = DIALECTS

CAP_LARGE_MTU = 0x04
CAP_ENCRYPTION = 0x40
SIGNING_ENABLED = 0x1
SIGNING_REQUIRED = 0x2
SESSION_IS_GUEST = 0x1
SESSION_IS_NULL = 0x2
SESSION_ENCRYPT = 0x4
SHARE_ENCRYPT = 0x8000

ACCESS_READ = 0x00120089
"""Read data, attributes and extended attributes of a file (MS-SMB2 2.2.13.1.1)."""
ACCESS_WRITE = 0x00120196
ACCESS_READ_WRITE = ACCESS_READ | ACCESS_WRITE
ACCESS_LIST = 0x00100081
ACCESS_ATTRIBUTES = 0x00100080
ACCESS_DELETE = 0x00110080
SHARE_ALL = 0x7
"""Others may read, write and remove meanwhile: a measurement locks nobody out."""
DISPOSITION_OPEN = 1
DISPOSITION_CREATE = 2
"""Fails where there is a file already (FILE_CREATE)."""
DISPOSITION_REPLACE = 5
"""Makes the file, or empties the one that is there (FILE_OVERWRITE_IF)."""
OPTION_A_FOLDER = 0x1
OPTION_SEQUENTIAL = 0x4
OPTION_NOT_A_FOLDER = 0x40
ATTRIBUTE_FOLDER = 0x10
ATTRIBUTE_NORMAL = 0x80

SAME_FILE = b"\xff" * 16
"""In a related request: the file that the request before opened (MS-SMB2 3.2.4.1.4)."""
FILE, FILE_SYSTEM = 1, 2
"""What a QUERY_INFO asks about (MS-SMB2 2.2.37)."""
DIRECTORY_INFORMATION, BOTH_DIRECTORY_INFORMATION, BASIC_INFORMATION, STANDARD_INFORMATION = 1, 3, 4, 5
RENAME_INFORMATION, DISPOSITION_INFORMATION = 10, 13
"""Classes of what is asked or set (MS-FSCC 2.4)."""
SIZE_INFORMATION, FULL_SIZE_INFORMATION = 3, 7
"""The same of a file system (MS-FSCC 2.5)."""

_HEADER = struct.Struct("<4sHHIHHIIQIIQ16s")
_FIELDS = struct.Struct("<4s4xIHHIIQIIQ")
_READ = struct.Struct("<HBBIQ16sIIIHHB")
_WRITE = struct.Struct("<HHIQ16sIIHHI")
_CREATE = struct.Struct("<HBBIQQIIIIIHHII")
_CREATED = struct.Struct("<HBBI8x8x8x8xQQI4x16s")
_CLOSE = struct.Struct("<HHI16s")
_CLOSED = struct.Struct("<2xH4x32x8xQ4x")
_CLOSE_WITH_SIZE = 1
"""SMB2_CLOSE_FLAG_POSTQUERY_ATTRIB."""
_LOCK = struct.Struct("<HHI16sQQII")
_LOCK_NOW, _UNLOCK = 0x12, 0x4
_FIND = struct.Struct("<HBBI16sHHI")
_RESTART = 0x1
_QUERY = struct.Struct("<HBBIHHIII16s")
_SET = struct.Struct("<HBBIHHI16s")
_STANDARD = struct.Struct("<8xQ5xB")
_FULL_SIZE = struct.Struct("<8xQ8xII")
_ANSWER = struct.Struct("<2xHI")
_MOST_ANSWER_BYTES = 1024
_DATA_AT = 0x50
"""Where the server shall put what is read."""


class Opcode(IntEnum):
    """The commands that this client sends or meets (MS-SMB2 2.2.1)."""

    NEGOTIATE = 0
    SESSION_SETUP = 1
    TREE_CONNECT = 3
    CREATE = 5
    CLOSE = 6
    FLUSH = 7
    READ = 8
    WRITE = 9
    LOCK = 10
    IOCTL = 11
    ECHO = 13
    QUERY_DIRECTORY = 14
    QUERY_INFO = 16
    SET_INFO = 17


class Response(NamedTuple):
    """One final answer; ``message`` (header and body) is only good until the next one is received."""

    status: int
    command: int
    flags: int
    message_id: int
    tree_id: int
    session_id: int
    message: memoryview


Request = tuple[int, bytes]
"""A command and its body, without a header."""


Answer = tuple[int, memoryview]
"""The status of an answer, and its message: header and body."""


class Header(NamedTuple):
    """The fields of a received header that matter here."""

    protocol: bytes
    status: int
    command: int
    credits: int
    flags: int
    next_command: int
    message_id: int
    process_id: int
    tree_id: int
    session_id: int


class OpenedFile(NamedTuple):
    """A file or folder that the server has opened."""

    file_id: bytes
    size_bytes: int
    is_folder: bool


def parse_header(message: memoryview) -> Header:
    """The header at the start of a message of at least 64 bytes."""
    return Header._make(_FIELDS.unpack_from(message))


parse_answer = struct.Struct("<4s4xIHHIIQ").unpack_from
"""Protocol, status, command, credits, flags, next command and id in the header at a place in a message."""


def header(
    command: int, charge: int, wanted: int, flags: int, following: int, message_id: int, tree_id: int, session_id: int
) -> bytes:
    """A request's whole header, unsigned; ``following`` is where the next request of the same frame begins."""
    return _HEADER.pack(
        SMB2_ID, 64, charge, 0, command, wanted, flags, following, message_id, 0xFEFF, tree_id, session_id, b""
    )


def frame(command: int, body: bytes, tree_id: int = 0) -> bytearray:
    """A request with room for its prefix; the channel stamps credits, ids, flags and signature into it."""
    return bytearray(FRAME_BYTES) + _HEADER.pack(SMB2_ID, 64, 0, 0, command, 0, 0, 0, 0, 0xFEFF, tree_id, 0, b"") + body


def stamp(message: bytearray, charge: int, wanted: int, flags: int, message_id: int, session_id: int) -> None:
    """Set the fields of a request's header that belong to the connection."""
    struct.pack_into("<H", message, FRAME_BYTES + 6, charge)
    struct.pack_into("<HI", message, FRAME_BYTES + 14, wanted, flags)
    struct.pack_into("<Q", message, FRAME_BYTES + 24, message_id)
    struct.pack_into("<Q16s", message, FRAME_BYTES + 40, session_id, b"")


def chain(message: bytearray, following: int) -> None:
    """Tell in a request where the next one of the same frame begins, from its own start."""
    struct.pack_into("<I", message, FRAME_BYTES + 20, following)


def next_message(message: memoryview) -> int:
    """Where the next message of the same frame begins; 0 for the last, and for what is too short to say."""
    return int.from_bytes(message[20:24], "little")


def read(file_id: bytes, offset: int, length: int) -> Request:
    """A READ (MS-SMB2 2.2.19)."""
    return Opcode.READ, _READ.pack(49, _DATA_AT, 0, length, offset, file_id, 0, 0, 0, 0, 0, 0)


def write(file_id: bytes, offset: int, length: int) -> Request:
    """A WRITE of ``length`` bytes, which follow it (MS-SMB2 2.2.21)."""
    return Opcode.WRITE, _WRITE.pack(49, HEADER_BYTES + _WRITE.size, length, offset, file_id, 0, 0, 0, 0, 0)


def aim(message: bytearray, offset: int, length: int) -> None:
    """Point a framed READ or WRITE, used again and again, at other bytes."""
    struct.pack_into("<IQ", message, FRAME_BYTES + HEADER_BYTES + 4, length, offset)


def read_data(message: memoryview) -> memoryview | None:
    """The data in a READ response, or None where its offset and length do not fit the message."""
    if len(message) < HEADER_BYTES + 16:
        return None
    start, length = message[HEADER_BYTES + 2], int.from_bytes(message[HEADER_BYTES + 4 : HEADER_BYTES + 8], "little")
    if start < HEADER_BYTES + 16 or start + length > len(message):
        return None
    return message[start : start + length]


def written_bytes(message: memoryview) -> int:
    """How many bytes a WRITE response acknowledges; 0 for a message that is too short."""
    return int.from_bytes(message[HEADER_BYTES + 4 : HEADER_BYTES + 8], "little")


def wire_name(path: str) -> str:
    """A path as the protocol wants it: relative to the share, with backslashes."""
    return path.strip("/").replace("/", "\\")


def create(name: bytes, access: int, disposition: int, options: int, attributes: int = 0) -> Request:
    """A CREATE of an encoded name; no oplock is asked for (MS-SMB2 2.2.13)."""
    at = HEADER_BYTES + _CREATE.size
    fixed = _CREATE.pack(57, 0, 0, 2, 0, 0, access, attributes, SHARE_ALL, disposition, options, at, len(name), 0, 0)
    return Opcode.CREATE, fixed + (name or b"\0")


def parse_created(message: memoryview) -> OpenedFile | None:
    """What a CREATE response opened (MS-SMB2 2.2.14), or None where the message is too short."""
    if len(message) < HEADER_BYTES + _CREATED.size:
        return None
    _size, _oplock, _flags, _action, _allocated, size_bytes, attributes, file_id = _CREATED.unpack_from(
        message, HEADER_BYTES
    )
    return OpenedFile(file_id, size_bytes, bool(attributes & ATTRIBUTE_FOLDER))


def close(file_id: bytes, *, with_size: bool = False) -> Request:
    """A CLOSE, which may ask for the file's size at its end (MS-SMB2 2.2.15)."""
    return Opcode.CLOSE, _CLOSE.pack(24, _CLOSE_WITH_SIZE if with_size else 0, 0, file_id)


def closed_bytes(message: memoryview) -> int | None:
    """The size in a CLOSE response; None where the server gives none (MS-SMB2 2.2.16)."""
    if len(message) < HEADER_BYTES + _CLOSED.size:
        return None
    flags, size_bytes = _CLOSED.unpack_from(message, HEADER_BYTES)
    return int(size_bytes) if flags & _CLOSE_WITH_SIZE else None


ECHO: Request = (Opcode.ECHO, struct.pack("<HH", 4, 0))


def echo_frame() -> bytearray:
    """An ECHO request (MS-SMB2 2.2.28)."""
    return frame(*ECHO)


def share_flags(message: memoryview) -> int:
    """The share flags of a TREE_CONNECT response (MS-SMB2 2.2.10)."""
    return int.from_bytes(message[HEADER_BYTES + 4 : HEADER_BYTES + 8], "little")


def session_flags(message: memoryview) -> int:
    """The session flags of a SESSION_SETUP response (MS-SMB2 2.2.6)."""
    return int.from_bytes(message[HEADER_BYTES + 2 : HEADER_BYTES + 4], "little")


def flush(file_id: bytes) -> Request:
    """A FLUSH (MS-SMB2 2.2.17)."""
    return Opcode.FLUSH, _CLOSE.pack(24, 0, 0, file_id)


def lock(file_id: bytes, offset: int, length: int, *, unlock: bool) -> Request:
    """An exclusive lock, granted at once or refused; or its end (MS-SMB2 2.2.26)."""
    return Opcode.LOCK, _LOCK.pack(48, 1, 0, file_id, offset, length, _UNLOCK if unlock else _LOCK_NOW, 0)


def find(file_id: bytes, pattern: bytes, information: int = DIRECTORY_INFORMATION, *, restart: bool = False) -> Request:
    """A QUERY_DIRECTORY for what matches an encoded pattern, as much as one credit pays for (MS-SMB2 2.2.33)."""
    at, flags = HEADER_BYTES + _FIND.size, _RESTART if restart else 0
    return Opcode.QUERY_DIRECTORY, _FIND.pack(
        33, information, flags, 0, file_id, at, len(pattern), CREDIT_BYTES
    ) + pattern


def query(file_id: bytes, information: int, about: int = FILE) -> Request:
    """A QUERY_INFO of that class (MS-SMB2 2.2.37)."""
    return Opcode.QUERY_INFO, _QUERY.pack(41, about, information, _MOST_ANSWER_BYTES, 0, 0, 0, 0, 0, file_id) + b"\0"


def set_info(file_id: bytes, information: int, content: bytes) -> Request:
    """A SET_INFO of a file (MS-SMB2 2.2.39)."""
    fixed = _SET.pack(33, FILE, information, len(content), HEADER_BYTES + _SET.size, 0, 0, file_id)
    return Opcode.SET_INFO, fixed + content


def rename(file_id: bytes, name: bytes) -> Request:
    """Another name, encoded, for an open file; it must be free (MS-FSCC 2.4.43)."""
    return set_info(file_id, RENAME_INFORMATION, struct.pack("<B7xQI", 0, 0, len(name)) + name)


def parse_state(message: memoryview) -> tuple[int, bool] | None:
    """Size in bytes, and whether it is a folder, in a QUERY_INFO response (MS-FSCC 2.4.47); None where cut off."""
    data = _content(message, _STANDARD)
    if data is None:
        return None
    size_bytes, is_folder = _STANDARD.unpack_from(data)
    return size_bytes, bool(is_folder)


def parse_free_bytes(message: memoryview) -> int | None:
    """The free bytes in a QUERY_INFO response (MS-FSCC 2.5.4); None where the message does not hold them."""
    data = _content(message, _FULL_SIZE)
    if data is None:
        return None
    units, sectors, sector_bytes = _FULL_SIZE.unpack_from(data)
    return int(units * sectors * sector_bytes)


def _content(message: memoryview, wanted: struct.Struct) -> memoryview | None:
    if len(message) < HEADER_BYTES + _ANSWER.size:
        return None
    start, length = _ANSWER.unpack_from(message, HEADER_BYTES)
    if start < HEADER_BYTES + _ANSWER.size or start + length > len(message) or length < wanted.size:
        return None
    return message[start : start + length]
