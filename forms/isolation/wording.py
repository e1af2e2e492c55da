"""The verdict of an isolation in sentences: what limits the server, why, what to keep in mind and what to do next."""

from collections.abc import Callable, Mapping

from forms import wording
from forms.isolation.summary import IsolationPoint, IsolationSummary, MeasuredRatio
from forms.isolation.verdict import (
    BOTH_WAYS_SHARE,
    HELD_SHARE,
    IDLE_DISK_PERCENT,
    LINK_SHARE,
    Cause,
    IsolationDoubt,
    IsolationVerdict,
    LayerEvidence,
    is_far_slower,
)
from storage.isolation import LayerRun

_OFFLOADS = "network card: offloads"
LOOK_AT: Mapping[Cause, tuple[str, ...]] = {
    Cause.SAMBA: ("case sensitive", "store dos attributes", "metadata requests of the client", "log level"),
    Cause.DISK: ("strict sync", "file system and journal", "vm.dirty_ratio", "I/O scheduler"),
    Cause.NETWORK: ("number of network cards", "server multi channel support", _OFFLOADS, "MTU"),
    Cause.PROCESSOR: ("server signing", "server smb encrypt", "log level", _OFFLOADS),
    Cause.CLIENT: (),
    Cause.UNKNOWN: (),
}
"""The entries of the catalogue of settings to look at next, by what limits the server."""

_VERY_WIDE = 3
"""An interval that ends beyond three times the ratio (or beyond 300 %, if that is more) is not shown: it says
nothing."""


def answer_sentence(verdict: IsolationVerdict) -> str:
    """The verdict and the next step."""
    return f"{verdict_sentence(verdict)}. {_next_step(verdict)}"


def _next_step(verdict: IsolationVerdict) -> str:
    if verdict.cause is Cause.CLIENT:
        return _after_client_limit(verdict.evidence)
    if verdict.cause is not Cause.UNKNOWN:
        entries = wording.listed(look_at(verdict))
        if not entries:
            return "No setting of the server is known to cost it."
        return f"Next, look in the catalogue at: {entries}."

    if IsolationDoubt.NO_SERVER in verdict.doubts:
        return "Measure it again."

    if IsolationDoubt.NO_LEAST in verdict.doubts:
        if verdict.evidence.disk or verdict.evidence.network:
            return "Isolate again, with longer runs where some failed."
        return (
            "Run it as root on the server, or with --server-ssh, with dbench there; what was missing is told below."
            " Without access to it, `sharebench diagnose TARGET` says what can be seen from here."
        )

    if _main_doubt(verdict) is IsolationDoubt.OTHERS:
        return "Measure again at a quiet time."
    return "Measure more rounds, with more clients, for longer, or from another machine."


def _after_client_limit(evidence: LayerEvidence) -> str:
    """What is known of the server although the client was the limit, and what would tell more."""
    known = ""
    if evidence.server:
        known = f"Of the server it says that it carries at least {wording.rate(evidence.server)} of this work"
        known += f" with {clients_text(evidence)}. "
    return (
        f"{known}To learn more of it, run this on a machine with time to spare, or find what users wait for:"
        " `sharebench diagnose TARGET` compares saving with reading, which holds on a busy client too."
    )


def _main_doubt(verdict: IsolationVerdict) -> IsolationDoubt | None:
    """Why the cause is unknown."""
    return verdict.doubts[0] if verdict.doubts else None


def verdict_sentence(verdict: IsolationVerdict) -> str:
    """What limits the server, with the figures that show it; or why nobody can say."""
    evidence = verdict.evidence
    if verdict.cause is not Cause.UNKNOWN:
        return f"Limit: {_LIMITS[verdict.cause](evidence)}"

    doubt = _main_doubt(verdict)
    reason = describe_doubt(doubt, evidence) if doubt else "nothing was measured"
    if doubt is IsolationDoubt.OTHERS:
        return f"Cannot be judged: {reason}"
    if doubt is IsolationDoubt.VARYING:
        reached = f"the server reaches {_ratio_text(evidence)} of {comparison_text(evidence)}"
        return f"Inconclusive, perhaps Samba: {reached}, with {clients_text(evidence)}, but {reason}"
    return f"Inconclusive: {reason}"


def only_part(evidence: LayerEvidence) -> str:
    """The one of disk and network that was measured, where the other could not be; else empty."""
    if evidence.disk and evidence.network:
        return ""
    if evidence.disk:
        return "disk"
    return "network" if evidence.network else ""


