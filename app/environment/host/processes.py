"""Attributes CPU time to our processes, the measured server, the kernel, or others."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from storage.protocols import PROTOCOLS

SERVER_NAMES = tuple({name for protocol in PROTOCOLS.values() for name in protocol.servers})
"""Prefixes of server process names, used if a port's owner is hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One line of /proc/PID/stat; times in clock ticks."""

    parent: int
    name: str
    ticks: int
    ended_children_ticks: int


def all_processes() -> dict[int, Process]:
    """About 10 µs each. Empty without /proc."""
    found: dict[int, Process] = {}
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - a tenth of the time of a Path for each process, once a second
    except OSError:
        return found
    for name in names:
        if name.isdecimal() and (process := parse_stat(_read(f"/proc/{name}/stat"))):
            found[int(name)] = process
    return found


def parse_stat(text: str) -> Process | None:
    """The name may contain blanks and parentheses; None for a malformed line."""
    head, closing, rest = text.rpartition(")")
    fields = rest.split()
    if not closing or len(fields) < 15:
        return None
    user, system, children_user, children_system = (int(field) for field in fields[11:15])
    return Process(
        parent=int(fields[1]),
        name=head.partition("(")[2],
        ticks=user + system,
        ended_children_ticks=children_user + children_system,
    )


def tree(processes: Mapping[int, Process], roots: Iterable[int]) -> set[int]:
    """Ids of the living roots and all their descendants."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    waiting = [root for root in roots if root in processes]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, [])
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """The processes of the measurement."""

    trees: frozenset[int] = frozenset()
    single: frozenset[int] = frozenset()

    def ticks(self, processes: Mapping[int, Process]) -> int:
        members = tree(processes, self.trees)
        total = sum(processes[pid].ticks + processes[pid].ended_children_ticks for pid in members)
        return total + sum(processes[pid].ticks for pid in self.single - members if pid in processes)

    def held_seconds(self) -> float:
        """Seconds that all threads of the trees ran or waited for a processor."""
        processes = all_processes()
        members = tree(processes, self.trees)
        ticks = sum(processes[pid].ticks + processes[pid].ended_children_ticks for pid in members)
        return ticks / os.sysconf("SC_CLK_TCK") + sum(map(_waited_seconds, members))


def kernel_ticks(processes: Mapping[int, Process]) -> int:
    """Clock ticks of the kernel's own threads (write-back, network)."""
    if 2 not in processes or processes[2].name != "kthreadd":
        return 0
    return sum(processes[pid].ticks for pid in tree(processes, (2,)))


def servers_here(port: int | None) -> frozenset[int]:
    """Processes that serve a TCP port; by name if the owner is hidden."""
    import psutil  # noqa: PLC0415  only where a server on this machine is measured

    processes = all_processes()
    sockets = psutil.net_connections("tcp") if port else ()
    listening = (one.pid for one in sockets if one.status == psutil.CONN_LISTEN and one.laddr.port == port)
    owners = {pid for pid in listening if pid in processes}
    if not owners:
        owners = {pid for pid, process in processes.items() if process.name.startswith(SERVER_NAMES)}
    return frozenset(pid for pid in owners if processes[pid].parent not in owners)


def _waited_seconds(pid: int) -> float:
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - as in all_processes
    except OSError:
        return 0.0
    figures = (_read(f"/proc/{pid}/task/{thread}/schedstat").split() for thread in threads)
    return sum(int(one[1]) for one in figures if len(one) > 1) / 1e9


def _read(path: str) -> str:
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
