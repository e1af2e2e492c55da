"""What a series' facts say of the path to its server: how far, by which kind of link, to which kind of server.

*Facts* are names with values that were collected while it was measured, of the client, the server and the path. A path
is called *relayed* where TCP is answered much sooner than requests: by something between, such as a VPN or an SSH
tunnel, or by a server that is slow to answer.
"""

import ipaddress

from forms import link_share, wording
from storage.records import Facts, QuietVerdict, Series, Target

FAR_SECONDS = 0.005
"""The round trip from which a server is far."""

TCP_ROUND_TRIP = "tcp.least_round_trip_seconds"
REQUEST_ROUND_TRIP = "request.least_round_trip_seconds"

_BUSY_TIMES = 4
"""How many times later than usual a request on a busy machine may be answered without TCP being taken to be relayed."""

PRACTICE = "practice"
PRACTICE_BYTES_PER_SECOND = 20_000_000
"""What the practice servers are limited to: little enough for two of them on a busy machine."""
PRACTICE_LINK_BITS_PER_SECOND = 8 * PRACTICE_BYTES_PER_SECOND
"""Their limit as the speed of a link, since the loopback has none."""


def number_of_fact(facts: Facts, name: str) -> float | None:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) else None


def path_facts(series: Series) -> Facts:
    return series.environment.get("path", {})


def server_facts(series: Series) -> Facts:
    return series.environment.get("server", {})


def round_trip_seconds(series: Series) -> float | None:
    """The least round trip to the server, by requests where TCP is relayed; None where unknown."""
    if is_relayed(series):
        return least_request_seconds(series)
    return tcp_round_trip_seconds(series)


def tcp_round_trip_seconds(series: Series) -> float | None:
    return number_of_fact(path_facts(series), TCP_ROUND_TRIP)


def request_seconds(series: Series) -> float | None:
    return number_of_fact(path_facts(series), REQUEST_ROUND_TRIP)


def least_request_seconds(series: Series) -> float | None:
    """The least time in which the server answered: an empty request, or the opening of a file, which takes no less.

    A busy server answers late now and then; what is far answers late each time.
    """
    by_request = request_seconds(series)
    if by_request is None:
        return None
    openings = [run.open_seconds for run in series.runs if run.open_seconds]
    return min([by_request, *openings])


def known_payload_share(series: Series) -> float | None:
    """The share of the link's speed that is left for content, as its packets and shaper say; None where unknown."""
    facts = path_facts(series)
    payload = number_of_fact(facts, "link.payload_ceiling_bits_per_second")
    rate = number_of_fact(facts, "link.rate_bits_per_second")
    return payload / rate if payload and rate else None


def seen_link_rate(series: Series) -> float | None:
    """What the interface here, or its shaper, runs at, in bits per second; None where it has or tells no rate."""
    return None if is_loopback(series) else number_of_fact(path_facts(series), "link.rate_bits_per_second")


def seen_link_text(series: Series) -> str:
    """``eth0 of this machine runs at 1 Gb/s``; or that a shaper limits it. Where it has or tells no rate: empty."""
    seen_rate = seen_link_rate(series)
    if seen_rate is None:
        return ""
    facts = path_facts(series)
    name = wording.plain(str(facts.get("link.interface", "the interface")))
    is_shaped = number_of_fact(facts, "link.shaper_bits_per_second") == seen_rate
    what_it_does = "is limited by a shaper to" if is_shaped else "runs at"
    return f"{name} of this machine {what_it_does} {wording.link_rate(seen_rate)}"


def shaper_text(series: Series) -> str:
    """``traffic shaper (tbf) on the measuring machine alpha``, where that sets the speed of the link; else empty."""
    facts = path_facts(series)
    seen_rate = seen_link_rate(series)
    if seen_rate is None or number_of_fact(facts, "link.shaper_bits_per_second") != seen_rate:
        return ""

    shaper = wording.plain(str(facts.get("link.shaper")))
    host = wording.plain(str(series.environment.get("client", {}).get("host.name", "")))
    return f"traffic shaper ({shaper}) on the measuring machine {host}".rstrip()


def link_to_give_again(series: Series) -> int | None:
    """The link speed of the series, where the next one is to be given the same; None where it is looked up anew.

    That is so where the speed is what the interface here ran at, which may run at another one by now, and where more
    came through than such a link can carry.
    """
    link_rate = series.link_bits_per_second
    if is_practice(series):
        return link_rate
    is_as_seen = link_rate == seen_link_rate(series)
    if is_as_seen or not link_share.is_possible_link(series.rates(), link_rate):
        return None
    return link_rate


def full_link_text(payload_share: float) -> str:
    """What a full link shows, and why it is less than its speed: ``94 %; headers take the rest``."""
    return f"{100 * payload_share:.0f} %; headers take the rest"


def is_relayed(series: Series) -> bool:
    """Whether requests always take so much longer than TCP's round trip that the network is not why.

    TCP may end before the server, or the server is slow to answer: which of both, nothing here tells.
    """
    by_tcp = tcp_round_trip_seconds(series)
    by_request = least_request_seconds(series)
    if by_tcp is None or by_request is None:
        return False

    # Other programs on this machine slow requests to a server on it as well.
    is_busy_here = is_loopback(series) and series.quiet_verdict is QuietVerdict.BUSY
    least = FAR_SECONDS * (_BUSY_TIMES if is_busy_here else 1)
    return by_request - by_tcp >= least


def is_far(series: Series) -> bool:
    return (round_trip_seconds(series) or 0.0) >= FAR_SECONDS


def is_wireless(series: Series) -> bool:
    return path_facts(series).get("link.kind") == "wireless"


def is_loopback(series: Series) -> bool:
    kind = path_facts(series).get("link.kind")
    return is_loopback_address(series.target.host) if kind is None else kind == "loopback"


def is_loopback_address(host: str) -> bool:
    if host in {"", "localhost"}:
        return True
    without_zone, _, _ = host.partition("%")
    try:
        return ipaddress.ip_address(without_zone).is_loopback
    except ValueError:
        return False


def is_practice(series: Series) -> bool:
    return is_practice_target(series.target)


def is_practice_target(target: Target) -> bool:
    return target.user == PRACTICE and is_loopback_address(target.host)


def practice_text(target: Target) -> str:
    if not is_practice_target(target):
        return ""
    return f"practice server, limited to {wording.byte_rate(PRACTICE_BYTES_PER_SECOND)}"
