"""Stages about the way to the server: first connect, distance, signing and encryption, long run, several cards."""

import socket
import struct
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from app.clients.base import Content, Meter, OpenMode
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.client import SMBClient, SMBLink
from app.clients.smb.files import SMBFiles
from app.clients.smb.negotiate import SIGNING_NAMES, Signer
from app.clients.smb.session import reach
from app.clients.smb.share import Share, Window
from app.clients.smb.wire import CREDIT_BYTES, HEADER_BYTES, SUCCESS, Opcode, Response
from app.environment.host.facts import read_text
from app.environment.link.facts import parse_interfaces
from app.errors import LoginError, MeasurementError
from app.server.shell import ServerShell
from app.subjects.diagnosis.bench import LARGEST_WINDOW_BYTES, LONG, Bench, echo_seconds, measured, read_part
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
_RSS, _RDMA = 1, 2
_LEAST_SHARE_OF_A_CARD = 0.01
"""Of all bytes; what other traffic a card carries is not told."""


class _TimedChannel(Channel):
    def __init__(self, sock: socket.socket, where: str, timeout_seconds: float, legs: dict[str, float]) -> None:
        super().__init__(sock, where, timeout_seconds)
        self._legs = legs
        self._sent_at = 0.0
        self._logins = 0

    def send(self, *message: Any, **how: Any) -> int:
        self._sent_at = time.perf_counter()
        return super().send(*message, **how)

    def receive_for(self, message_id: int | None) -> Response:
        response = super().receive_for(message_id)
        took = time.perf_counter() - self._sent_at
        if leg := _LEGS.get(Opcode(response.command)):
            self._logins += leg == "login"
            self._legs[f"{leg}_{self._logins}" if leg == "login" else leg] = took
        return response


class _StagedLink(SMBLink):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.legs: dict[str, float] = {}

    def _dial(self, where: str) -> Channel:
        tries: list[tuple[str, float]] = []

        def hold(sock: socket.socket) -> None:
            self._sock = sock
            tries.append((_FAMILIES.get(sock.family, "other"), time.perf_counter()))

        timeout, began = self._settings.timeout_seconds, time.perf_counter()
        sock = reach(self.target, timeout, hold)
        ends = [*(at for _, at in tries[1:]), time.perf_counter()]
        self.legs["lookup"] = tries[0][1] - began
        for (family, at), end in zip(tries, ends, strict=True):
            self.legs[f"tcp_{family}"] = self.legs.get(f"tcp_{family}", 0.0) + end - at
        return _TimedChannel(sock, where, timeout, self.legs)


def _waited_seconds() -> float:
    words = (read_text("/proc/thread-self/schedstat") or "").split()
    return int(words[1]) / 1e9 if len(words) > 1 else 0.0


def connect(bench: Bench) -> Stage:
    """Log in several times, the first time cold; then look each family of addresses up by itself."""
    samples: dict[str, list[float]] = defaultdict(list)
    target = bench.target
    for _ in range(bench.plan.sizes.logins):
        bench.check()
        began, waited = time.perf_counter(), _waited_seconds()
        with bench.connection(_StagedLink) as link:
            share, opening = link.connected_share(), time.perf_counter()
            folder = share.open(target.path, wire.ACCESS_LIST, options=wire.OPTION_A_FOLDER)
            ended = time.perf_counter()
            legs = link.legs | {"first_open": ended - opening}
            legs["this_machine"] = max(0.0, ended - began - sum(legs.values()))
            samples["processor_wait_seconds"].append(_waited_seconds() - waited)
            share.close(folder)
            for name, seconds in (legs | {"total": ended - began}).items():
                samples[f"{name}_seconds"].append(seconds)
            samples["echo_seconds"] += echo_seconds(share, 3)
    for family, name in _FAMILIES.items():
        began = time.perf_counter()
        with suppress(OSError, UnicodeError):
            socket.getaddrinfo(target.host, target.port_number, family=family, type=socket.SOCK_STREAM)
        samples[f"lookup_{name}_seconds"].append(time.perf_counter() - began)
    return measured(StageName.CONNECT, samples, {})


