"""Asks a server for its facts, here or by ssh, by the script ``probe.sh``, and reads what that prints.

The script prints sections; a section of a command ``NAME`` has its exit code in ``NAME.rc`` and its standard error in
``NAME.err``. Those that are no matter of Samba:

====================================  =================================================================
``uname``                             system and release
``stat.first``, ``stat.last``         ``/proc/stat`` at both ends of the window before (only if asked for)
``outward``, ``inward``               interfaces that answers leave by, and that requests come by
``nic:…``                             of the outward interface: its files in ``/sys``, driver, ``ethtool``
``interfaces``                        physical cards that are up
``shaper``                            ``tc -j qdisc`` of the outward interface
``folder``, ``realpath``              the shared folder as configured, and where its links lead
``folder.missing``                    ``yes`` where there is no such folder
``folder.rights``                     mode and path of the shared folder, and before it of each folder above it
``accounts.missing``                  lines of smb.conf with accounts, or files of them, that are not there
``addresses``, ``hosts``              interfaces that are up, and ``/etc/hosts``, where smbd listens on some alone
``folders.missing``                   paths of all shares that are not there, one a line (only if asked for)
``df``, ``mounts``                    of that folder, and ``/proc/self/mounts``
``disk:rotational`` and the like      of the disk below it, from ``/sys/class/block/…/queue``
``disk:layers``                       what that disk is made of, one line a layer, from the top
``zpool``                             ``zpool list -v -H``, in place of those for a folder on ZFS
``file:PATH``                         the content of a file that was asked for
====================================  =================================================================

Samba's own sections are read in `app.server.samba`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.server import routes, shell
from app.server.filesystem_facts import filesystem_facts, folder_facts
from app.server.host_activity import parse_cpu
from app.server.host_facts import HOST_FILES, host_facts, storable
from app.server.machine_meter import MachineCounters, busy_percent
from app.server.network_facts import network_facts
from app.server.samba import SambaFacts, samba_facts
from storage.records import FactValue, Target

COUNTER_FILES = ("/proc/stat", "/proc/net/dev", "/proc/net/snmp")
DEFAULTS = {
    "only": "",  # "counters": nothing but those
    "window": "0",  # seconds to watch the processors before anything else
    "files": "",  # to print, one a line
    "counters": "\n".join(COUNTER_FILES),  # files to print at the end
    "samba": "no",
    "folders": "no",  # whether to look for the folder of each share
    "conf": "",  # the smb.conf to read in place of the one that the smbd with the port has
    "port": "",
    "share": "",
    "folder": "",  # in place of the share's
    "client": "",  # this machine's address
    "server": "",  # the address that requests go to
}
"""The variables of ``probe.sh``."""


def ask_server(settings: Mapping[str, str], ssh: str | None) -> shell.Answer:
    """Run the script here or by ssh. Never raises: a failure is an answer with a problem."""
    return shell.run_script(shell.script_file("app.server", "probe.sh"), {**DEFAULTS, **settings}, ssh)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuringMachine:
    """Another machine that measures, as the server sees it."""

    ssh: str
    """``[USER@]HOST``."""
    address: str
    """By which the server answers it; empty where no way leads there."""
    is_server: bool
    """Whether the server runs on that machine itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What is known of a server before a measurement."""

    facts: dict[str, FactValue] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """What could not be found out, with what to do."""
    counters: MachineCounters | None = None
    """Before the measurement; None for a server on this machine: its counters are the client's."""
    ssh: str | None = None
    """The way to the server, to ask it again."""
    answer: shell.Answer | None = field(default=None, repr=False, compare=False)
    """All that it printed; None where it was not asked."""


def server_facts(
    target: Target,
    ssh: str | None = None,
    smb_conf: str | None = None,
    window_seconds: int = 0,
    client: MeasuringMachine | None = None,
    *,
    all_folders: bool = False,
) -> ServerFacts:
    """Facts of a target's server; never raises. Without ``ssh`` ([USER@]HOST) only one on this machine is asked.

    ``smb_conf`` replaces the path that the smbd with the target's port was started with, or else smbd's own; a remote
    server's processors are watched for ``window_seconds`` first. ``client`` is the machine that measures, where that is
    not this one. With ``all_folders`` the folder of each share is looked for, not the target's alone.
    """
    protocol = target.abilities
    if protocol.is_local:
        of_path = filesystem_facts(ask_server({"folder": target.path}, client.ssh if client else None))
        return ServerFacts(facts=of_path)
    if client is not None and client.is_server:
        ssh = ssh or client.ssh
    if ssh is None and not routes.is_this_machine(target.host):
        unused = f" ({smb_conf} was not read: it names a file on the server)" if smb_conf else ""
        problem = (
            f"the settings of {target.host} were not read{unused}: name a way there by ssh, such as root@{target.host}"
        )
        return ServerFacts(problems=(problem,))

    route = routes.find_route(target.host, target.port)
    client_address = route.local_address if route else ""
    if client is not None:
        client_address = client.address
    answer = ask_server(
        {
            "window": str(window_seconds if ssh else 0),
            "samba": "yes" if protocol.through_samba else "no",
            "conf": smb_conf or "",
            "folders": "yes" if all_folders else "no",
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
    facts |= folder_facts(answer) | filesystem_facts(answer)
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
    """Whether the smb.conf that was read is that of the server at the port."""
    return listens_on(samba.facts, port) and not samba.runs_with_another


def _samba_of_another_server(port: int) -> SambaFacts:
    """None of the facts: this machine may have several servers, and those of another would be taken for this one's."""
    problem = f"which smb.conf the server on port {port} of this machine has is unknown; name the file"
    return SambaFacts(problems=[problem])


def counters_since(before: ServerFacts) -> dict[str, FactValue]:
    """Ask the server again; facts of what its counters grew by. Empty where they are not known."""
    if before.counters is None:
        return {}
    answer = ask_server({"only": "counters"}, before.ssh)
    after = None if answer.problem else MachineCounters.read(answer.file)
    if after is None:
        return {}
    interface = before.facts.get("link.interface")
    return storable(server_counter_facts(before.counters, after, str(interface) if interface else None))


def server_counter_facts(
    before: MachineCounters, after: MachineCounters, interface: str | None
) -> dict[str, FactValue]:
    """Facts of the server during a series, by what its counters grew; ``interface`` is the one that carries the
    answers.

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


def listens_on(samba: Mapping[str, FactValue], port: int) -> bool:
    """Whether the smbd of these facts may be the server at that port of this machine."""
    return bool(samba.get("samba.smbd_running")) and has_port(samba.get("smb.conf/global/smb ports"), port)


def has_port(ports: FactValue | None, port: int) -> bool:
    """Whether ``smb ports`` has the port; where nothing is known of them, it may."""
    return ports is None or str(port) in re.split(r"[\s,:]+", str(ports))
