"""How often an inconclusive comparison that says "probably" has the direction right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from forms.stats.decision import ChangeDecision, Verdict
from forms.stats.variation import SeriesGroup
from forms.stats.verdict_rule import decide, decide_interleaved
from tests.truth.corpus_tables import Kind, kinds
from tests.truth.designs import A_B_A, INTERLEAVED, ONE_EACH, WITH_HISTORY, Design
from tests.truth.timelines import TIMELINES, Timeline, Values

RUNS = 5
SEED = 2027
LARGEST_CHANGE = 0.3
"""Changes are drawn evenly in logarithms, from 30 % less to as many times more."""
LEAST_RIGHT_PERCENT = 85.0
MOST_WHERE_NOTHING_CHANGED_PERCENT = 20.0
DESIGNS = (ONE_EACH, WITH_HISTORY, A_B_A, INTERLEAVED)


@dataclass(slots=True)
class Leanings:
    """What was said of many trials."""

    trials: int = 0
    leaning: int = 0
    right: int = 0

    def add(self, decision: ChangeDecision, log_change: float) -> None:
        self.trials += 1
        if decision.leaning is not None:
            self.leaning += 1
            self.right += (decision.leaning is Verdict.FASTER) == bool(log_change > 0)

    @property
    def said_percent(self) -> float:
        return 100 * self.leaning / self.trials

    @property
    def right_percent(self) -> float | None:
        return 100 * self.right / self.leaning if self.leaning else None


def leanings_of(design: Design, timeline: Timeline, trials: int, *, is_changed: bool) -> Leanings:
    """Decided by the product itself, one by one."""
    random = np.random.default_rng(SEED)
    most = np.log(1 / (1 - LARGEST_CHANGE))
    log_changes = random.uniform(-most, most, trials) if is_changed else np.zeros(trials)
    factors = np.exp(log_changes)[:, np.newaxis]
    tally = Leanings()
    if design is INTERLEAVED:
        base, other = timeline.interleaved(random, trials, RUNS, 0.0)
        for trial in range(trials):
            changed = (other[trial] * factors[trial]).tolist()
            tally.add(decide_interleaved(base[trial].tolist(), changed), log_changes[trial])
        return tally

    series = timeline.series(random, trials, design.sides, RUNS, 0.0)
    for trial in range(trials):
        tally.add(_decide_series(design, series, trial, factors[trial]), log_changes[trial])
    return tally


def _decide_series(design: Design, series: list[Values], trial: int, factor: Values) -> ChangeDecision:
    places = {side: [place for place, letter in enumerate(design.sides) if letter == side] for side in "HAB"}
    base = [series[place][trial].tolist() for place in places["A"]]
    other = [(series[place][trial] * factor).tolist() for place in places["B"]]
    earlier = [series[place][trial].tolist() for place in places["H"]]
    history = [SeriesGroup(earlier, [float(place) for place in places["H"]])] if earlier else ()
    times = [float(place) for place in (*places["A"], *places["B"])]
    return decide(base, other, times=times, history=history)


def leanings_table(trials: int) -> Iterator[str]:
    """In percent: of all pairs, where nothing changed; of those that say it, how often the direction is right."""
    yield f"| | {' | '.join(design.name for design in DESIGNS)} |"
    yield f"| --- |{' ---: |' * len(DESIGNS)}"
    for timeline in TIMELINES:
        cells = []
        for design in DESIGNS:
            unchanged = leanings_of(design, timeline, trials, is_changed=False)
            changed = leanings_of(design, timeline, trials, is_changed=True)
            cells.append(f"{_said_text(unchanged)} / {_right_text(changed)}")
        yield f"| {timeline.name} | {' | '.join(cells)} |"


def leanings_of_kind(kind: Kind) -> Leanings:
    """Of pairs of equal series of a real path, drawn at random: each series is in about ten of them."""
    random = np.random.default_rng(SEED)
    pairs = list(combinations(range(len(kind.times)), 2))
    drawn = random.permutation(len(pairs))[: 5 * len(kind.times)]
    tally = Leanings()
    for first, second in (pairs[number] for number in drawn):
        base = [kind.rates[first, :RUNS].tolist()]
        other = [kind.rates[second, :RUNS].tolist()]
        tally.add(decide(base, other, times=[kind.times[first], kind.times[second]]), 0.0)
    return tally


def real_leanings_table(_trials: int = 0) -> Iterator[str]:
    """Of pairs of equal series, in percent."""
    yield "| kind | said |"
    yield "| --- | ---: |"
    for kind in kinds():
        # Pairs share series: a kind has no more independent trials than it has series.
        most = (
            100
            * float(scipy.stats.binom.ppf(0.95, len(kind.times), MOST_WHERE_NOTHING_CHANGED_PERCENT / 100))
            / len(kind.times)
        )
        said = leanings_of_kind(kind).said_percent
        text = f"{said:.1f}" if said <= most else f"**{said:.1f}**"
        yield f"| {kind.name} | {text} |"


def _said_text(unchanged: Leanings) -> str:
    chance = 200 * (0.2 * 0.8 / unchanged.trials) ** 0.5
    holds = unchanged.said_percent <= MOST_WHERE_NOTHING_CHANGED_PERCENT + chance
    text = f"{unchanged.said_percent:.1f}"
    return text if holds else f"**{text}**"


def _right_text(changed: Leanings) -> str:
    """With how many answers it rests on."""
    right = changed.right_percent
    if right is None:
        return "-"
    chance = 200 * (0.85 * 0.15 / changed.leaning) ** 0.5
    text = f"{right:.1f} of {changed.leaning:,}"
    return text if right >= LEAST_RIGHT_PERCENT - chance else f"**{text}**"
