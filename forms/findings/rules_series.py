"""Findings about the link, the session and its time: duplex, speed, losses, signing, dialect, other activity."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from forms import wording
from forms.findings import finding, series_warnings
from forms.findings.finding import (
    Finding,
    Severity,
    gravest_first,
    is_loopback,
    is_practice,
    number,
    round_trip_seconds,
    say,
)
from forms.stats import summary
from forms.tuning.differences import effective
from forms.tuning.smb_conf import PARAMETER_PREFIX, hiding_pattern, tidy_value
from storage.looks import AuditFinding
from storage.plan import Settings
from storage.records import Command, Facts, QuietVerdict, Series, Target

SLOW_LINK_FACTOR = 10
"""A card ten times faster is on a bad cable, port or setting; less may be the switch's speed."""
LOSSY_RETRANSMIT_PERCENT = 0.1
OUT_OF_ORDER_PERCENT = 1.0
"""Share of segments after a gap: each loss puts a whole round trip of segments there."""
LEAST_SEGMENTS = 20
ABOVE_PERCENT = 1.0
_OUTBOUND = re.compile(r"^interface\.(?P<name>.+)\.tx_bytes_during$")
_ALL_OUTBOUND = 0.9
_SOME_INBOUND = 0.2


def half_duplex(series: Series) -> Iterator[Finding]:
    """Half duplex, set or negotiated, at either end (Using Samba)."""
    for side, facts in _ends(series):
        if facts.get("link.duplex") == "half":
            yield say("half-duplex", side=side, interface=_interface(facts), rate=_rate(facts))


def slow_link(series: Series) -> Iterator[Finding]:
    """A link far below what its card can do: 100 Mbit/s on a gigabit card."""
    for side, facts in _ends(series):
        rate = number(facts, "link.card_rate_bits_per_second") or number(facts, "link.rate_bits_per_second")
        fastest = number(facts, "link.fastest_rate_bits_per_second")
        if rate is None or fastest is None or rate >= fastest:
            continue
        rates = {"rate": wording.link_rate(rate), "fastest": wording.link_rate(fastest)}
        name = "slow-link.grave" if rate * SLOW_LINK_FACTOR <= fastest else "slow-link"
        yield say(name, side=side, interface=_interface(facts), **rates)


def smaller_mtu(series: Series) -> Iterator[Finding]:
    """Packets smaller than the card sends: a hop, a tunnel or the server takes no larger ones."""
    path = series.environment.get("path", {})
    mtu, way, segment = (number(path, f) for f in ("link.mtu_bytes", "mtu.path_bytes", "mtu.segment_bytes"))
    if mtu is None or finding.is_loopback(series):
        return
    seen = who = ""
    if way is not None and way < mtu:
        seen, who = f"the path takes packets of {way:.0f} bytes", "a hop or a tunnel on the way"
    elif segment is not None and (packet := segment + _HEADERS[int(number(path, "link.ip_version") or 4)]) < mtu:
        seen, who = f"TCP sends segments of {segment:.0f} bytes, packets of {packet:.0f}", "the server's card"
    if seen:
        yield say("smaller-mtu", series, seen=seen, interface=_interface(path), mtu=mtu, who=who)


_HEADERS = {4: 20 + 20 + 12, 6: 40 + 20 + 12}
"""IP and TCP with time stamps, which a segment's size leaves out."""


def growing_errors(series: Series) -> Iterator[Finding]:
    for side, facts in _ends(series):
        errors, drops = number(facts, "link.errors_during") or 0, number(facts, "link.drops_during") or 0
        if errors <= 0 and drops <= 0:
            continue
        counts = ((words, number(facts, name) or 0) for name, words in _ERROR_KINDS.items())
        kinds = [f"{words} {count:.0f}" for words, count in counts if count > 0]
        detail = f" ({', '.join(kinds)})" if kinds else ""
        causes = (("wireless", finding.is_wireless(series)), ("drops", errors <= 0))
        variant = "-".join(word for word, holds in causes if holds)
        counted = {"errors": errors, "drops": drops, "detail": detail}
        yield say(f"growing-errors.{variant}", side=side, interface=_interface(facts), **counted)


