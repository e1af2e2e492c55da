"""What share of its link's speed a rate is, as people are told it; and whether a link can carry a rate at all."""

from collections.abc import Sequence

from forms import wording

ABOVE_LINK_PERCENT = 1.0
"""By so much an average may exceed what the link carries before that is impossible."""


def is_possible_share(percent_of_link: float) -> bool:
    return percent_of_link <= 100 + ABOVE_LINK_PERCENT


def is_possible_link(rates: Sequence[float], link_bits_per_second: float | None) -> bool:
    """Whether the average of these bytes per second fits through a link of that speed; it does where that is None."""
    if not rates or not link_bits_per_second:
        return True
    average_bits = 8 * sum(rates) / len(rates)
    return is_possible_share(100 * average_bits / link_bits_per_second)


def share_text(percent_of_link: float, link: str) -> str:
    """``95 % of 1 Gb/s``; of a link that cannot have carried it: ``more than 1 Gb/s can carry``."""
    if not is_possible_share(percent_of_link):
        return f"more than {link} can carry"
    return f"{wording.percent(percent_of_link)} of {link}"


def share_cell(percent_of_link: float | None) -> str:
    """As a cell of a table: ``95.52 %``, ``> 100 %``."""
    if percent_of_link is None:
        return wording.ABSENT
    if not is_possible_share(percent_of_link):
        return "> 100 %"
    return f"{wording.cell_percent(percent_of_link)} %"
