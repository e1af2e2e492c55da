"""Whether large packets get lost on the way: in a switch or tunnel that carries smaller ones, and does not say so.

Such a path answers logins and small requests, so that everything looks well until data moves. TCP tells the two cases
apart: what stalls with packets as large as it makes them, and is done with small ones, is lost for its size.
"""

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from app.base import errors
from app.clients.smb.files import SMBFiles
from storage.plan import Settings

TRIED_BYTES = 64 * 1024
"""Enough for several of the largest packets, and one request."""

_SMALL_SEGMENT_BYTES = 1220
"""Of a packet of 1,280 bytes, the least that IPv6 lets a path carry (RFC 8200)."""

_TRY_SECONDS = 5.0
"""Several times what TCP waits before it sends a lost packet again."""


class SmallSegmentFiles(SMBFiles):
    """A connection on which both ends send small packets only: TCP tells the other end the largest that it may send."""

    def _hold(self, sock: socket.socket) -> None:
        super()._hold(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SMALL_SEGMENT_BYTES)


class MakeConnection(Protocol):
    """Connects with these settings; what it gives is closed at the end of the ``with``."""

    def __call__(self, kind: type[SMBFiles], settings: Settings, /) -> AbstractContextManager[SMBFiles]: ...


def are_large_packets_lost(connect: MakeConnection, settings: Settings, work: Callable[[SMBFiles], object]) -> bool:
    """Whether the work, of about TRIED_BYTES, stalls with large packets and is done with small ones.

    Raises what connecting and the work raise, but for a stall.
    """
    brief = replace(settings, timeout_seconds=min(settings.timeout_seconds, _TRY_SECONDS))
    return not _is_done(connect, SMBFiles, brief, work) and _is_done(connect, SmallSegmentFiles, brief, work)


def _is_done(
    connect: MakeConnection, kind: type[SMBFiles], settings: Settings, work: Callable[[SMBFiles], object]
) -> bool:
    try:
        with connect(kind, settings) as files:
            work(files)
    except errors.StalledError:
        return False
    return True
