"""Stages: first connect, distance, signing and encryption, long run, cards; small files and large folders."""

import socket
import struct
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from app.base.errors import LoginError, MeasurementError, NoSuchFileError
from app.clients.base import Content, Meter, OpenMode
from app.clients.file_tree import FILES_IN_FOLDER
from app.clients.smb import wire
from app.clients.smb.channel import Channel
from app.clients.smb.client import SMBClient, SMBLink
from app.clients.smb.files import SMBFiles
from app.clients.smb.negotiate import CIPHER_NAMES, SIGNING_NAMES, Keys, Sealer, Signer
from app.clients.smb.session import reach
from app.clients.smb.share import Share, Window, list_folder
from app.clients.smb.wire import CREDIT_BYTES, HEADER_BYTES, SAME_FILE, SUCCESS, Opcode, Response
from app.diagnosis.bench import LARGEST_WINDOW_BYTES, LONG, Bench, echo_seconds, measured, read_part
from app.server.host_activity import ProcessorTicks, parse_cpu
from app.server.host_facts import read_text
from app.server.link_facts import parse_interfaces
from app.server.shell import ServerShell
from app.server.smbd import Profiler
from forms.diagnosis.summary import BUSY_WITH_SEVERAL, patterns
from storage.looks import Stage, StageName
from storage.records import Command, FactValue

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
    facts["cipher_bytes_per_second"] = _cipher_rate(str(facts.get("plain.encryption", "none")))
    flags = (read_text("/proc/cpuinfo") or "").partition("flags")[2].partition("\n")[0].split()
    facts["client.aes"] = "yes" if {"aes", "pclmulqdq"} <= set(flags) else "no" if flags else "unknown"
    return measured(StageName.PROTECTION, samples, facts)


def _signer_rate(algorithm: str) -> float:
    """Bytes a second that this machine signs; 0 for no algorithm that it knows."""
    known = {name: code for code, name in SIGNING_NAMES.items()}
    if algorithm not in known:
        return 0.0
    signer, message = Signer(known[algorithm], bytes(16)), memoryview(bytearray(_LEAST_READ_BYTES))
    return _rate_of(lambda: signer.sign(1, message, from_server=True))


def _cipher_rate(algorithm: str) -> float:
    """Bytes a second that this machine encrypts; 0 for no algorithm that it knows."""
    known = {name: code for code, name in CIPHER_NAMES.items()}
    if algorithm not in known:
        return 0.0
    keys = Keys(bytes(16), wire.SMB_3_1_1, bytes(64), known[algorithm])
    sealer, message = Sealer(known[algorithm], keys, 1), memoryview(bytearray(_LEAST_READ_BYTES))
    return _rate_of(lambda: sealer.seal(b"", message))