_ERROR_KINDS = {
    "link.rx_crc_errors_during": "bad checksums",
    "link.rx_missed_errors_during": "missed",
    "link.tx_carrier_errors_during": "carrier lost",
    "link.collisions_during": "collisions",
}


def retransmits(series: Series) -> Iterator[Finding]:
    """Segments retransmitted or after a gap; a server's counters cover all its connections."""
    path, server = series.environment.get("path", {}), series.environment.get("server", {})
    if path.get("link.kind") == "loopback":
        return
    whole_machine = "tcp.own_segments_sent_during" not in path
    own = "tcp." if whole_machine else "tcp.own_"
    again, sent = number(path, f"{own}retransmitted_during"), number(path, f"{own}segments_sent_during")
    if _lost(again, sent, LOSSY_RETRANSMIT_PERCENT):
        who = "this machine, in all its connections," if whole_machine else "this client"
        yield _loss(series, f"{who} retransmitted {again:.0f} of {sent:.0f} TCP segments", again, sent)
    again, sent = number(server, "tcp.retransmitted_during"), number(server, "tcp.segments_sent_during")
    late, received = number(path, f"{own}out_of_order_during"), number(path, f"{own}segments_received_during")
    if _lost(again, sent, LOSSY_RETRANSMIT_PERCENT):
        seen = f"the server, in all its connections, retransmitted {again:.0f} of {sent:.0f} TCP segments"
        yield _loss(series, seen, again, sent)
    elif _lost(late, received, OUT_OF_ORDER_PERCENT):
        where = "to this machine, in all its connections," if whole_machine else "here"
        seen = f"{late:.0f} of {received:.0f} TCP segments came {where} after a gap"
        yield _loss(series, f"{seen}, as they do behind one that was lost", late, received)


def _lost(count: float | None, of: float | None, percent: float) -> bool:
    return bool(count and of and count >= LEAST_SEGMENTS and 100 * count / of >= percent)


def _loss(series: Series, seen: str, count: float | None, of: float | None) -> Finding:
    share = 100 * (count or 0) / of if of else 0.0
    distant = finding.is_wireless(series) or finding.is_far(series)
    return say("retransmits.far" if distant else "retransmits", series, seen=seen, share=share)


def above_the_link(series: Series) -> Iterator[Finding]:
    """An average above the link's capacity: wrong link speed, or a nearer source."""
    average = summary.mean([r.bits_per_second for r in series.measured() if r.bits_per_second])
    path = series.environment.get("path", {})
    if finding.is_loopback(series) or not series.link_bits_per_second or average is None:
        return
    link = series.link_bits_per_second
    ceiling, rate = number(path, "link.payload_ceiling_bits_per_second"), number(path, "link.rate_bits_per_second")
    carries = link * ceiling / rate if ceiling and rate else link
    if average <= carries * (1 + ABOVE_PERCENT / 100):
        return
    rates = {"average": average, "link": link, "carries": carries}
    yield say("above-link", series, **{name: wording.link_rate(rate) for name, rate in rates.items()})


def one_interface_out(series: Series) -> Iterator[Finding]:
    """A server with several interfaces sends everything by one (IBM 2004)."""
    facts = series.environment.get("server", {})
    if seen := _counted_one_way(facts) or _routed_one_way(facts):
        yield say("one-interface-out", series, seen=seen)


def _counted_one_way(facts: Facts) -> str | None:
    sent = {match["name"]: number(facts, name) or 0.0 for name in facts if (match := _OUTBOUND.match(name))}
    received = {name: number(facts, f"interface.{name}.rx_bytes_during") or 0.0 for name in sent}
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
    cards = number(facts, "link.cards_up") or 0
    among = f" of {cards:.0f} that are up" if cards > 1 else ""
    way_in, way_out = wording.plain(str(inward)), wording.plain(str(outward))
    return f"requests reach the server by {way_in}, its answers leave by {way_out}{among}"


def _ends(series: Series) -> Iterator[tuple[str, Facts]]:
    yield "this machine's", series.environment.get("path", {})
    yield "the server's", series.environment.get("server", {})


