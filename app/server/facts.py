"""Collects all facts before a measurement, here and on the server where it can be asked, and counters after it.

The server is asked by ``probe.sh``, which prints sections; a section of a command ``NAME`` has its exit code in
``NAME.rc`` and its standard error in ``NAME.err``. Those that are read here:

====================================  =================================================================
``uname``                             system and release
``stat.first``, ``stat.last``         ``/proc/stat`` at both ends of the window before (only if asked for)
``outward``, ``inward``               interfaces that answers leave by, and that requests come by
``nic:…``                             of the outward interface: its files in ``/sys``, driver, ``ethtool``
``interfaces``                        physical cards that are up
``shaper``                            ``tc -j qdisc`` of the outward interface
``folder``, ``realpath``              the shared folder as configured, and where its links lead
``df``, ``mounts``                    of that folder, and ``/proc/self/mounts``
``disk:rotational`` and the like      of the disk below it, from ``/sys/class/block/…/queue``
``disk:layers``                       what that disk is made of, one line a layer, from the top
``zpool``                             ``zpool list -v -H``, in place of those for a folder on ZFS
``file:PATH``                         the content of a file that was asked for
====================================  =================================================================

Samba's own sections are read in `app.server.smbd`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.base.config import ConfigError, config
from app.server import link_facts
from app.server.host_activity import MachineCounters, busy_percent, parse_cpu
from app.server.host_facts import HOST_FILES, client_facts, host_facts, storable, whole_number
from app.server.shell import Answer, mount_of, run_script, script_file
from app.server.smbd import SambaFacts, samba_facts
from storage.records import Facts, FactValue, Target


def server_counter_facts(
    before: MachineCounters, after: MachineCounters, interface: str | None
) -> dict[str, FactValue]:
    """Of the server during a series; ``interface`` is the one that carries the answers.

    Each interface that moved something has its bytes as ``interface.NAME.*``; errors and drops are told of
    ``interface`` alone, as ``link.*``.
    """
    facts: dict[str, FactValue] = {
        "tcp.segments_sent_during": max(0, after.segments_sent - before.segments_sent),
        "tcp.retransmitted_during": max(0, after.retransmitted - before.retransmitted),
    }
    busy = busy_percent(before.cpu, after.cpu)
    if busy is not None:
        facts["cpu.busy_percent_during"] = busy

    for name, counts in after.interfaces.items():
        counts_before = before.interfaces.get(name)
        if counts_before is None or name == "lo":
            continue

        grown = {counter: max(0, value - counts_before[counter]) for counter, value in counts.items()}
        if grown["rx_bytes"] or grown["tx_bytes"]:
            facts[f"interface.{name}.rx_bytes_during"] = grown["rx_bytes"]
            facts[f"interface.{name}.tx_bytes_during"] = grown["tx_bytes"]
        if name == interface:
            facts["link.errors_during"] = grown["rx_errors"] + grown["tx_errors"]
            facts["link.drops_during"] = grown["rx_dropped"] + grown["tx_dropped"]
    return facts


OPTIONS_LIMIT = 400
"""Characters kept; an overlay's options can be pages long."""


def filesystem_facts(answer: Answer) -> dict[str, FactValue]:
    """Of the shared folder's file system, disk and the layers (RAID, LVM, ZFS) between; empty if unknown."""
    folder = (answer.text("realpath") or answer.text("folder") or "").strip()
    facts: dict[str, FactValue] = {}
    mount = mount_of(folder, answer.text("mounts"))
    if not folder or mount is None or answer.code("df") != 0:
        return facts

    facts["filesystem.type"] = mount.kind
    facts["filesystem.source"] = mount.source
    facts["filesystem.mounted_at"] = mount.folder
    facts["filesystem.options"] = mount.options[:OPTIONS_LIMIT]
    sizes = re.findall(r"\s(\d+)\s+(\d+)\s+(\d+)\s+\d+%\s", answer.text("df") or "")
    if sizes:
        total_kibibytes, _, free_kibibytes = sizes[-1]
        facts["filesystem.size_bytes"] = int(total_kibibytes) * 1024
        facts["filesystem.free_bytes"] = int(free_kibibytes) * 1024

    return facts | _disk_facts(answer)