def comparison_text(evidence: LayerEvidence) -> str:
    """What the server is compared with."""
    part = only_part(evidence)
    return f"what the {part} alone carries" if part else "what disk and network carry together"


# What stands behind "Limit: ", a function for each cause.


def _samba_limit(evidence: LayerEvidence) -> str:
    calls = ""
    if evidence.waits_in_calls and evidence.is_disk_fast:
        calls = f"; {_share_in_calls(evidence)} although the disk is fast, so look at `vfs objects` first"
    share = f"{_ratio_text(evidence)} of {comparison_text(evidence)}"
    return f"Samba, {share}, with {clients_text(evidence)}{_processors_text(evidence)}{calls}"


def _share_in_calls(evidence: LayerEvidence) -> str:
    share = min(1.0, evidence.file_system_share or 0.0)  # what an older version stored may be more
    return f"{100 * share:.0f} % of the clients' waiting is calls of its file system"


def _disk_limit(evidence: LayerEvidence) -> str:
    reasons = []
    if evidence.file_system_share is not None:
        remark = ""
        if evidence.disk_busy_percent is not None and evidence.disk_busy_percent < IDLE_DISK_PERCENT:
            remark = " (no physical disk was busy, so look at what lies below it: journal, volume, network)"
        reasons.append(f"{_share_in_calls(evidence)}{remark}")
    if evidence.disk and evidence.server:
        reasons.append(f"the server reaches {evidence.server / evidence.disk:.2f} of dbench's rate")
    return f"the disk; {', and '.join(reasons)}, with {clients_text(evidence)}"


def _network_limit(evidence: LayerEvidence) -> str:
    clients = clients_text(evidence)
    share = evidence.link_share
    if share is not None and share > 1:
        return f"the network, with {clients}; more came through than the link is said to carry; give its rate"
    if share is not None and share >= LINK_SHARE:
        return f"the network ({100 * share:.0f} % of the link), with {clients}"

    both_ways = evidence.link_share_both_ways
    if both_ways is not None and both_ways >= BOTH_WAYS_SHARE:
        return f"the network ({100 * both_ways:.0f} % of the link speed, in and out together), with {clients}"
    return f"the network; the server reaches {_ratio_text(evidence)} of what it carries, with {clients}"


def _processor_limit(evidence: LayerEvidence) -> str:
    if evidence.throttled_percent is not None and evidence.processor_quota is not None:
        return (
            f"the processor; smbd is held to {evidence.processor_quota:g} of one by its control group, and used that "
            f"up in {evidence.throttled_percent:.0f} % of the time, with {clients_text(evidence)}"
        )
    reached = f"the server reaches {_ratio_text(evidence)} of what the machine carries"
    return f"the processor; {reached}{_processors_text(evidence)}"


def _client_limit(evidence: LayerEvidence) -> str:
    clients = f", with {clients_text(evidence)}"
    if evidence.held_share is not None and evidence.held_share >= HELD_SHARE:
        percent = f"{100 * evidence.held_share:.0f} %"
        reason = f"{percent} of an operation's time is its own work and its wait for a processor here{clients}"
    elif evidence.ceiling_share is not None and evidence.ceiling_share > 1:
        reason = f"the server did more than this machine could ask for when its own limit was measured{clients}"
    elif evidence.ceiling_share is not None:
        reason = f"the server did {100 * evidence.ceiling_share:.0f} % of what this machine can ask for{clients}"
    else:
        reason = f"its processors are {evidence.client_cpu_percent or 0:.0f} % busy"
    return f"this client; {reason}"


_LIMITS: Mapping[Cause, Callable[[LayerEvidence], str]] = {
    Cause.SAMBA: _samba_limit,
    Cause.DISK: _disk_limit,
    Cause.NETWORK: _network_limit,
    Cause.PROCESSOR: _processor_limit,
    Cause.CLIENT: _client_limit,
}


def look_at(verdict: IsolationVerdict) -> list[str]:
    """The entries of the catalogue to look at, without those that the session did not use."""
    evidence = verdict.evidence
    is_in_use = {
        "server signing": evidence.signed,
        "server smb encrypt": evidence.encrypted,
        _OFFLOADS: not evidence.loopback,
        "log level": evidence.logs,
    }
    return [name for name in LOOK_AT[verdict.cause] if is_in_use.get(name, True)]


def reservations(verdict: IsolationVerdict) -> list[str]:
    """A line of what to keep in mind; none where there is nothing."""
    # Of an unknown cause the first doubt is the reason, which the verdict tells.
    doubts = verdict.doubts[1:] if verdict.cause is Cause.UNKNOWN else verdict.doubts
    if not doubts:
        return []

    texts = "; ".join(describe_doubt(doubt, verdict.evidence) for doubt in doubts)
    return [f"Keep in mind: {texts}."]


