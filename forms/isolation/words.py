"""An isolation's verdict in sentences with its numbers."""

from collections.abc import Callable, Mapping

from forms.isolation.summary import IsolationSummary, MeasuredRatio
from forms.isolation.verdict import (
    BOTH_WAYS_SHARE,
    HELD_SHARE,
    IDLE_DISK_PERCENT,
    LINK_SHARE,
    Cause,
    IsolationDoubt,
    IsolationVerdict,
    LayerEvidence,
    others_percent,
)

LOOK_AT: Mapping[Cause, tuple[str, ...]] = {
    Cause.SAMBA: ("case sensitive", "store dos attributes", "metadata requests of the client", "log level"),
    Cause.DISK: ("strict sync", "file system and journal", "vm.dirty_ratio", "I/O scheduler"),
    Cause.NETWORK: ("number of network cards", "server multi channel support", "network card: offloads", "MTU"),
    Cause.PROCESSOR: ("server signing", "server smb encrypt", "log level", "network card: offloads"),
    Cause.CLIENT: ("load: number of clients", "smbclient options"),
    Cause.UNKNOWN: (),
}


def verdict_sentence(found: IsolationVerdict) -> str:
    """The verdict in one sentence with its numbers."""
    return _SENTENCES[found.cause](found)


def _samba(found: IsolationVerdict) -> str:
    one = found.evidence
    return f"Samba: {_ratio(one)} of what disk and network together carry, with {_clients(one)}{_busy(one)}"


def _disk(found: IsolationVerdict) -> str:
    one = found.evidence
    parts = []
    if one.file_system_share is not None:
        parts.append(f"{100 * one.file_system_share:.0f} % of the clients' waiting is calls of its file system")
        if one.disk_busy_percent is not None and one.disk_busy_percent < IDLE_DISK_PERCENT:
            parts[-1] += " (no physical disk was busy, so look at what lies below it: journal, volume, network)"
    if one.disk and one.server:
        parts.append(f"the server reaches {one.server / one.disk:.2f} of dbench's rate")
    return f"The disk: {', and '.join(parts)}, with {_clients(one)}"


def _network(found: IsolationVerdict) -> str:
    one = found.evidence
    if one.link_share is not None and one.link_share > 1:
        return f"The network, with {_clients(one)}: more came through than the link is said to carry; give its rate"
    if one.link_share is not None and one.link_share >= LINK_SHARE:
        return f"The network ({100 * one.link_share:.0f} % of the link), with {_clients(one)}"
    if one.link_share_both_ways is not None and one.link_share_both_ways >= BOTH_WAYS_SHARE:
        both = f"{100 * one.link_share_both_ways:.0f} % of the link's rate, in and out together"
        return f"The network ({both}), with {_clients(one)}"
    return f"The network: the server reaches {_ratio(one)} of what it carries, with {_clients(one)}"


def _processor(found: IsolationVerdict) -> str:
    one = found.evidence
    if one.throttled_percent is not None and one.processor_quota is not None:
        return (
            f"The processor: smbd is held to {one.processor_quota:g} of one by its control group, and used that up in "
            f"{one.throttled_percent:.0f} % of the time, with {_clients(one)}"
        )
    return f"The processor: the server reaches {_ratio(one)} of what the machine carries{_busy(one)}"


def _client(found: IsolationVerdict) -> str:
    one = found.evidence
    if one.held_share is not None and one.held_share >= HELD_SHARE:
        return (
            f"This client: {100 * one.held_share:.0f} % of an operation's time is its own work and its wait for a "
            f"processor here, with {_clients(one)}; measure from a faster machine"
        )
    if one.ceiling_share is not None and one.ceiling_share > 1:
        return (
            "This client: the server layer ran as fast as all that this machine asked for when its limit was looked"
            f" for, at a busier moment, with {_clients(one)}; measure from a faster one"
        )
    if one.ceiling_share is not None:
        return (
            f"This client: the server layer ran at {100 * one.ceiling_share:.0f} % of what this machine can ask for, "
            f"with {_clients(one)}; measure from a faster one"
        )
    return f"This client: its processors are {one.client_cpu_percent or 0:.0f} % busy; measure from a faster machine"


