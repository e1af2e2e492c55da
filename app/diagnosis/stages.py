"""Stages of the way to the server: first connect, distance, signing and encryption, long run, cards."""

import socket
import struct
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from app.base.errors import LoginError, MeasurementError
from app.clients.base import Content, Meter, OpenMode
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.client import SMBClient, SMBLink
from app.clients.smb.files import SMBFiles
from app.clients.smb.negotiate import CIPHER_NAMES, SIGNING_NAMES, Keys, Sealer, Signer
from app.clients.smb.session import reach
from app.clients.smb.share import Share, Window
from app.clients.smb.wire import CREDIT_BYTES, HEADER_BYTES, SUCCESS, Opcode, Response
from app.diagnosis.bench import LARGEST_WINDOW_BYTES, LONG, Bench, echo_seconds, read_part, stage_of
from app.server.host_activity import ProcessorTicks, parse_cpu
from app.server.host_facts import read_text
from app.server.link_facts import parse_interfaces
from app.server.shell import ServerShell
from forms.diagnosis.summary import BUSY_WITH_SEVERAL
from storage.looks import Stage, StageName
from storage.records import FactValue

_BLOCK_BYTES = 256 * 1024
_TURNS_OF_A_WINDOW = 6
_WINDOW_ROUNDS = 2
_CONNECTIONS = 4
_LEAST_READ_BYTES = 1024 * 1024
_SIGNER_SECONDS = 0.1
_MOST_SAMPLES = 600
_LEGS = {Opcode.NEGOTIATE: "negotiate", Opcode.SESSION_SETUP: "login", Opcode.TREE_CONNECT: "share"}
_FAMILIES = {socket.AF_INET: "ipv4", socket.AF_INET6: "ipv6"}
_INTERFACES = 0x001401FC
"""FSCTL_QUERY_NETWORK_INTERFACE_INFO (MS-SMB2 2.2.31, 2.2.32.5)."""
_IOCTL = struct.Struct("<HHI16sIIIIIIII")
_INTERFACE = struct.Struct("<IIIIQ128s")
_RSS = 1
_RDMA = 2
_LEAST_SHARE_OF_A_CARD = 0.01
"""Of all bytes; what other traffic a card carries is not told."""

Samples = defaultdict[str, list[float]]


class _TimedChannel(Channel):
    """A channel that notes how long each leg of a first connect takes."""

    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float, legs: dict[str, float]) -> None:
        super().__init__(sock, where, timeout_seconds)
        self._legs = legs
        self._sent_at = 0.0
        self._logins = 0

    def send(self, *message: Any, **options: Any) -> int:
        self._sent_at = time.perf_counter()
        return super().send(*message, **options)

    def receive_for(self, message_id: int | None) -> Response:
        response = super().receive_for(message_id)
        seconds = time.perf_counter() - self._sent_at

        leg = _LEGS.get(Opcode(response.command))
        if leg == "login":
            # A login takes several messages.
            self._logins += 1
            self._legs[f"login_{self._logins}"] = seconds
        elif leg:
            self._legs[leg] = seconds
        return response