def _rate_of(work: Callable[[], object]) -> float:
    """Bytes a second of work on a large read, done again and again for a tenth of a second."""
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < _SIGNER_SECONDS:
        work()
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
    ends = meter.samples[:: (-(-len(meter.samples) // _MOST_SAMPLES) or 1)]
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
            cpu_before = _processors()
            seconds = bench.side_by_side(connections, SMBClient, read)
            samples[f"connections_{connections}_bytes_per_second"].append(connections * size / seconds)
            if connections > 1:
                samples[BUSY_WITH_SEVERAL].append(_busy_percent(cpu_before, _processors()))
            for side, earlier in before.items():
                ssh, direction = sides[side]
                for card, counts in _counters(ssh).items():
                    carried[side][card] += counts[direction] - earlier.get(card, counts)[direction]
    for side, by_card in carried.items():
        facts |= {f"{side}.{card}.share": share for card, share in shares_of(by_card).items()}
    return measured(StageName.CARDS, samples, facts)


def shares_of(by_card: Mapping[str, int]) -> dict[str, float]:
    whole = sum(by_card.values())
    return {card: round(count / whole, 4) for card, count in by_card.items() if count > _LEAST_SHARE_OF_A_CARD * whole}


def _processors() -> ProcessorTicks:
    return parse_cpu(read_text("/proc/stat")) or ProcessorTicks()


def _busy_percent(before: ProcessorTicks, after: ProcessorTicks) -> float:
    passed = after.total - before.total
    return 100 * (after.busy - before.busy) / passed if passed else 100.0


def _counters(ssh: str | None) -> dict[str, dict[str, int]]:
    return parse_interfaces(ServerShell(ssh).run("cat", "/proc/net/dev").out if ssh else read_text("/proc/net/dev"))


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


ROUND_TRIPS = 3
"""Of one small file, as this stage asks for it: open, read or write, close."""
_LISTINGS = 3
_STREAM_INFORMATION = 22
"""FileStreamInformation (MS-FSCC 2.4.44)."""
_NETWORK_OPEN_INFORMATION, _END_OF_FILE_INFORMATION, _ATTRIBUTE_INFORMATION = 34, 20, 5
"""MS-FSCC 2.4.34, 2.4.14 and 2.5.1."""
OF_AN_OPEN_FILE: Mapping[str, Callable[[bytes, int], wire.Request]] = {
    "query": lambda file_id, _: wire.query(file_id, _NETWORK_OPEN_INFORMATION),
    "size": lambda file_id, size: wire.set_info(file_id, _END_OF_FILE_INFORMATION, size.to_bytes(8, "little")),
    "volume": lambda file_id, _: wire.query(file_id, _ATTRIBUTE_INFORMATION, wire.FILE_SYSTEM),
}
_IN_2022 = struct.pack("<qqqqI4x", 0, 0, 133_000_000_000_000_000, 0, 0)
"""A last write (FileBasicInformation, MS-FSCC 2.4.7)."""
BY_NAME: Mapping[str, tuple[str, int, tuple[wire.Request, ...]]] = {
    "missing": ("", wire.ACCESS_ATTRIBUTES, ()),
    "stream": (":AFP_AfpInfo", wire.ACCESS_ATTRIBUTES, ()),
    "look": ("", wire.ACCESS_ATTRIBUTES, (wire.query(SAME_FILE, _NETWORK_OPEN_INFORMATION),)),
    "streams": ("", wire.ACCESS_ATTRIBUTES, (wire.query(SAME_FILE, _STREAM_INFORMATION),)),
    "times": ("", wire.ACCESS_WRITE, (wire.set_info(SAME_FILE, wire.BASIC_INFORMATION, _IN_2022),)),
}
_LEAST_PATTERN_FILES = 4
_MAKERS = 8
_PROFILE_ROUNDS, _PROFILE_FILES = 16, 60
_FIRST_FOLDER_OF_ENTRIES = 9000
"""Folders of entries are named from d9000 on, those of the tree from d0000 on."""


def small_files(bench: Bench) -> Stage:
    """A tree of small files written and read, by one stream and by several, each request timed."""
    sizes, samples = bench.sizes, defaultdict[str, list[float]](list)
    content = Content(sizes.file_bytes).block(0, sizes.file_bytes)
    clock = time.perf_counter
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        samples["echo_seconds"] += echo_seconds(files.connected_share(), bench.plan.sizes.echoes)
        for first in range(0, sizes.files, FILES_IN_FOLDER):
            began = clock()
            files.make_folder(_folder(bench, first))
            samples["folder_seconds"].append(clock() - began)
        made = sizes.files
        for command in (Command.PUT, Command.GET):
            until = time.monotonic() + bench.plan.sizes.stage_seconds / 3
            for number in range(made):
                if number and time.monotonic() > until:
                    made = number if command is Command.PUT else made
                    break
                at = [clock(), *(clock() for _ in _moving(files, _file(bench, number), content, command))]
                for part, begin, end in zip(("open", "data", "close"), at, at[1:], strict=False):
                    samples[f"{command}_{part}_seconds"].append(end - begin)
                bench.check()
    facts = _profiled(bench, content, made)
    streams = min(sizes.streams, made)
    each = -(-made // streams)

    def move(command: Command, stream: int, by: SMBFiles) -> None:
        first = sizes.files if command is Command.PUT else 0
        for number in range(stream * each, min(made, stream * each + each)):
            deque(_moving(by, _file(bench, first + number, within=number), content, command), 0)

    facts |= {"file_bytes": sizes.file_bytes, "files": made, "streams": streams, "round_trips": ROUND_TRIPS}
    for command in (Command.PUT, Command.GET):
        facts[f"{command}_side_by_side_seconds"] = bench.side_by_side(streams, SMBFiles, partial(move, command))
    seconds = sum(samples["put_open_seconds"]) / made
    facts["pattern_files"] = of_each = min(made, sizes.pattern_files, affordable_files(seconds, sizes.stage_seconds))
    for place, pattern in enumerate(patterns() if of_each else (), start=2):
        streams = min(pattern.streams, of_each)
        for command, requests, first in (
            (Command.PUT, pattern.put, place * sizes.files),
            (Command.GET, pattern.get, 0),
        ):
            paths = [_file(bench, first + number, within=number) for number in range(of_each)]
            copy = partial(copy_as, requests, paths, streams, content)
            facts[f"{pattern.key}_{command}_seconds"] = bench.side_by_side(streams, SMBFiles, copy)
    return measured(StageName.SMALL_FILES, samples, facts)


def affordable_files(open_seconds: float, stage_seconds: float) -> int:
    """How many files each pattern may copy: a quarter of the stage's time for all, by what opening one takes."""
    requests = sum(len(one.put) + len(one.get) for one in patterns())
    return max(_LEAST_PATTERN_FILES, int(stage_seconds / 4 / (requests * open_seconds)))


def copy_as(
    requests: Sequence[str], paths: Sequence[str], streams: int, content: memoryview, stream: int, files: SMBFiles
) -> None:
    """Copy this stream's part of the paths, each by those requests of ``patterns.toml``."""
    share = files.connected_share()
    for path in paths[stream::streams]:
        for request in requests:
            if request in {"create", "open"}:
                handle = files.open(path, OpenMode.CREATE if request == "create" else OpenMode.READ)
            elif request == "write":
                files.write_at(handle, 0, content)
            elif request == "read":
                files.read_at(handle, 0, len(content))
            elif request == "close":
                files.close_file(handle)
            elif request in OF_AN_OPEN_FILE:
                share.ask(OF_AN_OPEN_FILE[request](handle.token, len(content)))
            else:
                ending, access, asked = BY_NAME[request]
                with suppress(MeasurementError):  # nothing of that name, or a share without streams
                    share.together(path + ending, access, *asked)


def _profiled(bench: Bench, content: memoryview, made: int) -> dict[str, FactValue]:
    """Smbd's profile of what a file manager asks for, round by round: a missing name, a new file, its streams."""
    plan, facts = bench.plan, dict[str, FactValue]()
    if plan.profile_conf is None:
        return facts
    streams = wire.query(SAME_FILE, _STREAM_INFORMATION)
    with Profiler(plan.profile_ssh, plan.profile_conf) as profiler, bench.connection(SMBFiles) as files:
        share = files.connected_share()
        for turn in range(_PROFILE_ROUNDS + 1):
            for number in range(min(made, _PROFILE_FILES)):
                bench.check()
                path, missing = _file(bench, number), f"{bench.target.path}/missing {number:07} desktop.ini"
                with suppress(NoSuchFileError):
                    share.together(missing.lstrip("/"), wire.ACCESS_ATTRIBUTES)
                files.remove(path)
                deque(_moving(files, path, content, Command.PUT), 0)
                with suppress(MeasurementError):  # a share without streams refuses this one
                    share.together(f"{path}:Zone.Identifier", wire.ACCESS_WRITE, disposition=wire.DISPOSITION_CREATE)
                with suppress(MeasurementError):
                    share.together(path, wire.ACCESS_ATTRIBUTES, streams)
                deque(_moving(files, path, content, Command.GET), 0)
            found = profiler.round(turn)
            facts |= found if turn else {}  # the first has the login too
    return facts


def _moving(files: SMBFiles, path: str, content: memoryview, command: Command) -> Iterator[None]:
    """Move a small file; pauses when it is open, when it was moved, and when it is closed."""
    handle = files.open(path, OpenMode.CREATE if command is Command.PUT else OpenMode.READ)
    yield
    if command is Command.PUT:
        files.write_at(handle, 0, content)
    else:
        files.read_at(handle, 0, len(content))
    yield
    files.close_file(handle)
    yield


def _folder(bench: Bench, number: int) -> str:
    return bench.path(f"d{number // FILES_IN_FOLDER:04}")


def _file(bench: Bench, number: int, *, within: int | None = None) -> str:
    """``within`` is the number whose folder it is in."""
    return f"{_folder(bench, number if within is None else within)}/f{number:07}"


def folders(bench: Bench) -> Stage:
    """Folders of growing size: listing them, asking about each entry, and asking for a name that is missing."""
    samples, facts = defaultdict[str, list[float]](list), dict[str, FactValue]()
    if bench.plan.folder is not None:
        facts["existing"] = bench.plan.folder
        with bench.connection(SMBFiles) as files:
            _look(bench, files, bench.plan.folder, samples)
    else:
        began = time.monotonic()
        for order, count in enumerate(bench.sizes.entries):
            spent = time.monotonic() - began
            if order and spent * count / bench.sizes.entries[order - 1] > bench.sizes.stage_seconds:
                facts[f"skipped_{count}"] = "yes"
                continue
            path = _make_entries(bench, _FIRST_FOLDER_OF_ENTRIES + order, count)
            with bench.connection(SMBFiles) as files:
                _look(bench, files, path, samples)
    return measured(StageName.FOLDERS, samples, facts)


def _make_entries(bench: Bench, number: int, count: int) -> str:
    path = bench.path(f"d{number:04}")
    with bench.connection(SMBFiles) as files:
        bench.make_folder(files)
        files.make_folder(path)
    makers = min(_MAKERS, count)

    def make(maker: int, by: SMBFiles) -> None:
        share = by.connected_share()
        for entry in range(maker, count, makers):
            share.together(f"{path}/f{entry:07}", wire.ACCESS_WRITE, disposition=wire.DISPOSITION_CREATE)

    bench.side_by_side(makers, SMBFiles, make)
    return path


def _look(bench: Bench, files: SMBFiles, path: str, samples: dict[str, list[float]]) -> None:
    share, clock = files.connected_share(), time.perf_counter
    names: list[str] = []
    took = []
    for _ in range(_LISTINGS):
        bench.check()
        began = clock()
        entries = list_folder(share, path)
        took.append(clock() - began)
        names = [entry.name for entry in entries]
    count = len(names)
    samples[f"list_{count}_seconds"] += took
    samples["echo_seconds"] += echo_seconds(share, 10)
    step = max(1, count // bench.sizes.asked)
    streams = wire.query(SAME_FILE, _STREAM_INFORMATION)
    for name in names[::step][: bench.sizes.asked]:
        bench.check()
        began = clock()
        with suppress(MeasurementError):  # a folder has no streams on some servers
            files.query(f"{path}/{name}")
            share.together(f"{path}/{name}", wire.ACCESS_ATTRIBUTES, streams)
        samples[f"ask_{count}_seconds"].append(clock() - began)
    for number in range(bench.sizes.asked):
        bench.check()
        began = clock()
        with suppress(NoSuchFileError):
            share.together(f"{path}/missing {number:07} desktop.ini", wire.ACCESS_ATTRIBUTES)
        samples[f"missing_{count}_seconds"].append(clock() - began)
