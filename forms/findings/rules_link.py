"""Findings about the link: duplex, speed, packet size, errors, losses, and which of several interfaces is used."""

import re
from collections.abc import Iterator

from forms import link_share, wording
from forms.findings import path
from forms.findings.finding import Finding, finding_from_texts
from forms.findings.path import number_of_fact
from forms.stats import summary
from storage.records import Facts, Series

SLOW_LINK_FACTOR = 10
"""A card ten times faster is on a bad cable, port or setting; less may be the switch's speed."""

LOSSY_RETRANSMIT_PERCENT = 0.1

OUT_OF_ORDER_PERCENT = 1.0
"""Share of segments after a gap: each loss puts a whole round trip of segments there."""

LEAST_SEGMENTS = 20
"""Fewer lost segments are chance."""

LOWER_ETHERNETS = (10e6, 100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9)
"""Bits per second to which a link falls back, by a bad cable or a port of that rate on the way."""

FULL_ETHERNET_PERCENT = (88.0, 98.0)
"""What a full one shows of its rate: 94 % at most with frames of 1,500 bytes, 97.7 % with 9,000, and a little less with
SMB's own headers and pauses between requests."""

STEADY_PERCENT = 3.0
"""Standard deviation of the runs: a wire at its limit gives the same rate again and again, a disk does not."""

_OUTBOUND = re.compile(r"^interface\.(?P<name>.+)\.tx_bytes_during$")

_LOOPBACK = "lo"
_ALL_OUTBOUND = 0.9
"""Share of what all interfaces sent from which one of them is said to send everything."""

_SOME_INBOUND = 0.2
"""Share of what came in by the others from which they are in use."""

_HEADERS = {4: 20 + 20 + 12, 6: 40 + 20 + 12}
"""IP and TCP with time stamps, which a segment's size leaves out."""

_ERROR_KINDS = {
    "link.rx_crc_errors_during": "bad checksums",
    "link.rx_missed_errors_during": "missed",
    "link.tx_carrier_errors_during": "carrier lost",
    "link.collisions_during": "collisions",
}


def half_duplex(series: Series) -> Iterator[Finding]:
    """Half duplex, set or negotiated, at either end (Using Samba)."""
    for side, facts in _ends(series):
        if facts.get("link.duplex") == "half":
            yield finding_from_texts("half-duplex", side=side, interface=_interface(facts), rate=_rate_text(facts))


def slow_link(series: Series) -> Iterator[Finding]:
    """A link far below what its card can do: 100 Mbit/s on a gigabit card."""
    for side, facts in _ends(series):
        rate = _card_rate(facts)
        fastest = number_of_fact(facts, "link.fastest_rate_bits_per_second")
        if rate is None or fastest is None or rate >= fastest:
            continue

        is_grave = rate * SLOW_LINK_FACTOR <= fastest
        yield finding_from_texts(
            "slow-link.grave" if is_grave else "slow-link",
            side=side,
            interface=_interface(facts),
            rate=wording.link_rate(rate),
            fastest=wording.link_rate(fastest),
        )


def as_a_lower_ethernet(series: Series) -> Iterator[Finding]:
    """A steady rate that just fills a lower Ethernet than the link is said to be."""
    link = series.link_bits_per_second
    rates = series.rates()
    lower = filled_ethernet(series)
    if link is None or lower is None:
        return

    bits_per_second = 8 * (summary.mean(rates) or 0.0)
    yield finding_from_texts(
        "lower-ethernet",
        series,
        lower=wording.link_rate(lower),
        share=wording.percent(100 * bits_per_second / lower),
        link=wording.link_rate(link),
        link_share=wording.percent(100 * bits_per_second / link),
    )


def filled_ethernet(series: Series) -> float | None:
    """The lower Ethernet that the runs just fill, all of them alike; None without one."""
    link = series.link_bits_per_second
    ethernet = ethernet_of_steady_runs(series)
    return ethernet if link and ethernet is not None and ethernet < link else None


def ethernet_of_steady_runs(series: Series) -> float | None:
    """The Ethernet that the runs just fill, all of them alike, whatever the link is said to be; None without one."""
    rates = series.rates()
    average = summary.mean(rates)
    if average is None or not is_one_stream(series) or path.is_wireless(series):
        return None
    deviation = summary.deviation_percent(rates)
    if deviation is not None and deviation > STEADY_PERCENT:
        return None

    least_percent, most_percent = FULL_ETHERNET_PERCENT
    for ethernet in LOWER_ETHERNETS:
        if least_percent <= 100 * 8 * average / ethernet <= most_percent:
            return ethernet
    return None


