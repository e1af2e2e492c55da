"""Where the level of a path changed for good: its series, in the order measured, became faster or slower and stayed so.

A change counts where a series, and the next one too, has the same verdict against the series of the level before. A
single slow night is no change of level.
"""

from collections.abc import Sequence
from itertools import accumulate

from forms.stats.changes import (
    readings_of,
)
from forms.stats.decision import Limits, Verdict
from forms.stats.readings import Rates
from forms.stats.variation import (
    MOST_EARLIER,
)
from forms.stats.verdict_rule import decide


def confirmed_changes(series: Sequence[Rates], times: Sequence[float]) -> list[tuple[int, Verdict]]:
    """(place of the first series of a new level, faster or slower), for each change; ``times`` are in seconds."""
    changes: list[tuple[int, Verdict]] = []
    series = [tuple(rates) for rates in series]
    averages = [reading.average for reading in readings_of(series)]
    # The sum of the averages before each place, so that a long history is not added up again at each.
    sums_before = [0.0, *accumulate(averages)]

    level_begin = 0
    # The last series has none after it that could confirm a change.
    for place in range(1, len(series) - 1):
        first = max(level_begin, place - MOST_EARLIER)
        average_before = (sums_before[place] - sums_before[first]) / (place - first)
        change_percent = 100 * abs(averages[place] / average_before - 1)
        # Within the noise threshold no verdict is faster or slower, and to look for one takes long.
        if change_percent <= Limits().noise_percent:
            continue

        before = slice(first, place)
        verdict = _verdict_on(place, before, series, times)
        is_change = verdict in {Verdict.FASTER, Verdict.SLOWER}
        if is_change and _verdict_on(place + 1, before, series, times) is verdict:
            changes.append((place, verdict))
            level_begin = place
    return changes


def _verdict_on(place: int, before: slice, series: Sequence[Rates], times: Sequence[float]) -> Verdict:
    """The verdict on the series at a place against those ``before`` it."""
    decision = decide(series[before], [series[place]], times=[*times[before], times[place]])
    return decision.verdict
