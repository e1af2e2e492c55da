"""What the rates say of a link whose speed nobody gave: the base filled an Ethernet, and the other side is beyond it.

This is no proof, as another limit may give the same rate: it says how it looks, and that the link speed would tell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from forms import report, wording
from forms.comparison.summary import ComparisonSummary
from forms.findings.rules_link import ethernet_of_steady_runs
from storage import records

LIKELY_LINK = "Link?"
"""The name of the field that says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgrownEthernet:
    """The Ethernet that the base seems to have filled, and that carries less than each run of the other side."""

    bits_per_second: float
    base_bytes_per_second: float
    slowest_bytes_per_second: float
    """The slowest run of the other side."""
    fastest_bytes_per_second: float


def outgrown_ethernet(compared: ComparisonSummary) -> OutgrownEthernet | None:
    """None where a link speed of the base is known, or its runs fill no Ethernet, or the other side's do not exceed it.

    Other targets and directions are no later state of the same link.
    """
    comparison = compared.comparison
    is_other_way = any(difference.name in ("command", "target") for difference in comparison.differences)
    base_rate = comparison.counted_base_rate
    if is_other_way or base_rate is None or comparison.old_link is not None:
        return None

    bases = [summary.series for summary in compared.bases]
    ethernet = _filled_by_all(bases)
    other_rates = list(chain.from_iterable(summary.series.rates() for summary in compared.others))
    # Nothing goes through a link above its own speed, of which headers take a part besides.
    if ethernet is None or not other_rates or 8 * min(other_rates) <= ethernet:
        return None
    return OutgrownEthernet(
        bits_per_second=ethernet,
        base_bytes_per_second=base_rate,
        slowest_bytes_per_second=min(other_rates),
        fastest_bytes_per_second=max(other_rates),
    )


def _filled_by_all(all_series: Sequence[records.Series]) -> float | None:
    """The Ethernet that each of the series fills; None where they do not agree, or a link speed is known."""
    if any(series.link_bits_per_second for series in all_series):
        return None
    ethernets = {ethernet_of_steady_runs(series) for series in all_series}
    ethernet = ethernets.pop()
    return None if ethernets else ethernet


def likely_link_sentence(compared: ComparisonSummary) -> str:
    """How it looks, what would follow, and what to give; empty where nothing looks like it."""
    outgrown = outgrown_ethernet(compared)
    if outgrown is None:
        return ""

    comparison = compared.comparison
    link = wording.link_rate(outgrown.bits_per_second)
    slowest = wording.rate(outgrown.slowest_bytes_per_second, beside=outgrown.fastest_bytes_per_second)
    fastest = wording.rate(outgrown.fastest_bytes_per_second)
    base_rate = wording.rate(outgrown.base_bytes_per_second)
    name = comparison.other_name
    if comparison.known:
        what_follows = "a link that lets more through explains the change"
    else:
        what_follows = f"{name} is certainly faster: give {comparison.base_name} its link speed to have that said"
    return (
        f"It looks as if a link of {link} held {comparison.base_name} back: {base_rate} in each run is all that one"
        f" shows. Each run of {name} ({slowest} to {fastest}) is more than it carries. If it was {link},"
        f" {what_follows}."
    )


def would_be_certain(compared: ComparisonSummary) -> bool:
    """Whether an open answer would be certain, were the base given the link speed that its rates look like."""
    return compared.comparison.is_open and outgrown_ethernet(compared) is not None


def first_likely_link(several: Sequence[ComparisonSummary]) -> ComparisonSummary | None:
    """The first comparison whose rates look like that."""
    return next((compared for compared in several if outgrown_ethernet(compared) is not None), None)


def likely_link_fields(several: Sequence[ComparisonSummary]) -> Iterator[report.Field]:
    """Where no link speed is known: which one the rates look like, of the first comparison that shows it."""
    compared = first_likely_link(several)
    if compared is not None:
        yield report.Field(name=LIKELY_LINK, text=likely_link_sentence(compared))
