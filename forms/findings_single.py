"""Findings that one series shows by itself: its link, its session, the time and the client it was measured with."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator

from forms import advice, numbers, wording
from forms.finding import Finding, Severity
from storage.records import Command, Facts, FactValue, Series

SLOW_LINK_FACTOR = 10
"""A card that could go ten times faster sits on a bad cable, port or setting; less may be the switch's rate."""
RETRANSMIT_PERCENT = 0.1
"""The share of segments sent again above which a local network loses packets worth looking for."""
LOW_UTILISATION_PERCENT = 30.0
"""Below it neither processor nor link is at work: time goes by in waiting."""
OLD_DIALECTS = frozenset({"1.0", "NT1", "2.0.2", "2.1"})
_OUTBOUND = re.compile(r"^interface\.(?P<name>.+)\.tx_bytes_during$")
_ALL_OUTBOUND = 0.9
_SOME_INBOUND = 0.2


def half_duplex(series: Series) -> Iterator[Finding]:
    """Half duplex set, or negotiated, on either end (Using Samba: a card not on a half-duplex hub)."""
    for side, facts in _ends(series):
        if facts.get("link.duplex") == "half":
            yield Finding(
                key="half-duplex",
                severity=Severity.PROBLEM,
                title="The link runs at half duplex",
                evidence=f"{side} {_interface(facts)} says duplex half at {_rate(facts)}.",
                what_to_do="Set both ends of the cable to the same negotiation (auto on both), then look at the cable"
                " and the switch port: ethtool INTERFACE shows what each end offers.",
                series_ids=(series.id,),
            )


def slow_link(series: Series) -> Iterator[Finding]:
    """A link far below what its card can do: 100 Mbit/s on a gigabit card."""
    for side, facts in _ends(series):
        rate = _number(facts, "link.card_rate_bits_per_second") or _number(facts, "link.rate_bits_per_second")
        fastest = _number(facts, "link.fastest_rate_bits_per_second")
        if rate is None or fastest is None or rate >= fastest:
            continue
        grave = rate * SLOW_LINK_FACTOR <= fastest
        yield Finding(
            key="slow-link",
            severity=Severity.PROBLEM if grave else Severity.NOTE,
            title=f"A {numbers.link_rate(rate)} link on a {numbers.link_rate(fastest)} card",
            evidence=f"{side} {_interface(facts)} runs at {numbers.link_rate(rate)} and could run at"
            f" {numbers.link_rate(fastest)}.",
            what_to_do="Look at the cable first (four pairs, category 5e or better, no crushed plug), then at the"
            " switch port and at a fixed rate set by hand."
            if grave
            else "If the switch can do more, look at the cable and at its port's setting.",
            series_ids=(series.id,),
        )


def growing_errors(series: Series) -> Iterator[Finding]:
    """Error counters of the interface that grew while the series was measured."""
    for side, facts in _ends(series):
        errors, drops = _number(facts, "link.errors_during") or 0, _number(facts, "link.drops_during") or 0
        if errors <= 0 and drops <= 0:
            continue
        kinds = [
            f"{words} {_number(facts, name):.0f}"
            for name, words in _ERROR_KINDS.items()
            if (_number(facts, name) or 0) > 0
        ]
        detail = f" ({', '.join(kinds)})" if kinds else ""
        yield Finding(
            key="growing-errors",
            severity=Severity.PROBLEM if errors > 0 else Severity.NOTE,
            title="Errors on the link" if errors > 0 else "Packets dropped on the link",
            evidence=f"During the series {side} {_interface(facts)} counted {errors:.0f} errors and {drops:.0f} drops"
            f"{detail}.",
            what_to_do="Change the cable, then the port, then the card, and measure again after each."
            if errors > 0
            else "Look at the ring buffers (ethtool -g) and at what else the machine receives.",
            series_ids=(series.id,),
        )


_ERROR_KINDS = {
    "link.rx_crc_errors_during": "bad checksums",
    "link.rx_missed_errors_during": "missed",
    "link.tx_carrier_errors_during": "carrier lost",
    "link.collisions_during": "collisions",
}


