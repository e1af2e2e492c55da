"""What went over a link, as the kernel saw it: the time of a transfer's first and last packet."""

from __future__ import annotations

import socket
import struct
import threading
from types import TracebackType
from typing import Self

from tests.servers.netns import Link

_ETH_P_ALL = 0x0003  # packets that are sent, too
_ETH_P_IP = 0x0800
_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33
_HEADERS = 60
"""Enough of a packet for IPv4's total length and both headers' own."""
_DATA = 1400
"""The least payload that a packet of a file has, but for its last; logins and requests are smaller."""


class WireWitness:
    """Sees every packet of a link as long as it is open, with the kernel's time stamps.

    A packet to the other end is seen after the link's shaper, one from there when it arrives: the stamps are those of
    the wire, however long the program that sends or receives waits for the processor.
    """

    def __init__(self, link: Link) -> None:
        self._packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self._packets.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 28)
        self._packets.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._packets.bind((link.device, _ETH_P_ALL))
        self._packets.settimeout(0.2)
        self._ended = threading.Event()
        self._stamps: dict[bool, list[int]] = {True: [], False: []}
        self._watching = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._watching.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._watching.join()
        self._packets.close()

    def _watch(self) -> None:
        while True:
            try:
                head, ancillary, _flags, address = self._packets.recvmsg(_HEADERS, socket.CMSG_SPACE(16))
            except TimeoutError:
                if self._ended.is_set():
                    return
                continue
            if address[1] != _ETH_P_IP:
                continue
            total = struct.unpack_from("!H", head, 2)[0]
            internet = 4 * (head[0] & 15)
            if total - internet - 4 * (head[internet + 12] >> 4) >= _DATA:
                seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
                sent = address[2] == socket.PACKET_OUTGOING
                self._stamps[sent].append(seconds * 1_000_000_000 + nanoseconds)

    def seconds(self, *, sent: bool) -> float:
        """From the first to the last packet of data, sent to the other end or received from there."""
        stamps = self._stamps[sent]
        return (max(stamps) - min(stamps)) / 1e9
