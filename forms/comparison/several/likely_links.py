"""What the rates say of a link whose speed nobody gave: the base filled an Ethernet, and the other side is beyond it.

This is no proof, as another limit may give the same rate: it says how it looks, and that the link speed would tell.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from forms import wording
from forms.comparison.comparison import Comparison
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


def likely_link_sentence(several: Sequence[ComparisonSummary]) -> str:
    """How it looks, what would follow, and what to give; empty where nothing looks like it.

    It is said of the first Ethernet that a base outgrew, with all that filled it, and all that is beyond it.
    """
    outgrowing = _comparisons_of_one_ethernet(several)
    if not outgrowing:
        return ""

    comparisons = [compared.comparison for compared, _ in outgrowing]
    base_rate_by_name = {
        compared.comparison.base_name: outgrown.base_bytes_per_second for compared, outgrown in outgrowing
    }
    base_rates = list(dict.fromkeys(map(wording.rate, base_rate_by_name.values())))
    slowest_rate = min(outgrown.slowest_bytes_per_second for _, outgrown in outgrowing)
    fastest_rate = max(outgrown.fastest_bytes_per_second for _, outgrown in outgrowing)
    slowest = wording.rate(slowest_rate, beside=fastest_rate)
    others = wording.listed(_names_once(comparison.other_name for comparison in comparisons))
    link = wording.link_rate(outgrowing[0][1].bits_per_second)
    return (
        f"It looks as if a link of {link} held {wording.listed(list(base_rate_by_name))} back:"
        f" {wording.listed(base_rates)} on average, which is all that it lets through. Each run of {others}"
        f" ({slowest} to {wording.rate(fastest_rate)}) is more than it carries. If it was {link},"
        f" {_what_follows(comparisons)}."
    )


def _comparisons_of_one_ethernet(
    several: Sequence[ComparisonSummary],
) -> list[tuple[ComparisonSummary, OutgrownEthernet]]:
    """Those whose bases filled the first Ethernet that one of them outgrew, by the time of their bases."""
    outgrowing = []
    for compared in several:
        outgrown = outgrown_ethernet(compared)
        if outgrown is not None:
            outgrowing.append((compared, outgrown))
    if not outgrowing:
        return []

    first_ethernet = outgrowing[0][1].bits_per_second
    same = [(compared, outgrown) for compared, outgrown in outgrowing if outgrown.bits_per_second == first_ethernet]
    return sorted(same, key=_moment_of_base)


def _moment_of_base(outgrowing: tuple[ComparisonSummary, OutgrownEthernet]) -> str:
    compared, _ = outgrowing
    return max(summary.series.created_at for summary in compared.bases)


def _what_follows(comparisons: Sequence[Comparison]) -> str:
    """What is to be concluded if the link was that one."""
    uncertain = [comparison for comparison in comparisons if not comparison.known]
    if not uncertain:
        return "a link that lets more through explains the change"

    others = _names_once(comparison.other_name for comparison in uncertain)
    bases = _names_once(comparison.base_name for comparison in uncertain)
    are = "is" if len(others) == 1 else "are"
    give_speed = f"give {wording.listed(bases)} the link speed to have that said"
    return f"{wording.listed(others)} {are} certainly faster: {give_speed}"


def _names_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def ids_held_by_links(compared: ComparisonSummary) -> frozenset[str]:
    """The series whose limit was their link, as is known or as it looks: what else was full there held less back."""
    bases = frozenset(summary.series.id for summary in compared.bases)
    if compared.comparison.full_links is not None:
        return bases | frozenset(summary.series.id for summary in compared.others)
    is_base_held = compared.comparison.old_link is not None or outgrown_ethernet(compared) is not None
    return bases if is_base_held else frozenset()


def would_be_certain(compared: ComparisonSummary) -> bool:
    """Whether an open answer would be certain, were the base given the link speed that its rates look like."""
    return compared.comparison.is_open and outgrown_ethernet(compared) is not None
