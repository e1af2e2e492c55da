"""Two sides that each filled its own link: then the links explain the change, and the server was not the limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from forms import link_share
from forms.findings import path
from storage import records

FULL_LINK_PERCENT = 90.0
"""From here on a link counts as full: 94 % is all that an Ethernet link shows, and other traffic takes some of that."""

LEAST_RATIO = 1.1
"""Of the faster link to the slower one: full links differ in use by up to a tenth, so that less explains nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FullLinks:
    """The speeds of two links that differ, each of which was full, in bits per second."""

    base_bits_per_second: float
    other_bits_per_second: float
    base_bytes_per_second: float
    """The judged average of the side."""
    other_bytes_per_second: float
    base_shaper: str = ""
    """The traffic shaper of the measuring machine that set the speed of the base's link; empty where the link did."""
    other_shaper: str = ""

    @property
    def rate_factor(self) -> float:
        """How many times as much as the base the other side carried."""
        return self.other_bytes_per_second / self.base_bytes_per_second

    @property
    def link_factor(self) -> float:
        return self.other_bits_per_second / self.base_bits_per_second


def full_links_of(
    base: Sequence[records.Series],
    other: Sequence[records.Series],
    base_rate: float | None,
    other_rate: float | None,
) -> FullLinks | None:
    """The links of two sides, by their averages in bytes per second; None unless both were full, and differ."""
    base_link = _full_link(base, base_rate)
    other_link = _full_link(other, other_rate)
    if base_link is None or other_link is None:
        return None

    assert base_rate is not None
    assert other_rate is not None
    links = FullLinks(
        base_bits_per_second=base_link,
        other_bits_per_second=other_link,
        base_bytes_per_second=base_rate,
        other_bytes_per_second=other_rate,
        base_shaper=limiting_shaper(base[0], base_rate),
        other_shaper=limiting_shaper(other[0], other_rate),
    )
    is_one_way = (links.rate_factor > 1) == (links.link_factor > 1)
    ratio = max(links.link_factor, 1 / links.link_factor)
    return links if is_one_way and ratio >= LEAST_RATIO else None


def _full_link(side: Sequence[records.Series], rate: float | None) -> float | None:
    """The speed of the link that all series of the side went over, where they filled it."""
    speeds = {carrying_link_rate(series, rate) for series in side}
    speed = speeds.pop()
    if speeds or not speed or not rate:
        return None
    percent = 100 * 8 * rate / speed
    return speed if percent >= FULL_LINK_PERCENT and link_share.is_possible_share(percent) else None


def carrying_link_rate(series: records.Series, average: float | None) -> float | None:
    """The link speed that was given; where a faster one was given than the machine has, what its interface ran at.

    In bits per second; ``average`` is in bytes per second.
    """
    given_rate = series.link_bits_per_second
    seen_rate = path.seen_link_rate(series)
    return seen_rate if is_link_overstated(series, average) else given_rate or seen_rate


def limiting_shaper(series: records.Series, average: float | None) -> str:
    """The traffic shaper of the measuring machine, in words, where the speed of the carrying link is its; else empty.

    ``average`` is in bytes per second.
    """
    is_limit_here = carrying_link_rate(series, average) == path.seen_link_rate(series)
    return path.shaper_text(series) if is_limit_here else ""


def shaper_of_link(series: records.Series, average: float | None) -> str:
    """As :func:`limiting_shaper`, for shares of the link speed of the series: empty where that is another speed."""
    is_its_speed = carrying_link_rate(series, average) == series.link_bits_per_second
    return limiting_shaper(series, average) if is_its_speed else ""


def is_link_overstated(series: records.Series, average: float | None) -> bool:
    """Whether a faster link was given than the interface here has; more than that carries came by several at once."""
    given_rate = series.link_bits_per_second
    seen_rate = path.seen_link_rate(series)
    if given_rate is None or seen_rate is None or average is None:
        return False
    return given_rate > seen_rate and 8 * average <= seen_rate
