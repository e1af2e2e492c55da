"""Who has sessions on an smbd, and how many files and locks each of its processes holds, as smbstatus tells."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.base.errors import MeasurementError
from app.server.sessions.readings import peer_of, whole

_SESSION_LINE = re.compile(r"(?:\d+:)?(\d{1,9})\s+(.*?)\s+(\S+)\s+\((ipv[46]:\S+)\)\s+(\S+)")
"""A line of smbstatus before Samba 4.17: process, user and group, machine, address, dialect."""
_HOLDER_LINE = re.compile(r"(?:\d+:)?(\d{1,9})\s")
"""The beginning of a line of its tables of files and locks."""
FILES = "files"
LOCKS = "locks"
"""What a process holds, in the words of the script."""
_HOLDER_TABLES = {"Locked files:": FILES, "Byte range locks:": LOCKS}
_USER_COLUMN = 12
"""Cells that a shorter name is filled up to, in its table of sessions."""

Held = Counter[tuple[str, int]]
"""How many files or locks a process holds, by the word for them and the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process of smbd that has sessions, as smbstatus tells it."""

    users: list[str] = field(default_factory=list)
    machine: str = ""
    dialect: str = ""
    peers: list[str] = field(default_factory=list)
    """Addresses and ports of its connections, the first of them first."""


def address_of(peer: str) -> str:
    return peer.rpartition(":")[0]


def parse_holders(printed: str, counts: str) -> tuple[dict[int, Holder], Held]:
    """Who has sessions, by process; and how many ``files`` and ``locks`` each process holds.

    ``printed`` is the part of ``smbstatus -B --json`` that lists the sessions, and ``counts`` the numbers of lines of
    its rest; or ``printed`` is all that an smbstatus before Samba 4.17 prints. Raises MeasurementError.
    """
    held: Held = Counter()
    if not printed.lstrip().startswith("{"):
        return _holders_of_tables(printed, held), held

    for line in counts.splitlines():
        kind, _, numbers = line.partition(" ")
        process, _, count = numbers.partition(" ")
        held[(kind, whole(process))] += whole(count)
    return _holders_of_json(printed), held


def _holders_of_json(printed: str) -> dict[int, Holder]:
    # The script left out what follows the sessions, the last brace among it.
    whole_text = printed.rstrip() + "}"
    try:
        sessions: Sequence[Mapping[str, Any]] = list(json.loads(whole_text, strict=False)["sessions"].values())
        holders: dict[int, Holder] = {}
        for session in sessions:
            channels = session.get("channels", {}).values()
            peers = [session.get("hostname", ""), *(channel.get("remote_address", "") for channel in channels)]
            _add(
                holders,
                whole(session["server_id"]["pid"]),
                user=str(session.get("username", "")),
                machine=str(session.get("remote_machine", "")),
                dialect=str(session.get("session_dialect", "")),
                peers=[peer_of(str(peer)) for peer in peers if peer],
            )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise MeasurementError(
            "smbstatus does not list the sessions: run `smbstatus --json` on the server as root"
        ) from error
    return holders


def _holders_of_tables(printed: str, held: Held) -> dict[int, Holder]:
    """From the tables of an older smbstatus; what the processes hold is added to ``held``."""
    holders: dict[int, Holder] = {}
    kind = ""
    for line in printed.splitlines():
        kind = _HOLDER_TABLES.get(line.strip(), kind)
        session = _SESSION_LINE.match(line)
        holder = _HOLDER_LINE.match(line)
        if kind and holder:
            held[(kind, int(holder[1]))] += 1
        elif session and not kind:
            process, names, machine, address, dialect = session.groups()
            _add(
                holders,
                int(process),
                user=_user_in_column(names),
                machine=machine,
                dialect=dialect,
                peers=[peer_of(address)],
            )
    return holders


def _user_in_column(names: str) -> str:
    """The user of the columns of user and group."""
    is_filled_up = names[_USER_COLUMN : _USER_COLUMN + 1] in {"", " "}
    return names[:_USER_COLUMN].strip() if is_filled_up else names.partition(" ")[0]


def _add(
    holders: dict[int, Holder], process: int, *, user: str, machine: str, dialect: str, peers: Sequence[str]
) -> None:
    holder = holders.setdefault(process, Holder(machine=machine, dialect=dialect))
    if user not in holder.users:
        holder.users.append(user)
    for peer in peers:
        if peer not in holder.peers:
            holder.peers.append(peer)
