"""Judges what limits a server: Samba, the disk, the network, a processor, or the client that measures it.

An isolation plays one script of file operations against the server's disk, the network, both at once, and the
server, with some number of clients. `LayerEvidence` is what that showed; ``judge`` draws the verdict from it. The
*least layer* is the slower of disk and network: a server cannot be faster, and one that nearly reaches it is held
back by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

# Limits of the evidence's figures of the same names. A share is 0 to 1, a percentage 0 to 100.

CLIENT_SHARE = 0.6
"""Of what this client can ask for at most (``ceiling_share``): beyond it the client is what is measured."""

HELD_SHARE = 0.65
"""Of an operation's time spent in the clients (``held_share``): beyond it they are what is measured."""

SOUND_SHARE = 0.5
"""Of ``held_share``: where less of the time is the clients' own, they were no limit, whatever ``ceiling_share`` says.
The ceiling was measured once and before, and was disturbed then."""

LINK_SHARE = 0.85
"""Of the link's speed, in the busier direction: beyond it the link is full."""

BOTH_WAYS_SHARE = 0.9
"""Clients in step write together and read together: in and out then share a full link."""

REACHED = 0.7
"""Of the least layer's rate: a server that reaches as much is held back by it; on a full link it was 0.77 and more."""

NEAR = 0.8
"""Of the faster of disk and network: a slower one stands out below it."""

FILE_SYSTEM_SHARE = 0.5
"""Of the clients' waiting: from here on it is calls of the server's file system that they wait for."""

THROTTLED_PERCENT = 30.0
"""Of its periods: a quota that limits smbd is used up in nearly each on an idle machine, in fewer on a busy one."""

BUSY_PERCENT = 90.0
"""What waits for a disk leaves processors idle: where they are full, dbench and smbd's calls waited for them."""

IDLE_PERCENT = 60.0
"""Of the processors: below it a single client waits for them to wake up, so that nothing is at its limit."""
IDLE_DISK_PERCENT = 5.0
"""Of the time: below it the disk hardly worked, and the page cache answered."""

OTHERS_PERCENT = 25.0
"""Of the processors (``others_percent``): from here on other programs certainly worked. Less may be the kernel's, which
moves packets outside of our processes."""

MOST_OTHERS_PERCENT = 50.0
"""Of full processors (``others_percent``): where other programs had more than half, nobody knows what the server would
do with them."""

OTHERS_COST = 4.0
"""The factor by which other programs that take processors may have slowed one layer more than another."""

FASTER_THAN_SERVER = 5.0
"""A disk that does this many times what the server does is not what the server's calls wait for."""

FASTER_THAN_PART = 2.0
"""Caches let a server beat dbench by itself; beyond this dbench, or the run of one part alone, was disturbed."""


class Cause(StrEnum):
    """What limits the server."""

    SAMBA = "samba"
    DISK = "disk"
    NETWORK = "network"
    PROCESSOR = "processor"
    CLIENT = "client"
    UNKNOWN = "unknown"