_ZFS_REDUNDANCY = re.compile(r"(mirror|raidz\d?|draid)[-\w:]*")


def _disk_facts(answer: Answer) -> dict[str, FactValue]:
    facts: dict[str, FactValue] = {}
    rotational = answer.stripped("disk:rotational")
    if rotational:
        facts["disk.rotational"] = "yes" if rotational == "1" else "no"

    # The scheduler in use stands in brackets among those that could be.
    schedulers = answer.text("disk:scheduler") or ""
    in_brackets = re.search(r"\[(\S+)\]", schedulers)
    if schedulers:
        facts["disk.scheduler"] = in_brackets.group(1) if in_brackets else schedulers.strip()

    read_ahead_kibibytes = answer.stripped("disk:read_ahead_kb")
    if read_ahead_kibibytes.isdecimal():
        facts["disk.read_ahead_bytes"] = int(read_ahead_kibibytes) * 1024

    layers = _layers(answer.text("disk:layers"), answer.text("zpool"), answer.text("zpool.rc"))
    if layers:
        facts["storage.layers"] = layers
    return facts


def _layers(devices: str | None, pool: str | None, pool_code: str | None) -> str:
    """From the top, such as ``vg-data LVM on md0 raid5 of 3 disks``."""
    if pool and (pool_code or "0").strip() == "0":
        # A row of the pool begins with its name; those of its parts, such as "mirror-0" and its disks, with a tab.
        rows = [line.split("\t") for line in pool.splitlines()]
        name = rows[0][0]
        parts = [row[1] for row in rows if len(row) > 1 and not row[0]]
        kinds = [part for part in parts if _ZFS_REDUNDANCY.match(part)]
        return f"ZFS pool {name}: {', '.join(kinds) or 'single disks'}"

    lines = [" ".join(line.split()) for line in (devices or "").splitlines() if line.strip()]
    return " on ".join(dict.fromkeys(lines))[:OPTIONS_LIMIT]


COUNTER_FILES = ("/proc/stat", "/proc/net/dev", "/proc/net/snmp")
DEFAULTS = {
    "only": "",  # "counters": nothing but those
    "window": "0",  # seconds to watch the processors before anything else
    "files": "",  # to print, one a line
    "counters": "\n".join(COUNTER_FILES),  # files to print at the end
    "samba": "no",
    "conf": "",  # the smb.conf to read in place of the one that the smbd with the port has
    "port": "",
    "share": "",
    "folder": "",  # in place of the share's
    "client": "",  # this machine's address
    "server": "",  # the address that requests go to
}
"""The variables of ``probe.sh``."""


def ask_server(settings: Mapping[str, str], ssh: str | None) -> Answer:
    """Run the script here or by ssh. Never raises: a failure is an answer with a problem."""
    return run_script(script_file("app.server", "probe.sh"), {**DEFAULTS, **settings}, ssh)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    facts: dict[str, FactValue] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """What could not be found out, with what to do."""
    counters: MachineCounters | None = None
    """Before the measurement; None for a server on this machine: its counters are the client's."""
    ssh: str | None = None
    """The way to the server, to ask it again."""
    answer: Answer | None = field(default=None, repr=False, compare=False)
    """All that it printed; None where it was not asked."""