class _StagedLink(SMBLink):
    """A connection that notes the seconds of each of its legs, from the look-up of the name on."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.legs: dict[str, float] = {}

    def _dial(self, where: str) -> Channel:
        tries: list[tuple[str, float]] = []

        def hold(sock: socket.socket) -> None:
            self._sock = sock
            tries.append((_FAMILIES.get(sock.family, "other"), time.perf_counter()))

        timeout_seconds = self._settings.timeout_seconds
        began = time.perf_counter()
        sock = reach(self.target, timeout_seconds, hold)
        connected_at = time.perf_counter()

        self.legs["lookup"] = tries[0][1] - began
        # A try ends where the next one begins.
        ends = [*(tried_at for _, tried_at in tries[1:]), connected_at]
        for (family, tried_at), end in zip(tries, ends, strict=True):
            leg = f"tcp_{family}"
            self.legs[leg] = self.legs.get(leg, 0.0) + end - tried_at
        return _TimedChannel(sock, where, timeout_seconds, self.legs)


def _waited_seconds() -> float:
    """How long this thread has waited for a processor."""
    words = (read_text("/proc/thread-self/schedstat") or "").split()
    return int(words[1]) / 1e9 if len(words) > 1 else 0.0


def connect(bench: Bench) -> Stage:
    """Log in several times, the first time cold; then look each family of addresses up by itself."""
    samples: Samples = defaultdict(list)
    for _ in range(bench.plan.sizes.logins):
        bench.check()
        _measure_login(bench, samples)

    target = bench.target
    for family, name in _FAMILIES.items():
        began = time.perf_counter()
        with suppress(OSError, UnicodeError):
            socket.getaddrinfo(target.host, target.port_number, family=family, type=socket.SOCK_STREAM)
        samples[f"lookup_{name}_seconds"].append(time.perf_counter() - began)
    return stage_of(StageName.CONNECT, samples, {})


def _measure_login(bench: Bench, samples: Samples) -> None:
    began = time.perf_counter()
    waited_before = _waited_seconds()
    with bench.connection(_StagedLink) as link:
        share = link.connected_share()
        opening_at = time.perf_counter()
        folder = share.open(bench.target.path, wire.ACCESS_LIST, options=wire.OPTION_A_FOLDER)
        ended = time.perf_counter()
        samples["processor_wait_seconds"].append(_waited_seconds() - waited_before)
        share.close(folder)

        legs = link.legs | {"first_open": ended - opening_at}
        legs["this_machine"] = max(0.0, ended - began - sum(legs.values()))
        legs["total"] = ended - began
        for name, seconds in legs.items():
            samples[f"{name}_seconds"].append(seconds)
        samples["echo_seconds"] += echo_seconds(share, 3)


def distance(bench: Bench) -> Stage:
    """Round trips of empty requests, and throughput by bytes in flight."""
    path = bench.bulk()
    samples: Samples = defaultdict(list)
    in_flight = LARGEST_WINDOW_BYTES // _BLOCK_BYTES
    with bench.connection(SMBClient, block_bytes=_BLOCK_BYTES, in_flight=in_flight) as client:
        share = client.connected_share()
        ends_at = time.monotonic() + bench.plan.sizes.stage_seconds
        samples["echo_seconds"] += echo_seconds(share, bench.sizes.echoes)

        facts: dict[str, FactValue] = dict(client.facts_of_path())
        granted_bytes = int(facts["smb.credits"]) * CREDIT_BYTES
        largest_bytes = min(granted_bytes, LARGEST_WINDOW_BYTES)
        smaller_bytes = {max(CREDIT_BYTES, largest_bytes >> power) for power in (8, 4, 2, 1, 0)}
        window_sizes = sorted({CREDIT_BYTES, *smaller_bytes})

        file = share.open_file(path, wire.ACCESS_READ)
        for turn in range(_WINDOW_ROUNDS):
            for window_bytes in window_sizes:
                if turn and time.monotonic() > ends_at:
                    break
                block_bytes = min(window_bytes, _BLOCK_BYTES)
                window = Window(block_bytes=block_bytes, in_flight=max(1, window_bytes // block_bytes))
                read_bytes = max(_LEAST_READ_BYTES // 4, _TURNS_OF_A_WINDOW * window_bytes)
                rate = read_part(share, file, read_bytes, window, Meter(bench.cancelled))
                samples[f"in_flight_{window_bytes}_bytes_per_second"].append(rate)
        share.close(file)
        samples["echo_seconds"] += echo_seconds(share, bench.sizes.echoes)

    facts |= {"asked_bytes_in_flight": LARGEST_WINDOW_BYTES, "granted_bytes_in_flight": granted_bytes}
    return stage_of(StageName.DISTANCE, samples, facts)


def protection(bench: Bench) -> Stage:
    """One file plain, signed and encrypted, as far as the server allows, interleaved in changing order."""
    path = bench.bulk()
    samples: Samples = defaultdict(list)
    facts: dict[str, FactValue] = {}
    modes: dict[str, dict[str, bool]] = {"plain": {}, "signed": {"sign": True}, "encrypted": {"encrypt": True}}
    ends_at = time.monotonic() + bench.sizes.stage_seconds

    for turn in range(bench.sizes.rounds):
        order = list(modes)
        first = turn % len(order)
        for mode in order[first:] + order[:first]:
            if turn and time.monotonic() > ends_at:
                break
            try:
                _measure_mode(bench, path, mode, modes[mode], samples, facts)
            except LoginError:
                raise
            except MeasurementError as error:
                bench.check()
                if not modes[mode]:
                    raise
                facts[f"{mode}.refused"] = str(error)
                del modes[mode]

    facts["dialect"] = bench.client_facts.dialect or "" if bench.client_facts else ""
    facts["signer_bytes_per_second"] = _signer_rate(str(facts.get("plain.signing", "none")))
    facts["cipher_bytes_per_second"] = _cipher_rate(str(facts.get("plain.encryption", "none")))
    facts["client.aes"] = _has_aes()
    return stage_of(StageName.PROTECTION, samples, facts)


def _measure_mode(
    bench: Bench, path: str, mode: str, settings: Mapping[str, bool], samples: Samples, facts: dict[str, FactValue]
) -> None:
    with bench.connection(SMBClient, **settings) as client:
        client_facts = client.facts()
        path_facts = client.facts_of_path()
        facts[f"{mode}.signing"] = client_facts.signing or ""
        facts[f"{mode}.encryption"] = client_facts.encryption or ""
        facts["requires_signing"] = path_facts["smb.requires_signing"]

        transfer = client.get(path, Meter(bench.cancelled))
        samples[f"{mode}_bytes_per_second"].append(transfer.size_bytes / transfer.seconds)


def _has_aes() -> str:
    """Whether this machine's processor has instructions for AES: ``yes``, ``no`` or ``unknown``."""
    flags = (read_text("/proc/cpuinfo") or "").partition("flags")[2].partition("\n")[0].split()
    if not flags:
        return "unknown"
    return "yes" if {"aes", "pclmulqdq"} <= set(flags) else "no"


