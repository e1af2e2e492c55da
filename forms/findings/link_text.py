"""The link of a series in words: its speed, what sets it where that is no link, and what was given wrongly."""

from forms import wording
from forms.findings import full_links, path
from storage import records


def link_text(series: records.Series, average: float | None) -> str:
    """The speed of the link; where another one was given than the machine has, both and the reason.

    Where a traffic shaper of the measuring machine sets the speed, that is named. ``average`` is in bytes per second.
    """
    given_rate = series.link_bits_per_second
    seen_rate = path.seen_link_rate(series)
    if seen_rate is not None and full_links.is_link_overstated(series, average):
        return f"given as {wording.link_rate(given_rate)}, but {_limit_text(series, seen_rate)}"

    rate = given_rate or seen_rate
    if not rate:
        return ""
    shaper = full_links.limiting_shaper(series, average)
    speed = wording.link_rate(rate)
    return f"{speed}, set by a {shaper}" if shaper else speed


def _limit_text(series: records.Series, seen_rate: float) -> str:
    """``a traffic shaper (tbf) on the measuring machine alpha let only 500 Mb/s through``"""
    speed = wording.link_rate(seen_rate)
    shaper = path.shaper_text(series)
    if shaper:
        return f"a {shaper} let only {speed} through"
    host = wording.plain(str(series.environment.get("client", {}).get("host.name", "")))
    machine = f"the measuring machine {host}".rstrip()
    return f"the interface of {machine} ran at {speed}"
