"""The processes of this machine: ours, a server's and the kernel's, and the processor time that they took.

Processor time is counted in clock ticks, usually hundredths of a second.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from storage.protocols import PROTOCOLS

SERVER_NAMES = tuple({name for protocol in PROTOCOLS.values() for name in protocol.servers})
"""Prefixes of server process names, used if a port's owner is hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process as its ``/proc/PID/stat`` tells."""

    parent: int
    """The parent's number."""
    name: str
    ticks: int
    """Clock ticks that it worked, for itself and in the kernel."""
    ended_children_ticks: int
    """The same of those of its children that have ended."""
    started_ticks: int = 0
    """When it was started, in clock ticks since the machine was."""


def all_processes() -> dict[int, Process]:
    """All processes by their number; takes about 10 µs for each. Empty without /proc."""
    processes: dict[int, Process] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - a tenth of the time of a Path for each process, once a second
    except OSError:
        return processes
    for name in names:
        process = parse_stat(_read_beginning(f"/proc/{name}/stat")) if name.isdecimal() else None
        if process is not None:
            processes[int(name)] = process
    return processes


def parse_stat(text: str) -> Process | None:
    """A line of ``/proc/PID/stat``, whose name may contain blanks and parentheses; None for a malformed line."""
    id_and_name, closing, behind_name = text.rpartition(")")
    fields = behind_name.split()
    if not closing or len(fields) < 15:
        return None
    user, system, children_user, children_system = (int(field) for field in fields[11:15])
    return Process(
        parent=int(fields[1]),
        name=id_and_name.partition("(")[2],
        ticks=user + system,
        ended_children_ticks=children_user + children_system,
        started_ticks=int(fields[19]) if len(fields) > 19 else 0,
    )


def process_tree(processes: Mapping[int, Process], roots: Iterable[int]) -> set[int]:
    """The processes of these roots, and all below them."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)

    members: set[int] = set()
    waiting = [root for root in roots if root in processes]
    while waiting:
        pid = waiting.pop()
        if pid not in members:
            members.add(pid)
            waiting += children.get(pid, [])
    return members


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """The processes that are ours: whole trees by their roots, and processes without their children."""

    trees: frozenset[int] = frozenset()
    """Processes that count with all below them."""
    single: frozenset[int] = frozenset()
    """Processes that count without their children."""

    def ticks(self, processes: Mapping[int, Process]) -> int:
        """How long they worked, those that have ended below the trees included."""
        members = process_tree(processes, self.trees)
        total = sum(processes[pid].ticks + processes[pid].ended_children_ticks for pid in members)
        return total + sum(processes[pid].ticks for pid in self.single - members if pid in processes)

    def held_seconds(self) -> float:
        """Seconds that all threads of the trees ran, or waited for a processor."""
        processes = all_processes()
        members = process_tree(processes, self.trees)
        ticks = sum(processes[pid].ticks + processes[pid].ended_children_ticks for pid in members)
        return ticks / os.sysconf("SC_CLK_TCK") + sum(map(_waited_seconds, members))


def kernel_ticks(processes: Mapping[int, Process]) -> int:
    """How long the kernel's own threads worked: they are the children of process 2, ``kthreadd``."""
    if 2 not in processes or processes[2].name != "kthreadd":
        return 0
    return sum(processes[pid].ticks for pid in process_tree(processes, (2,)))


def servers_here(port: int | None) -> frozenset[int]:
    """The first processes of the server at a TCP port of this machine, without their children.

    Where the owner of the port is hidden, all processes that are named as a server.
    """
    import psutil

    processes = all_processes()
    sockets = psutil.net_connections("tcp") if port else ()
    listening = [connection for connection in sockets if connection.status == psutil.CONN_LISTEN]
    owners = {connection.pid for connection in listening if connection.laddr.port == port} & processes.keys()
    if not owners:
        owners = {pid for pid, process in processes.items() if process.name.startswith(SERVER_NAMES)}
    return frozenset(pid for pid in owners if processes[pid].parent not in owners)


def _waited_seconds(pid: int) -> float:
    """How long the threads of the process waited for a processor: the second figure of ``schedstat``."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - as in all_processes
    except OSError:
        return 0.0
    waited_nanoseconds = 0
    for thread in threads:
        figures = _read_beginning(f"/proc/{pid}/task/{thread}/schedstat").split()
        if len(figures) > 1:
            waited_nanoseconds += int(figures[1])
    return waited_nanoseconds / 1e9


def _read_beginning(path: str) -> str:
    """The first 4 KiB of a file of /proc, which are all that it has; empty where it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(handle, 4096).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)