def _signer_rate(algorithm: str) -> float:
    """Bytes a second that this machine signs; 0 for no algorithm that it knows."""
    codes = {name: code for code, name in SIGNING_NAMES.items()}
    if algorithm not in codes:
        return 0.0
    signer = Signer(codes[algorithm], bytes(16))
    message = memoryview(bytearray(_LEAST_READ_BYTES))
    return _rate_of(lambda: signer.sign(1, message, from_server=True))


def _cipher_rate(algorithm: str) -> float:
    """Bytes a second that this machine encrypts; 0 for no algorithm that it knows."""
    codes = {name: code for code, name in CIPHER_NAMES.items()}
    if algorithm not in codes:
        return 0.0
    keys = Keys(bytes(16), wire.SMB_3_1_1, bytes(64), codes[algorithm])
    sealer = Sealer(codes[algorithm], keys, 1)
    message = memoryview(bytearray(_LEAST_READ_BYTES))
    return _rate_of(lambda: sealer.seal(b"", message))


def _rate_of(work: Callable[[], object]) -> float:
    """Bytes a second of work on a large read, done again and again for a tenth of a second."""
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < _SIGNER_SECONDS:
        work()
        count += 1
    return count * _LEAST_READ_BYTES / (time.perf_counter() - began)


class _EnoughError(Exception):
    """The run is long enough."""


