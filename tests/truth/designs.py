"""The ways to measure a change, each decided by the product's rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forms.stats.several import critical_of
from forms.stats.variation import PRIOR_FREEDOM, SeriesGroup
from forms.stats.verdict_rule import decide, decide_interleaved
from tests.truth.timelines import Timeline
from tests.truth.vectors import LIMITS, Decisions, cautious, decide_all, decide_all_interleaved, prior, side

CHUNK = 20_000
"""Trials held in memory at once."""
CHECKED = 20
"""Trials of each cell that are decided by the product as well."""


@dataclass(slots=True)
class Tally:
    """What the rule said of many trials."""

    trials: int = 0
    different: int = 0
    same: int = 0
    with_interval: int = 0
    covered: int = 0

    def add(self, decisions: Decisions, change: float) -> None:
        """Count decisions, where ``change`` percent is the truth."""
        self.trials += len(decisions.different)
        self.different += int(decisions.different.sum())
        self.same += int(decisions.same.sum())
        self.with_interval += len(decisions.low)
        self.covered += int(((decisions.low <= change) & (change <= decisions.high)).sum())

    @property
    def different_percent(self) -> float:
        """How often the rule said faster or slower."""
        return 100 * self.different / self.trials

    @property
    def inconclusive_percent(self) -> float:
        """How often the rule said neither different nor the same."""
        return 100 * (self.trials - self.different - self.same) / self.trials

    @property
    def coverage_percent(self) -> float | None:
        """How often the interval held the truth; None where none is told."""
        return 100 * self.covered / self.with_interval if self.with_interval else None


@dataclass(frozen=True, slots=True)
class Design:
    """One way to measure: letters are series in time, A the base, B the changed one, H earlier repeats, . any other."""

    name: str
    sides: str

    def no_promise(self, timeline: Timeline) -> bool:
        """Whether nothing is promised: a level that moves for good, and a base that is never measured again."""
        return "." in self.sides and timeline.drift > 0

    def tally(self, timeline: Timeline, runs: int, trials: int, change: float, seed: int) -> Tally:
        """What the rule says of that number of trials."""
        random = np.random.default_rng(seed)
        found = Tally()
        for size in chunks(trials):
            found.add(self._decisions(timeline, runs, size, change, random), change)
        return found

    def _decisions(
        self, timeline: Timeline, runs: int, trials: int, change: float, random: np.random.Generator
    ) -> Decisions:
        if self.sides == "interleaved":
            base, other = timeline.interleaved(random, trials, runs, change)
            found = decide_all_interleaved(base, other)
            for trial in range(min(CHECKED, trials)):
                assert found.agrees(trial, decide_interleaved(base[trial].tolist(), other[trial].tolist()))
            return found
        series = timeline.series(random, trials, self.sides, runs, change)
        of = {side: [at for at, letter in enumerate(self.sides) if letter == side] for side in "HAB"}
        before, first, changed = ([series[at] for at in of[side]] for side in "HAB")
        places = [*of["A"], *of["B"]]
        found = decide_all(first, changed, places, before, of["H"])
        for trial in range(min(CHECKED, trials)):
            rows = [[part[trial].tolist() for part in side] for side in (first, changed, before)]
            history = [SeriesGroup(rows[2], [float(at) for at in of["H"]])] if before else ()
            told = decide(rows[0], rows[1], times=[float(place) for place in places], history=history)
            assert found.agrees(trial, told)
        return found


def chunks(trials: int) -> Iterator[int]:
    """The trials in parts that fit into memory."""
    while trials > 0:
        yield min(CHUNK, trials)
        trials -= CHUNK


ONE_EACH = Design("one series a side", "AB")
WITH_HISTORY = Design("one a side, 5 repeats before", "HHHHHAB")
HISTORY_LATER = Design("5 repeats before, the other 10 series later", "HHHHHA..........B")
THREE_BASES = Design("three bases, one after", "AAAB")
THREE_BASES_LATER = Design("three bases, one 20 series later", "AAA....................B")
A_B_A = Design("A B A", "ABA")
INTERLEAVED = Design("interleaved, in random order", "interleaved")
THREE_EACH = Design("3 + 3 alternating", "ABABAB")
THREE_THEN_THREE = Design("3, then 3", "AAABBB")
DESIGNS = (
    ONE_EACH, WITH_HISTORY, HISTORY_LATER, THREE_BASES, THREE_BASES_LATER, A_B_A, INTERLEAVED, THREE_EACH,
    THREE_THEN_THREE,
)  # fmt: skip


def experiment_claims(timeline: Timeline, runs: int, trials: int, seed: int) -> Tally:
    """An experiment of five changes that do nothing, the base measured again at its end; what any verdict claims.

    Each step is held against the one before, the last one against both base series as well, by one variation for all.
    """
    random = np.random.default_rng(seed)
    steps = (*((place, place + 1) for place in range(5)), (0, 5))
    critical = critical_of((2, 1, 1, 1, 1, 1), steps, PRIOR_FREEDOM + 1.0, LIMITS.level)
    found = Tally()
    for size in chunks(trials):
        series = timeline.series(random, size, "ACCCCCA", runs, 0.0)
        every, base = side(series, range(7)), side([series[0], series[6]], [0, 6])
        before = prior(cautious(every.run_variance, every.run_freedom))
        error = np.sqrt((PRIOR_FREEDOM * before + base.squares) / (PRIOR_FREEDOM + 1))
        logs = [np.log(base.average), *every.logs.T[1:6]]
        beyond = [
            (np.abs(logs[b] - logs[a]) > critical * error * np.sqrt((0.5 if a == 0 else 1) + 1))
            & (np.abs(100 * np.expm1(logs[b] - logs[a])) > LIMITS.noise_percent)
            for a, b in steps
        ]
        found.trials += size
        found.different += int(np.any(beyond, axis=0).sum())
    return found
