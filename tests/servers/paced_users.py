"""Users who read or write a file of a share at a rate of their own, each over a connection of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from impacket.smbconnection import SMBConnection

from tests.servers.smbd import UNIX_USER, Smbd
from tests.waiting import HANG_SECONDS

FILE_BYTES = 4 * 2**20
_REQUEST_BYTES = 2**16
_PAUSE_SECONDS = 0.005
_READ = 0x1
_READ_WRITE = 0x3
_SHARED = 0x7
"""Others may read, write and delete the file meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one user does."""

    user: str
    """Of the Unix system; the share's own user is the one that smbd maps to ``UNIX_USER``."""
    bytes_per_second: float
    is_writing: bool = False


class PacedUsers:
    """The users are at work inside ``with``: all are connected when it begins."""

    def __init__(self, smbd: Smbd, paces: Sequence[Pace]) -> None:
        self.smbd = smbd
        self._paces = paces
        self._moved_bytes = dict.fromkeys((pace.user for pace in paces), 0)
        self._stop = threading.Event()
        self._connected = threading.Barrier(len(paces) + 1)
        self._threads = [threading.Thread(target=self._work, args=(pace,), daemon=True) for pace in paces]

    def __enter__(self) -> Self:
        for pace in self._paces:
            if pace.user != UNIX_USER:
                self.smbd.add_user(pace.user)
            content = self.smbd.make_file(f"{pace.user}.bin", bytes(FILE_BYTES))
            content.chmod(0o666)
        for thread in self._threads:
            thread.start()
        self._connected.wait(HANG_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def moved_bytes(self) -> dict[str, int]:
        """What each user has read or written until now."""
        return dict(self._moved_bytes)

    def _work(self, pace: Pace) -> None:
        smbd = self.smbd
        connection = SMBConnection(smbd.host, smbd.host, sess_port=smbd.port)
        connection.login(smbd.user if pace.user == UNIX_USER else pace.user, smbd.password)
        tree = connection.connectTree(smbd.share)
        access = _READ_WRITE if pace.is_writing else _READ
        file = connection.openFile(tree, f"{pace.user}.bin", desiredAccess=access, shareMode=_SHARED)
        self._connected.wait(HANG_SECONDS)

        began = time.monotonic()
        moved_bytes = 0
        while not self._stop.is_set():
            if moved_bytes > pace.bytes_per_second * (time.monotonic() - began):
                self._stop.wait(_PAUSE_SECONDS)
                continue

            offset = moved_bytes % FILE_BYTES
            if pace.is_writing:
                connection.writeFile(tree, file, bytes(_REQUEST_BYTES), offset)
            else:
                connection.readFile(tree, file, offset, _REQUEST_BYTES)
            moved_bytes += _REQUEST_BYTES
            self._moved_bytes[pace.user] = moved_bytes
        with suppress(OSError):
            connection.close()
