"""SMB2 messages: constants, how requests are packed and answers parsed (MS-SMB2 2.2), and what a status means.

A request here is a command and a body. :func:`frame` puts a header before them, whose ids and credits the channel
*stamps* when it is sent. Answers are parsed by offset from whole messages, header included.

The first number of each body is its *structure size*: what MS-SMB2 fixes for that kind of message, however long it is.
"""

import struct
from enum import IntEnum
from typing import NamedTuple

from app.base.errors import MeasurementError, ProtocolError
from app.clients.tcp import refusals
from storage.records import Target

View = bytes | bytearray | memoryview

# Frames and headers
FRAME_BYTES = 4
"""A zero byte and the length in three bytes (MS-SMB2 2.1)."""
HEADER_BYTES = 64
CREDIT_BYTES = 65536
"""What one credit allows to be moved."""
UNSOLICITED = 0xFFFFFFFFFFFFFFFF
"""Message id of an oplock or lease break (MS-SMB2 2.2.23)."""

SMB2_ID = b"\xfeSMB"
"""A message begins with it; an encrypted one, with TRANSFORM_ID."""
_PROCESS_ID = 0xFEFF
"""What Windows sends in a field that means nothing any more."""
TRANSFORM_ID = b"\xfdSMB"
TRANSFORM_BYTES = 52
KEEP_ALIVE = 0x85
"""The first byte of a frame without content (RFC 1002)."""

# Flags of a header
FLAG_RESPONSE = 0x1
FLAG_ASYNC = 0x2
FLAG_RELATED = 0x4
FLAG_SIGNED = 0x8

# Dialects
SMB_2_0_2 = 0x0202
SMB_2_1 = 0x0210
SMB_3_0 = 0x0300
SMB_3_0_2 = 0x0302
SMB_3_1_1 = 0x0311
DIALECTS = {SMB_2_0_2: "2.0.2", SMB_2_1: "2.1", SMB_3_0: "3.0", SMB_3_0_2: "3.0.2", SMB_3_1_1: "3.1.1"}

# Flags of the negotiation, the session and the share
CAP_LARGE_MTU = 0x04
CAP_ENCRYPTION = 0x40
SIGNING_ENABLED = 0x1
SIGNING_REQUIRED = 0x2
SESSION_IS_GUEST = 0x1
SESSION_IS_NULL = 0x2
SESSION_ENCRYPT = 0x4
SHARE_ENCRYPT = 0x8000

# What a file is opened for, and how
ACCESS_READ = 0x00120089
ACCESS_WRITE = 0x00120196
ACCESS_READ_WRITE = ACCESS_READ | ACCESS_WRITE
ACCESS_LIST = 0x00100081
ACCESS_ATTRIBUTES = 0x00100080
ACCESS_DELETE = 0x00110080
SHARE_ALL = 0x7
"""A measurement locks nobody out."""
DISPOSITION_OPEN = 1
DISPOSITION_CREATE = 2
DISPOSITION_REPLACE = 5
"""FILE_OVERWRITE_IF: creates or truncates."""
OPTION_A_FOLDER = 0x1
OPTION_SEQUENTIAL = 0x4
OPTION_NOT_A_FOLDER = 0x40
OPTION_RANDOM = 0x800
ATTRIBUTE_FOLDER = 0x10
ATTRIBUTE_NORMAL = 0x80

SAME_FILE = b"\xff" * 16
"""In a related request: the file that the request before opened (MS-SMB2 3.2.4.1.4)."""

# What is asked for by QUERY_INFO and QUERY_DIRECTORY, and set by SET_INFO
FILE = 1
FILE_SYSTEM = 2
"""What information is about (MS-SMB2 2.2.37)."""
DIRECTORY_INFORMATION = 1
BOTH_DIRECTORY_INFORMATION = 3
BASIC_INFORMATION = 4
STANDARD_INFORMATION = 5
RENAME_INFORMATION = 10
DISPOSITION_INFORMATION = 13
"""Information about files (MS-FSCC 2.4)."""
SIZE_INFORMATION = 3
FULL_SIZE_INFORMATION = 7
"""Information about file systems (MS-FSCC 2.5)."""