def server_facts(
    target: Target, ssh: str | None = None, smb_conf: str | None = None, window_seconds: int = 0
) -> ServerFacts:
    """Facts of a target's server; never raises. Without ``ssh`` ([USER@]HOST) only one on this machine is asked.

    ``smb_conf`` replaces the path that the smbd with the target's port was started with, or else smbd's own; a remote
    server's processors are watched for ``window_seconds`` first.
    """
    protocol = target.abilities
    if protocol.is_local:
        return ServerFacts(facts=filesystem_facts(ask_server({"folder": target.path}, None)))
    if ssh is None and not link_facts.is_this_machine(target.host):
        unused = f" ({smb_conf} was not read: it names a file on the server)" if smb_conf else ""
        problem = f"the settings of {target.host} are unknown{unused}; name a way there by ssh, [USER@]{target.host}"
        return ServerFacts(problems=(problem,))

    route = link_facts.find_route(target.host, target.port)
    client_address = route.local_address if route else ""
    answer = ask_server(
        {
            "window": str(window_seconds if ssh else 0),
            "samba": "yes" if protocol.through_samba else "no",
            "conf": smb_conf or "",
            "port": str(target.port_number),
            "share": target.share or "",
            "client": client_address,
            "server": route.address if route else "",
            "files": "\n".join(HOST_FILES),
        },
        ssh,
    )
    if answer.problem:
        return ServerFacts(problems=(f"no facts of the server: {answer.problem}",))

    facts: dict[str, FactValue] = {"os": answer.stripped("uname") or "unknown"}
    facts |= host_facts(answer.file)
    facts |= network_facts(answer)
    facts |= filesystem_facts(answer)
    busy = busy_percent(parse_cpu(answer.text("stat.first")), parse_cpu(answer.text("stat.last")))
    if busy is not None:
        facts["cpu.busy_percent_before"] = busy

    samba = SambaFacts()
    if protocol.through_samba:
        samba = samba_facts(answer, target.share, client_address)
        is_named = bool(ssh or smb_conf)
        if not is_named and not _is_of_server_on_port(samba, target.port_number):
            samba = _samba_of_another_server(target.port_number)
    facts |= samba.facts

    return ServerFacts(
        facts=storable(facts),
        problems=tuple(samba.problems),
        counters=MachineCounters.read(answer.file) if ssh else None,
        ssh=ssh,
        answer=answer,
    )


def _is_of_server_on_port(samba: SambaFacts, port: int) -> bool:
    return listens_on(samba.facts, port) and not samba.runs_with_another


def _samba_of_another_server(port: int) -> SambaFacts:
    """None of the facts: this machine may have several servers, and those of another would be taken for this one's."""
    problem = f"which smb.conf the server on port {port} of this machine has is unknown; name the file"
    return SambaFacts(problems=[problem])


def counters_since(before: ServerFacts) -> dict[str, FactValue]:
    if before.counters is None:
        return {}
    answer = ask_server({"only": "counters"}, before.ssh)
    after = None if answer.problem else MachineCounters.read(answer.file)
    if after is None:
        return {}
    interface = before.facts.get("link.interface")
    return storable(server_counter_facts(before.counters, after, str(interface) if interface else None))


def listens_on(samba: Mapping[str, FactValue], port: int) -> bool:
    return bool(samba.get("samba.smbd_running")) and has_port(samba.get("smb.conf/global/smb ports"), port)


def has_port(ports: FactValue | None, port: int) -> bool:
    """Whether ``smb ports`` has the port; where nothing is known of them, it may."""
    return ports is None or str(port) in re.split(r"[\s,:]+", str(ports))


_NETWORK_TEXTS = {
    "link.interface": "outward",
    "link.inward_interface": "inward",
    "link.driver": "nic:driver",
    "link.duplex": "nic:duplex",
    "card.firmware": "nic:firmware",
}
"""Facts and the sections that hold them."""
_ERROR_WORDS = {"errors": "errors", "drops": "dropped"}
"""Our word and the kernel's, in the names of its counters."""
_OFFLOADS = {
    "tcp-segmentation-offload": "link.tso",
    "generic-segmentation-offload": "link.gso",
    "generic-receive-offload": "link.gro",
}


