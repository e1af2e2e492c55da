"""The stage of the network cards: what the server offers, and several connections against one."""

import struct
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from app.clients import base
from app.clients.smb import client as smb_client
from app.clients.smb import share as smb_share
from app.clients.smb import wire
from app.diagnosis import measures
from app.diagnosis.bench import Bench
from app.server.host_facts import read_text
from app.server.network_counters import parse_interfaces
from app.server.shell import ServerShell
from forms.diagnosis.summary import BUSY_WITH_SEVERAL
from storage import looks
from storage.records import FactValue

_CONNECTIONS = 4
_INTERFACES = 0x001401FC
"""FSCTL_QUERY_NETWORK_INTERFACE_INFO (MS-SMB2 2.2.31, 2.2.32.5)."""
_IOCTL = struct.Struct("<HHI16sIIIIIIII")
"""The request, MS-SMB2 2.2.31: size of its fixed part, reserved, code, file; offset and length of the input (none), how
much of it may come back; offset and length of the output (none), how much the answer may bring; flags, reserved."""
_NO_FILE = b"\xff" * 16
_IS_FSCTL = 1
_ANSWER = struct.Struct("<HHI16sII")
"""As far as it is read, MS-SMB2 2.2.32: its size, reserved, code, file, offset and length of the input."""
_OUTPUT = struct.Struct("<II")
"""In the answer after that: where the list of addresses begins in the message, and its length."""
_ANSWER_BYTES = 48
"""The fixed part of the answer; the list comes after it."""
_INTERFACE = struct.Struct("<IIIIQ128s")
"""One address of a card: offset of the next, index of the card, abilities, reserved, bits per second, address."""
_RSS = 1
_RDMA = 2
_LEAST_SHARE_OF_A_CARD = 0.01
"""Of all bytes; what other traffic a card carries is not told."""


class OfferedInterface(NamedTuple):
    """A network card of the server, as it tells it."""

    bits_per_second: int
    abilities: int
    """Flags: _RSS, _RDMA."""


def cards(bench: Bench) -> looks.Stage:
    """The interfaces that the server offers, and several connections against one."""
    path = bench.bulk()
    samples = measures.Samples(list)
    facts = _interface_facts(bench)

    def read_file(_number: int, client: smb_client.SMBClient) -> None:
        client.get(path, base.Meter(bench.cancelled))

    counters = _CardCounters(bench.plan.profile_ssh)
    size_bytes = bench.affordable_sizes.bulk_bytes
    ends_at = time.monotonic() + bench.affordable_sizes.stage_seconds
    # A turn reads the file five times, so that half as many as elsewhere do; in changing order.
    for turn in range(max(3, bench.affordable_sizes.rounds // 2)):
        order = (1, _CONNECTIONS) if turn % 2 else (_CONNECTIONS, 1)
        for connections in order:
            if turn and time.monotonic() > ends_at:
                break
            if connections > 1:
                counters.begin()
            processors_before = measures.processors()
            seconds = bench.side_by_side(connections, smb_client.SMBClient, read_file)
            samples[f"connections_{connections}_bytes_per_second"].append(connections * size_bytes / seconds)
            if connections > 1:
                samples[BUSY_WITH_SEVERAL].append(measures.busy_percent_since(processors_before))
                counters.end()

    facts |= counters.facts()
    return measures.stage_of(looks.StageName.CARDS, samples, facts)


def _interface_facts(bench: Bench) -> dict[str, FactValue]:
    with bench.connection(smb_client.SMBClient) as client:
        interfaces = _offered_interfaces(client.connected_share())

    facts: dict[str, FactValue] = {"connections": _CONNECTIONS, "interfaces": len(interfaces)}
    for number, interface in enumerate(interfaces, start=1):
        facts[f"interface_{number}.bits_per_second"] = interface.bits_per_second
        facts[f"interface_{number}.rss"] = "yes" if interface.abilities & _RSS else "no"
        facts[f"interface_{number}.rdma"] = "yes" if interface.abilities & _RDMA else "no"
    return facts


class _CardCounters:
    """The bytes that each network card carried, of this machine and, where it can be asked, of the server.

    What is carried between :meth:`begin` and :meth:`end` is added up.
    """

    def __init__(self, server_ssh: str | None) -> None:
        self._sides: dict[str, tuple[str | None, str]] = {"card": (None, "rx_bytes")}
        """How each side is asked, and in which direction it carries what is read from the share."""
        if server_ssh:
            self._sides["server_card"] = (server_ssh, "tx_bytes")
        self._carried = {side: defaultdict[str, int](int) for side in self._sides}
        self._before: dict[str, dict[str, dict[str, int]]] = {}

    def begin(self) -> None:
        self._before = {side: _interface_counters(ssh) for side, (ssh, _) in self._sides.items()}

    def end(self) -> None:
        for side, before in self._before.items():
            ssh, direction = self._sides[side]
            for card, counts in _interface_counters(ssh).items():
                # A card that has come since carried nothing that could be told.
                self._carried[side][card] += counts[direction] - before.get(card, counts)[direction]

    def facts(self) -> dict[str, FactValue]:
        facts: dict[str, FactValue] = {}
        for side, by_card in self._carried.items():
            for card, share in shares_of(by_card).items():
                facts[f"{side}.{card}.share"] = share
        return facts


def shares_of(by_card: Mapping[str, int]) -> dict[str, float]:
    """The share of all bytes that each card carried, without those that carried hardly any."""
    all_bytes = sum(by_card.values())
    least_bytes = _LEAST_SHARE_OF_A_CARD * all_bytes
    return {card: round(count / all_bytes, 4) for card, count in by_card.items() if count > least_bytes}


def _interface_counters(ssh: str | None) -> dict[str, dict[str, int]]:
    if ssh:
        return parse_interfaces(ServerShell(ssh).run("cat", "/proc/net/dev").out)
    return parse_interfaces(read_text("/proc/net/dev"))


def _offered_interfaces(share: smb_share.Share) -> list[OfferedInterface]:
    """Each card once, whatever its number of addresses; empty where none is told."""
    after_request = wire.HEADER_BYTES + _IOCTL.size
    fixed_size = _IOCTL.size + 1
    most_bytes = share.channel.most_answer_bytes
    body = _IOCTL.pack(fixed_size, 0, _INTERFACES, _NO_FILE, after_request, 0, 0, 0, 0, most_bytes, _IS_FSCTL, 0)
    response = share.channel.ask(wire.frame(wire.Opcode.IOCTL, body + b"\0", share.tree_id))
    if response.status != wire.SUCCESS or len(response.message) < wire.HEADER_BYTES + _ANSWER_BYTES:
        return []

    start, length = _OUTPUT.unpack_from(response.message, wire.HEADER_BYTES + _ANSWER.size)
    data = bytes(response.message[start : start + length])
    by_card: dict[int, OfferedInterface] = {}
    offset = 0
    while offset + _INTERFACE.size <= len(data):
        following, index, abilities, _reserved, speed, _address = _INTERFACE.unpack_from(data, offset)
        by_card[index] = OfferedInterface(speed, abilities)
        if not following:
            break
        offset += following
    return [*by_card.values()]
