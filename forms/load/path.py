"""What a load says of the path of the machine that made it: how far the server is, and what is wrong on the way."""

from collections.abc import Callable, Iterator

from forms.findings import path, rules_distance, rules_link, rules_series
from forms.findings.finding import Finding, gravest_first
from forms.findings.rules_server import harmful_server_settings
from storage.load.records import Load, LoadPoint
from storage.records import ClientFacts, Series, percent_of_link

_RULES: tuple[Callable[[Series], Iterator[Finding]], ...] = (
    rules_link.half_duplex,
    rules_link.slow_link,
    rules_link.smaller_mtu,
    rules_link.growing_errors,
    rules_link.retransmits,
    rules_link.one_interface_out,
    rules_distance.relayed,
    harmful_server_settings,
    rules_series.nfs,
)
"""Those that need no runs."""


def round_trip_seconds(load: Load) -> float | None:
    """The least round trip to the server; None where unknown."""
    return path.round_trip_seconds(_path_of(load))


def payload_share(load: Load) -> float | None:
    """The share of its link's speed that is left for content; None where unknown."""
    return path.known_payload_share(_path_of(load))


def _path_of(load: Load) -> Series:
    """The path and the server of a load as those of a series without runs, for what judges them by their facts."""
    return Series(
        id=load.id,
        created_at=load.created_at,
        target=load.targets[0],
        client=ClientFacts(name="load"),
        link_bits_per_second=load.link_bits_per_second,
        environment=load.environment,
    )


def path_findings(load: Load) -> list[Finding]:
    """The gravest first; nothing of a practice server."""
    series = _path_of(load)
    if path.is_practice(series):
        return []

    findings: list[Finding] = []
    for rule in _RULES:
        findings += rule(series)
    return gravest_first(findings)


def point_percent_of_link(load: Load, point: LoadPoint) -> float | None:
    """The share of the link's speed that a point took in its fuller direction; None where that is not known."""
    rates = [point.read_bytes_per_second, point.write_bytes_per_second]
    fuller_rate = max((rate for rate in rates if rate is not None), default=None)
    return percent_of_link(fuller_rate, load.link_bits_per_second)