def is_one_stream(series: Series) -> bool:
    """Whether bytes of one file crossed a link: a tree of small files, and random requests, wait for other things."""
    is_tree = series.plan is not None and series.plan.counts.files is not None
    is_stream = not is_tree and not series.is_random
    return is_stream and not series.target.abilities.is_local and not path.is_loopback(series)


def smaller_mtu(series: Series) -> Iterator[Finding]:
    """Packets smaller than the card sends: a hop, a tunnel or the server takes no larger ones."""
    facts = path.path_facts(series)
    mtu = number_of_fact(facts, "link.mtu_bytes")
    path_mtu = number_of_fact(facts, "mtu.path_bytes")
    segment = number_of_fact(facts, "mtu.segment_bytes")
    if mtu is None or path.is_loopback(series):
        return

    if path_mtu is not None and path_mtu < mtu:
        evidence = f"the path takes packets of {path_mtu:.0f} bytes"
        who = "a hop or a tunnel on the way"
    elif segment is not None:
        packet = segment + _HEADERS[int(number_of_fact(facts, "link.ip_version") or 4)]
        if packet >= mtu:
            return
        evidence = f"TCP sends segments of {segment:.0f} bytes, packets of {packet:.0f}"
        who = "the server's card"
    else:
        return
    yield finding_from_texts("smaller-mtu", series, seen=evidence, interface=_interface(facts), mtu=mtu, who=who)


def growing_errors(series: Series) -> Iterator[Finding]:
    for side, facts in _ends(series):
        errors = number_of_fact(facts, "link.errors_during") or 0
        drops = number_of_fact(facts, "link.drops_during") or 0
        if errors <= 0 and drops <= 0:
            continue

        counts = [(words, number_of_fact(facts, name) or 0) for name, words in _ERROR_KINDS.items()]
        kinds = [f"{words} {count:.0f}" for words, count in counts if count > 0]
        variants = []
        if path.is_wireless(series):
            variants.append("wireless")
        if errors <= 0:
            variants.append("drops")
        yield finding_from_texts(
            f"growing-errors.{'-'.join(variants)}",
            side=side,
            interface=_interface(facts),
            errors=errors,
            drops=drops,
            detail=f" ({', '.join(kinds)})" if kinds else "",
        )


def retransmits(series: Series) -> Iterator[Finding]:
    """Segments retransmitted or after a gap; a server's counters cover all its connections."""
    facts = path.path_facts(series)
    server = path.server_facts(series)
    if facts.get("link.kind") == "loopback":
        return

    is_whole_machine = "tcp.own_segments_sent_during" not in facts
    counters = "tcp." if is_whole_machine else "tcp.own_"
    retransmitted = number_of_fact(facts, f"{counters}retransmitted_during")
    sent = number_of_fact(facts, f"{counters}segments_sent_during")
    if _are_lost(retransmitted, sent, LOSSY_RETRANSMIT_PERCENT):
        who = "the client, in all its connections," if is_whole_machine else "this client"
        evidence = f"{who} retransmitted {retransmitted:.0f} of {sent:.0f} TCP segments"
        yield _loss_finding(series, evidence, retransmitted, sent)

    # What the server sent again arrives here after a gap: its own counters tell it best, where they were read.
    retransmitted = number_of_fact(server, "tcp.retransmitted_during")
    sent = number_of_fact(server, "tcp.segments_sent_during")
    late = number_of_fact(facts, f"{counters}out_of_order_during")
    received = number_of_fact(facts, f"{counters}segments_received_during")
    if _are_lost(retransmitted, sent, LOSSY_RETRANSMIT_PERCENT):
        evidence = f"the server, in all its connections, retransmitted {retransmitted:.0f} of {sent:.0f} TCP segments"
        yield _loss_finding(series, evidence, retransmitted, sent)
    elif _are_lost(late, received, OUT_OF_ORDER_PERCENT):
        where = "to the client, in all its connections," if is_whole_machine else "here"
        evidence = (
            f"{late:.0f} of {received:.0f} TCP segments came {where} after a gap, as they do behind one that was lost"
        )
        yield _loss_finding(series, evidence, late, received)


