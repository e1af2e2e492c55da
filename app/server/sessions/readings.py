"""The counters of a server and of smbd's processes at one moment, read from what ``sessions.sh`` printed."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.server.host_activity import ProcessorTicks, parse_cpu, parse_disks
from app.server.network_counters import parse_interfaces
from app.server.processes import Process, parse_stat
from app.server.shell import Answer
from app.server.smbd import parse_profile
from storage.json_reader import LARGEST

_SOCKET_COUNTER = re.compile(r"\b(bytes_acked|bytes_received):(\d{1,19})\b")
"""What of a socket was sent and confirmed, and received; a counter that is 0 is left out."""
_SOCKET_OWNER = re.compile(r"users:.*?pid=(\d{1,9})")
_PROFILED_SESSION = re.compile(r":(\d{1,9})\.\d+\[")
"""The process in a name such as ``bench:1525.0[10.0.0.5]``, of the counters for each share since Samba 4.23."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsReading:
    """The server's counters at one moment."""

    uptime_seconds: float
    cpu: ProcessorTicks
    processors: int
    processes: Mapping[int, Process]
    """smbd's children."""
    disk_bytes: Mapping[int, int]
    """Read and written by each of them."""
    sockets: Mapping[str, tuple[int, int]] | None
    """Bytes sent and received, by the peer's address and port; None where this system does not count them."""
    interfaces: Mapping[str, tuple[int, int]]
    """Bytes received and sent, by name."""
    disk_busy_seconds: Mapping[str, float]
    requests: Mapping[int, int]
    """SMB requests by process; empty where they are not counted by process."""
    all_requests: int


def reading_of(answer: Answer, name: str) -> SessionsReading | None:
    """One of the two readings; None where it is no whole one."""
    files = lines_by_file(answer.text(f"{name}.counters") or "")
    stat = files.get("/proc/stat", [])
    cpu = parse_cpu("\n".join(stat))
    try:
        uptime_seconds = float(files["/proc/uptime"][0].split()[0])
    except (KeyError, IndexError, ValueError):
        return None
    if cpu is None:
        return None

    interfaces = parse_interfaces("\n".join(files.get("/proc/net/dev", [])))
    disks = parse_disks("\n".join(files.get("/proc/diskstats", [])))
    requests, all_requests = parse_requests(answer.text(f"{name}.profile") or "")
    return SessionsReading(
        uptime_seconds=uptime_seconds,
        cpu=cpu,
        processors=max(1, sum(bool(re.match(r"cpu\d", line)) for line in stat)),
        processes=_processes(files),
        disk_bytes=_disk_bytes(files),
        sockets=parse_sockets(answer.text(f"{name}.sockets") or ""),
        interfaces={card: (counts["rx_bytes"], counts["tx_bytes"]) for card, counts in interfaces.items()},
        disk_busy_seconds={disk: busy / 1000 for disk, busy in disks.items()},
        requests=requests,
        all_requests=all_requests,
    )


def lines_by_file(text: str) -> dict[str, list[str]]:
    """The lines of each file, from lines that each begin with the file's path and a colon, as grep prints them."""
    files: dict[str, list[str]] = {}
    for line in text.splitlines():
        path, _, content = line.partition(":")
        files.setdefault(path, []).append(content)
    return files


def _process_files(files: Mapping[str, list[str]], name: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of the file of that name of each process, with the process' number."""
    for path, lines in files.items():
        match = re.fullmatch(rf"/proc/(\d{{1,9}})/{name}", path)
        if match:
            yield int(match[1]), lines


def _processes(files: Mapping[str, list[str]]) -> dict[int, Process]:
    processes = {}
    for pid, lines in _process_files(files, "stat"):
        try:
            process = parse_stat(lines[0])
        except ValueError:
            continue
        if process is not None:
            processes[pid] = process
    return processes


def _disk_bytes(files: Mapping[str, list[str]]) -> dict[int, int]:
    totals = {}
    for pid, lines in _process_files(files, "io"):
        counts = dict(line.split(": ", 1) for line in lines if ": " in line)
        totals[pid] = whole(counts.get("read_bytes")) + whole(counts.get("write_bytes"))
    return totals


def whole(text: object) -> int:
    """A counter of 64 bits; 0 where it is none."""
    word = str(text).strip()
    return min(int(word), LARGEST) if word.isdecimal() and len(word) < 20 else 0


def parse_sockets(text: str) -> dict[str, tuple[int, int]] | None:
    """Bytes sent and received by the peer of each socket, from ``ss -Htin``; None where they are not counted here.

    A socket is a line of its state, queues and addresses, and a line of its counters, which begins with a blank.
    """
    sockets: dict[str, tuple[int, int]] = {}
    has_counters = False
    peer = ""
    for line in text.splitlines():
        if not line[:1].isspace():
            words = line.split()
            is_connection = words[:1] == ["ESTAB"] and len(words) >= 5
            peer = peer_of(words[4]) if is_connection else ""
            if peer:
                sockets[peer] = (0, 0)
            continue

        counters = dict(_SOCKET_COUNTER.findall(line))
        if counters and peer:
            has_counters = True
            sockets[peer] = (whole(counters.get("bytes_acked", 0)), whole(counters.get("bytes_received", 0)))
    return sockets if has_counters or not sockets else None


def parse_owners(text: str) -> dict[str, int]:
    """The process of each socket by its peer, from ``ss -Htnp``, which leaves the state out."""
    owners = {}
    for line in text.splitlines():
        words = line.split()
        owner = _SOCKET_OWNER.search(line)
        if len(words) >= 4 and owner:
            owners[peer_of(words[3])] = int(owner[1])
    return owners


def peer_of(text: str) -> str:
    """An address and port as ss or smbstatus writes them, in one way: ``10.0.0.5:50000``, ``fe80::1:50000``."""
    text = re.sub(r"^ipv[46]:", "", text)
    address, _, port = text.rpartition(":")
    address = address.strip("[]").removeprefix("::ffff:")
    return f"{address}:{port}"


def parse_requests(printed: str) -> tuple[dict[int, int], int]:
    """SMB requests by process, and of all sessions, from ``smbstatus -P --json``; none where smbd does not count them.

    By process they are known since Samba 4.23, where the share has ``smbd profiling share``.
    """
    all_requests = _requests_in(printed)
    try:
        document = json.loads(printed, strict=False)
        counters: Mapping[str, Any] = dict(document["Extended Profile"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}, all_requests

    requests: Counter[int] = Counter()
    for name, counters_of_share in counters.items():
        process = _PROFILED_SESSION.search(name)
        if process:
            requests[int(process[1])] += _requests_in(json.dumps(counters_of_share))
    return dict(requests), all_requests


def _requests_in(printed: str) -> int:
    return sum(counter.calls for name, counter in parse_profile(printed).items() if name.startswith("smb2_"))