# The fixed parts of messages
_HEADER = struct.Struct("<4sHHIHHIIQIIQ16s")
_FIELDS = struct.Struct("<4s4xIHHIIQIIQ")
_READ = struct.Struct("<HBBIQ16sIIIHHB")
_WRITE = struct.Struct("<HHIQ16sIIHHI")
_CREATE = struct.Struct("<HBBIQQIIIIIHHII")
_IMPERSONATION = 2
"""A level that lets the server act as this user (MS-SMB2 2.2.13)."""
_CREATED = struct.Struct("<HBBI8x8x8x8xQQI4x16s")
_CLOSE = struct.Struct("<HHI16s")
_CLOSED = struct.Struct("<2xH4x32x8xQ4x")
_CLOSE_WITH_SIZE = 1
"""SMB2_CLOSE_FLAG_POSTQUERY_ATTRIB."""
_LOCK = struct.Struct("<HHI16sQQII")
_LOCK_NOW = 0x12
"""Exclusively, and refused rather than awaited (MS-SMB2 2.2.26.1)."""
_UNLOCK = 0x4
_FIND = struct.Struct("<HBBI16sHHI")
_RESTART = 0x1
"""SMB2_RESTART_SCANS: the folder is listed from its beginning again."""
_QUERY = struct.Struct("<HBBIHHIII16s")
_SET = struct.Struct("<HBBIHHI16s")
_STANDARD = struct.Struct("<8xQ5xB")
_FULL_SIZE = struct.Struct("<8xQ8xII")
_ANSWER = struct.Struct("<2xHI")
_MOST_ANSWER_BYTES = 1024
"""That a QUERY_INFO asks for: the information itself is far shorter."""
_DATA_AT = 0x50
"""Where a READ wishes the data to begin in the answer: right behind its header and fixed part."""


class Opcode(IntEnum):
    """Commands that this client sends or meets (MS-SMB2 2.2.1)."""

    NEGOTIATE = 0
    SESSION_SETUP = 1
    LOGOFF = 2
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
    CHANGE_NOTIFY = 15
    QUERY_INFO = 16
    SET_INFO = 17


class Response(NamedTuple):
    """An answer that has been verified; ``message`` is all of it, header included, valid until the next is received."""

    status: int
    command: int
    message_id: int
    tree_id: int
    session_id: int
    message: memoryview


Request = tuple[int, bytes]
"""Command and body."""
Answer = tuple[int, memoryview]
"""Status and message."""


class Header(NamedTuple):
    """The fields of a message's header that are of interest."""

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
    """An open file or folder of one connection."""

    file_id: bytes
    size_bytes: int
    is_folder: bool


def parse_header(message: memoryview) -> Header:
    """``message`` has at least 64 bytes."""
    return Header._make(_FIELDS.unpack_from(message))


parse_answer = struct.Struct("<4s4xIHHIIQ").unpack_from
"""The first fields of a header as a bare tuple, for the small files of loads, where making a `Header` takes too long:
protocol, status, command, credits, flags, next command and message id.
"""


def header(
    command: int,
    charge: int,
    requested_credits: int,
    flags: int,
    next_offset: int,
    message_id: int,
    tree_id: int,
    session_id: int,
) -> bytes:
    """Unsigned; ``next_offset`` is that of the next request of the same frame."""
    return _HEADER.pack(
        SMB2_ID,
        HEADER_BYTES,
        charge,
        0,
        command,
        requested_credits,
        flags,
        next_offset,
        message_id,
        _PROCESS_ID,
        tree_id,
        session_id,
        b"",
    )


def frame(command: int, body: bytes, tree_id: int = 0) -> bytearray:
    """A message with room for the length of its frame, and a header that the channel stamps later."""
    unstamped = _HEADER.pack(SMB2_ID, HEADER_BYTES, 0, 0, command, 0, 0, 0, 0, _PROCESS_ID, tree_id, 0, b"")
    return bytearray(FRAME_BYTES) + unstamped + body


def stamp(
    message: bytearray, charge: int, requested_credits: int, flags: int, message_id: int, session_id: int
) -> None:
    """Set the header fields of a framed message that belong to the connection; its signature is cleared."""
    struct.pack_into("<H", message, FRAME_BYTES + 6, charge)
    struct.pack_into("<HI", message, FRAME_BYTES + 14, requested_credits, flags)
    struct.pack_into("<Q", message, FRAME_BYTES + 24, message_id)
    struct.pack_into("<Q16s", message, FRAME_BYTES + 40, session_id, b"")


def chain(message: bytearray, next_offset: int) -> None:
    """Say in a framed message of a compound where the next one begins."""
    struct.pack_into("<I", message, FRAME_BYTES + 20, next_offset)


def read(file_id: bytes, offset: int, length: int) -> Request:
    """MS-SMB2 2.2.19."""
    return Opcode.READ, _READ.pack(49, _DATA_AT, 0, length, offset, file_id, 0, 0, 0, 0, 0, 0)


def write(file_id: bytes, offset: int, length: int) -> Request:
    """The request before its data, which follows it (MS-SMB2 2.2.21)."""
    return Opcode.WRITE, _WRITE.pack(49, HEADER_BYTES + _WRITE.size, length, offset, file_id, 0, 0, 0, 0, 0)


def aim(message: bytearray, offset: int, length: int) -> None:
    """Have a framed READ or WRITE, which is reused, ask for other bytes of the file."""
    struct.pack_into("<IQ", message, FRAME_BYTES + HEADER_BYTES + 4, length, offset)