class IsolationDoubt(StrEnum):
    """Why a cause is unknown, or what to keep in mind beside one; the values are those of documents.

    People read :mod:`forms.isolation.wording`.
    """

    NO_SERVER = "the server was not measured"
    NO_LEAST = "there is nothing to compare the server with"
    WAKE_UP = "one client and an idle processor: the time to wake up decides"
    CLOSE = "no layer stands out"
    DISTURBED = "the server was much faster than the disk by itself, so that run was disturbed"
    SLOWER_ALONE = "a part alone was much slower than with the other, so that run was disturbed"
    VARYING = "the rounds scatter too much"
    LOOPBACK = "no network card was on the way"
    PAGE_CACHE = "the disk hardly worked: the page cache answered"
    ONE_MACHINE = "clients and server share the processors"
    OTHERS = "others used a good part of the processors"
    ONE_ROUND = "one round has no uncertainty"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerEvidence:
    """What was measured with one number of clients; None for what was not.

    Disk and network each have two figures: ``disk`` while the network was busy too, as under a server, and
    ``disk_alone``. The server is compared with the first.
    """

    clients: int

    # Bytes/s of each layer, on average over the rounds.
    server: float | None = None
    disk: float | None = None
    """While the network is busy too, where that was measured; else alone."""
    network: float | None = None
    """While the disk is busy too, where that was measured; else alone."""
    disk_alone: float | None = None
    network_alone: float | None = None
    least: float | None = None
    """The slower of disk and network."""

    # The server's rate divided by the least, with its 95 % interval.
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None

    # Percent of all of the server's processors: all that was used, and by whom.
    cpu_percent: float | None = None
    cpu_percent_of_both: float | None = None
    """While disk and network were busy without the server."""
    server_percent: float | None = None
    """By smbd."""
    clients_percent: float | None = None
    """By the clients, on a server that is this machine."""
    kernel_percent: float | None = None

    # How near the client that measures was to its own limits.
    client_cpu_percent: float | None = None
    """Of all of this machine's processors."""
    ceiling_share: float | None = None
    """The operations/s, as a share of those against a server that costs next to nothing."""
    held_share: float | None = None
    """The share of the clients' time in which they worked themselves or waited for a processor here."""

    # How near the link, smbd's quota of processor time, and the disk were to theirs.
    link_share: float | None = None
    """Of the link's speed, in the busier direction."""
    link_share_both_ways: float | None = None
    """Of the link's speed, both directions added up."""
    throttled_percent: float | None = None
    """Of the periods of smbd's quota, those used up."""
    processor_quota: float | None = None
    """How many processors the quota allows smbd."""
    disk_busy_percent: float | None = None
    """Of the time, the server's busiest disk."""
    file_system_share: float | None = None
    """The share of the clients' waiting that is calls of the server's file system, by smbd's counters."""

    # What has to be known to judge.
    loopback: bool = False
    """Whether the bytes crossed no network card."""
    same_machine: bool = False
    """Whether the clients ran on the server."""
    signed: bool = True
    encrypted: bool = True
    logs: bool = True
    """Whether smbd's log level is above 0, or not known."""
    rounds: int = 0
    """Of which the averages are; a single one gives no interval."""

    @property
    def others_percent(self) -> float | None:
        """Percent of all processors used by programs other than smbd, clients and kernel, or None."""
        if self.cpu_percent is None or self.server_percent is None:
            return None

        known_percent = self.server_percent + (self.clients_percent or 0.0) + (self.kernel_percent or 0.0)
        return max(0.0, self.cpu_percent - known_percent)

    @property
    def others_worked(self) -> bool:
        """Whether other programs certainly used a good part of the processors."""
        return _is_at_least(self.others_percent, OTHERS_PERCENT)

    @property
    def are_processors_full(self) -> bool:
        return _is_at_least(self.cpu_percent, BUSY_PERCENT)

    @property
    def is_disk_fast(self) -> bool:
        """Whether the disk, with the network or alone, does many times what the server does."""
        if not self.server:
            return False

        disk = max(self.disk or 0.0, self.disk_alone or 0.0)
        return disk >= FASTER_THAN_SERVER * self.server

    @property
    def waits_in_calls(self) -> bool:
        """Whether most of the clients' waiting is calls of the server's file system."""
        return _is_at_least(self.file_system_share, FILE_SYSTEM_SHARE)

    @property
    def waits_for_files(self) -> bool:
        """Whether operations wait in calls of the file system, and dbench finds the disk slow too."""
        return self.waits_in_calls and not self.is_disk_fast


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationVerdict:
    cause: Cause
    doubts: tuple[IsolationDoubt, ...] = ()
    """What to keep in mind; of an unknown cause the first one is the reason."""
    evidence: LayerEvidence


Judgement = tuple[Cause, IsolationDoubt | None]
"""The cause; and for an unknown one the reason, else None."""