def long_run(bench: Bench) -> Stage:
    """One long put, then the price of having it written to the disk."""
    path = bench.path(LONG)

    def sample(seconds: float, _moved: int) -> None:
        if seconds > bench.plan.sizes.stage_seconds:
            raise _EnoughError

    meter = Meter(bench.cancelled, on_sample=sample)
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
    with bench.connection(SMBClient) as client, suppress(_EnoughError):
        client.put(path, Content(bench.sizes.long_bytes), meter)

    with bench.connection(SMBFiles) as files:
        handle = files.open(path, OpenMode.UPDATE)
        began = time.perf_counter()
        files.flush(handle)
        flush_seconds = time.perf_counter() - began
        files.close_file(handle)
        files.remove(path)

    step = -(-len(meter.samples) // _MOST_SAMPLES) or 1
    samples = meter.samples[::step]
    return Stage(
        name=StageName.LONG_RUN,
        samples={
            "at_seconds": tuple(at for at, _ in samples),
            "moved_bytes": tuple(float(moved) for _, moved in samples),
        },
        facts={"flush_seconds": flush_seconds},
    )


def cards(bench: Bench) -> Stage:
    """The interfaces that the server offers, and several connections against one."""
    path = bench.bulk()
    samples: Samples = defaultdict(list)
    facts: dict[str, FactValue] = {"connections": _CONNECTIONS}
    with bench.connection(SMBClient) as client:
        interfaces = _offered_interfaces(client.connected_share())
    facts["interfaces"] = len(interfaces)
    for number, (bits_per_second, abilities) in enumerate(interfaces, start=1):
        facts[f"interface_{number}.bits_per_second"] = bits_per_second
        facts[f"interface_{number}.rss"] = "yes" if abilities & _RSS else "no"
        facts[f"interface_{number}.rdma"] = "yes" if abilities & _RDMA else "no"

    def read(_number: int, client: SMBClient) -> None:
        client.get(path, Meter(bench.cancelled))

    counters = _CardCounters(bench.plan.profile_ssh)
    size_bytes = bench.sizes.bulk_bytes
    ends_at = time.monotonic() + bench.sizes.stage_seconds
    for turn in range(max(3, bench.sizes.rounds // 2)):
        for connections in (1, _CONNECTIONS) if turn % 2 else (_CONNECTIONS, 1):
            if turn and time.monotonic() > ends_at:
                break
            if connections > 1:
                counters.begin()
            processors_before = _processors()
            seconds = bench.side_by_side(connections, SMBClient, read)
            samples[f"connections_{connections}_bytes_per_second"].append(connections * size_bytes / seconds)
            if connections > 1:
                samples[BUSY_WITH_SEVERAL].append(_busy_percent(processors_before, _processors()))
                counters.end()

    facts |= counters.facts()
    return stage_of(StageName.CARDS, samples, facts)


class _CardCounters:
    """The bytes that each network card carried, of this machine and, where it can be asked, of the server."""

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


def _processors() -> ProcessorTicks:
    return parse_cpu(read_text("/proc/stat")) or ProcessorTicks()


def _busy_percent(before: ProcessorTicks, after: ProcessorTicks) -> float:
    passed_ticks = after.total - before.total
    return 100 * (after.busy - before.busy) / passed_ticks if passed_ticks else 100.0


def _interface_counters(ssh: str | None) -> dict[str, dict[str, int]]:
    if ssh:
        return parse_interfaces(ServerShell(ssh).run("cat", "/proc/net/dev").out)
    return parse_interfaces(read_text("/proc/net/dev"))


def _offered_interfaces(share: Share) -> list[tuple[int, int]]:
    """(bits per second, abilities) of each card, whatever its number of addresses; empty where none is told."""
    body = _IOCTL.pack(57, 0, _INTERFACES, b"\xff" * 16, HEADER_BYTES + _IOCTL.size, 0, 0, 0, 0, CREDIT_BYTES, 1, 0)
    response = share.channel.ask(wire.frame(Opcode.IOCTL, body + b"\0", share.tree_id))
    if response.status != SUCCESS or len(response.message) < HEADER_BYTES + 48:
        return []

    start, length = struct.unpack_from("<II", response.message, HEADER_BYTES + 32)
    data = bytes(response.message[start : start + length])
    by_card: dict[int, tuple[int, int]] = {}
    offset = 0
    while offset + _INTERFACE.size <= len(data):
        following, index, abilities, _reserved, speed, _address = _INTERFACE.unpack_from(data, offset)
        by_card[index] = speed, abilities
        if not following:
            break
        offset += following
    return [*by_card.values()]