def read_data(message: memoryview) -> memoryview | None:
    """The data of a READ's answer; None if offset and length do not fit the message (MS-SMB2 2.2.20)."""
    if len(message) < HEADER_BYTES + 16:
        return None

    start = message[HEADER_BYTES + 2]
    length = int.from_bytes(message[HEADER_BYTES + 4 : HEADER_BYTES + 8], "little")
    if start < HEADER_BYTES + 16 or start + length > len(message):
        return None
    return message[start : start + length]


def written_bytes(message: memoryview) -> int:
    """How many bytes a WRITE's answer says were written; 0 for a truncated message (MS-SMB2 2.2.22)."""
    return int.from_bytes(message[HEADER_BYTES + 4 : HEADER_BYTES + 8], "little")


def wire_name(path: str) -> str:
    """A path as SMB has it: relative to the share, with backslashes."""
    return path.strip("/").replace("/", "\\")


def create(name: bytes, access: int, disposition: int, options: int, attributes: int = 0) -> Request:
    """Opens or makes a file, and asks for no oplock; the name is encoded (MS-SMB2 2.2.13)."""
    start = HEADER_BYTES + _CREATE.size
    fixed = _CREATE.pack(
        57,
        0,
        0,
        _IMPERSONATION,
        0,
        0,
        access,
        attributes,
        SHARE_ALL,
        disposition,
        options,
        start,
        len(name),
        0,
        0,
    )

    # An empty name still takes a byte.
    return Opcode.CREATE, fixed + (name or b"\0")


def parse_created(message: memoryview) -> OpenedFile | None:
    """MS-SMB2 2.2.14; None if truncated."""
    if len(message) < HEADER_BYTES + _CREATED.size:
        return None

    _size, _oplock, _flags, _action, _allocated, size_bytes, attributes, file_id = _CREATED.unpack_from(
        message, HEADER_BYTES
    )
    return OpenedFile(file_id, size_bytes, bool(attributes & ATTRIBUTE_FOLDER))


def close(file_id: bytes, *, with_size: bool = False) -> Request:
    """``with_size`` asks for the file's final size (MS-SMB2 2.2.15)."""
    return Opcode.CLOSE, _CLOSE.pack(24, _CLOSE_WITH_SIZE if with_size else 0, 0, file_id)


def closed_bytes(message: memoryview) -> int | None:
    """None if the server gives no size (MS-SMB2 2.2.16)."""
    if len(message) < HEADER_BYTES + _CLOSED.size:
        return None

    flags, size_bytes = _CLOSED.unpack_from(message, HEADER_BYTES)
    return int(size_bytes) if flags & _CLOSE_WITH_SIZE else None


ECHO: Request = (Opcode.ECHO, struct.pack("<HH", 4, 0))
"""MS-SMB2 2.2.28."""


SHARE_IS_PRINTER = 3


def share_type(message: memoryview) -> int:
    """MS-SMB2 2.2.10."""
    return message[HEADER_BYTES + 2]


def share_flags(message: memoryview) -> int:
    """MS-SMB2 2.2.10."""
    return int.from_bytes(message[HEADER_BYTES + 4 : HEADER_BYTES + 8], "little")


def session_flags(message: memoryview) -> int:
    """MS-SMB2 2.2.6."""
    return int.from_bytes(message[HEADER_BYTES + 2 : HEADER_BYTES + 4], "little")


def flush(file_id: bytes) -> Request:
    """MS-SMB2 2.2.17."""
    return Opcode.FLUSH, _CLOSE.pack(24, 0, 0, file_id)


def lock(file_id: bytes, offset: int, length: int, *, unlock: bool) -> Request:
    """Exclusive, granted at once or refused (MS-SMB2 2.2.26)."""
    return Opcode.LOCK, _LOCK.pack(48, 1, 0, file_id, offset, length, _UNLOCK if unlock else _LOCK_NOW, 0)


def find(
    file_id: bytes,
    pattern: bytes,
    information: int = DIRECTORY_INFORMATION,
    *,
    most_bytes: int = CREDIT_BYTES,
    restart: bool = False,
) -> Request:
    """QUERY_DIRECTORY for an encoded pattern, with at most that many bytes of entries (MS-SMB2 2.2.33).

    A server refuses to be asked for more than the MaxTransactSize that it negotiated: ``Channel.most_answer_bytes``.
    """
    start = HEADER_BYTES + _FIND.size
    flags = _RESTART if restart else 0
    fixed = _FIND.pack(33, information, flags, 0, file_id, start, len(pattern), most_bytes)
    return Opcode.QUERY_DIRECTORY, fixed + pattern