def retransmits(series: Series) -> Iterator[Finding]:
    """TCP segments that had to be sent again over a network; a loopback loses nothing."""
    if series.environment.get("path", {}).get("link.kind") == "loopback":
        return
    for side, facts in (("this machine", "path"), ("the server", "server")):
        known = series.environment.get(facts, {})
        sent, again = _number(known, "tcp.segments_sent_during"), _number(known, "tcp.retransmitted_during")
        if not sent or not again or 100 * again / sent < RETRANSMIT_PERCENT:
            continue
        yield Finding(
            key="retransmits",
            severity=Severity.WARNING,
            title="The network loses packets",
            evidence=f"{_called(series)}: {side} sent {again:.0f} of {sent:.0f} TCP segments again"
            f" ({100 * again / sent:.2f} %) during the series.",
            what_to_do="Look for a full switch port, a duplex mismatch or a bad cable on the way, and repeat at a"
            " quiet time.",
            series_ids=(series.id,),
        )


def one_interface_out(series: Series) -> Iterator[Finding]:
    """A server with several interfaces whose outbound traffic all leaves by one (IBM 2004), as counted or as routed."""
    facts = series.environment.get("server", {})
    evidence = _counted_one_way(facts) or _routed_one_way(facts)
    if evidence:
        yield Finding(
            key="one-interface-out",
            severity=Severity.WARNING,
            title="One interface carries all the outbound traffic",
            evidence=f"{_called(series)}: {evidence}.",
            what_to_do="Give each interface a subnet of its own and list them in interfaces, or use SMB multichannel"
            " or a bond.",
            series_ids=(series.id,),
        )


def _counted_one_way(facts: Facts) -> str | None:
    sent = {match["name"]: _number(facts, name) or 0.0 for name in facts if (match := _OUTBOUND.match(name))}
    received = {name: _number(facts, f"interface.{name}.rx_bytes_during") or 0.0 for name in sent}
    total_out, total_in = sum(sent.values()), sum(received.values())
    if len(sent) < 2 or total_out <= 0 or total_in <= 0:
        return None
    busiest = max(sent, key=lambda name: sent[name])
    elsewhere = (total_in - received[busiest]) / total_in
    if sent[busiest] / total_out < _ALL_OUTBOUND or elsewhere < _SOME_INBOUND:
        return None
    return (
        f"{wording.plain(busiest)} of the server sent {100 * sent[busiest] / total_out:.0f} % of what {len(sent)}"
        f" interfaces sent, while the others received {100 * elsewhere:.0f} % of what came in"
    )


def _routed_one_way(facts: Facts) -> str | None:
    inward, outward = facts.get("link.inward_interface"), facts.get("link.interface")
    if not inward or not outward or inward == outward:
        return None
    cards = _number(facts, "link.cards_up") or 0
    among = f" of {cards:.0f} that are up" if cards > 1 else ""
    return (
        f"requests reach the server by {wording.plain(str(inward))}, its answers leave by"
        f" {wording.plain(str(outward))}{among}"
    )


def client_ceiling(series: Series) -> Iterator[Finding]:
    """An average close to what this client can do at all; on a loopback that is to be expected."""
    share = advice.near_ceiling_percent(series)
    if share is None or share <= advice.CEILING_PERCENT:
        return
    yield Finding(
        key="client-ceiling",
        severity=Severity.NOTE if is_loopback(series) else Severity.WARNING,
        title="The client is the limit",
        evidence=f"{_called(series)}: {wording.percent(share)} of what this client can do on this machine"
        f" ({wording.rate(series.ceiling_bytes_per_second)}).",
        what_to_do="The server may be faster than it looks: measure"
        f" {wording.listed(advice.ways_past_the_ceiling(series))}.",
        series_ids=(series.id,),
    )


def signing_and_encryption(series: Series) -> Iterator[Finding]:
    """A session that is signed or encrypted, which costs both ends processor time for every byte."""
    client = series.client
    if client.encryption not in {None, "none"} and series.target.protocol == "smb":
        yield Finding(
            key="encryption",
            severity=Severity.NOTE,
            title="The session is encrypted",
            evidence=f"{_called(series)}: {wording.plain(str(client.encryption))} on SMB {client.dialect}.",
            what_to_do="If the network is trusted, measure with server smb encrypt = default to see what it costs;"
            " with old processors offer aes-128-gcm first.",
            series_ids=(series.id,),
        )
    elif client.signing not in {None, "none"}:
        yield Finding(
            key="signing",
            severity=Severity.NOTE,
            title="The session is signed",
            evidence=f"{_called(series)}: every message is signed with {wording.plain(str(client.signing))}.",
            what_to_do="If policy allows, measure with server signing = auto and a client that does not ask for it, to"
            " see what it costs; AES-GMAC (Samba 4.15 and later) costs the least.",
            series_ids=(series.id,),
        )


