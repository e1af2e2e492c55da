"""How often a watch is right: nights that are made up, judged by the product's own statistics and its own states."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, repeat

import numpy as np

from forms.stats.decision import Verdict
from forms.stats.levels import confirmed_changes
from forms.stats.readings import Rates
from forms.stats.variation import DAY_SECONDS, MOST_EARLIER, SeriesGroup
from forms.stats.verdict_rule import decide
from forms.watch.rule import BASELINE_NIGHTS, Confirm, Outcome, joint_outcome, outcome_of, standing_after
from storage.watch.records import WatchState

HISTORY, NIGHTS, STRETCHES = 60, 100, 500
BETWEEN = (0.3, 0.5)
SLOWDOWNS = (1.0, 2.0, 3.0, 5.0)
MOST_ALARMS, LEAST_FOUND = 1.0, 95.0
_RUNS, _WITHIN = 5, 0.5
"""Runs a series, and what they differ by within a night, in percent."""


@dataclass
class SimulatedPath:
    """A path watched every night; ``percent`` is how far its nights differ."""

    random: np.random.Generator
    percent: float

    def __post_init__(self) -> None:
        self.series: list[Rates] = []
        self.times: list[float] = []
        self.state, self.slow = WatchState.STEADY, list[Rates]()
        self.alarms = 0

    def measure(self, level: float) -> tuple[float, ...]:
        runs = self.random.normal(0, _WITHIN / 100, _RUNS)
        return tuple(float(rate) for rate in 1e8 * np.exp(level + runs))

    def night(self, slowdown_percent: float = 0.0, *, judged: bool = True) -> None:
        """One night: a series, and more where the watch asks for them; all but an unconfirmed slowdown are history."""
        at = len({*self.times}) * DAY_SECONDS
        level = float(self.random.normal(0, self.percent / 100)) + np.log1p(-slowdown_percent / 100)
        tonight = [self.measure(level)]
        if judged:
            history = self.history()
            outcomes = [self.outcome(tonight[0], at, history)]
            while (outcome := joint_outcome(outcomes, Confirm(), slowed=bool(self.slow))) is None:
                tonight.append(self.measure(level))
                outcomes.append(self.outcome(tonight[-1], at, history))
            state = standing_after(self.state, outcome, slowed=bool(self.slow))
            self.alarms += state is WatchState.SLOWER is not self.state
            self.state = state
            if outcome is Outcome.SLOWER:
                self.slow = [*tonight]
            elif outcome is Outcome.NOT_SLOWER:
                self.slow = []
            if outcome is not Outcome.SLOWER:
                tonight = [rates for rates, said in zip(tonight, outcomes, strict=True) if said is not Outcome.SLOWER]
        self.series += tonight
        self.times += [at] * len(tonight)

    def history(self) -> list[SeriesGroup]:
        first = max(BASELINE_NIGHTS, len(self.series) - MOST_EARLIER)
        series, times = self.series[first:], self.times[first:]
        places = [0, *(place for place, _ in confirmed_changes(series, times)), len(series)]
        return [SeriesGroup(series[a:b], times[a:b]) for a, b in pairwise(places)]

    def outcome(self, rates: Rates, at: float, history: Sequence[SeriesGroup]) -> Outcome:
        verdict = self.against(self.series[:BASELINE_NIGHTS], self.times[:BASELINE_NIGHTS], rates, at, history)
        slow_at = [at - DAY_SECONDS] * len(self.slow)
        unknown = bool(self.slow) and verdict is Verdict.UNKNOWN
        return outcome_of(verdict, self.against(self.slow, slow_at, rates, at, history) if unknown else None)

    @staticmethod
    def against(
        base: Sequence[Rates], base_times: Sequence[float], rates: Rates, at: float, history: Sequence[SeriesGroup]
    ) -> Verdict:
        return decide(base, [rates], times=[*base_times, at], history=history).verdict


@dataclass(frozen=True, slots=True)
class WatchTally:
    """Alarms of each stretch without a change, and for each slowdown whether it was reported within two nights."""

    alarms: tuple[int, ...]
    found: tuple[tuple[bool, ...], ...]

    @property
    def alarms_per_stretch(self) -> float:
        return sum(self.alarms) / len(self.alarms)

    @property
    def found_percent(self) -> tuple[float, ...]:
        return tuple(100 * sum(each) / len(each) for each in zip(*self.found, strict=True))


def watch_tally(percent: float, stretches: int, nights: int = NIGHTS) -> WatchTally:
    """``stretches`` of so many nights after 60 nights of history, nothing changed; and the same history slowed."""
    made = [_stretch(percent, seed, nights) for seed in range(stretches)]
    return WatchTally(tuple(alarms for alarms, _ in made), tuple(found for _, found in made))


def _stretch(percent: float, seed: int, nights: int) -> tuple[int, tuple[bool, ...]]:
    found = tuple(_found(percent, seed, slowdown) for slowdown in SLOWDOWNS)
    path = _with_history(percent, seed)
    for _ in range(nights):
        path.night()
    return path.alarms, found


def _found(percent: float, seed: int, slowdown: float) -> bool:
    path = _with_history(percent, seed)
    path.night(slowdown)
    path.night(slowdown)
    return path.alarms > 0


def _with_history(percent: float, seed: int) -> SimulatedPath:
    path = SimulatedPath(np.random.default_rng((seed, round(1000 * percent))), percent)
    for _ in range(HISTORY):
        path.night(judged=False)
    return path


def nights_table(stretches: int = STRETCHES) -> Iterator[str]:
    """For each variation between nights: alarms without a change, and slowdowns reported within two nights."""
    yield "| nights differ by | alarms in 100 nights | " + " | ".join(f"{s:g} % slower" for s in SLOWDOWNS) + " |"
    yield "| ---: | ---: | " + " | ".join("---:" for _ in SLOWDOWNS) + " |"
    with ProcessPoolExecutor(2) as pool:
        for percent, tally in zip(BETWEEN, pool.map(watch_tally, BETWEEN, repeat(stretches)), strict=True):
            alarms = f"{tally.alarms_per_stretch:.2f}"
            alarms = alarms if tally.alarms_per_stretch <= MOST_ALARMS else f"**{alarms}**"
            shares = [f"{share:.0f} %" for share in tally.found_percent]
            shares[-1] = shares[-1] if tally.found_percent[-1] >= LEAST_FOUND else f"**{shares[-1]}**"
            yield f"| {percent:g} % | {alarms} | {' | '.join(shares)} |"