def query(file_id: bytes, information: int, about: int = FILE) -> Request:
    """MS-SMB2 2.2.37."""
    return Opcode.QUERY_INFO, _QUERY.pack(41, about, information, _MOST_ANSWER_BYTES, 0, 0, 0, 0, 0, file_id) + b"\0"


def set_info(file_id: bytes, information: int, content: bytes) -> Request:
    """MS-SMB2 2.2.39."""
    fixed = _SET.pack(33, FILE, information, len(content), HEADER_BYTES + _SET.size, 0, 0, file_id)
    return Opcode.SET_INFO, fixed + content


def rename(file_id: bytes, name: bytes) -> Request:
    """The new name is encoded and must be free (MS-FSCC 2.4.43)."""
    return set_info(file_id, RENAME_INFORMATION, struct.pack("<B7xQI", 0, 0, len(name)) + name)


def parse_state(message: memoryview) -> tuple[int, bool] | None:
    """Size in bytes and whether it is a folder (MS-FSCC 2.4.47); None if truncated."""
    state = _information(message, _STANDARD)
    if state is None:
        return None

    size_bytes, is_folder = state
    return size_bytes, bool(is_folder)


def parse_free_bytes(message: memoryview) -> int | None:
    """MS-FSCC 2.5.4; None if truncated."""
    sizes = _information(message, _FULL_SIZE)
    if sizes is None:
        return None

    free_units, sectors_per_unit, bytes_per_sector = sizes
    return free_units * sectors_per_unit * bytes_per_sector


def _information(message: memoryview, layout: struct.Struct) -> tuple[int, ...] | None:
    """What a QUERY_INFO answers (MS-SMB2 2.2.38); None if truncated."""
    if len(message) < HEADER_BYTES + _ANSWER.size:
        return None

    start, length = _ANSWER.unpack_from(message, HEADER_BYTES)
    if start < HEADER_BYTES + _ANSWER.size or start + length > len(message) or length < layout.size:
        return None
    return layout.unpack_from(message, start)


# Statuses of answers (MS-ERREF 2.3.1)
SUCCESS = 0x00000000
PENDING = 0x00000103
NO_MORE_FILES = 0x80000006
MORE_PROCESSING_REQUIRED = 0xC0000016
END_OF_FILE = 0xC0000011
NO_SUCH_FILE = 0xC000000F
UNSUCCESSFUL = 0xC0000001
ACCESS_DENIED = 0xC0000022
OBJECT_NAME_NOT_FOUND = 0xC0000034
OBJECT_PATH_NOT_FOUND = 0xC000003A
DELETE_PENDING = 0xC0000056
NOT_SUPPORTED = 0xC00000BB

GONE = frozenset({NO_SUCH_FILE, OBJECT_NAME_NOT_FOUND, OBJECT_PATH_NOT_FOUND, DELETE_PENDING})
PIPE_LOST = frozenset({0xC00000B0, 0xC000014B})  # STATUS_PIPE_DISCONNECTED, STATUS_PIPE_BROKEN


_REFUSALS = refusals("smb")
"""What a status means: the error to raise, and its text. The key is its number in hexadecimal digits, a blank and the
name that MS-ERREF gives it.
"""
STATUSES = {code.split(" ")[1]: int(code.split(" ")[0], 16) for code in _REFUSALS}
"""The numbers of statuses by their names."""
MEANINGS = {int(code.split(" ")[0], 16): refusal for code, refusal in _REFUSALS.items()}
"""The error and the text by the status's number."""
SESSION_OVER = frozenset(
    STATUSES[f"STATUS_{name}"]
    for name in (
        "NETWORK_NAME_DELETED",
        "USER_SESSION_DELETED",
        "NETWORK_SESSION_EXPIRED",
        "CONNECTION_DISCONNECTED",
        "CONNECTION_RESET",
    )
)
"""After these the server answers nothing else on this connection: who wants to go on logs in anew."""


def place(target: Target, path: str | None = None) -> str:
    """``smb://host/share/path``, as far as known, to begin an error's message with."""
    host = target.host if target.port_number == target.abilities.default_port else f"{target.host}:{target.port}"
    parts = [host, target.share or "", (path or "").replace("\\", "/").strip("/")]
    return "smb://" + "/".join(part for part in parts if part)


def status_error(status: int, where: str) -> MeasurementError:
    """The error for an answer that is a refusal."""
    if status in MEANINGS:
        kind, text = MEANINGS[status]
        return kind(f"{where}: {text}")

    return ProtocolError(
        f"{where}: the server answered {status_name(status)}; look it up in the server's log, or measure with another "
        "client"
    )


def status_name(status: int) -> str:
    """As MS-ERREF names it, or its number."""
    from impacket.nt_errors import ERROR_MESSAGES

    name_and_text: tuple[str, str] | None = ERROR_MESSAGES.get(status)
    if name_and_text is None:
        return f"status 0x{status:08X}"
    return name_and_text[0]
