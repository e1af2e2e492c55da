"""Rules that tell which layer limits, each with its evidence."""

from dataclasses import dataclass
from enum import StrEnum

CLIENT_SHARE = 0.6
HELD_SHARE = 0.65
"""Of an operation's time spent in the clients: beyond it they are what is measured."""
LINK_SHARE = 0.85
BOTH_WAYS_SHARE = 0.9
"""Clients in step write together and read together: in and out then share a full link."""
REACHED = 0.7
"""A server this close to the least layer is held back by it; on a full link it was 0.77 and more."""
NEAR = 0.8
FILE_SYSTEM_SHARE = 0.5
THROTTLED_PERCENT = 30.0
"""Of its periods: a quota that limits smbd is used up in nearly each on an idle machine, in fewer on a busy one."""
BUSY_PERCENT = 90.0
"""What waits for a disk leaves processors idle: where they are full, dbench and smbd's calls waited for them."""
IDLE_PERCENT = 60.0
IDLE_DISK_PERCENT = 5.0
OTHERS_PERCENT = 25.0
"""The kernel moves packets outside of our processes: an unknown part may be this much."""
OTHERS_COST = 4.0


class Cause(StrEnum):
    """What holds the server back."""

    SAMBA = "samba"
    DISK = "disk"
    NETWORK = "network"
    PROCESSOR = "processor"
    CLIENT = "client"
    UNKNOWN = "unknown"


class IsolationDoubt(StrEnum):
    """Why the cause is unknown or uncertain."""

    NO_SERVER = "the server was not measured"
    NO_LEAST = "there is nothing to compare the server with"
    WAKE_UP = "one client and an idle processor: the time to wake up decides"
    CLOSE = "no layer stands out"
    VARYING = "the rounds scatter too much"  # in documents; people read forms/isolation/report.py
    LOOPBACK = "no network card was on the way"
    PAGE_CACHE = "the disk hardly worked: the page cache answered"
    ONE_MACHINE = "clients and server share the processors"
    OTHERS = "others used a good part of the processors"
    ONE_ROUND = "one round has no uncertainty"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEvidence:
    """What is known of one number of clients; unmeasured values are absent. Rates in bytes/s."""

    clients: int
    server: float | None = None
    disk: float | None = None
    network: float | None = None
    least: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    cpu_percent: float | None = None
    cpu_percent_of_both: float | None = None
    server_percent: float | None = None
    clients_percent: float | None = None
    kernel_percent: float | None = None
    client_cpu_percent: float | None = None
    ceiling_share: float | None = None
    held_share: float | None = None
    link_share: float | None = None
    link_share_both_ways: float | None = None
    throttled_percent: float | None = None
    processor_quota: float | None = None
    disk_busy_percent: float | None = None
    file_system_share: float | None = None
    loopback: bool = False
    same_machine: bool = False
    rounds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationVerdict:
    """The cause and its evidence."""

    cause: Cause
    doubts: tuple[IsolationDoubt, ...] = ()
    evidence: LayerEvidence


def judge(found: LayerEvidence) -> IsolationVerdict:
    """The verdict: a full link, this client, a processor quota, the disk; what then remains is Samba's."""
    if not found.server:
        return IsolationVerdict(cause=Cause.UNKNOWN, doubts=(IsolationDoubt.NO_SERVER,), evidence=found)
    cause, why = _cause(found)
    reasons = (why,) if why else ()
    told = [doubt for doubt in _reservations(found, cause) if doubt is not why]
    return IsolationVerdict(cause=cause, doubts=(*reasons, *told), evidence=found)


