"""What the kernel's ethtool interface says of a network card: its driver and the fastest rate that it can do.

The ``ethtool`` program is seldom installed, so the ioctl that it uses is asked directly (linux/ethtool.h).
"""

import array
import os
import socket
import struct
from typing import NamedTuple

SIOCETHTOOL = 0x8946
GET_DRIVER = 0x00000003
GET_LINK_SETTINGS = 0x0000004C
_LINK_SETTINGS = struct.Struct("=IIBBBBBBBbB3B7I")

LINK_MODE_MBITS = {
    **dict.fromkeys((0, 1), 10),
    **dict.fromkeys((2, 3), 100),
    **dict.fromkeys((4, 5, 17, 41), 1_000),
    **dict.fromkeys((15, 47), 2_500),
    48: 5_000,
    **dict.fromkeys((12, 18, 19, 20, 42, 43, 44, 45, 46), 10_000),
    **dict.fromkeys((21, 22), 20_000),
    **dict.fromkeys((31, 32, 33), 25_000),
    **dict.fromkeys((23, 24, 25, 26), 40_000),
    **dict.fromkeys((34, 35, 40, *range(52, 57)), 50_000),
    **dict.fromkeys((27, 28, 29, 30), 56_000),
    **dict.fromkeys((36, 37, 38, 39, *range(57, 62)), 100_000),
    **dict.fromkeys(range(62, 67), 200_000),
    **dict.fromkeys(range(69, 74), 400_000),
}
"""Bit of the supported-modes mask to Mbit/s (enum ethtool_link_mode_bit_indices)."""


class Driver(NamedTuple):
    """What drives an interface; None where it does not say."""

    name: str | None = None
    """``e1000e``, ``virtio_net``, ``veth``."""
    version: str | None = None
    """Absent for drivers that have the kernel's."""
    firmware: str | None = None


def driver(interface: str) -> Driver:
    """The kernel driver of an interface."""
    answer = _ask(interface, struct.pack("=I", GET_DRIVER) + bytes(192)) or b""
    words = (answer[start : start + 32].split(b"\0", 1)[0].decode("ascii", "replace").strip() for start in (4, 36, 68))
    return Driver(*(None if word in {"", "N/A", os.uname().release} else word for word in words))


def fastest_bits_per_second(interface: str) -> int | None:
    """The highest rate that the card itself supports, in bits per second, or None where it does not say.

    The first request tells how many words its masks have, the second asks with that number, as linux/ethtool.h
    prescribes for ETHTOOL_GLINKSETTINGS.
    """
    first = _ask(interface, _request(0))
    words = -_LINK_SETTINGS.unpack_from(first)[9] if first else 0
    answer = _ask(interface, _request(words)) if words > 0 else None
    if not answer:
        return None
    start = _LINK_SETTINGS.size
    return fastest_mode(int.from_bytes(answer[start : start + 4 * words], "little"))


def fastest_mode(supported: int) -> int | None:
    """The highest rate of a supported-modes mask, in bits per second; None where it names no rate."""
    rates = [mbits for bit, mbits in LINK_MODE_MBITS.items() if supported >> bit & 1]
    return max(rates) * 1_000_000 if rates else None


def _request(words: int) -> bytes:
    header = _LINK_SETTINGS.pack(GET_LINK_SETTINGS, 0, *[0] * 7, words, *[0] * 11)
    return header + bytes(3 * 4 * 127)


def _ask(interface: str, request: bytes) -> bytes | None:
    """The kernel's answer to one ethtool request, or None where it refuses or this is no Linux."""
    try:
        import fcntl  # noqa: PLC0415 - only POSIX systems have it

        buffer = array.array("B", request)
        wanted = struct.pack("16sP16x", interface.encode()[:15], buffer.buffer_info()[0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
            fcntl.ioctl(handle, SIOCETHTOOL, wanted)
    except (ImportError, OSError):
        return None
    return buffer.tobytes()
