"""Which layer it is: rules over what an isolation measured, each with the number that it rests on."""

from dataclasses import dataclass
from enum import StrEnum

CLIENT_SHARE = 0.6
"""Of what our own replay reaches against next to nothing: beyond it the number may be this client's."""
HELD_SHARE = 0.65
"""Of an operation's time, what the clients spend on themselves: beyond it they are what is measured."""
LINK_SHARE = 0.85
"""A link that is filled so far in one direction is full: acknowledgements and headers take some of the rest."""
BOTH_WAYS_SHARE = 0.9
"""Clients that replay one script in step write together and read together: in and out then share a full link."""
REACHED = 0.7
"""A server that reaches so much of the least layer is held back by that layer: of a full link it was 0.77 and more."""
NEAR = 0.8
FILE_SYSTEM_SHARE = 0.5
THROTTLED_PERCENT = 30.0
"""Of its stretches: smbd that is held to a quota on an idle machine uses up nearly each, on a busy one fewer."""
BUSY_PERCENT = 90.0
IDLE_PERCENT = 60.0
IDLE_DISK_PERCENT = 5.0
OTHERS_PERCENT = 25.0
"""The kernel moves packets for us outside of our processes: where its part is not known, this much may be that."""
OTHERS_COST = 4.0
"""What other programs may cost a layer: half of a processor at each of its two ends, which wait for each other."""


class Cause(StrEnum):
    """What holds the server back."""

    SAMBA = "samba"
    DISK = "disk"
    NETWORK = "network"
    PROCESSOR = "processor"
    CLIENT = "client"
    UNKNOWN = "unknown"


class IsolationDoubt(StrEnum):
    """Why it cannot be told, or with what reservation."""

    NO_SERVER = "the server was not measured"
    NO_LEAST = "there is nothing to compare the server with"
    WAKE_UP = "one client and an idle processor: the time to wake up decides"
    CLOSE = "no layer stands out"
    SCATTER = "the rounds scatter too much"
    LOOPBACK = "no network card was on the way"
    PAGE_CACHE = "the disk hardly worked: the page cache answered"
    ONE_MACHINE = "clients and server share the processors"
    OTHERS = "others used a good part of the processors"
    ONE_ROUND = "one round has no uncertainty"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEvidence:
    """What is known of one number of clients; what was not measured is absent. Rates in bytes per second."""

    clients: int
    server: float | None = None
    disk: float | None = None
    network: float | None = None
    least: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    cpu_percent: float | None = None
    """Of all processors of the server, during the server layer."""
    cpu_percent_of_both: float | None = None
    """The same while disk and network are measured at once."""
    server_percent: float | None = None
    clients_percent: float | None = None
    kernel_percent: float | None = None
    client_cpu_percent: float | None = None
    """Of this machine, where the server is another one."""
    ceiling_share: float | None = None
    held_share: float | None = None
    """Of the clients' time, that in which they worked themselves or waited for a processor of their machine."""
    link_share: float | None = None
    link_share_both_ways: float | None = None
    """The same of both directions together, up to 2."""
    throttled_percent: float | None = None
    processor_quota: float | None = None
    disk_busy_percent: float | None = None
    file_system_share: float | None = None
    loopback: bool = False
    same_machine: bool = False
    rounds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationVerdict:
    """What it is, and what it rests on."""

    cause: Cause
    doubts: tuple[IsolationDoubt, ...] = ()
    evidence: LayerEvidence


def judge(found: LayerEvidence) -> IsolationVerdict:
    """The verdict. What would make every other layer look slow is looked for first: a full link, which no slow client
    fills, then this client, a quota of processor time, the disk; what then is left between the server and the least of
    them is Samba's.
    """
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
        return Cause.UNKNOWN, IsolationDoubt.SCATTER
    return _of_the_machine(found)


def _plain_cause(found: LayerEvidence) -> Cause | None:
    if _at_least(found.link_share, LINK_SHARE) or _fills_both_ways(found):
        return Cause.NETWORK
    busy_here = found.ceiling_share is None and _at_least(found.client_cpu_percent, BUSY_PERCENT)
    if busy_here or _at_least(found.held_share, HELD_SHARE) or _at_least(found.ceiling_share, CLIENT_SHARE):
        return Cause.CLIENT
    if _at_least(found.throttled_percent, THROTTLED_PERCENT):
        return Cause.PROCESSOR
    if _at_least(found.file_system_share, FILE_SYSTEM_SHARE):
        return Cause.DISK
    return None


def _of_the_machine(found: LayerEvidence) -> tuple[Cause, IsolationDoubt | None]:
    """The server reaches what the machine carries: which part of that is it?

    Other programs leave that open, since they use the disk too; but not a network that is so much slower than the disk
    that they could not have made it so.
    """
    disk, network = found.disk, found.network
    if disk and network and _without_others(network, found) < NEAR * disk and not found.loopback:
        return Cause.NETWORK, None
    if _others_worked(found):
        return Cause.UNKNOWN, IsolationDoubt.OTHERS
    if disk and (not network or disk < NEAR * network):
        return Cause.DISK, None
    if _at_least(found.cpu_percent, BUSY_PERCENT):
        return Cause.PROCESSOR, None
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
    """What programs other than smbd, the clients and the kernel took of all processors; None where that is unknown."""
    if found.cpu_percent is None or found.server_percent is None:
        return None
    ours = found.server_percent + (found.clients_percent or 0.0) + (found.kernel_percent or 0.0)
    return max(0.0, found.cpu_percent - ours)


def _others_worked(found: LayerEvidence) -> bool:
    return _at_least(others_percent(found), OTHERS_PERCENT)


def _without_others(figure: float, found: LayerEvidence) -> float:
    return OTHERS_COST * figure if _others_worked(found) else figure


def _without_contention(ratio: float, found: LayerEvidence) -> float:
    """The most that the server could have reached with all processors, where others kept them at their limit."""
    others = others_percent(found)
    if others is None or not _others_worked(found) or not _at_least(found.cpu_percent, BUSY_PERCENT):
        return ratio
    return ratio * 100 / max(1.0, 100 - others)


def _fills_both_ways(found: LayerEvidence) -> bool:
    """Whether in and out together fill the link, and TCP alone gets no more out of it."""
    slow = found.network is None or (found.server or 0.0) >= REACHED * found.network
    return slow and _at_least(found.link_share_both_ways, BOTH_WAYS_SHARE)


def _at_least(value: float | None, limit: float) -> bool:
    return value is not None and value >= limit
