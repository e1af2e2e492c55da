"""What an SMB server that means harm, or is broken, may say instead of its answer; see MS-SMB2 for what it should say.

Each evil gets one answer of the real server, and makes of it what the client is sent.
"""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from app.clients.smb import wire
from app.clients.smb.wire import HEADER_BYTES, Opcode
from tests.app.clients.smb import proxy
from tests.app.clients.smb.proxy import CutError, HangError, Message, Raw

Act = Callable[[bytearray, random.Random], Iterable[Message]]

SEALED = -1
"""In place of an opcode: every encrypted answer."""
MOST_SKIPPED = 3
"""So many answers of its kind may come unharmed before the evil begins."""
FRAME_LIMIT = (1 << 24) - 1
"""The longest frame that the three bytes of a length can announce."""
ENTRY = struct.Struct("<II8x8xq8xQ8xII")
"""FileDirectoryInformation (MS-FSCC 2.4.10)."""

AFTER_LOGIN = frozenset(Opcode) - {Opcode.NEGOTIATE, Opcode.SESSION_SETUP, Opcode.TREE_CONNECT}
ANY = frozenset(Opcode)
DATA = frozenset({Opcode.READ, Opcode.WRITE})


@dataclass(frozen=True, slots=True)
class Evil:
    """What is done to which answers."""

    act: Act
    to: frozenset[int] = AFTER_LOGIN
    options: tuple[str, ...] = ()
    """Of a run that it is for; other commands know none of them and are left out."""
    times: int | None = None
    """After so many the server is good again; None for never."""


class EvilAnswers:
    """A script of the proxy: lets a few of the answers through that it is for, and spoils all that follow."""

    def __init__(self, evil: Evil, chance: random.Random) -> None:
        self.spoiled = 0
        self._evil = evil
        self._chance = chance
        # There is one negotiation and one share in a connection: an evil that lets those through never comes.
        rare = evil.to <= {Opcode.NEGOTIATE, Opcode.SESSION_SETUP, Opcode.TREE_CONNECT}
        self._skip = 0 if rare else chance.randint(0, MOST_SKIPPED)

    def __call__(self, frame: bytearray) -> Iterable[Message]:
        answers = split(frame)
        if not any(_opcode(answer) in self._evil.to for answer in answers):
            yield frame
            return
        if self._skip:
            self._skip -= 1
            yield frame
            return
        if self._evil.times is not None and self.spoiled >= self._evil.times:
            yield frame
            return
        self.spoiled += 1
        kept: list[Message] = []
        for answer in answers:
            if _opcode(answer) not in self._evil.to:
                kept.append(answer)
                continue
            for spoiled in self._evil.act(answer, self._chance):
                if isinstance(spoiled, Raw):
                    yield from joined(kept)
                    kept = []
                    yield spoiled
                elif len(answers) > 1:
                    kept.append(spoiled)
                else:
                    yield spoiled
        yield from joined(kept)


def _opcode(answer: Message) -> int:
    return SEALED if answer[:4] == wire.TRANSFORM_ID else proxy.command(answer)


def split(frame: bytearray) -> list[bytearray]:
    """The answers of a frame, each as if it had come alone."""
    answers = []
    while frame[:4] == wire.SMB2_ID and (following := int.from_bytes(frame[20:24], "little")):
        answer = frame[:following]
        answer[20:24] = bytes(4)
        answers.append(answer)
        frame = frame[following:]
    return [*answers, frame]


def joined(answers: list[Message]) -> Iterator[Message]:
    """One frame of these answers; none of no answers."""
    if not answers:
        return
    frame = bytearray()
    for answer in answers[:-1]:
        padded = bytearray(answer) + bytes(-len(answer) % 8)
        padded[20:24] = len(padded).to_bytes(4, "little")
        frame += padded
    yield frame + answers[-1]


def whole(message: Message) -> bytes:
    return len(message).to_bytes(4, "big") + message


def grants(count: int) -> Act:
    def act(message: bytearray, _chance: random.Random) -> Iterator[Message]:
        yield proxy.with_credits(message, count)

    return act


def pending_for_ever(every_seconds: float) -> Act:
    def act(message: bytearray, _chance: random.Random) -> Iterator[Message]:
        while True:
            yield Raw(whole(proxy.interim(message)))
            time.sleep(every_seconds)

    return act


