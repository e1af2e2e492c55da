"""How often a trial (`sharebench try`) is right: pairs in random order with planned looks, on runs made up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from forms.stats.decision import Verdict
from forms.stats.paired import LOOKS, base_comes_first
from forms.trial.summary import judge_pairs
from storage.changes import ChangeKind, TrialPlan

SEED = 2026
PLAN = TrialPlan(kind=ChangeKind.SMB_CONF, name="log level", values=("1",), looks=LOOKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedWorld:
    """How the runs of a trial variation."""

    name: str
    paired_percent: float
    """The deviation of the pairs' differences."""
    slot_percent: float = 0.0
    """By how much the second run of each pair is faster."""
    drift_percent: float = 0.0
    """By how much each run is slower than the one before."""
    outlying: float = 0.0
    """The share of runs that are 30 % slower."""
    lag_1: float = 0.0
    """Correlation of neighbouring runs."""
    rhythm_percent: float = 0.0
    """By how much two runs of every four are slower, as beside other work that comes and goes."""

    def ratios(self, random: np.random.Generator, base_first: Sequence[bool], change_percent: float) -> list[float]:
        """What 20 pairs of these orders show."""
        variation = self.paired_percent / 2**0.5 / 100
        slots = 2 * LOOKS[-1]
        noise = random.normal(0, variation, slots)
        for at in range(1, slots if self.lag_1 else 0):
            noise[at] = self.lag_1 * noise[at - 1] + (1 - self.lag_1**2) ** 0.5 * noise[at]
        rates = np.exp(noise - np.arange(slots) * self.drift_percent / 100)
        rates *= np.where(random.random(slots) < self.outlying, 0.7, 1.0)
        if self.rhythm_percent:
            rates *= np.where((np.arange(slots) + random.integers(4)) % 4 < 2, 1 - self.rhythm_percent / 100, 1.0)
        rates[1::2] *= 1 + self.slot_percent / 100
        first, second = rates[0::2], rates[1::2]
        ratios = np.where(base_first, second / first, first / second) * (1 + change_percent / 100)
        return [float(one) for one in ratios]


WORLDS = (
    PairedWorld(name="pairs vary by 0.5 %", paired_percent=0.5),
    PairedWorld(name="pairs vary by 2 %", paired_percent=2.0),
    PairedWorld(name="pairs vary by 10 %", paired_percent=10.0),
    PairedWorld(name="2 %, the second of a pair 2 % faster", paired_percent=2.0, slot_percent=2.0),
    PairedWorld(name="2 %, drift 0.5 % a run", paired_percent=2.0, drift_percent=0.5),
    PairedWorld(name="2 %, outliers (8 %, 30 % slower)", paired_percent=2.0, outlying=0.08),
    PairedWorld(name="10 %, lag-1 0.5", paired_percent=10.0, lag_1=0.5),
    PairedWorld(name="2 %, two runs in four 10 % slower", paired_percent=2.0, rhythm_percent=10.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTally:
    """What many trials said, in percent, and how many pairs they took."""

    different_percent: float
    same_percent: float
    mean_pairs: float


def drawn_orders(seed: int) -> list[bool]:
    """Of all pairs of a trial: whether the base comes first."""
    orders: list[bool] = []
    for pair in range(1, LOOKS[-1] + 1):
        orders.append(base_comes_first(orders, LOOKS, pair, seed))
    return orders


@cache
def trial_tally(world: PairedWorld, change_percent: float, trials: int) -> TrialTally:
    """What so many trials of a change say."""
    random = np.random.default_rng(SEED)
    found = []
    for trial in range(trials):
        orders = drawn_orders(trial)
        found.append(judge_pairs(world.ratios(random, orders, change_percent), orders, PLAN))
    verdicts = [one.verdict for one in found]
    return TrialTally(
        different_percent=100 * sum(one in {Verdict.FASTER, Verdict.SLOWER} for one in verdicts) / trials,
        same_percent=100 * verdicts.count(Verdict.SAME) / trials,
        mean_pairs=float(np.mean([one.looked_at or LOOKS[-1] for one in found])),
    )


def trials_table(trials: int) -> Iterator[str]:
    """Nothing changed, and a change of 2 %: what is said, and after how many pairs."""
    error = 100 * 3 * (0.05 * 0.95 / trials) ** 0.5
    yield "| | nothing changed: faster or slower, % | no difference, % | pairs | 2 % changed: found, % | pairs |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for world in WORLDS:
        nothing, changed = trial_tally(world, 0.0, trials), trial_tally(world, 2.0, trials)
        wrong = f"{nothing.different_percent:.1f}"
        wrong = wrong if nothing.different_percent <= 5 + error else f"**{wrong}**"
        right = f"{changed.different_percent:.1f}"
        asked = world.name == "pairs vary by 2 %"
        right = f"**{right}**" if asked and changed.different_percent < 90 else right
        figures = (
            f"{wrong} | {nothing.same_percent:.1f} | {nothing.mean_pairs:.1f} | {right} | {changed.mean_pairs:.1f}"
        )
        yield f"| {world.name} | {figures} |"
