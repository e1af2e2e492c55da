"""The ways to measure a change, each decided by the product's rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from forms.stats.decision import decide, decide_in_turns, holm
from tests.truth.timelines import Timeline
from tests.truth.vectors import LIMITS, Decisions, decide_all, decide_all_in_turns

CHUNK = 20_000
"""So many trials are held in memory at once."""
CHECKED = 20
"""So many trials of each cell are decided by the product as well."""


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
        if decisions.low is not None and decisions.high is not None:
            self.with_interval += len(decisions.low)
            self.covered += int(((decisions.low <= change) & (change <= decisions.high)).sum())

    @property
    def different_percent(self) -> float:
        """How often the rule said faster or slower."""
        return 100 * self.different / self.trials

    @property
    def coverage_percent(self) -> float | None:
        """How often the interval held the truth; None where the words said that it is not known."""
        return 100 * self.covered / self.with_interval if self.with_interval else None


@dataclass(frozen=True, slots=True)
class Design:
    """One way to measure: its letters are series in time, A the base, B the changed one, H earlier repeats."""

    name: str
    sides: str

    def tally(self, timeline: Timeline, runs: int, trials: int, change: float, seed: int) -> Tally:
        """What the rule says of so many trials."""
        random = np.random.default_rng(seed)
        found = Tally()
        for size in chunks(trials):
            found.add(self._decisions(timeline, runs, size, change, random), change)
        return found

    def _decisions(
        self, timeline: Timeline, runs: int, trials: int, change: float, random: np.random.Generator
    ) -> Decisions:
        if self.sides == "turns":
            base, other = timeline.turns(random, trials, runs, change)
            found = decide_all_in_turns(base, other)
            for trial in range(min(CHECKED, trials)):
                assert found.agrees(trial, decide_in_turns(base[trial].tolist(), other[trial].tolist()))
            return found
        series = timeline.series(random, trials, self.sides, runs, change)
        of = {side: [at for at, letter in enumerate(self.sides) if letter == side] for side in "HAB"}
        before, first, changed = ([series[at] for at in of[side]] for side in "HAB")
        places = [*of["A"], *of["B"]]
        found = decide_all(first, changed, places, before)
        for trial in range(min(CHECKED, trials)):
            rows = [[part[trial].tolist() for part in side] for side in (first, changed, before)]
            told = decide(rows[0], rows[1], positions=places, history=[rows[2]] if before else ())
            assert found.agrees(trial, told)
        return found


def chunks(trials: int) -> Iterator[int]:
    """The trials in parts that fit into memory."""
    while trials > 0:
        yield min(CHUNK, trials)
        trials -= CHUNK


ONE_EACH = Design("one series a side", "AB")
WITH_HISTORY = Design("one a side, 5 repeats before", "HHHHHAB")
THREE_BASES = Design("three bases, one after", "AAAB")
A_B_A = Design("A B A", "ABA")
IN_TURNS = Design("in turns, A B B A", "turns")
THREE_EACH = Design("3 + 3 alternating", "ABABAB")
THREE_EACH_WITH_THREE = Design("3 + 3 alternating, 3 repeats before", "HHHABABAB")
THREE_EACH_WITH_FIVE = Design("3 + 3 alternating, 5 repeats before", "HHHHHABABAB")
BASE_AT_BOTH_ENDS = Design("4 + 3 alternating, the base at both ends", "ABABABA")
AFTER_BASELINE = Design("a baseline of 3 before, 3 + 3 alternating", "AAAABABAB")
PUT_BACK_AT_THE_END = Design("3, then 3, the base once more at the end", "AAABBBA")
THREE_THEN_THREE = Design("3, then 3", "AAABBB")
DESIGNS = (ONE_EACH, WITH_HISTORY, THREE_BASES, A_B_A, IN_TURNS, THREE_EACH, THREE_THEN_THREE)


def ladder_claims(timeline: Timeline, runs: int, trials: int, seed: int) -> Tally:
    """A ladder of five changes that do nothing, the base measured again at its end; what any of its verdicts claims.

    Each step is held against the one before, the last one against both base series (the gain in all), Holm over all.
    """
    random = np.random.default_rng(seed)
    found = Tally()
    for size in chunks(trials):
        first, *steps, again = timeline.series(random, size, "ACCCCCA", runs, 0.0)
        base = [first, again]
        told = [decide_all([before], [after], [0, 1], base) for before, after in pairwise(steps)]
        told += [decide_all(base, [steps[0]], [0, 6, 1]), decide_all(base, [steps[-1]], [0, 6, 5])]
        different = np.stack([one.different for one in told], axis=1)
        p_values = np.stack([one.p for one in told], axis=1)
        found.trials += size
        for trial in np.flatnonzero(different.any(axis=1)):
            levels = holm(p_values[trial].tolist(), LIMITS.alpha)
            found.different += bool(np.any(different[trial] & (p_values[trial] < levels)))
    return found