def _unknown(found: IsolationVerdict) -> str:
    reason = doubt_text(found.doubts[0], found.evidence) if found.doubts else "nothing was measured"
    if IsolationDoubt.VARYING in found.doubts[:1]:
        reason += f": {_ratio(found.evidence)} of what disk and network together carry; measure more rounds"
    return f"It cannot be told apart here: {reason}"


_SENTENCES: Mapping[Cause, Callable[[IsolationVerdict], str]] = {
    Cause.SAMBA: _samba,
    Cause.DISK: _disk,
    Cause.NETWORK: _network,
    Cause.PROCESSOR: _processor,
    Cause.CLIENT: _client,
    Cause.UNKNOWN: _unknown,
}


def reservations(found: IsolationVerdict) -> list[str]:
    """What the verdict leaves open, a sentence each."""
    said = found.doubts[1:] if found.cause is Cause.UNKNOWN else found.doubts
    texts = "; ".join(doubt_text(doubt, found.evidence) for doubt in said)
    return [f"With this reservation: {texts}."] if said else []


_DOUBTS: Mapping[IsolationDoubt, str] = {
    IsolationDoubt.NO_SERVER: "the server was not measured",
    IsolationDoubt.NO_LEAST: "there is nothing to compare the server with",
    IsolationDoubt.WAKE_UP: "with one client on an idle processor, the time to wake up decides",
    IsolationDoubt.CLOSE: "no layer stands out",
    IsolationDoubt.VARYING: "the rounds vary too much",
    IsolationDoubt.LOOPBACK: "no network card was involved",
    IsolationDoubt.PAGE_CACHE: "the disk hardly worked, since the page cache answered",
    IsolationDoubt.ONE_MACHINE: "clients and server share the processors",
    IsolationDoubt.ONE_ROUND: "one round gives no interval",
}


def doubt_text(doubt: IsolationDoubt, evidence: LayerEvidence) -> str:
    """A doubt in words, with its number where it has one."""
    if doubt is IsolationDoubt.OTHERS:
        return f"other programs used {others_percent(evidence) or 0:.0f} % of the processors"
    return _DOUBTS[doubt]


def price_sentence(summary: IsolationSummary) -> str | None:
    """The cost of the operations left out, with the most clients; None where none were."""
    point = next((point for point in reversed(summary.points) if point.price), None)
    if point is None or point.price is None:
        return None
    names = " and ".join(summary.isolation.without)
    return f"without {names} the server does {gain(point.price)} passes a second, with {clients_text(point.clients)}"


def cost_sentence(summary: IsolationSummary) -> str | None:
    """The cost of profiling; None where not measured."""
    cost = summary.profiling_cost
    return f"while smbd does not count, the server does {gain(cost)} MB/s" if cost else None


def gain(ratio: MeasuredRatio) -> str:
    """A ratio as a change in percent, with its interval: ``+23 % (+18 to +29)``."""
    text = f"{100 * (ratio.value - 1):+.0f} %"
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} ({100 * (ratio.low - 1):+.0f} to {100 * (ratio.high - 1):+.0f})"


def clients_text(count: int) -> str:
    """``1 client``, ``4 clients``."""
    return "1 client" if count == 1 else f"{count} clients"


def _clients(one: LayerEvidence) -> str:
    return clients_text(one.clients)


def _ratio(one: LayerEvidence) -> str:
    if one.ratio is None:
        return "an unknown part"
    if one.ratio_low is None or one.ratio_high is None:
        return f"{one.ratio:.2f}"
    return f"{one.ratio:.2f} ({one.ratio_low:.2f} to {one.ratio_high:.2f})"


def _busy(one: LayerEvidence) -> str:
    if one.cpu_percent is None:
        return ""
    split = [
        f"{name} {percent:.0f}"
        for name, percent in (("smbd", one.server_percent), ("clients", one.clients_percent))
        if percent is not None
    ]
    return f"; processors {one.cpu_percent:.0f} % busy" + (f" ({', '.join(split)})" if split else "")
