"""What an FTP server that means harm, or is broken, may say instead of its reply, and do with the data."""

from __future__ import annotations

import random
import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.app.clients.smb.proxy import CutError, HangError

Act = Callable[[bytes, random.Random], Iterable[bytes]]

DATA_DOWN, DATA_UP = "data down", "data up"
MOST_SKIPPED = 2
"""So many replies of its kind may come unharmed before the evil begins."""


@dataclass(frozen=True, slots=True)
class Evil:
    """What is done to the replies of which commands, or to the data."""

    act: Act
    to: tuple[str, ...]
    final: bool | None = None
    """Of a transfer's replies only the last one (226), or only the first (150); None for all."""
    machine: bool = False
    """Whether the server says that it has MLSD: its lists are then the evil's, each from the first on."""


class EvilConversation:
    """The scripts of one proxy: they know which command a reply belongs to."""

    def __init__(self, evil: Evil, chance: random.Random) -> None:
        self.spoiled = 0
        self._evil = evil
        self._chance = chance
        self._skip = 0 if evil.machine else chance.randint(0, MOST_SKIPPED)
        self._command = "greeting"

    def commands(self, line: bytes) -> Iterable[bytes]:
        self._command = line.split(b" ")[0].strip().decode("ascii", "replace").upper()
        return [line.replace(b"MLSD", b"LIST -a") if self._evil.machine else line]

    def replies(self, line: bytes) -> Iterable[bytes]:
        if self._evil.machine and self._command == "FEAT" and line.startswith(b"211 "):
            return [b" MLSD\r\n", line]
        is_final = not line.startswith(b"1")
        if self._command not in self._evil.to or (self._evil.final is not None and self._evil.final != is_final):
            return [line]
        return self._spoiled(line)

    def down(self, piece: bytes) -> Iterable[bytes]:
        return self._spoiled(piece) if DATA_DOWN in self._evil.to else [piece]

    def up(self, piece: bytes) -> Iterable[bytes]:
        return self._spoiled(piece) if DATA_UP in self._evil.to else [piece]

    def _spoiled(self, piece: bytes) -> Iterable[bytes]:
        if self._skip:
            self._skip -= 1
            return [piece]
        self.spoiled += 1
        return self._evil.act(piece, self._chance)


def says(*replies: bytes) -> Act:
    def act(_piece: bytes, chance: random.Random) -> Iterator[bytes]:
        yield chance.choice(replies) + b"\r\n"

    return act


def says_more(*replies: bytes) -> Act:
    """Another reply before the right one."""

    def act(piece: bytes, chance: random.Random) -> Iterator[bytes]:
        yield chance.choice(replies) + b"\r\n"
        yield piece

    return act


def lists(lines: bytes) -> Act:
    """A folder of these, and files as they are."""

    def act(piece: bytes, _chance: random.Random) -> Iterator[bytes]:
        is_a_list = piece[:1] in {b"-", b"d", b"l"} and piece.endswith(b"\r\n")
        yield lines if is_a_list else piece

    return act


def silence(_piece: bytes, _chance: random.Random) -> Iterator[bytes]:
    raise HangError


def hang_up(_piece: bytes, _chance: random.Random) -> Iterator[bytes]:
    raise CutError


def cut(piece: bytes, chance: random.Random) -> Iterator[bytes]:
    yield piece[: chance.randrange(len(piece))]
    raise CutError


def late(piece: bytes, chance: random.Random) -> Iterator[bytes]:
    time.sleep(chance.uniform(0.3, 1.0))
    yield piece


def lost(_piece: bytes, _chance: random.Random) -> Iterator[bytes]:
    return iter(())


def for_ever(make: Callable[[bytes], bytes], every_seconds: float) -> Act:
    def act(piece: bytes, _chance: random.Random) -> Iterator[bytes]:
        while True:
            yield make(piece)
            time.sleep(every_seconds)

    return act


def in_itself(piece: bytes, _chance: random.Random) -> Iterator[bytes]:
    """Every folder that is asked for is there, and in each there is another; the root stays as it is."""
    if piece.startswith(b"550"):
        yield b"250 ok\r\n"
    elif b".sharebench-" in piece:
        yield b"type=dir; .sharebench-tree-00112233aabb\r\n"
    elif piece[:1] in {b"-", b"d", b"l"}:
        yield b"type=dir; u0\r\n"
    else:
        yield piece


def other_host(piece: bytes, _chance: random.Random) -> Iterator[bytes]:
    """The port of the reply, at a host that was not asked for."""
    yield re.sub(rb"\(\d+,\d+,\d+,\d+,", b"(127,0,0,9,", piece)


