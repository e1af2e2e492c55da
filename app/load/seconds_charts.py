"""The seconds of a load as charts: the rate and the p95 over time."""

import itertools
from collections.abc import Iterator, Sequence
from statistics import fmean

from app.load import events
from forms import report, wording


def seconds_charts(seconds: Sequence[events.SecondPassed], most_bars: int) -> Iterator[report.Chart]:
    """The rate and the p95 over time; several seconds are one bar where there are too many."""
    seconds_a_bar = -(-len(seconds) // most_bars)  # rounded up
    starts = range(0, len(seconds), seconds_a_bar)
    parts = [seconds[start : start + seconds_a_bar] for start in starts]
    names = _names_of_steps([part[0].users for part in parts])
    places = tuple(float(start) for start in starts)

    rates = [report.Bar(name=name, value=_mean_rate(part)) for name, part in zip(names, parts, strict=True)]
    yield report.Chart(title="each second", unit="requests/s", bars=tuple(rates), places=places)

    p95 = [report.Bar(name=name, value=_highest_p95(part)) for name, part in zip(names, parts, strict=True)]
    yield report.Chart(title="p95 of each second", unit="ms", bars=tuple(p95), places=places)


def _names_of_steps(users: Sequence[int]) -> list[str]:
    """The number of users at each part where it changes, empty where it is as before."""
    names = [wording.count(users[0], "user")] if users else []
    for before, now in itertools.pairwise(users):
        names.append(wording.count(now, "user") if now != before else "")
    return names


def _mean_rate(seconds: Sequence[events.SecondPassed]) -> float:
    return fmean(second.requests_per_second for second in seconds)


def _highest_p95(seconds: Sequence[events.SecondPassed]) -> float | None:
    """In milliseconds; None where no second had requests enough."""
    return max((1000 * second.p95_seconds for second in seconds if second.p95_seconds is not None), default=None)
