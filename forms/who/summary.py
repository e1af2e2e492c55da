"""What is the limit of a server now, which of its sessions has most of that, and what share each session has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter

from storage.records import percent_of_link
from storage.who import MachineUse, ServerSession, Who

LIMIT_PERCENT = 80.0
"""From here on a part of the server counts as its limit: requests wait for each other from about there on."""
LEAST_SESSIONS_PERCENT = 20.0
"""Sessions that take less of the processor time than this are not why the processors are busy: it is other work."""
LEAST_DISK_BYTES_PER_SECOND = 10_000.0
"""Sessions that together ask the disks for less are not why a disk is busy: what they move comes from the cache."""
LEAST_BYTES_PER_SECOND = 1000.0
LEAST_CPU_PERCENT = 1.0
"""A session below both is idle: clients ask now and then whether the server is still there."""


class Resource(StrEnum):
    """What may be the limit of a server."""

    PROCESSORS = "processors"
    ONE_PROCESSOR = "one processor"
    """That of one session: its process works on one at a time, but for its reads and writes of files."""
    NETWORK = "network"
    DISK = "disk"


class Amount(StrEnum):
    """What sessions are ordered by."""

    BYTES = "bytes"
    """Sent and received."""
    CPU = "cpu"
    DISK_BYTES = "disk bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionShare:
    """A session, and its shares of what all sessions did together; None where none of them did anything of that."""

    session: ServerSession
    share_percent: float | None
    """Of what the sessions are ordered by."""
    bytes_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoSummary:
    limit: Resource | None
    """None where nothing is at its limit."""
    used_percent: Mapping[Resource, float]
    """How busy each part of the server is; without those that are unknown."""
    amount: Amount
    """What the sessions are ordered by."""
    shares: tuple[SessionShare, ...]
    """The busiest first."""
    has_active_sessions: bool
    sessions_cpu_percent: float
    """What all sessions took of all processors."""
    bytes_per_second: float | None
    """Of all sessions together; None where it is unknown."""

    @property
    def busiest(self) -> SessionShare | None:
        """None where no session did anything."""
        return self.shares[0] if self.has_active_sessions else None

    @property
    def is_limited_by_others(self) -> bool:
        """Whether the processors, or a disk, are busy with other work than the sessions'."""
        amount_of_limit = {Resource.PROCESSORS: Amount.CPU, Resource.DISK: Amount.DISK_BYTES}
        return self.limit in amount_of_limit and self.amount is not amount_of_limit[self.limit]


def who_summary(who: Who) -> WhoSummary:
    return sessions_summary(who.machine, who.sessions, who.seconds)


def sessions_summary(machine: MachineUse, sessions: Sequence[ServerSession], seconds: float) -> WhoSummary:
    """What the sessions and their machine did in those seconds."""
    used_percent = _used_percent(machine, sessions)
    limit = _limit(used_percent)
    sessions_cpu = sum(session.cpu_percent for session in sessions) / machine.processors
    disk_rate = sum(map(_disk_bytes, sessions)) / seconds
    amount = _amount(limit, sessions_cpu, disk_rate)
    known_bytes = [session.moved_bytes for session in sessions if session.sent_bytes is not None]

    return WhoSummary(
        limit=limit,
        used_percent=used_percent,
        amount=amount,
        shares=tuple(_shares(sessions, _AMOUNTS[amount])),
        has_active_sessions=any(is_active(session, seconds) for session in sessions),
        sessions_cpu_percent=sessions_cpu,
        bytes_per_second=sum(known_bytes) / seconds if known_bytes else None,
    )


def with_busiest_first(who: Who) -> Who:
    """The look with its sessions in the order in which they are shown."""
    return replace(who, sessions=tuple(share.session for share in who_summary(who).shares))


def is_active(session: ServerSession, seconds: float) -> bool:
    """Whether it did anything in those seconds."""
    is_moving = session.moved_bytes >= LEAST_BYTES_PER_SECOND * seconds
    return is_moving or session.cpu_percent >= LEAST_CPU_PERCENT


def network_percent(machine: MachineUse) -> float | None:
    """The share of the link's speed that its card uses in one direction; None where one of the two is unknown."""
    rate = machine.card_bits_per_second
    return percent_of_link(None if rate is None else rate / 8, machine.link_bits_per_second)


def _used_percent(machine: MachineUse, sessions: Sequence[ServerSession]) -> dict[Resource, float]:
    percents: dict[Resource, float | None] = {
        Resource.PROCESSORS: machine.cpu_percent,
        Resource.ONE_PROCESSOR: max((session.cpu_percent for session in sessions), default=None),
        Resource.NETWORK: network_percent(machine),
        Resource.DISK: machine.disk_percent,
    }
    return {resource: percent for resource, percent in percents.items() if percent is not None}


def _limit(used_percent: Mapping[Resource, float]) -> Resource | None:
    """The busiest part of the server, if it is busy enough; of two that are equal the first."""
    busiest = max(used_percent, key=used_percent.__getitem__)
    return busiest if used_percent[busiest] >= LIMIT_PERCENT else None


def _amount(limit: Resource | None, sessions_cpu_percent: float, disk_bytes_per_second: float) -> Amount:
    """That of the limit, where the sessions have a part in it; else the bytes."""
    if limit is Resource.ONE_PROCESSOR:
        return Amount.CPU
    if limit is Resource.PROCESSORS and sessions_cpu_percent >= LEAST_SESSIONS_PERCENT:
        return Amount.CPU
    if limit is Resource.DISK and disk_bytes_per_second >= LEAST_DISK_BYTES_PER_SECOND:
        return Amount.DISK_BYTES
    return Amount.BYTES


def _moved_bytes(session: ServerSession) -> float:
    return session.moved_bytes


def _cpu_percent(session: ServerSession) -> float:
    return session.cpu_percent


def _disk_bytes(session: ServerSession) -> float:
    return session.disk_bytes


_AMOUNTS: Mapping[Amount, Callable[[ServerSession], float]] = {
    Amount.BYTES: _moved_bytes,
    Amount.CPU: _cpu_percent,
    Amount.DISK_BYTES: _disk_bytes,
}
"""How much of each a session has."""


def _shares(sessions: Sequence[ServerSession], amount_of: Callable[[ServerSession], float]) -> list[SessionShare]:
    total = sum(map(amount_of, sessions))
    total_bytes = sum(session.moved_bytes for session in sessions)

    # Where two have the same amount, the bytes decide, and then the processor time; those that did nothing keep their
    # places from look to look.
    ordered = sorted(sessions, key=attrgetter("process"))
    ordered.sort(key=attrgetter("moved_bytes", "cpu_percent"), reverse=True)
    ordered.sort(key=amount_of, reverse=True)
    return [
        SessionShare(
            session=session,
            share_percent=100 * amount_of(session) / total if total else None,
            bytes_percent=100 * session.moved_bytes / total_bytes if total_bytes else None,
        )
        for session in ordered
    ]
