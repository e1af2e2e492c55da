"""Who has sessions on an smbd, and how many files and locks each of its processes holds, as smbstatus tells."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.base.errors import MeasurementError
from app.server.sessions.readings import peer_of

_SESSION_LINE = re.compile(r"(?:\d+:)?(\d{1,9})\s+(\d{1,10})\s+\S+\s+(\S+)\s+\((ipv[46]:\S+)\)\s+(\S+)")
"""Process, numbers of user and group, machine, address and dialect, from ``smbstatus -n``."""
_HELD_LINE = re.compile(r"(\w+) (?:\d+:)?(\d{1,9}) (\d{1,9})")
"""What a process holds, and how many of that; in the words of the script."""
_LISTED = "listed"
"""The line that says that smbstatus has a table of sessions, be it empty."""
FILES = "files"
LOCKS = "locks"

Held = Counter[tuple[str, int]]
"""How many files or locks a process holds, by the word for them and the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process of smbd that has sessions."""

    users: list[str] = field(default_factory=list)
    machine: str = ""
    peers: list[str] = field(default_factory=list)
    """Address and port of each of the client's connections that smbstatus tells of."""
    dialect: str = ""

    @property
    def address(self) -> str:
        return self.peers[0].rpartition(":")[0]


def parse_holders(printed: str, passwd: str) -> tuple[dict[int, Holder], Held]:
    """Who has sessions, by process, and what the processes hold.

    ``printed`` are the lines of the sessions, and those of what is held; ``passwd`` the lines of the users, as in
    /etc/passwd: smbstatus has their numbers alone. Raises MeasurementError where smbstatus did not list the sessions.
    """
    if _LISTED not in printed.splitlines():
        raise MeasurementError("smbstatus does not list the sessions: run `smbstatus` on the server as root")

    names = _names_by_number(passwd.splitlines())
    holders: dict[int, Holder] = {}
    held: Held = Counter()
    for line in printed.splitlines():
        holding = _HELD_LINE.fullmatch(line)
        if holding:
            held[(holding[1], int(holding[2]))] += int(holding[3])
            continue

        session = _SESSION_LINE.match(line)
        if session is None:
            continue
        process, number, machine, peer, dialect = session.groups()
        holder = holders.setdefault(int(process), Holder(machine=machine, dialect=dialect))
        if peer_of(peer) not in holder.peers:
            holder.peers.append(peer_of(peer))
        user = names.get(number, f"user {number}")
        if user not in holder.users:
            holder.users.append(user)
    return holders, held


def _names_by_number(lines: Iterable[str]) -> Mapping[str, str]:
    names = {}
    for line in lines:
        fields = line.split(":")
        if len(fields) > 2:
            names[fields[2]] = fields[0]
    return names
