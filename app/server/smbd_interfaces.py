"""Which of the interfaces that smb.conf names the server does not have, as smbd looks for them.

smbd takes an interface that is up and has an address, beside one that holds for its link alone (tried on Samba 4.17.12,
and lib/socket/interface.c).
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """An address of the server, and the names of its interface."""

    address: IPAddress
    interface_names: tuple[str, ...]


def server_addresses(printed: str) -> list[ServerAddress]:
    r"""From ``ip -o addr show up``: ``2: eth0    inet 10.0.0.1/8 brd 10.255.255.255 scope global eth0:1\ …``."""
    addresses = []
    for line in printed.splitlines():
        words = line.partition("\\")[0].split()
        if len(words) < 4 or words[2] not in {"inet", "inet6"}:
            continue

        address = ipaddress.ip_interface(words[3]).ip
        if address.version == 6 and address.is_link_local:
            continue
        # Behind the scope stands the label, which is a name of the interface as well.
        addresses.append(ServerAddress(address=address, interface_names=(words[1], words[-1])))
    return addresses


def missing_interfaces(entries: Sequence[str], addresses: Sequence[ServerAddress], hosts: str) -> list[str]:
    """The entries of ``interfaces`` that fit no address; ``hosts`` is the text of ``/etc/hosts``.

    An entry that may be the name of a machine is none of them: what it means, only a look-up tells.
    """
    host_names = _names_of_hosts(hosts)
    missing = []
    for entry in entries:
        name = entry.partition(";")[0]
        if not _may_be_there(name, addresses, host_names):
            missing.append(entry)
    return missing


def _names_of_hosts(hosts: str) -> set[str]:
    names: set[str] = set()
    for line in hosts.splitlines():
        _address, *names_of_address = line.partition("#")[0].split() or [""]
        names.update(name.lower() for name in names_of_address)
    return names


def _may_be_there(name: str, addresses: Sequence[ServerAddress], host_names: set[str]) -> bool:
    try:
        interface = ipaddress.ip_interface(name)
    except ValueError:
        is_host = "." in name or ":" in name or name.lower() in host_names
        return is_host or "%" in name or _fits_a_name(name, addresses)

    # Behind the first or the last address of a network a mask means all of it; behind another it is that address alone.
    known_addresses = [known.address for known in addresses if known.address.version == interface.version]
    if "/" in name and interface.ip in {interface.network.network_address, interface.network.broadcast_address}:
        return any(address in interface.network for address in known_addresses)
    return interface.ip in known_addresses


def _fits_a_name(pattern: str, addresses: Sequence[ServerAddress]) -> bool:
    # Samba's patterns have * and ?, no brackets; case does not matter.
    portable = pattern.lower().replace("[", "[[]")
    names: list[str] = []
    for address in addresses:
        names += address.interface_names
    return any(fnmatchcase(name.lower(), portable) for name in names)