def _interface(facts: Facts) -> str:
    return wording.plain(str(facts.get("link.interface", "interface")))


def _rate(facts: Facts) -> str:
    rate = number(facts, "link.card_rate_bits_per_second") or number(facts, "link.rate_bits_per_second")
    return "an unknown rate" if rate is None else wording.link_rate(rate)


FULL_PERCENT_OF_LINK = 60.0
LIMITED_SHARE = 0.45
BUFFER_SHARE = 0.5
"""The share of a socket buffer that carries data: the kernel keeps about half."""
_MORE_THAN_HALF = 0.55
SLOW_START_TIMES = 20
_FIRST_WINDOW_BYTES = 10 * 1460
"""The initial window of TCP (RFC 6928)."""
_BUFFER_FACTS = {Command.GET: ("tcp.rmem", "tcp.wmem"), Command.PUT: ("tcp.wmem", "tcp.rmem")}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    size_bytes: float
    name: str
    window: bool = False

    @property
    def usable_bytes(self) -> float:
        return self.size_bytes * (1 if self.window else BUFFER_SHARE)

    def bound(self, on_the_way: float, round_trip: float) -> str:
        halved = not self.window and on_the_way <= _MORE_THAN_HALF * self.size_bytes
        most = self.usable_bytes if halved else self.size_bytes
        return (
            f"{self.name}: {_amount(self.size_bytes)}{', half of it for data,' if halved else ''} /"
            f" {wording.milliseconds(round_trip)} = {wording.rate(most / round_trip)} at most."
        )


def slow_start_rules(series: Series) -> bool:
    """Whether runs are so short that a new connection spends much of them in slow start."""
    round_trip, rate = finding.round_trip_seconds(series), summary.mean(series.rates())
    times = [run.seconds for run in series.measured() if run.seconds]
    if round_trip is None or rate is None or not times or not finding.is_far(series):
        return False
    rounds = math.log2(max(2.0, rate * round_trip / _FIRST_WINDOW_BYTES))
    return (summary.median(times) or 0.0) < SLOW_START_TIMES * rounds * round_trip


def limited_by_distance(series: Series) -> Iterator[Finding]:
    """A far server with an unfilled link: the limiting buffer or window, else slow start and losses."""
    round_trip, rate = finding.round_trip_seconds(series), summary.mean(series.rates())
    if round_trip is None or rate is None or not finding.is_far(series):
        return
    link = series.link_bits_per_second
    if link and 100 * 8 * rate / link >= FULL_PERCENT_OF_LINK:
        return
    on_the_way = rate * round_trip
    limits = sorted(_limits(series), key=lambda limit: limit.usable_bytes)
    least = limits[0] if limits else None
    trip = wording.milliseconds(round_trip)
    seen = f"{finding.called(series)}: {wording.rate(rate)} x {trip} = {_amount(on_the_way)} on the way"
    need = f"; {wording.link_rate(link)} would need {_amount(link / 8 * round_trip)}" if link else ""
    loses = any(retransmits(series))
    starts = slow_start_rules(series) and not (least and least.window)
    if least is not None and on_the_way >= LIMITED_SHARE * least.size_bytes and not loses and not starts:
        wanted = 2 * link / 8 * round_trip if link else 2 * least.size_bytes
        depth = (series.client.in_flight or 1) * (math.ceil(wanted / 2 / least.size_bytes) + 1)
        name = "latency.window" if least.window else "latency"
        bound = least.bound(on_the_way, round_trip)
        yield say(name, series, seen=f"{seen}{need}.", bound=bound, wanted=wanted, depth=depth)
        return
    name = "far.losses" if loses else "far.starts" if starts else "far"
    known = "".join(f" {limit.name}: {_amount(limit.size_bytes)}." for limit in limits)
    yield say(name, series, seen=f"{seen}{need}.", limits=known)


def relayed(series: Series) -> Iterator[Finding]:
    """TCP is answered sooner than requests: something in between has its own connections."""
    if finding.is_relayed(series):
        tcp = float(series.environment["path"][finding.TCP_ROUND_TRIP])
        times = {"tcp": tcp, "request": finding.request_seconds(series) or 0.0}
        yield say("relayed", series, **{name: wording.milliseconds(seconds) for name, seconds in times.items()})


