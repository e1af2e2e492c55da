"""Facts of one machine, which reading never fails for, and its processes: ours, the server's, the kernel's."""

import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.json_reader import LARGEST
from storage.programs import clean_environment, run_program
from storage.protocols import PROTOCOLS
from storage.records import FactValue

ADMIN_PATH = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
"""Includes the system folders, which an ordinary user's PATH often lacks."""


SystemReader = Callable[[str], str | None]
"""Returns the text of the file at an absolute path; None if it does not exist or is not readable."""


def read_text(path: str, /) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def read_int(path: str, read: SystemReader = read_text) -> int | None:
    return whole_number((read(path) or "").split())


def whole_number(words: Sequence[str]) -> int | None:
    try:
        number = int(words[0])
    except (ValueError, IndexError):
        return None
    return number if abs(number) <= LARGEST else None


def storable(facts: Mapping[str, FactValue]) -> dict[str, FactValue]:
    """Without integers of more than 64 bits, which the notebook cannot store."""
    return {name: value for name, value in facts.items() if not isinstance(value, int) or abs(value) <= LARGEST}


def run_text(*words: str, timeout_seconds: float = 2.0) -> str | None:
    """Output of a successful program, else None. No shell, no input, C locale, system folders searched."""
    environ = clean_environment(LC_ALL="C", PATH=os.environ.get("PATH", os.defpath) + ":" + ADMIN_PATH)
    try:
        result = run_program(words, seconds=timeout_seconds, environment=environ)
    except OSError:
        return None
    return result.text if result.code == 0 else None


_OF_TCP = (
    "congestion_control rmem wmem moderate_rcvbuf window_scaling timestamps sack ecn mtu_probing"
    " slow_start_after_idle no_metrics_save"
)
_OF_SOCKETS = "rmem_default rmem_max wmem_default wmem_max default_qdisc netdev_max_backlog"
TCP_SETTINGS = {f"tcp.{name}": f"/proc/sys/net/ipv4/tcp_{name}" for name in _OF_TCP.split()} | {
    f"net.{name}": f"/proc/sys/net/core/{name}" for name in _OF_SOCKETS.split()
}
"""Buffer sizes are in bytes; a triple is minimum, default and maximum."""

_OF_FILES = {
    "kernel": "/proc/sys/kernel/osrelease",
    "cpu.governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "cpu.driver": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    "machine.model": "/sys/class/dmi/id/product_name",
    **TCP_SETTINGS,
}
HOST_FILES = ("/etc/os-release", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", *_OF_FILES.values())


def host_facts(read: SystemReader = read_text) -> dict[str, FactValue]:
    """Facts of the machine whose files ``read`` gives; unknown ones are left out."""
    facts: dict[str, FactValue] = {}
    _put(facts, "os", _os_name(read("/etc/os-release")))
    facts.update(cpu_facts(read("/proc/cpuinfo")))
    facts.update(memory_facts(read("/proc/meminfo")))

    load = re.match(r"\d+\.\d+\b", read("/proc/loadavg") or "")
    if load:
        facts["load.1min"] = float(load.group())
    for name, path in _OF_FILES.items():
        _put(facts, name, read(path))
    return facts


def client_facts() -> dict[str, FactValue]:
    facts: dict[str, FactValue] = {
        "os": f"{platform.system()} {platform.release()}",
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu.count": os.cpu_count() or 1,
        "python.version": platform.python_version(),
    }
    if platform.node():
        facts["host.name"] = platform.node()
    if hasattr(os, "sched_getaffinity"):
        facts["cpu.usable"] = len(os.sched_getaffinity(0))

    facts.update(host_facts())
    return facts


def cpu_facts(cpuinfo: str | None) -> dict[str, FactValue]:
    facts: dict[str, FactValue] = {}
    count = 0
    for line in (cpuinfo or "").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "processor":
            count += 1
        elif key in {"model name", "Model", "cpu model"} and value:
            facts.setdefault("cpu.model", " ".join(value.split()))
        elif key in {"flags", "Features"}:
            flags = value.split()
            facts.setdefault("machine.virtual", "yes" if "hypervisor" in flags else "no")
            facts.setdefault("cpu.aes", "yes" if "aes" in flags else "no")

    if count:
        facts["cpu.count"] = count
    return facts


def memory_facts(meminfo: str | None) -> dict[str, FactValue]:
    """From /proc/meminfo, which counts KiB."""
    names = {"MemTotal": "memory_bytes", "SwapTotal": "swap_bytes", "MemAvailable": "memory.available_bytes"}
    facts: dict[str, FactValue] = {}
    for line in (meminfo or "").splitlines():
        key, _, value = line.partition(":")
        kibibytes = whole_number(value.split()) if key in names else None
        if kibibytes is not None:
            facts[names[key]] = kibibytes * 1024
    return facts


def _os_name(release: str | None) -> str | None:
    for line in (release or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip().strip("\"'")
    return None


def _put(facts: dict[str, FactValue], name: str, text: str | None) -> None:
    """Put a fact, as a number where it is one, unless it is empty."""
    value = " ".join((text or "").split())
    if value:
        number = whole_number([value])
        facts[name] = value if number is None else number


SERVER_NAMES = tuple({name for protocol in PROTOCOLS.values() for name in protocol.servers})
"""Prefixes of server process names, used if a port's owner is hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    parent: int
    name: str
    ticks: int
    ended_children_ticks: int


def all_processes() -> dict[int, Process]:
    """About 10 µs each. Empty without /proc."""
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
    """The name may contain blanks and parentheses; None for a malformed line."""
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
    )


def tree(processes: Mapping[int, Process], roots: Iterable[int]) -> set[int]:
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
    if 2 not in processes or processes[2].name != "kthreadd":
        return 0
    return sum(processes[pid].ticks for pid in tree(processes, (2,)))


def servers_here(port: int | None) -> frozenset[int]:
    """Processes that serve a TCP port; by name if the owner is hidden."""
    import psutil

    processes = all_processes()
    sockets = psutil.net_connections("tcp") if port else ()
    listening = [connection for connection in sockets if connection.status == psutil.CONN_LISTEN]
    owners = {connection.pid for connection in listening if connection.laddr.port == port} & processes.keys()
    if not owners:
        owners = {pid for pid, process in processes.items() if process.name.startswith(SERVER_NAMES)}
    return frozenset(pid for pid in owners if processes[pid].parent not in owners)


def _waited_seconds(pid: int) -> float:
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
