"""What may happen to one line of an FTP conversation or to a piece of its data, and what may be said instead."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator

from tests.app.clients.ftp.proxy import HalfCutError
from tests.app.clients.smb.proxy import CutError, HangError

Fault = Callable[[bytes, random.Random], Iterable[bytes]]


def delay(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    time.sleep(rng.uniform(0.05, 0.3))
    yield piece


def split(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    step = 1 if len(piece) < 1_000 else rng.randrange(500, 5_000)
    yield from (piece[at : at + step] for at in range(0, len(piece), step))


def truncate(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    yield piece[: rng.randrange(len(piece))]
    raise CutError


def half_cut(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    yield piece[: rng.randrange(len(piece))]
    raise HalfCutError


def stall(_piece: bytes, _rng: random.Random) -> Iterator[bytes]:
    raise HangError


def reset(_piece: bytes, _rng: random.Random) -> Iterator[bytes]:
    raise CutError


def corrupt(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    data = bytearray(piece)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    yield bytes(data)


def lose(_piece: bytes, _rng: random.Random) -> Iterator[bytes]:
    return iter(())


def double(piece: bytes, _rng: random.Random) -> Iterator[bytes]:
    yield piece
    yield piece


def garbage(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    yield rng.randbytes(len(piece)) + b"\r\n"


def other_number(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    """Another number where a reply has one after its code."""
    number = rng.choice([b"0", b"1", b"-5", b"abc", b"9" * 5_000, b"18446744073709551616", b"1e9", b""])
    yield re.sub(rb"^(\d{3} )\d+", lambda match: match[1] + number, piece)


def other_code(piece: bytes, rng: random.Random) -> Iterator[bytes]:
    code = rng.choice([b"150", b"200", b"226", b"331", b"421", b"425", b"426", b"450", b"500", b"530", b"550", b"999"])
    yield code + piece[3:]


def forever(make: Callable[[bytes], bytes], every_seconds: float) -> Fault:
    """Something again and again; the proxy's end ends it."""

    def act(piece: bytes, _rng: random.Random) -> Iterator[bytes]:
        while True:
            yield make(piece)
            time.sleep(every_seconds)

    return act


EVERYWHERE: dict[str, Fault] = {
    f.__name__: f for f in (delay, split, truncate, stall, reset, corrupt, double, garbage, lose)
} | {"one byte for ever": forever(lambda piece: piece[:1], 0.2)}
REPLIES: dict[str, Fault] = EVERYWHERE | {
    "other_number": other_number,
    "other_code": other_code,
    "lines for ever": forever(lambda piece: piece[:3] + b"-more\r\n", 0.1),
    "lines in a flood": forever(lambda piece: (piece[:3] + b"-more\r\n") * 100, 0.0),
}
COMMANDS: dict[str, Fault] = EVERYWHERE
DATA: dict[str, Fault] = EVERYWHERE | {"half_cut": half_cut, "pieces in a flood": forever(lambda piece: piece, 0.0)}
ENCRYPTED: dict[str, Fault] = DATA | {"other_code": other_code}
"""Of what can be read until AUTH TLS was answered, and no longer."""
