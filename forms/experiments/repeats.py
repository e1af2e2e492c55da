"""How far equal series lie apart: the same thing measured several times, one whole series after the other."""

import math
import statistics as basic
from collections.abc import Sequence
from dataclasses import dataclass

from forms import wording
from forms.comparison.verdict import rates_of
from forms.stats.change import variation
from forms.stats.decision import Limits
from forms.stats.sample_size import smallest_between_percent
from forms.stats.summary import deviation_percent, drift
from storage.records import Series


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """What several series of the same thing say about comparisons of series measured at different times."""

    series_ids: tuple[str, ...]
    averages_bytes_per_second: tuple[float, ...]
    within_percent: float
    """The standard deviation of a run within its series, in percent."""
    between_percent: float | None
    """The standard deviation between the averages of the series, in percent; None for fewer than two."""
    by_chance_percent: float
    """What the runs' own scatter alone would make of it."""
    trend_percent: float | None
    """From the first series to the last, in percent, where chance is an unlikely explanation; else None."""
    smallest_percent: float | None
    """The smallest change that one series before it and one after it show nine times in ten, with this history."""


def repeats(series: Sequence[Series]) -> Repeats:
    """The repeats of one thing, in the order measured; those without a valid run are left out."""
    known = [one for one in series if rates_of(one)]
    rates = [rates_of(one) for one in known]
    means = [basic.fmean(each) for each in rates]
    found = variation([rates])
    scatters = [scatter for each in rates if (scatter := deviation_percent(each)) is not None]
    within = math.sqrt(basic.fmean(s**2 for s in scatters)) if scatters else 0.0
    trend = drift(means)
    return Repeats(
        series_ids=tuple(one.id for one in known),
        averages_bytes_per_second=tuple(means),
        within_percent=within,
        between_percent=found.deviation_percent if found else None,
        by_chance_percent=100 * math.sqrt(found.within) if found else 0.0,
        trend_percent=trend.percent if trend is not None and trend.significant else None,
        smallest_percent=smallest_between_percent(found, Limits()) if found else None,
    )


def sentences(found: Repeats) -> list[str]:
    """How far the series lie apart, what that makes of a comparison, and what to do."""
    if found.between_percent is None or found.smallest_percent is None:
        return ["One series says nothing about the next: measure at least three, with --apart 3."]
    apart, smallest = wording.percent(found.between_percent), wording.percent(found.smallest_percent)
    within, by_chance = wording.percent(found.within_percent), wording.percent(found.by_chance_percent)
    said = [
        f"{len(found.series_ids)} series of the same thing lie {apart} apart (standard deviation of their averages).",
        f"The runs' own scatter of {within} would make it {by_chance}.",
        f"One series before a change and one after it show {smallest} or more, nine times in ten.",
        "Compare takes these repeats as its history for series of the same path.",
    ]
    if found.trend_percent is not None:
        way = "rose" if found.trend_percent > 0 else "fell"
        said.append(
            f"The averages {way} by {wording.percent(abs(found.trend_percent))} from the first series to the last: what"
            " is measured later comes out different by itself. Measure in turns where you can, and put the base back at"
            " the end where you cannot."
        )
    return said