def _are_lost(count: float | None, total: float | None, percent: float) -> bool:
    if not count or not total:
        return False
    return count >= LEAST_SEGMENTS and 100 * count / total >= percent


def _loss_finding(series: Series, evidence: str, count: float | None, total: float | None) -> Finding:
    share = 100 * (count or 0) / total if total else 0.0
    is_distant = path.is_wireless(series) or path.is_far(series)
    return finding_from_texts("retransmits.far" if is_distant else "retransmits", series, seen=evidence, share=share)


def above_the_link(series: Series) -> Iterator[Finding]:
    """An average above the link's capacity: wrong link speed, or a nearer source."""
    average = summary.mean([run.bits_per_second for run in series.measured() if run.bits_per_second])
    link = series.link_bits_per_second
    if path.is_loopback(series) or not link or average is None:
        return

    payload_share = path.known_payload_share(series)
    capacity = link * (payload_share or 1.0)
    if average <= capacity * (1 + link_share.ABOVE_LINK_PERCENT / 100):
        return

    carries = wording.link_rate(capacity)
    if payload_share:
        carries += f" ({path.full_link_text(payload_share)})"
    yield finding_from_texts(
        "above-link",
        series,
        average=wording.link_rate(average),
        link=wording.link_rate(link),
        carries=carries,
    )


def one_interface_out(series: Series) -> Iterator[Finding]:
    """A server with several interfaces sends everything by one (IBM 2004)."""
    facts = path.server_facts(series)
    evidence = _counted_one_way(facts) or _routed_one_way(facts)
    if evidence:
        yield finding_from_texts("one-interface-out", series, seen=evidence)


def _counted_one_way(facts: Facts) -> str | None:
    """What the interfaces' counters say of a server that sends by one and receives by several; else None."""
    matches = [match for name in facts if (match := _OUTBOUND.match(name))]
    sent = {match["name"]: number_of_fact(facts, match.string) or 0.0 for match in matches}
    received = {name: number_of_fact(facts, f"interface.{name}.rx_bytes_during") or 0.0 for name in sent}
    total_out = sum(sent.values())
    total_in = sum(received.values())
    if len(sent) < 2 or total_out <= 0 or total_in <= 0:
        return None

    busiest = max(sent, key=sent.__getitem__)
    share_out = sent[busiest] / total_out
    share_in_elsewhere = (total_in - received[busiest]) / total_in
    if share_out < _ALL_OUTBOUND or share_in_elsewhere < _SOME_INBOUND:
        return None
    return (
        f"{wording.plain(busiest)} of the server sent {100 * sent[busiest] / total_out:.0f} % of what {len(sent)}"
        f" interfaces sent, while the others received {100 * share_in_elsewhere:.0f} % of what came in"
    )


def _routed_one_way(facts: Facts) -> str | None:
    """What the server's routes say of answers that leave by another interface than requests come by; else None."""
    inward = facts.get("link.inward_interface")
    outward = facts.get("link.interface")
    if not inward or not outward or inward == outward:
        return None
    # The loopback may have an address that any interface takes requests for, as behind a load balancer.
    if inward == _LOOPBACK:
        return None

    cards = number_of_fact(facts, "link.cards_up") or 0
    among = f" of {cards:.0f} that are up" if cards > 1 else ""
    way_in = wording.plain(str(inward))
    way_out = wording.plain(str(outward))
    return f"requests reach the server by {way_in}, its answers leave by {way_out}{among}"


def _ends(series: Series) -> Iterator[tuple[str, Facts]]:
    yield "the client's", path.path_facts(series)
    yield "the server's", path.server_facts(series)


def _interface(facts: Facts) -> str:
    return wording.plain(str(facts.get("link.interface", "interface")))


def _card_rate(facts: Facts) -> float | None:
    """The rate of the card below a bridge or a bond, or else of the interface; in bits per second."""
    card_rate = number_of_fact(facts, "link.card_rate_bits_per_second")
    return card_rate or number_of_fact(facts, "link.rate_bits_per_second")


def _rate_text(facts: Facts) -> str:
    rate = _card_rate(facts)
    return "an unknown rate" if rate is None else wording.link_rate(rate)