def deaf_port(_piece: bytes, _chance: random.Random) -> Iterator[bytes]:
    """A port where connections are taken and nothing is ever read or said."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    _open.append(listener)
    yield b"227 Entering Passive Mode (127,0,0,1,%d,%d).\r\n" % (port >> 8, port & 255)


def closed_port(_piece: bytes, _chance: random.Random) -> Iterator[bytes]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    yield b"227 Entering Passive Mode (127,0,0,1,%d,%d).\r\n" % (port >> 8, port & 255)


_open: list[socket.socket] = []
"""Listeners that nobody serves; they end with the process."""

SIZES = (
    b"213 0",
    b"213 1",
    b"213 299999",
    b"213 300001",
    b"213 999999999999999999",
    b"213 9223372036854775807",
    b"213 18446744073709551616",
    b"213 -300000",
    b"213 three",
    b"213",
    b"213 300000 bytes",
    b"213 3e5",
    b"200 300000",
    b"550 what?",
    b"502 no",
    b"450 later",
    b"213-300000",
    b"213 0x493e0",
    b"999 300000",
    b"",
)
LISTED = (
    b"type=file;size=99999999999999999999; f0000000\r\n",
    b"type=file;size=-1; f0000000\r\n",
    b"type=dir; ..\r\ntype=dir; .\r\n",
    b"type=dir; .sharebench-0123456789ab\r\n",
    b"type=file;size=1; ../../evil\r\n",
    b"type=file;size=1; /etc/passwd\r\n",
    b"type=file;size=1; a\x00b\r\n",
    b"type=file;size=1; \x1b]52;c;QQ==\x07\r\n",
    b"type=file;size=1; \xff\xfe\r\n",
    b"\r\n" * 1000,
    b";;;;;;= \r\n",
    b"type=file;modify=99999999999999;size=1; x\r\n",
    b"no line's end",
    b"type=file;size=1; .sharebench-../../x\r\n",
    b"type=file;size=1; .sharebench-0123456789ab\r\n" * 3,
    b"",
    b"type=file;size=1; " + b"x" * 8000 + b"\r\n",
)
_STORE = ("STOR",)
_TRANSFER = ("STOR", "RETR", "MLSD", "LIST")
_LOGIN = ("greeting", "USER", "PASS", "FEAT", "TYPE")
_ALL = (*_LOGIN, *_TRANSFER, "PASV", "SIZE", "CWD", "DELE", "MKD", "RMD", "NOOP", "QUIT", "OPTS")

EVILS: dict[str, Evil] = {
    **{f"size {reply[:20].decode()!r}": Evil(says(reply), ("SIZE",)) for reply in SIZES},
    "size silent": Evil(silence, ("SIZE",)),
    "size twice": Evil(says_more(b"213 17"), ("SIZE",)),
    "passive silent": Evil(silence, ("PASV",)),
    "passive late": Evil(late, ("PASV",)),
    "passive elsewhere": Evil(other_host, ("PASV",)),
    "passive nowhere": Evil(
        says(b"227 (1,2,3,4,999,999)", b"227 (1,2,3,4,0,0)", b"227", b"227 (300,1,1,1,1,1)"), ("PASV",)
    ),
    "passive refused": Evil(says(b"421 bye", b"425 no", b"500 what?", b"530 no"), ("PASV",)),
    "passive deaf": Evil(deaf_port, ("PASV",)),
    "passive closed": Evil(closed_port, ("PASV",)),
    "passive hangs up": Evil(hang_up, ("PASV",)),
    "data never read": Evil(silence, (DATA_UP,)),
    "data lost": Evil(lost, (DATA_UP,)),
    "data cut": Evil(cut, (DATA_UP,)),
    "data hung up": Evil(hang_up, (DATA_UP, DATA_DOWN)),
    "data twice": Evil(lambda piece, _chance: [piece, piece], (DATA_DOWN, DATA_UP)),
    "data in a flood": Evil(for_ever(lambda piece: piece, 0.0), (DATA_DOWN,)),
    "data dripped": Evil(for_ever(lambda piece: piece[:1], 0.2), (DATA_DOWN,)),
    "end missing": Evil(lost, _TRANSFER, final=True),
    "end silent": Evil(silence, _TRANSFER, final=True),
    "end before the data": Evil(says(b"226 done"), _TRANSFER, final=False),
    "end at once": Evil(lambda piece, _chance: [piece, b"226 done\r\n"], _TRANSFER, final=False),
    "refused at the end": Evil(
        says(b"425 no", b"426 cut", b"451 disk", b"452 full", b"500 no", b"550 no", b"552 quota", b"553 name"),
        _TRANSFER,
        final=True,
    ),
    "refused at the beginning": Evil(
        says(b"425 no", b"450 in use", b"452 full", b"500 no", b"530 who?", b"550 no", b"553 name", b"999 x"),
        _TRANSFER,
        final=False,
    ),
    "hangs up at the end": Evil(hang_up, _TRANSFER, final=True),
    "hangs up at the beginning": Evil(hang_up, _TRANSFER, final=False),
    "hangs up anywhere": Evil(hang_up, _ALL),
    "silent anywhere": Evil(silence, _ALL),
    "cut anywhere": Evil(cut, _ALL),
    "lines for ever": Evil(for_ever(lambda piece: piece[:3] + b"-more\r\n", 0.1), _ALL),
    "lines in a flood": Evil(for_ever(lambda piece: (piece[:3] + b"-more\r\n") * 100, 0.0), _ALL),
    "no line's end": Evil(for_ever(lambda _piece: b"2" * 1000, 0.0), _ALL),
    "replies before they are asked for": Evil(says_more(b"200 ok", b"226 done", b"550 no"), _ALL),
    "closing down": Evil(says(b"421 Service not available, closing control connection"), _ALL),
    "nonsense": Evil(says(b"", b"x", b"1", b"99", b"-1 no", b"\xff\xfe\xfd", b"999 \x1b[2J\x07"), _ALL),
    "removal refused": Evil(says(b"550 no", b"450 in use", b"500 what?", b"200 gone"), ("DELE", "RMD")),
    "removal silent": Evil(silence, ("DELE", "RMD")),
    "folders everywhere": Evil(says(b"250 ok"), ("CWD", "MKD", "RMD")),
    "a folder in itself": Evil(in_itself, ("CWD", DATA_DOWN), machine=True),
    "no folders": Evil(says(b"550 no"), ("CWD",)),
    **{f"listed {number}": Evil(lists(lines), (DATA_DOWN,), machine=True) for number, lines in enumerate(LISTED)},
}
