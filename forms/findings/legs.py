"""What is slow about one of several machines that measured the same target, and what is found on which of them.

A *leg* is the part of a path that belongs to one machine alone: its client and its line. What all machines share, such
as the server and its card, is no leg.
"""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum

from forms import report, wording
from forms.findings.finding import Finding

FULL_SHARE = 0.9
"""A link is full from this share of what it carries on: beginning and end of a run take some percent of its time."""

USUAL_PAYLOAD_SHARE = 0.94
"""Of a link whose packets are not known: full Ethernet frames of 1500 bytes."""


class Leg(StrEnum):
    """What limits the rate of a machine, on its own leg of the path."""

    LINK = "link"
    """Its link is full."""
    DISTANCE = "distance"
    LOSSES = "losses"
    """Packets get lost."""
    CLIENT = "client"
    """It moves no more by itself."""


LEG_TEXTS = {
    Leg.LINK: "its link is full",
    Leg.DISTANCE: "the distance is the limit",
    Leg.LOSSES: "packets get lost",
    Leg.CLIENT: "that machine can move no more",
}

_LEG_OF_FINDING = {
    "large-packets-lost": Leg.LOSSES,
    "retransmits": Leg.LOSSES,
    "latency": Leg.DISTANCE,
    "far": Leg.DISTANCE,
    "relayed": Leg.DISTANCE,
    "distance": Leg.DISTANCE,
    "credits": Leg.DISTANCE,
    "client-ceiling": Leg.CLIENT,
}
"""The leg of a finding by its key; a distance that loses packets is told by its losses."""


def fills_link(percent_of_link: float | None, payload_share: float | None) -> bool:
    """Whether its link is full; ``payload_share`` is what is left of it for content, None where that is not known."""
    return (percent_of_link or 0.0) >= 100 * FULL_SHARE * (payload_share or USUAL_PAYLOAD_SHARE)


def leg_of_findings(findings: Collection[Finding]) -> Leg | None:
    """What limits a machine by what was found on its leg; None where nothing does, or nothing is known to."""
    keys = {finding.key for finding in findings}
    return next((leg for key, leg in _LEG_OF_FINDING.items() if key in keys), None)


def findings_of_places(findings_by_host: Mapping[str, Collection[Finding]]) -> Iterator[report.Table]:
    """A table of what is wrong, each finding once, with the machines that show it; none where nothing is."""
    findings_by_key: dict[str, dict[str, Finding]] = {}
    for host, findings in findings_by_host.items():
        for finding in findings:
            if finding.is_wrong:
                findings_by_key.setdefault(finding.key, {})[host] = finding
    if not findings_by_key:
        return

    rows = []
    for finding_by_host in findings_by_key.values():
        text = f"{_titles_text(finding_by_host)}. {next(iter(finding_by_host.values())).what_to_do}"
        rows.append(report.row_of(wording.listed(list(finding_by_host)), text))
    columns = report.columns_of("From", "Finding")
    yield report.Table(columns=columns, rows=tuple(rows), caption="Findings", sentences=True)


def _titles_text(finding_by_host: Mapping[str, Finding]) -> str:
    """The title, or each with its machine where their figures differ."""
    hosts_by_title: dict[str, list[str]] = {}
    for host, finding in finding_by_host.items():
        hosts_by_title.setdefault(finding.title, []).append(host)
    if len(hosts_by_title) == 1:
        return next(iter(hosts_by_title))
    return "; ".join(f"{wording.listed(hosts)}: {title}" for title, hosts in hosts_by_title.items())
