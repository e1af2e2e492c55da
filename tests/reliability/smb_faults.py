"""What may happen to one message of an SMB session, and what a server may say instead of it."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable, Iterable, Iterator

from app.clients.smb.wire import Opcode
from tests.app.clients.smb import proxy
from tests.app.clients.smb.proxy import CutError, HangError, Message, Raw

Fault = Callable[[bytearray, random.Random], Iterable[Message]]


def whole(message: Message) -> bytes:
    """A message with its prefix."""
    return len(message).to_bytes(4, "big") + message


def delay(message: bytearray, rng: random.Random) -> Iterator[Message]:
    time.sleep(rng.uniform(0.05, 0.3))
    yield message


def split(message: bytearray, rng: random.Random) -> Iterator[Message]:
    data = whole(message)
    step = rng.choice([1, 3, 64, 1_000]) if len(data) < 5_000 else rng.randrange(1_000, 20_000)
    yield from (Raw(data[at : at + step]) for at in range(0, len(data), step))


def truncate(message: bytearray, rng: random.Random) -> Iterator[Message]:
    yield Raw(whole(message)[: rng.randrange(len(message))])
    raise CutError


def shorten(message: bytearray, rng: random.Random) -> Iterator[Message]:
    yield message[: rng.randrange(len(message))]


def stall(_message: bytearray, _rng: random.Random) -> Iterator[Message]:
    raise HangError


def reset(_message: bytearray, _rng: random.Random) -> Iterator[Message]:
    raise CutError


def corrupt(message: bytearray, rng: random.Random) -> Iterator[Message]:
    at = rng.randrange(min(len(message), rng.choice([64, 200, len(message)])))
    message[at] ^= 1 << rng.randrange(8)
    yield message


def double(message: bytearray, _rng: random.Random) -> Iterator[Message]:
    yield message
    yield message


def garbage(message: bytearray, rng: random.Random) -> Iterator[Message]:
    yield Raw(rng.randbytes(len(message)))


def other_id(message: bytearray, rng: random.Random) -> Iterator[Message]:
    message[24:32] = struct.pack("<Q", rng.choice([0, 1, 2**63, 2**64 - 1, rng.getrandbits(64)]))
    yield message


def no_credits(message: bytearray, _rng: random.Random) -> Iterator[Message]:
    yield proxy.with_credits(message, 0)


def many_credits(message: bytearray, _rng: random.Random) -> Iterator[Message]:
    yield proxy.with_credits(message, 65535)


def status(message: bytearray, rng: random.Random) -> Iterator[Message]:
    yield proxy.refusal(
        message, rng.choice([0xC0000022, 0xC0000203, 0xC00000BB, 0x80000005, 0x103, rng.getrandbits(32)])
    )


def wrong_size(message: bytearray, rng: random.Random) -> Iterator[Message]:
    """Another length or size at the places where answers have them."""
    at = {Opcode.READ: 68, Opcode.WRITE: 68, Opcode.CREATE: 112, Opcode.CLOSE: 112}.get(proxy.command(message), 64)  # type: ignore[call-overload]
    if at + 8 <= len(message):
        struct.pack_into("<I", message, at, rng.choice([0, 1, 100, 2**31, 2**32 - 1, rng.getrandbits(20)]))
    yield message


def announced(message: bytearray, rng: random.Random) -> Iterator[Message]:
    """More is announced than ever comes."""
    yield Raw(rng.randrange(1 << 20, 1 << 24).to_bytes(4, "big") + message)


def one_byte_answers(message: bytearray, _rng: random.Random) -> Iterator[Message]:
    yield proxy.shortened(message, 1) if proxy.command(message) == Opcode.READ and len(message) > 100 else message


def forever(make: Callable[[bytearray], Message], every_seconds: float) -> Fault:
    """Something else, again and again; the proxy's end ends it."""

    def act(message: bytearray, _rng: random.Random) -> Iterator[Message]:
        while True:
            yield make(message)
            time.sleep(every_seconds)

    return act


def drip(message: bytearray, _rng: random.Random) -> Iterator[Message]:
    for byte in whole(message):
        yield Raw(bytes([byte]))
        time.sleep(0.2)


def downgrade(message: bytearray, rng: random.Random) -> Iterable[Message]:
    return proxy.offering(set(rng.choice([[0x202], [0x202, 0x210], [0x202, 0x210, 0x300]])))(message)


BOTH_WAYS: dict[str, Fault] = {
    f.__name__: f for f in (delay, split, truncate, shorten, stall, reset, corrupt, double, garbage, drip)
}
ANSWERS: dict[str, Fault] = BOTH_WAYS | {
    "other_id": other_id,
    "no_credits": no_credits,
    "many_credits": many_credits,
    "status": status,
    "wrong_size": wrong_size,
    "announced": announced,
    "one_byte_answers": one_byte_answers,
    "pending for ever": forever(proxy.interim, 0.2),
    "pending in a flood": forever(proxy.interim, 0.0),
    "oplock breaks for ever": forever(lambda _message: proxy.oplock_break(), 0.2),
    "keep-alives in a flood": forever(lambda _message: proxy.keep_alive(), 0.0),
}
REQUESTS: dict[str, Fault] = BOTH_WAYS | {"downgrade": downgrade}
LASTING = {"no_credits", "many_credits", "one_byte_answers", "delay"}
"""Faults of every message from the chosen one on."""
SLOW_FOR_OTHERS = {"one_byte_answers"}
"""Another program that takes these moves its file on, at some KB/s; only our own client refuses them."""