def distance(bench: Bench) -> Stage:
    """Round trips of empty requests, and throughput by bytes in flight."""
    path, samples = bench.bulk(), defaultdict[str, list[float]](list)
    in_flight = LARGEST_WINDOW_BYTES // _BLOCK_BYTES
    with bench.connection(SMBClient, block_bytes=_BLOCK_BYTES, in_flight=in_flight) as client:
        share, until = client.connected_share(), time.monotonic() + bench.plan.sizes.stage_seconds
        samples["echo_seconds"] += echo_seconds(share, bench.sizes.echoes)
        facts: dict[str, FactValue] = dict(client.facts_of_path())
        granted = int(facts["smb.credits"]) * CREDIT_BYTES
        most = min(granted, LARGEST_WINDOW_BYTES)
        windows = sorted({CREDIT_BYTES, *(max(CREDIT_BYTES, most >> power) for power in (8, 4, 2, 1, 0))})
        file = share.open_file(path, wire.ACCESS_READ)
        for turn in range(_WINDOW_ROUNDS):
            for size in windows:
                if turn and time.monotonic() > until:
                    break
                block = min(size, _BLOCK_BYTES)
                window = Window(block_bytes=block, in_flight=max(1, size // block))
                moved = max(_LEAST_READ_BYTES // 4, _TURNS_OF_A_WINDOW * size)
                rate = read_part(share, file, moved, window, Meter(bench.cancelled))
                samples[f"in_flight_{size}_bytes_per_second"].append(rate)
        share.close(file)
        samples["echo_seconds"] += echo_seconds(share, bench.sizes.echoes)
    facts |= {"asked_bytes_in_flight": LARGEST_WINDOW_BYTES, "granted_bytes_in_flight": granted}
    return measured(StageName.DISTANCE, samples, facts)


def protection(bench: Bench) -> Stage:
    """One file plain, signed and encrypted, as far as the server allows, interleaved in changing order."""
    path, samples = bench.bulk(), defaultdict[str, list[float]](list)
    facts: dict[str, FactValue] = {}
    modes: dict[str, dict[str, bool]] = {"plain": {}, "signed": {"sign": True}, "encrypted": {"encrypt": True}}
    until = time.monotonic() + bench.sizes.stage_seconds
    for turn in range(bench.sizes.rounds):
        order = list(modes)
        for mode in order[turn % len(order) :] + order[: turn % len(order)]:
            if turn and time.monotonic() > until:
                break
            try:
                with bench.connection(SMBClient, **modes[mode]) as client:
                    told, about = client.facts(), client.facts_of_path()
                    facts[f"{mode}.signing"], facts[f"{mode}.encryption"] = told.signing or "", told.encryption or ""
                    facts["requires_signing"] = about["smb.requires_signing"]
                    moved = client.get(path, Meter(bench.cancelled))
                    samples[f"{mode}_bytes_per_second"].append(moved.size_bytes / moved.seconds)
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
    flags = (read_text("/proc/cpuinfo") or "").partition("flags")[2].partition("\n")[0].split()
    facts["client.aes"] = "yes" if {"aes", "pclmulqdq"} <= set(flags) else "no" if flags else "unknown"
    return measured(StageName.PROTECTION, samples, facts)


def _signer_rate(algorithm: str) -> float:
    """How fast this machine signs; 0 for an algorithm that this client lacks."""
    known = {name: code for code, name in SIGNING_NAMES.items()}
    if algorithm not in known:
        return 0.0
    sign, message = Signer(known[algorithm], bytes(16)).sign, bytearray(wire.HEADER_BYTES + _LEAST_READ_BYTES)
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < _SIGNER_SECONDS:
        sign(count, memoryview(message), from_server=True)
        count += 1
    return count * _LEAST_READ_BYTES / (time.perf_counter() - began)


class _EnoughError(Exception):
    """The run is long enough."""


def long_run(bench: Bench) -> Stage:
    """One long put, then the price of having it written to the disk."""
    path, size = bench.path(LONG), bench.sizes.long_bytes

    def sample(seconds: float, _moved: int) -> None:
        if seconds > bench.plan.sizes.stage_seconds:
            raise _EnoughError

    meter = Meter(bench.cancelled, on_sample=sample)
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
    with bench.connection(SMBClient) as client, suppress(_EnoughError):
        client.put(path, Content(size), meter)
    with bench.connection(SMBFiles) as files:
        handle, began = files.open(path, OpenMode.UPDATE), time.perf_counter()
        files.flush(handle)
        flushed = time.perf_counter() - began
        files.close_file(handle)
        files.remove(path)
    step = -(-len(meter.samples) // _MOST_SAMPLES) or 1
    ends = meter.samples[::step]
    return Stage(
        name=StageName.LONG_RUN,
        samples={"at_seconds": tuple(at for at, _ in ends), "moved_bytes": tuple(float(moved) for _, moved in ends)},
        facts={"flush_seconds": flushed},
    )


def cards(bench: Bench) -> Stage:
    """The interfaces that the server offers, and several connections against one."""
    path, samples = bench.bulk(), defaultdict[str, list[float]](list)
    facts: dict[str, FactValue] = {"connections": _CONNECTIONS}
    with bench.connection(SMBClient) as client:
        offered = _offered(client.connected_share())
    facts["interfaces"] = len(offered)
    for number, (speed, abilities) in enumerate(offered, start=1):
        facts[f"interface_{number}.bits_per_second"] = speed
        facts[f"interface_{number}.rss"] = "yes" if abilities & _RSS else "no"
        facts[f"interface_{number}.rdma"] = "yes" if abilities & _RDMA else "no"
    size, until = bench.sizes.bulk_bytes, time.monotonic() + bench.sizes.stage_seconds

    def read(_number: int, by: SMBClient) -> None:
        by.get(path, Meter(bench.cancelled))

    sides: dict[str, tuple[str | None, str]] = {"card": (None, "rx_bytes")}
    if bench.plan.profile_ssh:
        sides["server_card"] = (bench.plan.profile_ssh, "tx_bytes")
    carried = {side: defaultdict[str, int](int) for side in sides}
    for turn in range(max(3, bench.sizes.rounds // 2)):
        for connections in (1, _CONNECTIONS) if turn % 2 else (_CONNECTIONS, 1):
            if turn and time.monotonic() > until:
                break
            before = {side: _counters(ssh) for side, (ssh, _) in sides.items()} if connections > 1 else {}
            seconds = bench.side_by_side(connections, SMBClient, read)
            samples[f"connections_{connections}_bytes_per_second"].append(connections * size / seconds)
            for side, earlier in before.items():
                ssh, direction = sides[side]
                for card, counts in _counters(ssh).items():
                    carried[side][card] += counts[direction] - earlier.get(card, counts)[direction]
    for side, by_card in carried.items():
        facts |= {f"{side}.{card}.share": share for card, share in shares_of(by_card).items()}
    return measured(StageName.CARDS, samples, facts)


def shares_of(by_card: Mapping[str, int]) -> dict[str, float]:
    """What part of all bytes went through each card, but for those with hardly any."""
    whole = sum(by_card.values())
    return {card: round(count / whole, 4) for card, count in by_card.items() if count > _LEAST_SHARE_OF_A_CARD * whole}


def _counters(ssh: str | None) -> dict[str, dict[str, int]]:
    """The counters of each card of this machine, or of the server; none where they cannot be read."""
    text = ServerShell(ssh).run("cat", "/proc/net/dev").out if ssh else read_text("/proc/net/dev")
    return parse_interfaces(text)


def _offered(share: Share) -> list[tuple[int, int]]:
    """(bits per second, abilities) of each card, whatever its number of addresses; empty where none is told."""
    body = _IOCTL.pack(57, 0, _INTERFACES, b"\xff" * 16, HEADER_BYTES + _IOCTL.size, 0, 0, 0, 0, CREDIT_BYTES, 1, 0)
    response = share.channel.ask(wire.frame(Opcode.IOCTL, body + b"\0", share.tree_id))
    if response.status != SUCCESS or len(response.message) < HEADER_BYTES + 48:
        return []
    start, length = struct.unpack_from("<II", response.message, HEADER_BYTES + 32)
    data, found, at = bytes(response.message[start : start + length]), dict[int, tuple[int, int]](), 0
    while at + _INTERFACE.size <= len(data):
        following, index, abilities, _reserved, speed, _address = _INTERFACE.unpack_from(data, at)
        found[index] = speed, abilities
        if not following:
            break
        at += following
    return [*found.values()]