def _limits(series: Series) -> Iterator[_Limit]:
    ours, theirs = _BUFFER_FACTS[series.command]
    ends = (("client", ours, "This machine's"), ("server", theirs, "The server's"))
    for facts, fact, whose in () if finding.is_relayed(series) else ends:
        words = str(series.environment.get(facts, {}).get(fact, "")).split()
        largest = float(words[-1]) if len(words) == 3 and words[-1].isdecimal() else None
        if largest:
            yield _Limit(size_bytes=largest, name=f"{whose} largest buffer ({fact.replace('.', '_')})")
    client = series.client
    if series.target.abilities.has_depth and client.block_bytes and client.in_flight:
        window = client.block_bytes * client.in_flight
        yield _Limit(size_bytes=window, name=f"The client's window ({client.in_flight} in flight)", window=True)


def _amount(size_bytes: float) -> str:
    return wording.byte_rate(size_bytes).removesuffix("/s")


SLOW_LOGIN_SECONDS = 3.0
SLOW_OPENING_SECONDS = 0.05
OPENING_ROUND_TRIPS = 4
LOW_UTILISATION_PERCENT = 30.0
FASTEST_CIPHER = "aes-128-gcm"
BUSY = "busy"
CONTRADICTIONS = "form.contradictions"
OLD_DIALECTS = frozenset({"1.0", "NT1", "2.0.2", "2.1"})


def _client_ceiling(series: Series) -> Iterator[Finding]:
    share = series_warnings.near_ceiling_percent(series)
    if share is not None and series_warnings.at_ceiling(series):
        name = "client-ceiling.loopback" if is_loopback(series) else "client-ceiling"
        ceiling = wording.rate(series.ceiling_bytes_per_second)
        ways = wording.listed(series_warnings.ways_past_the_ceiling(series))
        yield say(name, series, share=wording.percent(share), ceiling=ceiling, ways=ways)


def signing_and_encryption(series: Series) -> Iterator[Finding]:
    """A signed or encrypted session costs both ends processor time for every byte."""
    client, settings = series.client, series.plan.settings if series.plan else Settings()
    if client.is_encrypted and series.target.abilities.has_dialect:
        name = "encryption.fastest" if client.encryption == FASTEST_CIPHER else "encryption"
        name = "encryption.asked" if settings.encrypt and not _required(series, "server smb encrypt") else name
        cipher = wording.plain(str(client.encryption))
        yield say(name, series, cipher=cipher, dialect=client.dialect, fastest=FASTEST_CIPHER)
    elif client.is_signed:
        name = "signing.asked" if settings.sign and not _required(series, "server signing") else "signing"
        yield say(name, series, signing=wording.plain(str(client.signing)))


def _required(series: Series, parameter: str) -> bool:
    value = effective(series.environment.get("server", {}), parameter) or ""
    return tidy_value(parameter, value) in {"required", "mandatory"}


def old_dialect(series: Series) -> Iterator[Finding]:
    dialect = series.client.dialect
    if dialect is None or dialect == "3.1.1" or not series.target.abilities.has_dialect or is_practice(series):
        return
    old = dialect in OLD_DIALECTS
    before = series.environment.get("path", {}).get("smb.dialect_before")
    small = " and moves at most 64 KiB a request" if dialect in {"2.0.2", "1.0", "NT1"} else ""
    variant = "before" if before else "old" if old else ""
    spoken = {"dialect": wording.plain(dialect), "before": wording.plain(str(before))}
    yield say(f"old-dialect.{variant}", series, small=small, **spoken)


def _busy_time(series: Series) -> Iterator[Finding]:
    if series.quiet_verdict is QuietVerdict.BUSY:
        why = wording.plain(series.quiet.reasons[0]) if series.quiet and series.quiet.reasons else ""
        yield say(BUSY, series, why=f": {why}" if why else "")