_DOUBTS: Mapping[IsolationDoubt, str] = {
    IsolationDoubt.WAKE_UP: "with one client, the time goes into waking the server's processors",
    IsolationDoubt.VARYING: "the rounds vary too much",
    IsolationDoubt.LOOPBACK: "no network card was involved",
    IsolationDoubt.PAGE_CACHE: "the disk hardly worked, since the page cache answered",
    IsolationDoubt.ONE_ROUND: "one round gives no interval",
}
"""The doubts whose words in documents are not plain enough for people."""


def describe_doubt(doubt: IsolationDoubt, evidence: LayerEvidence) -> str:
    match doubt:
        case IsolationDoubt.OTHERS:
            return f"other programs used {evidence.others_percent or 0:.0f} % of the processors"
        case IsolationDoubt.NO_LEAST if evidence.disk or evidence.network:
            return f"in no round were server, disk and network all measured with {clients_text(evidence)}"
        case IsolationDoubt.SLOWER_ALONE:
            slower = _parts_far_slower(
                disk=(evidence.disk_alone, evidence.disk), network=(evidence.network_alone, evidence.network)
            )
            return _disturbed_text("disk and network together were", slower, evidence)
        case IsolationDoubt.DISTURBED:
            slower = _parts_far_slower(
                disk=(evidence.disk, evidence.server), network=(evidence.network, evidence.server)
            )
            return _disturbed_text("the server was", slower, evidence)
        case _:
            return _DOUBTS.get(doubt, doubt.value)


RatePair = tuple[float | None, float | None]
"""A part's rate, and the rate beside which it may be far too low."""


def _parts_far_slower(*, disk: RatePair, network: RatePair) -> list[str]:
    pairs = (("the disk", disk), ("the network", network))
    return [name for name, (rate, other) in pairs if is_far_slower(rate, other)]


def _disturbed_text(faster: str, slower_parts: list[str], evidence: LayerEvidence) -> str:
    parts = wording.listed(slower_parts) or "a part"
    runs = "those runs were" if len(slower_parts) > 1 else "that run was"
    return f"with {clients_text(evidence)} {faster} much faster than {parts} alone, so {runs} disturbed"


def price_sentence(summary: IsolationSummary) -> str | None:
    """What the operations that were left out cost; None where that was not measured."""
    priced = [point for point in summary.points if point.price]
    if not priced:
        return None

    largest = priced[-1]
    assert largest.price is not None
    names = " and ".join(summary.isolation.without)
    return f"without {names} the server does {gain_text(largest.price)} passes a second, with {clients_text(largest)}"


def gain_text(ratio: MeasuredRatio) -> str:
    """A ratio as a change in percent, with its interval: ``+23 % (+18 to +29)``."""
    text = f"{100 * (ratio.value - 1):+.0f} %"
    if ratio.low is not None and ratio.high is not None:
        text += f" ({100 * (ratio.low - 1):+.0f} to {100 * (ratio.high - 1):+.0f})"
    return wording.with_minus(text)


def clients_text(counted: LayerEvidence | IsolationPoint | LayerRun) -> str:
    return wording.count(counted.clients, "client")


def _ratio_text(evidence: LayerEvidence) -> str:
    if evidence.ratio is None:
        return "an unknown part"

    percent = f"{100 * evidence.ratio:.0f} %"
    if evidence.ratio_low is None or evidence.ratio_high is None:
        return percent
    if evidence.ratio_high > _VERY_WIDE * max(1, evidence.ratio):
        return f"roughly {percent}"
    return f"{percent} ({100 * evidence.ratio_low:.0f} % to {100 * evidence.ratio_high:.0f} %)"


def _processors_text(evidence: LayerEvidence) -> str:
    """How busy the server's processors were, and with what; empty where nobody knows."""
    if evidence.cpu_percent is None:
        return ""

    percents = {}
    if evidence.server_percent is not None:
        percents["smbd"] = round(evidence.server_percent)
    if evidence.clients_percent is not None:
        percents["clients"] = round(evidence.clients_percent)

    remainder = round(evidence.cpu_percent) - sum(percents.values())
    if percents and remainder > 0:
        percents["the rest"] = remainder

    parts = ", ".join(f"{name} {percent}" for name, percent in percents.items())
    split = f" ({parts})" if parts else ""
    return f"; processors {evidence.cpu_percent:.0f} % busy{split}"