def judge(evidence: LayerEvidence) -> IsolationVerdict:
    """The verdict. A full link, this client, a processor quota and the disk are looked at first; what remains is
    Samba's.
    """
    if not evidence.server:
        return IsolationVerdict(cause=Cause.UNKNOWN, doubts=(IsolationDoubt.NO_SERVER,), evidence=evidence)

    cause, reason = _judge_cause(evidence)

    # The server rests on the part that was named or compared: where it is far faster, the part's own run was disturbed.
    rate_of_part: Mapping[Cause, float | None] = {
        Cause.DISK: evidence.disk,
        Cause.SAMBA: evidence.least,
        Cause.PROCESSOR: evidence.least,
    }
    if is_far_slower(rate_of_part.get(cause), evidence.server):
        cause = Cause.UNKNOWN
        reason = IsolationDoubt.DISTURBED

    reservations = [doubt for doubt in _reservations(evidence, cause) if doubt is not reason]
    doubts = [reason, *reservations] if reason else reservations
    return IsolationVerdict(cause=cause, doubts=tuple(doubts), evidence=evidence)


def _judge_cause(evidence: LayerEvidence) -> Judgement:
    """What limits the server, by the figures that show it plainly, else by comparing it with the least layer."""
    plain_cause = _plain_cause(evidence)
    if plain_cause is Cause.CLIENT and _may_have_waited_for_others(evidence):
        return Cause.UNKNOWN, IsolationDoubt.OTHERS
    if plain_cause is not None:
        return plain_cause, None

    # From here on the server is compared with the least layer.
    if evidence.ratio is None:
        return Cause.UNKNOWN, IsolationDoubt.NO_LEAST

    # One client waits for each answer, and the processors for it: then their waking up is what is measured.
    is_idle = evidence.cpu_percent is not None and evidence.cpu_percent < IDLE_PERCENT
    if evidence.clients == 1 and is_idle:
        return Cause.UNKNOWN, IsolationDoubt.WAKE_UP

    # Of one round there is no interval, and the ratio itself has to do.
    is_surely_behind = (evidence.ratio_high or evidence.ratio) < REACHED
    if is_surely_behind:
        return _judge_server(evidence)
    # Behind on average, but the interval reaches REACHED.
    if evidence.ratio < REACHED:
        return Cause.UNKNOWN, IsolationDoubt.VARYING
    return _judge_layers(evidence)


def _may_have_waited_for_others(evidence: LayerEvidence) -> bool:
    """Whether a client on the server may have been held up by other programs there, and not by itself.

    Not where it asked for nearly all that it can (``ceiling_share``): that it did, whatever others had.
    """
    others_here = evidence.same_machine and evidence.others_worked
    return others_here and not _is_at_least(evidence.ceiling_share, CLIENT_SHARE)


def _plain_cause(evidence: LayerEvidence) -> Cause | None:
    """The cause that one figure shows by itself; None where none does.

    In this order: behind a full link clients and disk wait as well, and a client at its limit asks for too little to
    show what the server is limited by.
    """
    if _is_at_least(evidence.link_share, LINK_SHARE) or _fills_link_both_ways(evidence):
        return Cause.NETWORK
    if _is_client_the_limit(evidence):
        return Cause.CLIENT
    if _is_at_least(evidence.throttled_percent, THROTTLED_PERCENT):
        return Cause.PROCESSOR
    if evidence.waits_for_files and not evidence.are_processors_full:
        return Cause.DISK
    return None


def _is_client_the_limit(evidence: LayerEvidence) -> bool:
    """Whether the clients themselves are what is measured.

    By their own share of the time; else by the share of what this machine can ask for, unless that ceiling was
    disturbed; where no ceiling is known, by this machine's processors.
    """
    if _is_at_least(evidence.held_share, HELD_SHARE):
        return True

    if evidence.ceiling_share is None:
        return _is_at_least(evidence.client_cpu_percent, BUSY_PERCENT)

    is_ceiling_sound = evidence.held_share is None or evidence.held_share >= SOUND_SHARE
    return is_ceiling_sound and evidence.ceiling_share >= CLIENT_SHARE


