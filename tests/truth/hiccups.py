"""What a slow run costs: changes that are found although one run hiccups, and histories that hold such runs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forms.stats.decision import Verdict
from forms.stats.shown import shown_like
from forms.stats.variation import SeriesGroup
from forms.stats.verdict_rule import decide
from tests.truth.designs import (
    HISTORY_LATER,
    ONE_EACH,
    THREE_BASES_LATER,
    WITH_HISTORY,
    Design,
    Tally,
)
from tests.truth.timelines import LEVEL, TIMELINES, Hiccup, Timeline, Values

SEED = 2026
RUNS = 5
LEAST_FOUND = 90.0
MOST_WITH_HISTORY = 2.5
"""Percent of false alarms that two series of three runs may give after five repeats."""

AFTER_THREE = Design("one a side, 3 repeats before", "HHHAB")
CHANGES = ((-20.0, 0.5), (-40.0, 2.0))
"""True changes and what the runs vary by, both in percent."""
PLACES: tuple[tuple[str, Design, str], ...] = (
    ("one of 15 earlier runs", AFTER_THREE, "H"),
    ("one of the base's five", ONE_EACH, "A"),
    ("one of the other's five", ONE_EACH, "B"),
    ("one earlier, one of the base's", AFTER_THREE, "HA"),
)
HICCUPS = (20.0, 40.0)


def found_beside_a_hiccup(
    design: Design, sides: str, hiccup: float, change: float, runs_vary: float, trials: int
) -> Tally:
    """How often a true change is found where a run of each of these sides is slower by ``hiccup`` percent."""
    world = Timeline(
        name="",
        base_variation=runs_vary,
        other_variation=runs_vary,
        hiccup=Hiccup(hiccup, sides) if hiccup else None,
    )
    return design.tally(world, RUNS, trials, change, SEED)


def hiccups_table(trials: int) -> Iterator[str]:
    """True changes found, by the place of the slow run."""
    yield f"| change | runs vary by | none slower | {' | '.join(name for name, *_ in PLACES)} |"
    yield f"| ---: | ---: | ---: |{' ---: |' * len(PLACES)}"
    for change, runs_vary in CHANGES:
        cells = [_found(found_beside_a_hiccup(ONE_EACH, "", 0.0, change, runs_vary, trials))]
        for _, design, sides in PLACES:
            tallies = [found_beside_a_hiccup(design, sides, size, change, runs_vary, trials) for size in HICCUPS]
            cells.append(" / ".join(_found(tally) for tally in tallies))
        yield f"| {change:+g} % | {runs_vary:g} % | {' | '.join(cells)} |"


def _found(tally: Tally) -> str:
    share = tally.different_percent
    return f"{share:.1f}" if share >= LEAST_FOUND else f"**{share:.1f}**"


@dataclass(frozen=True, slots=True)
class HistoryTally:
    """Of verdicts of two series alone: those that were decided, and those that a history then made inconclusive."""

    decided: int
    lost: int


def lost_by_history(earlier_series: int, trials: int, seed: int = SEED) -> HistoryTally:
    """True changes of 1.3 times the smallest change that the base's form shows, with equal series before it.

    One earlier series in three has a run that is 20 to 60 % slower.
    """
    random = np.random.default_rng(seed)
    decided = lost = 0
    for trial in range(trials):
        runs_vary = (0.3, 1.0, 2.0, 5.0)[trial % 4]
        base = _runs(random, runs_vary)
        shown = shown_like(base.tolist())
        assert shown is not None
        other = _runs(random, runs_vary) * (1 + 1.3 * shown.series_percent / 100)
        history = [_runs(random, runs_vary) for _ in range(earlier_series)]
        for place in range(0, earlier_series, 3):
            history[place][random.integers(RUNS)] *= 1 - random.uniform(0.2, 0.6)

        group = SeriesGroup([runs.tolist() for runs in history], [float(place) for place in range(earlier_series)])
        times = [float(earlier_series), float(earlier_series + 1)]
        alone = decide([base.tolist()], [other.tolist()], times=times).verdict
        with_history = decide([base.tolist()], [other.tolist()], times=times, history=[group]).verdict
        decided += alone is not Verdict.UNKNOWN
        lost += alone is not Verdict.UNKNOWN and with_history is Verdict.UNKNOWN
    return HistoryTally(decided, lost)


def _runs(random: np.random.Generator, runs_vary: float) -> Values:
    return np.asarray(LEVEL * np.exp(random.normal(0, runs_vary / 100, RUNS)))


HISTORIES = (1, 3, 6, 12)
MOST_LOST_SHARE = 0.02


def history_table(trials: int) -> Iterator[str]:
    """Verdicts that a history with slow runs takes away."""
    yield "| earlier series | decided by the two series alone, % | of these inconclusive with the history, % |"
    yield "| ---: | ---: | ---: |"
    for count in HISTORIES:
        tally = lost_by_history(count, trials)
        share = tally.lost / tally.decided
        cell = f"{100 * share:.1f}" if share <= MOST_LOST_SHARE else f"**{100 * share:.1f}**"
        yield f"| {count} | {100 * tally.decided / trials:.0f} | {cell} |"


BEYOND = (
    Timeline(name="session effect 5 %", session=5),
    Timeline(name="session effect 3 %, runs vary by 0.2 %", session=3, base_variation=0.2, other_variation=0.2),
    Timeline(name="level walks by 1 % a series", walk=1),
)
BEYOND_DESIGNS = (ONE_EACH, WITH_HISTORY, HISTORY_LATER, THREE_BASES_LATER)


def beyond_table(trials: int) -> Iterator[str]:
    """False alarms where nothing is promised."""
    yield f"| | {' | '.join(design.name for design in BEYOND_DESIGNS)} |"
    yield "| --- |" + " ---: |" * len(BEYOND_DESIGNS)
    for timeline in BEYOND:
        tallies = [design.tally(timeline, RUNS, trials, 0.0, SEED) for design in BEYOND_DESIGNS]
        yield f"| {timeline.name} | {' | '.join(f'{tally.different_percent:.1f}' for tally in tallies)} |"


def three_runs_table(trials: int) -> Iterator[str]:
    """Two series of three runs after five repeats of three: false alarms in each world."""
    yield "| | two series of three runs, five repeats before |"
    yield "| --- | ---: |"
    for timeline in TIMELINES:
        share = WITH_HISTORY.tally(timeline, 3, trials, 0.0, SEED).different_percent
        cell = f"{share:.1f}" if share <= MOST_WITH_HISTORY else f"**{share:.1f}**"
        yield f"| {timeline.name} | {cell} |"
