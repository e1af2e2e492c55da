"""How often a sweep is right: values in complete blocks, judged beside the best, on rates made up."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from forms.trial.sweep import Standing, blocks_needed, compare_with_best

SEED = 2026
MARGIN_PERCENT = 5.0
VARIATIONS = (1.0, 2.0, 3.0, 5.0)
"""Standard deviations of a value's runs, percent."""
BLOCKS = (8, 16, 40)


@dataclass(frozen=True, slots=True)
class SweepWorld:
    """The true rates of the values, smallest value first, in percent of the best one."""

    name: str
    rates_percent: tuple[float, ...]

    def is_right(self, named: int) -> bool:
        """Whether the value is the smallest of the best, or a smaller one that is slower by less than the margin."""
        return named <= self.rates_percent.index(100.0) and self.rates_percent[named] > 100 - MARGIN_PERCENT


SWEEP_WORLDS = (
    SweepWorld("4 equal values", (100.0,) * 4),
    SweepWorld("6 equal values", (100.0,) * 6),
    SweepWorld("80, 92, 100, 100, 100", (80.0, 92.0, 100.0, 100.0, 100.0)),
    SweepWorld("90, 97, 100, 100", (90.0, 97.0, 100.0, 100.0)),
    SweepWorld("94, 100, 100, 100", (94.0, 100.0, 100.0, 100.0)),
    SweepWorld("98.5, 100, 100, 100", (98.5, 100.0, 100.0, 100.0)),
)


@dataclass(frozen=True, slots=True)
class SweepTally:
    """The number of sweeps that were settled, and of those that named a right value."""

    trials: int
    settled: int
    right: int

    @property
    def right_percent(self) -> float | None:
        """Of the settled ones; None where fewer than 20 were settled."""
        return 100 * self.right / self.settled if self.settled >= 20 else None


@cache
def sweep_tally(world: SweepWorld, blocks: int, variation_percent: float, trials: int) -> SweepTally:
    """What that number of sweeps says."""
    chance = np.random.default_rng(SEED)
    truth = np.array(world.rates_percent)
    blocks = max(blocks, blocks_needed(len(truth) - 1))
    settled = right = 0
    for _ in range(trials):
        table = truth * np.exp(chance.normal(0, variation_percent / 100, (blocks, len(truth))))
        standings = [standing for standing, _ in compare_with_best(table.tolist(), MARGIN_PERCENT)]
        if Standing.UNDECIDED not in standings:
            settled += 1
            right += world.is_right(next(i for i, each in enumerate(standings) if each is not Standing.WORSE))
    return SweepTally(trials, settled, right)


def sweeps_table(trials: int) -> Iterator[str]:
    """Per world and variation: settled, and right among the settled, after 8, 16 and 40 blocks."""
    heads = (f"{blocks} blocks: settled, % | right, %" for blocks in BLOCKS)
    yield f"| true rates, % of the best | runs vary by, % | {' | '.join(heads)} |"
    yield "| --- | ---: |" + " ---: | ---: |" * len(BLOCKS)
    for world in SWEEP_WORLDS:
        for variation in VARIATIONS:
            cells = []
            for blocks in BLOCKS:
                tally = sweep_tally(world, blocks, variation, trials)
                share = tally.right_percent
                text = "-" if share is None else f"{share:.1f}"
                cells.append(f"{100 * tally.settled / trials:.0f} | {text if (share or 100) >= 95 else f'**{text}**'}")
            yield f"| {world.name} | {variation:g} | {' | '.join(cells)} |"