def _judge_server(evidence: LayerEvidence) -> Judgement:
    """What holds back a server that surely does not reach what the layers carry: Samba, unless others may have."""
    # The most that the server may reach of the least layer.
    ratio = evidence.ratio_high or evidence.ratio or 0.0
    ratio_without_contention = _without_contention(ratio, evidence)

    # With the others' processors the server would still be behind, and half of the waiting is the disk's.
    if evidence.others_worked and evidence.waits_for_files and ratio_without_contention < REACHED:
        return Cause.DISK, None

    others_had_most = evidence.are_processors_full and _is_at_least(evidence.others_percent, MOST_OTHERS_PERCENT)
    # Several rounds in which others worked alike show the server; a single one may have met them alone.
    met_others_once = evidence.ratio_high is None and _without_others(ratio, evidence) >= REACHED
    if others_had_most or ratio_without_contention >= REACHED or met_others_once:
        return Cause.UNKNOWN, IsolationDoubt.OTHERS

    return Cause.SAMBA, None


def _judge_layers(evidence: LayerEvidence) -> Judgement:
    """What limits a server that reaches what the layers carry: the slower of them."""
    disk = evidence.disk
    network = evidence.network

    # The slower part is named where it stays the slower one even if others had slowed it alone (`_without_others`).
    if disk and network and not evidence.loopback and _without_others(network, evidence) < NEAR * disk:
        return Cause.NETWORK, None

    # Others who only take processors slow the calls as much as the rest: half of the waiting is the disk's.
    if disk and network and evidence.waits_for_files and _without_others(disk, evidence) < NEAR * network:
        return Cause.DISK, None

    if evidence.others_worked:
        return Cause.UNKNOWN, IsolationDoubt.OTHERS
    # Nobody else worked, so that a full processor is full of this server's own work.
    if evidence.are_processors_full:
        return Cause.PROCESSOR, None
    if disk and (not network or disk < NEAR * network):
        return Cause.DISK, None
    return Cause.UNKNOWN, IsolationDoubt.CLOSE


def _reservations(evidence: LayerEvidence, cause: Cause) -> list[IsolationDoubt]:
    """What to keep in mind of a verdict, whatever its cause."""
    is_disk_idle = evidence.disk_busy_percent is not None and evidence.disk_busy_percent < IDLE_DISK_PERCENT
    was_disk_measured = bool(evidence.disk or evidence.disk_alone)
    is_slower_alone = is_far_slower(evidence.disk_alone, evidence.disk) or is_far_slower(
        evidence.network_alone, evidence.network
    )

    # In the order in which they are told. That the page cache answered is told of a disk that was measured, unless it
    # was found to be slow all the same.
    does_hold = {
        IsolationDoubt.SLOWER_ALONE: is_slower_alone,
        IsolationDoubt.LOOPBACK: evidence.loopback,
        IsolationDoubt.PAGE_CACHE: is_disk_idle and cause is not Cause.DISK and was_disk_measured,
        IsolationDoubt.ONE_MACHINE: evidence.same_machine,
        IsolationDoubt.OTHERS: evidence.others_worked,
        IsolationDoubt.ONE_ROUND: evidence.rounds == 1,
    }
    return [doubt for doubt in does_hold if does_hold[doubt]]


def is_far_slower(rate: float | None, other: float | None) -> bool:
    """Whether a rate is so far below another that its measurement was disturbed; False where one is unknown."""
    return rate is not None and _is_at_least(other, FASTER_THAN_PART * rate)


def _without_others(figure: float, evidence: LayerEvidence) -> float:
    """What a rate or ratio could be at most without the other programs."""
    return OTHERS_COST * figure if evidence.others_worked else figure


def _without_contention(ratio: float, evidence: LayerEvidence) -> float:
    """What the server could reach with the processors that others had, where all of them were full."""
    others_percent = evidence.others_percent
    if others_percent is None or not evidence.others_worked or not evidence.are_processors_full:
        return ratio

    return ratio * 100 / max(1.0, 100 - others_percent)


def _fills_link_both_ways(evidence: LayerEvidence) -> bool:
    """Whether both directions together fill the link, and the server reaches what the network carries by itself.

    Only clients in step share a link both ways, so that the sum by itself does not show a full one.
    """
    reaches_network = evidence.network is None or (evidence.server or 0.0) >= REACHED * evidence.network
    return reaches_network and _is_at_least(evidence.link_share_both_ways, BOTH_WAYS_SHARE)


def _is_at_least(value: float | None, limit: float) -> bool:
    """Whether a figure reaches a limit; False where it is unknown."""
    return value is not None and value >= limit