def _cause(found: LayerEvidence) -> tuple[Cause, IsolationDoubt | None]:
    named = _plain_cause(found)
    if named is not None:
        return named, None
    if found.ratio is None:
        return Cause.UNKNOWN, IsolationDoubt.NO_LEAST
    idle = found.cpu_percent is not None and found.cpu_percent < IDLE_PERCENT
    if found.clients == 1 and idle:
        return Cause.UNKNOWN, IsolationDoubt.WAKE_UP
    if (found.ratio_high or found.ratio) < REACHED:
        most = max(_without_others(found.ratio, found), _without_contention(found.ratio, found))
        disturbed = found.ratio_high is None and most >= REACHED
        return (Cause.UNKNOWN, IsolationDoubt.OTHERS) if disturbed else (Cause.SAMBA, None)
    if found.ratio < REACHED:
        return Cause.UNKNOWN, IsolationDoubt.VARYING
    return _of_the_machine(found)


def _plain_cause(found: LayerEvidence) -> Cause | None:
    if _at_least(found.link_share, LINK_SHARE) or _fills_both_ways(found):
        return Cause.NETWORK
    busy_here = found.ceiling_share is None and _at_least(found.client_cpu_percent, BUSY_PERCENT)
    if busy_here or _at_least(found.held_share, HELD_SHARE) or _at_least(found.ceiling_share, CLIENT_SHARE):
        return Cause.CLIENT
    if _at_least(found.throttled_percent, THROTTLED_PERCENT):
        return Cause.PROCESSOR
    if _at_least(found.file_system_share, FILE_SYSTEM_SHARE) and not _at_least(found.cpu_percent, BUSY_PERCENT):
        return Cause.DISK
    return None


def _of_the_machine(found: LayerEvidence) -> tuple[Cause, IsolationDoubt | None]:
    disk, network = found.disk, found.network
    if disk and network and _without_others(network, found) < NEAR * disk and not found.loopback:
        return Cause.NETWORK, None
    if _others_worked(found):
        return Cause.UNKNOWN, IsolationDoubt.OTHERS
    if _at_least(found.cpu_percent, BUSY_PERCENT):
        return Cause.PROCESSOR, None
    if disk and (not network or disk < NEAR * network):
        return Cause.DISK, None
    return Cause.UNKNOWN, IsolationDoubt.CLOSE


def _reservations(found: LayerEvidence, cause: Cause) -> list[IsolationDoubt]:
    told = []
    if found.loopback:
        told.append(IsolationDoubt.LOOPBACK)
    if cause is not Cause.DISK and found.disk_busy_percent is not None and found.disk_busy_percent < IDLE_DISK_PERCENT:
        told.append(IsolationDoubt.PAGE_CACHE)
    if found.same_machine:
        told.append(IsolationDoubt.ONE_MACHINE)
    if _others_worked(found):
        told.append(IsolationDoubt.OTHERS)
    if found.rounds == 1:
        told.append(IsolationDoubt.ONE_ROUND)
    return told


def others_percent(found: LayerEvidence) -> float | None:
    """Percent of all processors used by programs other than smbd, clients and kernel, or None."""
    if found.cpu_percent is None or found.server_percent is None:
        return None
    ours = found.server_percent + (found.clients_percent or 0.0) + (found.kernel_percent or 0.0)
    return max(0.0, found.cpu_percent - ours)


def _others_worked(found: LayerEvidence) -> bool:
    return _at_least(others_percent(found), OTHERS_PERCENT)


def _without_others(figure: float, found: LayerEvidence) -> float:
    return OTHERS_COST * figure if _others_worked(found) else figure


def _without_contention(ratio: float, found: LayerEvidence) -> float:
    others = others_percent(found)
    if others is None or not _others_worked(found) or not _at_least(found.cpu_percent, BUSY_PERCENT):
        return ratio
    return ratio * 100 / max(1.0, 100 - others)


def _fills_both_ways(found: LayerEvidence) -> bool:
    slow = found.network is None or (found.server or 0.0) >= REACHED * found.network
    return slow and _at_least(found.link_share_both_ways, BOTH_WAYS_SHARE)


def _at_least(value: float | None, limit: float) -> bool:
    return value is not None and value >= limit
