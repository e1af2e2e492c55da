"""The ways to measure a change, each decided by the product's own rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forms.stats.decision import ChangeDecision, Verdict, decide, decide_in_turns, holm
from tests.truth.timelines import Timeline, Values

DIFFERENT = (Verdict.FASTER, Verdict.SLOWER)


@dataclass(slots=True)
class Tally:
    """What the rule said of many trials."""

    trials: int = 0
    different: int = 0
    same: int = 0
    with_interval: int = 0
    covered: int = 0

    def add(self, decision: ChangeDecision, change: float) -> None:
        """Count one decision, where ``change`` percent is the truth."""
        self.trials += 1
        self.different += decision.verdict in DIFFERENT
        self.same += decision.verdict is Verdict.SAME
        if decision.interval_percent:
            self.with_interval += 1
            low, high = decision.interval_percent
            self.covered += low <= change <= high

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
        for decision in self._decisions(timeline, runs, trials, change, random):
            found.add(decision, change)
        return found

    def _decisions(
        self, timeline: Timeline, runs: int, trials: int, change: float, random: np.random.Generator
    ) -> Iterator[ChangeDecision]:
        if self.sides == "turns":
            base, other = timeline.turns(random, trials, runs, change)
            for left, right in zip(base.tolist(), other.tolist(), strict=True):
                yield decide_in_turns(left, right)
            return
        series = [part.tolist() for part in timeline.series(random, trials, self.sides, runs, change)]
        of = {side: [at for at, letter in enumerate(self.sides) if letter == side] for side in "HAB"}
        for trial in range(trials):
            first, changed, before = ([series[at][trial] for at in of[side]] for side in "ABH")
            yield decide(first, changed, positions=[*of["A"], *of["B"]], history=[before] if before else ())


ONE_EACH = Design("one series a side", "AB")
WITH_HISTORY = Design("one a side, 5 repeats before", "HHHHHAB")
THREE_BASES = Design("three bases, one after", "AAAB")
A_B_A = Design("A B A", "ABA")
IN_TURNS = Design("in turns, A B B A", "turns")
THREE_EACH = Design("3 + 3 alternating", "ABABAB")
THREE_EACH_WITH_HISTORY = Design("3 + 3 alternating, 5 repeats before", "HHHHHABABAB")
THREE_THEN_THREE = Design("3, then 3", "AAABBB")
DESIGNS = (ONE_EACH, WITH_HISTORY, THREE_BASES, A_B_A, IN_TURNS, THREE_EACH, THREE_THEN_THREE)


def ladder_claims(timeline: Timeline, runs: int, trials: int, seed: int) -> Tally:
    """A ladder of five changes that do nothing, the base measured again at its end; what any of its verdicts claims.

    Each step is held against the one before, the last one against both base series (the gain in all), Holm over all.
    """
    random = np.random.default_rng(seed)
    series: list[Values] = timeline.series(random, trials, "ACCCCCA", runs, 0.0)
    rows = [part.tolist() for part in series]
    found = Tally()
    for trial in range(trials):
        first, *steps, again = (row[trial] for row in rows)
        repeats = [[first, again]]
        pairs = [([before], [after], repeats, [0, 1]) for before, after in zip([first, *steps], steps, strict=False)]
        pairs[0] = ([first, again], [steps[0]], [], [0, 6, 1])
        pairs.append(([first, again], [steps[-1]], [], [0, 6, 5]))
        told = [decide(b, o, history=h, positions=p) for b, o, h, p in pairs]
        levels = holm([one.t_p_value or 1.0 for one in told], 0.05)
        claims = [
            one
            for one, level in zip(told, levels, strict=True)
            if one.verdict in DIFFERENT and (one.t_p_value or 1) < level
        ]
        found.trials += 1
        found.different += bool(claims)
    return found
