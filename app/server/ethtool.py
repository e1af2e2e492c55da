"""Asks the kernel for the driver of a network card and its fastest rate, by the ioctl that the program ethtool uses."""

import array
import os
import socket
import struct
from typing import NamedTuple

SIOCETHTOOL = 0x8946
GET_DRIVER = 0x00000003
GET_LINK_SETTINGS = 0x0000004C
"""Numbers of linux/sockios.h and linux/ethtool.h."""
_LINK_SETTINGS = struct.Struct("=IIBBBBBBBbB3B7I")
"""struct ethtool_link_settings, before the masks that follow it."""
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
    """What a card's driver says of itself; None for what it does not say."""

    name: str | None = None
    version: str | None = None
    """None for a driver that has the kernel's version."""
    firmware: str | None = None


def driver_of(interface: str) -> Driver:
    # struct ethtool_drvinfo: the command, then texts of 32 bytes each.
    answer = _ask(interface, struct.pack("=I", GET_DRIVER) + bytes(192)) or b""
    return Driver(name=_driver_text(answer, 4), version=_driver_text(answer, 36), firmware=_driver_text(answer, 68))


def _driver_text(answer: bytes, start: int) -> str | None:
    text = answer[start : start + 32].split(b"\0", 1)[0].decode("ascii", "replace").strip()
    return None if text in {"", "N/A", os.uname().release} else text


def fastest_bits_per_second(interface: str) -> int | None:
    """The fastest rate that the card supports; None where it does not say.

    The kernel is asked twice (ETHTOOL_GLINKSETTINGS): its first answer has the length of its masks, the second has
    them.
    """
    length_answer = _ask(interface, _request(0))
    # The kernel gives the length in words of 32 bits, negative as long as the request has another.
    mask_words = -_LINK_SETTINGS.unpack_from(length_answer)[9] if length_answer else 0
    answer = _ask(interface, _request(mask_words)) if mask_words > 0 else None
    if not answer:
        return None
    start = _LINK_SETTINGS.size
    return fastest_mode(int.from_bytes(answer[start : start + 4 * mask_words], "little"))


def fastest_mode(supported: int) -> int | None:
    """Bits per second of the fastest link mode in the mask; None where it has none that is known."""
    rates = [mbits for bit, mbits in LINK_MODE_MBITS.items() if supported >> bit & 1]
    return max(rates) * 1_000_000 if rates else None


def _request(mask_words: int) -> bytes:
    """The request for the link settings, with masks of as many words of 32 bits."""
    header = _LINK_SETTINGS.pack(GET_LINK_SETTINGS, 0, *[0] * 7, mask_words, *[0] * 11)
    # Room for three masks of the greatest length that the kernel's signed byte can name.
    return header + bytes(3 * 4 * 127)


def _ask(interface: str, request: bytes) -> bytes | None:
    """The kernel's answer, which it writes over the request; None where it refuses."""
    try:
        import fcntl

        buffer = array.array("B", request)
        # struct ifreq: the interface's name and the address of the request, which the answer overwrites.
        interface_request = struct.pack("16sP16x", interface.encode()[:15], buffer.buffer_info()[0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
            fcntl.ioctl(handle, SIOCETHTOOL, interface_request)
    except (ImportError, OSError):
        return None
    return buffer.tobytes()