def slow_login(series: Series) -> Iterator[Finding]:
    """A login of seconds: failing name look-ups, an unreachable domain controller."""
    seconds = series.environment.get("path", {}).get("session.login_seconds")
    if isinstance(seconds, int | float) and seconds >= SLOW_LOGIN_SECONDS:
        yield say("slow-login", series, login=wording.seconds(seconds))


def opening_seconds(series: Series) -> float | None:
    return summary.median([run.open_seconds for run in series.measured() if run.open_seconds is not None])


def closing_seconds(series: Series) -> float | None:
    return summary.median([run.close_seconds for run in series.measured() if run.close_seconds is not None])


def slow_opening(series: Series) -> Iterator[Finding]:
    opened, closed = opening_seconds(series) or 0.0, closing_seconds(series) or 0.0
    beyond = opened + closed - OPENING_ROUND_TRIPS * (round_trip_seconds(series) or 0.0)
    if beyond >= SLOW_OPENING_SECONDS:
        yield say("slow-opening", series, opened=wording.milliseconds(opened), closed=wording.milliseconds(closed))


def nfs(series: Series) -> Iterator[Finding]:
    kind = series.environment.get("server", {}).get("filesystem.type")
    if str(kind).startswith("nfs"):
        yield say("nfs-reference" if series.target.abilities.is_local else "share-on-nfs", series, kind=kind)


def low_utilisation(series: Series) -> Iterator[Finding]:
    cpu = series.quiet.figures.get("cpu_percent_during") if series.quiet else None
    shares = [s for run in series.measured() if (s := run.percent_of_link(series.link_bits_per_second)) is not None]
    share = sum(shares) / len(shares) if shares else None
    if cpu is not None and share is not None and max(cpu, share) < LOW_UTILISATION_PERCENT:
        yield say("low-utilisation", series, share=share, cpu=cpu)


def contradicting_cells(series: Series) -> Iterator[Finding]:
    if seen := series.environment.get("client", {}).get(CONTRADICTIONS):
        yield say("contradicting-cells", series, seen=wording.plain(str(seen)))


def why_hidden(server: Facts, target: Target) -> str | None:
    hidden = effective(server, "veto files")
    pattern = hiding_pattern(hidden, target.path) if hidden else None
    if pattern is None:
        return None
    return f"veto files on the server hides names like {wording.plain(pattern)}: measure another file, or change it"


def _harmful_server_settings(series: Series) -> Iterator[Finding]:
    for harmful in harmful_in(series.environment):
        yield Finding(
            key=f"harmful-{harmful.key}",
            severity=Severity.PROBLEM,
            title=f"Harmful on the server: {wording.plain(f'{harmful.setting} = {harmful.value}')}",
            evidence=wording.plain(harmful.why + (f" {harmful.price}" if harmful.price else "")),
            what_to_do=f"{harmful.what_to_do} sharebench audit names the line, and tests it with --try.",
        )


def harmful_in(environment: Mapping[str, Facts]) -> tuple[AuditFinding, ...]:
    facts = environment.get("server", {})
    if not any(name.startswith(PARAMETER_PREFIX) for name in facts):
        return ()
    from forms.audit.judge import harmful_settings  # noqa: PLC0415  the judgements are read where there is one to judge

    return harmful_settings(facts)


_LINK_RULES = (above_the_link, half_duplex, slow_link, smaller_mtu, growing_errors, retransmits, one_interface_out)
_WAY_RULES = (limited_by_distance, relayed, _harmful_server_settings, _client_ceiling, _busy_time)
_SESSION_RULES = (old_dialect, signing_and_encryption, slow_login, slow_opening)
_OTHER_RULES = (nfs, low_utilisation, contradicting_cells)
RULES: tuple[Callable[[Series], Iterator[Finding]], ...] = (*_LINK_RULES, *_WAY_RULES, *_SESSION_RULES, *_OTHER_RULES)


def series_findings(series: Series) -> list[Finding]:
    """What one series says of its set-up, the gravest first; nothing of a practice server."""
    if is_practice(series):
        return []
    findings = [replace(finding, series_ids=(series.id,)) for rule in RULES for finding in rule(series)]
    return gravest_first(findings)