def pending_and_silence(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield Raw(whole(proxy.interim(message)))
    raise HangError


def pending_that_is_not_asynchronous(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    interim = bytearray(proxy.interim(message))
    struct.pack_into("<I", interim, 16, wire.FLAG_RESPONSE)
    yield Raw(whole(interim))
    yield message


def pending_a_thousand_times(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    for _ in range(1000):
        yield Raw(whole(proxy.interim(message)))
    yield message


def silence(_message: bytearray, _chance: random.Random) -> Iterator[Message]:
    raise HangError


def hang_up(_message: bytearray, _chance: random.Random) -> Iterator[Message]:
    raise CutError


def longest_frame(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield Raw(whole(bytes(message).ljust(FRAME_LIMIT, b"\0")))


def announced_and_silent(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield Raw(FRAME_LIMIT.to_bytes(4, "big") + message)
    raise HangError


def empty_frames(_message: bytearray, _chance: random.Random) -> Iterator[Message]:
    while True:
        yield Raw(bytes(4))


def compressed(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    """SMB2 COMPRESSION_TRANSFORM_HEADER (MS-SMB2 2.2.42), which nobody has negotiated."""
    yield Raw(whole(struct.pack("<4sIHHI", b"\xfcSMB", 1 << 31, 1, 0, 0) + message))


def sealed_without_agreement(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    head = struct.pack("<4s16s16sIHHQ", wire.TRANSFORM_ID, bytes(16), bytes(16), len(message), 0, 1, 1)
    yield Raw(whole(head + message))


def old_protocol(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield Raw(whole(b"\xffSMB" + message[4:]))


def other_program(_message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield Raw(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" * 20)


def cut_in_the_middle(message: bytearray, chance: random.Random) -> Iterator[Message]:
    yield Raw(whole(message)[: chance.randrange(1, len(message))])
    raise CutError


def silent_in_the_middle(message: bytearray, chance: random.Random) -> Iterator[Message]:
    yield Raw(whole(message)[: chance.randrange(1, len(message))])
    raise HangError


def shorter(message: bytearray, chance: random.Random) -> Iterator[Message]:
    yield message[: chance.randrange(HEADER_BYTES, len(message))]


def changed_bytes(message: bytearray, chance: random.Random) -> Iterator[Message]:
    for _ in range(chance.randint(1, 4)):
        message[chance.randrange(HEADER_BYTES, len(message))] = chance.randrange(256)
    yield message


def only_a_header(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield message[:HEADER_BYTES]


def unsigned(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    flags = int.from_bytes(message[16:20], "little") & ~wire.FLAG_SIGNED
    struct.pack_into("<I", message, 16, flags)
    message[48:64] = bytes(16)
    yield message


def flipped_signature(message: bytearray, chance: random.Random) -> Iterator[Message]:
    message[48 + chance.randrange(16)] ^= 1 << chance.randrange(8)
    yield message


def empty_signature(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    message[48:64] = bytes(16)
    yield message


def flipped_in_signed(message: bytearray, chance: random.Random) -> Iterator[Message]:
    message[chance.randrange(HEADER_BYTES, len(message))] ^= 1 << chance.randrange(8)
    yield message


def wrong_tag(message: bytearray, chance: random.Random) -> Iterator[Message]:
    message[4 + chance.randrange(16)] ^= 1 << chance.randrange(8)
    yield message


def other_nonce(message: bytearray, chance: random.Random) -> Iterator[Message]:
    message[20 + chance.randrange(11)] ^= 1 << chance.randrange(8)
    yield message


def sealed_of_another_session(message: bytearray, chance: random.Random) -> Iterator[Message]:
    message[44 + chance.randrange(8)] ^= 1 << chance.randrange(8)
    yield message


def cut_off_sealed(message: bytearray, chance: random.Random) -> Iterator[Message]:
    yield message[: chance.randrange(HEADER_BYTES, max(HEADER_BYTES + 1, len(message)))]


def plain_in_sealed(_message: bytearray, chance: random.Random) -> Iterator[Message]:
    """An answer to some request that could have been asked, in clear."""
    message_id = chance.randrange(3, 40)
    head = wire.header(chance.choice([5, 6, 8, 9, 13]), 0, 1, wire.FLAG_RESPONSE, 0, message_id, 1, 1)
    yield head + struct.pack("<HBBIB", 9, 0, 0, 0, 0)


def refuses(status: int) -> Act:
    def act(message: bytearray, _chance: random.Random) -> Iterator[Message]:
        yield proxy.refusal(message, status)

    return act


def other_message_id(message: bytearray, chance: random.Random) -> Iterator[Message]:
    message[24:32] = struct.pack("<Q", chance.choice([0, 1, 2**63, 2**64 - 2, chance.getrandbits(64)]))
    yield message


def never_asked(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    more = bytearray(message)
    struct.pack_into("<Q", more, 24, 1 << 40)
    yield Raw(whole(more))
    yield message


def twice(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield Raw(whole(message))
    yield message


def a_request_in_place_of_an_answer(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    struct.pack_into("<I", message, 16, 0)
    yield message


def chained_to_itself(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    struct.pack_into("<I", message, 20, 8)
    yield Raw(whole(message))


def longer_read(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    """More data than was asked for."""
    if not proxy.is_success(message, Opcode.READ):
        yield message
        return
    length = int.from_bytes(message[68:72], "little")
    struct.pack_into("<I", message, 68, length + 4096)
    yield message + bytes(4096)


def shorter_read(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield proxy.shortened(message, 1) if proxy.is_success(message, Opcode.READ) else message


def half_a_read(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    length = int.from_bytes(message[68:72], "little")
    yield proxy.shortened(message, max(1, length // 2)) if proxy.is_success(message, Opcode.READ) else message


def no_data(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    yield proxy.shortened(message, 0) if proxy.is_success(message, Opcode.READ) else message


def data_elsewhere(message: bytearray, chance: random.Random) -> Iterator[Message]:
    """The offset of the data leads into the header, or behind the frame."""
    message[66] = chance.choice([0, 16, 63, 79, 255])
    yield message


def number_at(at: int, form: str, *numbers: int) -> Act:
    """One of these numbers at a place of the answer."""

    def act(message: bytearray, chance: random.Random) -> Iterator[Message]:
        if at + struct.calcsize(form) <= len(message):
            struct.pack_into(form, message, at, chance.choice(numbers))
        yield message

    return act


def empty_token_and_success(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    """Lets in whoever has proved nothing, and proves nothing itself."""
    struct.pack_into("<I", message, 8, wire.SUCCESS)
    yield message[:HEADER_BYTES] + struct.pack("<HHHH", 9, 0, 72, 0)


def endless_login(message: bytearray, _chance: random.Random) -> Iterator[Message]:
    struct.pack_into("<I", message, 8, 0xC0000016)
    yield message


def token_of(data: bytes) -> Act:
    def act(message: bytearray, _chance: random.Random) -> Iterator[Message]:
        yield message[:HEADER_BYTES] + struct.pack("<HHHH", 9, 0, 72, len(data) & 0xFFFF) + data

    return act


def entry(name: bytes, following: int = 0, *, size_bytes: int = 1, attributes: int = 0, written: int = 0) -> bytes:
    return ENTRY.pack(following, 0, written, size_bytes, attributes, len(name)) + name


def listed(*entries: bytes) -> bytes:
    """Entries one after the other, as a server chains them."""
    data = b""
    for one in entries[:-1]:
        padded = one + bytes(-len(one) % 8)
        data += len(padded).to_bytes(4, "little") + padded[4:]
    return data + entries[-1]


def lists(data: bytes, *, for_ever: bool = False) -> Act:
    """A folder of these entries, once or again and again."""

    def act(message: bytearray, _chance: random.Random) -> Iterator[Message]:
        if not for_ever and not proxy.is_success(message, Opcode.QUERY_DIRECTORY):
            yield message
            return
        head = bytes(message[:8]) + bytes(4) + message[12:HEADER_BYTES]
        yield head + struct.pack("<HHI", 9, 72, len(data)) + data

    return act


NAMES = (
    "..\\..\\evil",
    "../../evil",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "",
    "\0",
    "x\0y",
    "\ud800",
    "x\udfff",
    "C:evil",
    ".sharebench-0123456789ab",
    ".sharebench-../x",
    "\x1b]52;c;QQ==\x07",
    "\x9b31m",
    "x" * 20_000,
    ".sharebench-0123456789ab\ud800",
)
"""What no folder should hold, and none of them may leave the share, break a line or end the program."""
NASTY = listed(*(entry(name.encode("utf-16-le", "surrogatepass")) for name in NAMES))
NASTY_FOLDERS = listed(
    *(entry(name.encode("utf-16-le", "surrogatepass"), attributes=wire.ATTRIBUTE_FOLDER) for name in NAMES)
)
HUGE = listed(
    entry("f0000000".encode("utf-16-le"), size_bytes=2**64 - 1, written=2**62),
    entry("f0000001".encode("utf-16-le"), size_bytes=2**63, written=-1),
)
ITSELF = entry(".sharebench-0123456789ab".encode("utf-16-le"), attributes=wire.ATTRIBUTE_FOLDER)

_CREATE = frozenset({Opcode.CREATE})
_LIST = frozenset({Opcode.QUERY_DIRECTORY})
_READ = frozenset({Opcode.READ})
_WRITE = frozenset({Opcode.WRITE})
_NEGOTIATE = frozenset({Opcode.NEGOTIATE})
_LOGIN = frozenset({Opcode.SESSION_SETUP})
_TREE = frozenset({Opcode.TREE_CONNECT})
_INFO = frozenset({Opcode.QUERY_INFO})
_CLOSE = frozenset({Opcode.CLOSE})

STATUSES = {
    "session expired": 0xC000035C,
    "session deleted": 0xC0000203,
    "share deleted": 0xC00000C9,
    "path not covered": 0xC0000257,
    "status unknown": 0xDEADBEEF,
    "status of ones": 0xFFFFFFFF,
    "a warning": 0x80000005,
    "more processing required": 0xC0000016,
    "not supported": 0xC00000BB,
}
ODD_COUNTS = 0, 1, 4095, 2**31, 2**32 - 1

EVILS: dict[str, Evil] = {
    "no credits": Evil(grants(0)),
    "no credits from the start": Evil(grants(0), ANY),
    "one credit": Evil(grants(1)),
    "one credit from the start": Evil(grants(1), ANY),
    "all credits": Evil(grants(65535), ANY),
    "pending for ever": Evil(pending_for_ever(0.2), ANY),
    "pending in a flood": Evil(pending_for_ever(0.0), ANY),
    "pending and silence": Evil(pending_and_silence, ANY),
    "pending that is not asynchronous": Evil(pending_that_is_not_asynchronous, ANY),
    "pending a thousand times": Evil(pending_a_thousand_times),
    "silence": Evil(silence, ANY),
    "hang up": Evil(hang_up, ANY),
    "longest frame": Evil(longest_frame, ANY),
    "announced and silent": Evil(announced_and_silent, ANY),
    "empty frames": Evil(empty_frames, ANY),
    "compressed": Evil(compressed, ANY),
    "sealed without agreement": Evil(sealed_without_agreement, ANY),
    "old protocol": Evil(old_protocol, ANY),
    "other program": Evil(other_program, ANY),
    "cut in the middle": Evil(cut_in_the_middle, ANY),
    "silent in the middle": Evil(silent_in_the_middle, ANY),
    "changed bytes": Evil(changed_bytes),
    "changed bytes of all": Evil(changed_bytes, ANY),
    "shorter": Evil(shorter, ANY),
    "only a header": Evil(only_a_header, ANY),
    "unsigned": Evil(unsigned, options=("--sign",)),
    "flipped signature": Evil(flipped_signature, options=("--sign",)),
    "empty signature": Evil(empty_signature, options=("--sign",)),
    "flipped in signed": Evil(flipped_in_signed, options=("--sign",)),
    "unsigned login": Evil(unsigned, _LOGIN | _TREE),
    "flipped signature of the login": Evil(flipped_signature, _LOGIN | _TREE),
    "wrong tag": Evil(wrong_tag, frozenset({SEALED}), ("--encrypt",)),
    "other nonce": Evil(other_nonce, frozenset({SEALED}), ("--encrypt",)),
    "sealed of another session": Evil(sealed_of_another_session, frozenset({SEALED}), ("--encrypt",)),
    "cut off sealed": Evil(cut_off_sealed, frozenset({SEALED}), ("--encrypt",)),
    "plain in sealed": Evil(plain_in_sealed, frozenset({SEALED}), ("--encrypt",)),
    **{f"{name} everywhere": Evil(refuses(status)) for name, status in STATUSES.items()},
    **{f"{name} for data": Evil(refuses(status), DATA) for name, status in STATUSES.items()},
    **{f"{name} once": Evil(refuses(status), times=1) for name, status in STATUSES.items()},
    **{f"{name} at the share": Evil(refuses(status), _TREE) for name, status in STATUSES.items()},
    **{f"{name} at the login": Evil(refuses(status), _LOGIN) for name, status in STATUSES.items()},
    "other message id": Evil(other_message_id, ANY),
    "never asked": Evil(never_asked, ANY),
    "twice": Evil(twice, ANY),
    "a request in place of an answer": Evil(a_request_in_place_of_an_answer, ANY),
    "chained to itself": Evil(chained_to_itself, ANY),
    "longer read": Evil(longer_read, _READ),
    "shorter read": Evil(shorter_read, _READ),
    "half a read": Evil(half_a_read, _READ),
    "no data": Evil(no_data, _READ),
    "data elsewhere": Evil(data_elsewhere, _READ),
    "data of another length": Evil(number_at(68, "<I", *ODD_COUNTS), _READ),
    "written of another length": Evil(number_at(68, "<I", *ODD_COUNTS), _WRITE),
    "opened of another length": Evil(number_at(112, "<Q", 0, 1, 2**40, 2**63, 2**64 - 1), _CREATE),
    "opened is a folder": Evil(number_at(120, "<I", wire.ATTRIBUTE_FOLDER, 2**32 - 1), _CREATE),
    "closed of another length": Evil(number_at(112, "<Q", 0, 1, 2**63, 2**64 - 1), _CLOSE),
    "dialect": Evil(number_at(68, "<H", 0, 0x01FF, 0x02FF, 0x0312, 0xFFFF, 0x0202, 0x0300), _NEGOTIATE),
    "contexts counted wrong": Evil(number_at(70, "<H", 0, 1, 255, 65535), _NEGOTIATE),
    "contexts elsewhere": Evil(number_at(124, "<I", 0, 1, 64, 2**31, 2**32 - 1), _NEGOTIATE),
    "token elsewhere": Evil(number_at(120, "<I", 0, 2**32 - 1), _NEGOTIATE),
    "reads of another size": Evil(number_at(96, "<I", *ODD_COUNTS, 4096, 65535), _NEGOTIATE),
    "writes of another size": Evil(number_at(100, "<I", *ODD_COUNTS, 4096, 65535), _NEGOTIATE),
    "other requests of another size": Evil(number_at(92, "<I", *ODD_COUNTS, 4096), _NEGOTIATE),
    "capabilities": Evil(number_at(88, "<I", 0, 2**32 - 1), _NEGOTIATE),
    "signing required by nobody": Evil(number_at(66, "<H", 0, 3, 65535), _NEGOTIATE),
    "empty token and success": Evil(empty_token_and_success, _LOGIN),
    "endless login": Evil(endless_login, _LOGIN),
    "token of nothing": Evil(token_of(b""), _LOGIN),
    "token of zeros": Evil(token_of(bytes(60_000)), _LOGIN),
    "token nested": Evil(token_of(b"\xa1\x84\xff\xff\xff\xff" * 2_000), _LOGIN),
    "changed bytes of the login": Evil(changed_bytes, _LOGIN),
    "session flags": Evil(number_at(66, "<H", 1, 2, 4, 65535), _LOGIN),
    "share of another kind": Evil(number_at(66, "<B", 0, 2, 3, 255), _TREE),
    "share flags": Evil(number_at(68, "<I", 1, 2, 0x8000, 2**32 - 1), _TREE),
    "share without rights": Evil(number_at(76, "<I", 0), _TREE),
    "entries in a circle": Evil(lists(entry(b"x\0" * 100, 8) + bytes(16)), _LIST),
    "entries of odd lengths": Evil(lists(entry(b"xyz", 0)), _LIST),
    "entries beyond the end": Evil(lists(entry(b"x\0" * 100, 0)[:-90]), _LIST),
    "no entries": Evil(lists(b""), _LIST),
    "nasty names": Evil(lists(NASTY), _LIST),
    "nasty folders": Evil(lists(NASTY_FOLDERS), _LIST),
    "huge entries": Evil(lists(HUGE), _LIST),
    "a folder in itself": Evil(lists(ITSELF), _LIST),
    "entries for ever": Evil(lists(NASTY, for_ever=True), _LIST),
    "entries elsewhere": Evil(number_at(66, "<H", 0, 8, 65535), _LIST),
    "facts of a file": Evil(number_at(72, "<Q", 0, 2**63, 2**64 - 1), _INFO),
    "facts elsewhere": Evil(number_at(66, "<H", 0, 8, 65535), _INFO),
    "breaks unasked": Evil(lambda message, _chance: [Raw(whole(proxy.oplock_break())), message], ANY),
    "breaks in a flood": Evil(lambda _message, _chance: _for_ever(Raw(whole(proxy.oplock_break()))), ANY),
    "keep-alives in a flood": Evil(lambda _message, _chance: _for_ever(proxy.keep_alive()), ANY),
}


def _for_ever(message: Message) -> Iterator[Message]:
    while True:
        yield message
