"""Where a name of a DFS name space leads: the referral that its server gives (MS-DFSC 2.2.2 to 2.2.5)."""

import struct
from collections.abc import Iterator

from app.clients.smb import wire
from app.clients.smb.channel import Channel

_GET_REFERRALS = 0x00060194
_IOCTL = struct.Struct("<HHI16sIIIIIIII")
_IS_FSCTL = 1
_NO_FILE = b"\xff" * 16
"""The request is about no file that is open."""
_HIGHEST_VERSION = 4
"""Of the entries that are asked for; a server may answer with a lower one."""

_OUTPUT = struct.Struct("<II")
"""Where the output of an answer begins, and its length, after 32 bytes of the answer (MS-SMB2 2.2.32)."""
_OUTPUT_AT = wire.HEADER_BYTES + 32
_HEAD = struct.Struct("<HHI")
"""Of the referral: bytes of the path that it is about, the number of its entries, flags."""
_ENTRY = struct.Struct("<HHHH")
"""Of an entry: version, length, kind of server, flags."""
_NETWORK_ADDRESS = {2: 20, 3: 16, 4: 16}
"""Where an entry of that version has the offset of its target, from its own beginning; the first version has the target
itself after its head."""


def referred_path(channel: Channel, pipe_tree_id: int, path: str) -> str:
    r"""The target of ``\HOST\SHARE\NAME`` as ``//HOST/SHARE``; empty where the server tells none.

    ``pipe_tree_id`` is the tree of IPC$. Raises what a connection raises.
    """
    zero = bytes(2)
    request = struct.pack("<H", _HIGHEST_VERSION) + path.encode("utf-16-le") + zero
    start = wire.HEADER_BYTES + _IOCTL.size
    fixed_size = _IOCTL.size + 1  # MS-SMB2 counts one byte of the input
    most_bytes = channel.most_answer_bytes
    head = _IOCTL.pack(fixed_size, 0, _GET_REFERRALS, _NO_FILE, start, len(request), 0, 0, 0, most_bytes, _IS_FSCTL, 0)
    response = channel.ask(wire.frame(wire.Opcode.IOCTL, head + request, pipe_tree_id))
    if response.status != wire.SUCCESS:
        return ""

    try:
        begins_at, length = _OUTPUT.unpack_from(response.message, _OUTPUT_AT)
        targets = list(_targets(bytes(response.message[begins_at : begins_at + length])))
    except (struct.error, UnicodeDecodeError):
        return ""
    first_target = next((target for target in targets if target), "")
    return f"//{first_target}" if first_target else ""


def _targets(referral: bytes) -> Iterator[str]:
    """The target of each entry, as ``HOST/SHARE``. Raises struct.error and UnicodeDecodeError for what is none."""
    _, count, _ = _HEAD.unpack_from(referral)
    at = _HEAD.size
    for _ in range(count):
        version, length, _, _ = _ENTRY.unpack_from(referral, at)
        target_at = at + _ENTRY.size
        if version in _NETWORK_ADDRESS:
            (offset,) = struct.unpack_from("<H", referral, at + _NETWORK_ADDRESS[version])
            target_at = at + offset
        yield _text_at(referral, target_at).strip("\\").replace("\\", "/")
        if length < _ENTRY.size:
            return
        at += length


def _text_at(referral: bytes, start: int) -> str:
    """The text that begins there and ends with a zero."""
    end = start
    while referral[end : end + 2] not in {b"\0\0", b""}:
        end += 2
    return referral[start:end].decode("utf-16-le")