def network_facts(answer: Answer) -> dict[str, FactValue]:
    """Of the interface that carries the answers, and the one that requests come by."""
    facts: dict[str, FactValue] = {}
    for name, section in _NETWORK_TEXTS.items():
        text = answer.stripped(section)
        if text and text != "unknown":
            facts[name] = text
    if facts.get("link.interface") == "lo":
        facts["link.inward_interface"] = "lo"
    if "link.interface" not in facts:
        return facts

    for line in (answer.text("nic:offloads") or "").splitlines():
        name, _, state = line.strip().partition(": ")
        if name in _OFFLOADS and state in {"on", "off"}:  # "off [fixed]" cannot be changed
            facts[_OFFLOADS[name]] = state
    facts["link.cards_up"] = len((answer.text("interfaces") or "").split())

    shaper = link_facts.parse_shaper(answer.text("shaper"))
    if answer.text("shaper") is not None:
        facts["link.shaper"] = shaper.kind if shaper else "none"
    if shaper and shaper.bits_per_second:
        facts["link.shaper_bits_per_second"] = shaper.bits_per_second

    mtu = _number(answer, "nic:mtu")
    if mtu:
        facts["link.mtu_bytes"] = mtu
    # Without a driver the interface is made up, and so is its speed.
    megabits = _number(answer, "nic:speed")
    if megabits and megabits > 0 and "link.driver" in facts:
        facts["link.card_rate_bits_per_second"] = megabits * 1_000_000

    for word, kernel_word in _ERROR_WORDS.items():
        counts = [_number(answer, f"nic:statistics/{direction}_{kernel_word}") for direction in ("rx", "tx")]
        facts[f"link.{word}_before"] = sum(count or 0 for count in counts)
    return facts


def _number(answer: Answer, section: str) -> int | None:
    return whole_number((answer.text(section) or "").split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What was found out before a measurement: facts of three sides, and counters to compare with those after it."""

    client: Mapping[str, FactValue] = field(default_factory=dict)
    server: Mapping[str, FactValue] = field(default_factory=dict)
    path: Mapping[str, FactValue] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """What could not be found out, with what to do. Never fails a measurement."""
    link: link_facts.Link | None = None
    """None for a local path, or where no route leads to the server."""
    counters: link_facts.LinkCounters | None = None
    """Of this machine's interface on the link."""
    server_facts: ServerFacts = field(default_factory=ServerFacts)

    def parts(self) -> dict[str, Facts]:
        parts = {"client": self.client, "server": self.server, "path": self.path}
        return {name: facts for name, facts in parts.items() if facts}


def collect(
    target: Target, *, ssh: str | None = None, smb_conf: str | None = None, window_seconds: int = 1
) -> Environment:
    """Called right before a measurement; never raises. Options as in :func:`server_facts`."""
    server = server_facts(target, ssh, smb_conf, window_seconds)
    link = link_facts.find_link(target.host, target.port) if target.host else None
    client = {**client_facts(), **measurer_facts()}

    return Environment(
        client=client,
        server=server.facts,
        path=link_facts.facts_of_link(link, timestamps=client.get("tcp.timestamps") != 0) if link else {},
        problems=server.problems,
        server_facts=server,
        link=link,
        counters=link_facts.LinkCounters.snapshot(link.interface) if link else None,
    )


def measurer_facts() -> dict[str, FactValue]:
    try:
        who = config().who
    except ConfigError:  # told where the program starts; a measurement does not fail by it
        return {}
    facts = {"measured.by": who.name, "measured.ticket": who.ticket, "measured.site": who.site}
    return {name: text for name, text in facts.items() if text}


def with_counters(before: Environment) -> Environment:
    """The facts, and what the counters grew by since they were collected."""
    path = dict(before.path)
    if before.counters is not None:
        counters_now = link_facts.LinkCounters.snapshot(before.counters.interface)
        path |= link_facts.counter_facts(before.counters, counters_now)
    return replace(before, path=path, server={**before.server, **counters_since(before.server_facts)})
