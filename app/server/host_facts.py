"""Facts of one machine: its system, processor, memory and network settings. What cannot be read is left out.

The same functions read them here and on a server: ``read`` gives the text of a file of that machine.
"""

import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from storage.json_reader import LARGEST
from storage.programs import clean_environment, run_program
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
    """The first word as a number; None where it is none, or needs more than 64 bits."""
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


_TCP_SETTING_NAMES = (
    "congestion_control rmem wmem moderate_rcvbuf window_scaling timestamps sack ecn mtu_probing"
    " slow_start_after_idle no_metrics_save"
)
_SOCKET_SETTING_NAMES = "rmem_default rmem_max wmem_default wmem_max default_qdisc netdev_max_backlog"
TCP_SETTINGS = {f"tcp.{name}": f"/proc/sys/net/ipv4/tcp_{name}" for name in _TCP_SETTING_NAMES.split()} | {
    f"net.{name}": f"/proc/sys/net/core/{name}" for name in _SOCKET_SETTING_NAMES.split()
}
"""The files of the kernel's network settings, by fact. Buffer sizes are in bytes; a triple is least, usual and most."""

_FILE_OF_FACT = {
    "kernel": "/proc/sys/kernel/osrelease",
    "cpu.governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "cpu.driver": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    "machine.model": "/sys/class/dmi/id/product_name",
    **TCP_SETTINGS,
}
"""The file of each fact that is the text of a file."""
HOST_FILES = ("/etc/os-release", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", *_FILE_OF_FACT.values())
"""All that `host_facts` reads, to ask a server for them at once."""


def host_facts(read: SystemReader = read_text) -> dict[str, FactValue]:
    """Facts of the machine whose files ``read`` gives; unknown ones are left out."""
    facts: dict[str, FactValue] = {}
    _put(facts, "os", _os_name(read("/etc/os-release")))
    facts.update(cpu_facts(read("/proc/cpuinfo")))
    facts.update(memory_facts(read("/proc/meminfo")))

    load = re.match(r"\d+\.\d+\b", read("/proc/loadavg") or "")
    if load:
        facts["load.1min"] = float(load.group())
    for name, path in _FILE_OF_FACT.items():
        _put(facts, name, read(path))
    return facts


def client_facts() -> dict[str, FactValue]:
    """Facts of this machine and of the Python that measures."""
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
    """From /proc/cpuinfo: the processors' number and model, whether they are virtual, and whether they have AES."""
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
