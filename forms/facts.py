"""Facts of the environment, as forms read them: which vary by themselves, what each is called, what changed.

A fact's name is dotted words with the unit last (``link.rate_bits_per_second``). The parameters of a Samba server are
facts too, by their canonical names: ``smb.conf/global/log level`` for those that hold for the whole server, and
``smb.conf/share/strict sync`` for what holds in the measured share, wherever in the file it was set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from storage.records import Facts, FactValue

VOLATILE = (
    "load.*",
    "*_before",
    "*_during",
    "*_after",
    "memory.available_bytes",
    "cpu.mhz",
    "uptime_seconds",
    "server.sessions*",
    "filesystem.free_bytes",
    "samba.smbd_running",
    "collected_at",
)
"""Patterns of facts that vary by themselves (load, counters, times, free space): never a difference of settings."""

PARAMETER_PREFIX = "smb.conf/"

SYNONYMS = {
    "allow hosts": "hosts allow",
    "bind dns directory": "binddns dir",
    "browsable": "browseable",
    "casesignames": "case sensitive",
    "create mode": "create mask",
    "debug level": "log level",
    "debug timestamp": "timestamp logs",
    "default": "default service",
    "deny hosts": "hosts deny",
    "directory": "path",
    "directory mode": "directory mask",
    "enable spoolss": "disable spoolss",
    "exec": "preexec",
    "group": "force group",
    "ldap password sync": "ldap passwd sync",
    "lock dir": "lock directory",
    "max protocol": "server max protocol",
    "min protocol": "server min protocol",
    "only guest": "guest only",
    "preload": "auto services",
    "prefered master": "preferred master",
    "print ok": "printable",
    "printcap": "printcap name",
    "printer": "printer name",
    "private directory": "private dir",
    "protocol": "server max protocol",
    "public": "guest ok",
    "root": "root directory",
    "root dir": "root directory",
    "smb encrypt": "server smb encrypt",
    "socket address": "nbt client socket address",
    "unix extensions": "smb1 unix extensions",
    "vfs object": "vfs objects",
    "winbind gid": "idmap gid",
    "winbind uid": "idmap uid",
    "writable": "read only",
    "write ok": "read only",
    "writeable": "read only",
}
"""smb.conf names that mean another parameter (``testparm --show-all-parameters``, Samba 4.17)."""

OPPOSITES = frozenset({"writable", "writeable", "write ok", "enable spoolss"})
"""Synonyms that mean the opposite: ``writeable = yes`` is ``read only = no``."""

_NAMES = {
    "os": "operating system",
    "cpu.model": "CPU",
    "cpu.count": "CPUs",
    "cpu.usable": "CPUs this program may use",
    "cpu.governor": "CPU frequency governor",
    "machine.model": "machine",
    "machine.virtual": "virtual machine",
    "memory_bytes": "memory",
    "swap_bytes": "swap",
    "memory.available_bytes": "memory available",
    "load.1min": "load average, 1 minute",
    "python.version": "Python",
    "tcp.rmem": "TCP receive buffers",
    "tcp.wmem": "TCP send buffers",
    "tcp.sack": "TCP selective acknowledgement",
    "tcp.ecn": "TCP explicit congestion notification",
    "tcp.mtu_probing": "TCP MTU probing",
    "tcp.moderate_rcvbuf": "TCP receive buffer autotuning",
    "net.default_qdisc": "queueing discipline of new links",
    "link.interface": "interface",
    "link.kind": "kind of interface",
    "link.driver": "driver of the network card",
    "link.rate_bits_per_second": "rate of the link",
    "link.card_rate_bits_per_second": "rate of the network card",
    "link.fastest_rate_bits_per_second": "fastest rate of the network card",
    "link.duplex": "duplex",
    "link.mtu_bytes": "MTU",
    "link.shaper": "traffic shaper",
    "link.shaper_bits_per_second": "rate of the traffic shaper",
    "link.route": "way to the server",
    "link.ip_version": "IP version",
    "link.payload_ceiling_bits_per_second": "payload ceiling of the link",
    "smb.conf.path": "smb.conf",
    "smb.conf.warnings": "warnings about smb.conf",
    "samba.version": "Samba version",
    "samba.running_log_level": "log level of the running smbd",
}

_UNITS = ("_bits_per_second", "_bytes_per_second", "_bytes", "_seconds", "_percent")
_CAPITALS = {"tcp": "TCP", "cpu": "CPU", "mtu": "MTU", "smb": "SMB", "ip": "IP", "crc": "CRC", "rx": "received"}
_CAPITALS["tx"] = "sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """One fact in which two environments differ; a side is absent where the fact is."""

    part: str
    """``client``, ``server`` or ``path``."""
    name: str
    base: FactValue | None
    other: FactValue | None


def is_volatile(name: str) -> bool:
    """Whether a fact varies by itself, so that a difference in it means nothing."""
    return any(fnmatchcase(name, pattern) for pattern in VOLATILE)


def human_name(name: str) -> str:
    """What a fact is called on a form: ``link.duplex`` is *duplex*, a parameter keeps its smb.conf name."""
    if name.startswith(PARAMETER_PREFIX):
        _, scope, parameter = name.split("/", 2)
        return f"{parameter} (smb.conf)" if scope == "global" else f"{parameter} (smb.conf, this share)"
    if name in _NAMES:
        return _NAMES[name]
    for unit in _UNITS:
        name = name.removesuffix(unit)
    words = name.replace(".", " ").replace("_", " ").split()
    return " ".join(_CAPITALS.get(word, word) for word in words)


def canonical_parameter(name: str) -> str:
    """The canonical spelling of an smb.conf name: synonyms resolved, case and blanks as Samba prints them.

    Samba ignores case and blanks in names, so ``Dead Time`` is ``deadtime``; a name that is no synonym keeps its
    blanks, in lower case.
    """
    squeezed = _squeeze(name)
    return _SQUEEZED_SYNONYMS.get(squeezed, " ".join(name.lower().split()))


def find_parameter(facts: Facts, name: str) -> str | None:
    """The name of the fact that holds an smb.conf parameter, by any spelling or synonym of it; the share's first.

    None where the facts have no such parameter: the name is unknown to that Samba, or its configuration is unknown.
    """
    wanted = _squeeze(canonical_parameter(name))
    found = [fact for fact in facts if fact.startswith(PARAMETER_PREFIX) and _squeeze(fact.split("/", 2)[2]) == wanted]
    return min(found, key=lambda fact: "/share/" not in fact, default=None)


def changed_facts(base: Mapping[str, Facts], other: Mapping[str, Facts]) -> tuple[FactChange, ...]:
    """What differs between two environments, by part and name; volatile facts are left out.

    A fact that one side lacks counts only where that side knows others of its kind: a server that could not be asked
    has not lost all its settings.
    """
    changes: list[FactChange] = []
    for part in sorted({*base, *other}):
        left, right = base.get(part, {}), other.get(part, {})
        kinds = {_kind(name) for name in left} & {_kind(name) for name in right}
        changes.extend(
            FactChange(part=part, name=name, base=left.get(name), other=right.get(name))
            for name in sorted({*left, *right})
            if _kind(name) in kinds and not is_volatile(name) and left.get(name) != right.get(name)
        )
    return tuple(changes)


def parameters(facts: Facts) -> Iterator[tuple[str, str, FactValue]]:
    """Each smb.conf parameter among the facts as (scope, name, value); the scope is ``global`` or ``share``."""
    for fact, value in facts.items():
        if fact.startswith(PARAMETER_PREFIX):
            _, scope, name = fact.split("/", 2)
            yield scope, name, value


def _kind(name: str) -> str:
    return "/".join(name.split("/")[:2]) if name.startswith(PARAMETER_PREFIX) else name.split(".", 1)[0]


def _squeeze(name: str) -> str:
    return "".join(name.lower().split())


_SQUEEZED_SYNONYMS = {_squeeze(synonym): canonical for synonym, canonical in SYNONYMS.items()}