def old_dialect(series: Series) -> Iterator[Finding]:
    """A session that speaks less than SMB 3.1.1."""
    dialect = series.client.dialect
    if dialect is None or dialect == "3.1.1" or series.target.protocol != "smb":
        return
    old = dialect in OLD_DIALECTS
    small = " and moves at most 64 KiB a request" if dialect in {"2.0.2", "1.0", "NT1"} else ""
    yield Finding(
        key="old-dialect",
        severity=Severity.WARNING if old else Severity.NOTE,
        title=f"The session speaks SMB {wording.plain(dialect)}",
        evidence=f"{_called(series)}: SMB {wording.plain(dialect)} was negotiated, which has neither AES-GMAC nor"
        f" AES-GCM{small}.",
        what_to_do="Look at server max protocol on the server and at the client's own limit; SMB 3.1.1 has been there"
        " since Samba 4.3 and Windows 10.",
        series_ids=(series.id,),
    )


def busy_time(series: Series) -> Iterator[Finding]:
    """A series that was measured while others were at work."""
    if (series.quiet or {}).get("verdict") != "busy":
        return
    why = advice.busy_reasons(series)
    yield Finding(
        key="busy",
        severity=Severity.WARNING,
        title="It was measured at a busy time",
        evidence=f"{_called(series)}{f': {why}' if why else ''}.",
        what_to_do="Measure again at a quiet time, or let --quiet-time require --wait find one.",
        series_ids=(series.id,),
    )


def low_utilisation(series: Series) -> Iterator[Finding]:
    """Neither the processor nor the link has much to do: waiting, not working, sets the pace."""
    cpu = (series.quiet or {}).get("cpu_percent_during")
    share = _percent_of_link(series)
    if not isinstance(cpu, int | float) or share is None:
        return
    if cpu >= LOW_UTILISATION_PERCENT or share >= LOW_UTILISATION_PERCENT:
        return
    yield Finding(
        key="low-utilisation",
        severity=Severity.NOTE,
        title="Nothing is busy, and yet it is not fast",
        evidence=f"{_called(series)}: {share:.0f} % of the link and {cpu:.0f} % of this host's processors at work.",
        what_to_do="Measure with more in flight (--in-flight) and larger blocks (--block); then look at the server's"
        " disk and at its processors' power saving.",
        series_ids=(series.id,),
    )


RULES: tuple[Callable[[Series], Iterator[Finding]], ...] = (
    half_duplex,
    slow_link,
    growing_errors,
    client_ceiling,
    busy_time,
    retransmits,
    one_interface_out,
    old_dialect,
    signing_and_encryption,
    low_utilisation,
)


def is_loopback(series: Series) -> bool:
    """Whether the traffic stayed on one machine."""
    kind = series.environment.get("path", {}).get("link.kind")
    if kind is not None:
        return kind == "loopback"
    host = series.target.host
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _ends(series: Series) -> Iterator[tuple[str, Facts]]:
    """The facts of the link at this end and, where the server could be asked, at the other one."""
    yield "this machine's", series.environment.get("path", {})
    yield "the server's", series.environment.get("server", {})


def _number(facts: Facts, name: str) -> float | None:
    value: FactValue | None = facts.get(name)
    return float(value) if isinstance(value, int | float) else None


def _interface(facts: Facts) -> str:
    return wording.plain(str(facts.get("link.interface", "interface")))


def _rate(facts: Facts) -> str:
    rate = _number(facts, "link.card_rate_bits_per_second") or _number(facts, "link.rate_bits_per_second")
    return "an unknown rate" if rate is None else numbers.link_rate(rate)


def _called(series: Series) -> str:
    return f"{series.command} {'from' if series.command is Command.GET else 'to'} {wording.place(series.target)}"


def _percent_of_link(series: Series) -> float | None:
    shares = [s for run in series.measured() if (s := run.percent_of_link(series.link_bits_per_second)) is not None]
    return sum(shares) / len(shares) if shares else None
