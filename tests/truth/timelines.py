"""Throughputs of runs, one after the other, where nothing was changed: what servers and links do by themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
LEVEL = 100.0
"""The true throughput, in any unit; a deviation of 1 is 1 %."""
BASE_RUNS_WHERE_UNEQUAL = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One way for runs to variation; its names are the rows of the table."""

    name: str
    lag_1: float = 0.0
    """Correlation of neighbouring runs, across series too."""
    drift: float = 0.0
    """Percent a run, all the time."""
    session: float = 0.0
    """Deviation between sessions, in percent; runs that take turns share one."""
    other_variation: float = 1.0
    """Deviation of the other side's runs, in percent."""
    base_variation: float = 1.0
    """Deviation of the base's runs, in percent."""
    unequal: bool = False
    """Whether each base series has 30 runs, whatever the other has."""
    outlying_share: float = 0.0
    """The share of runs that are 20 to 60 % slower."""

    def runs(self, random: np.random.Generator, shape: tuple[int, int]) -> Values:
        """Deviations from the level of consecutive runs, a row a trial, of all but the session and the sides."""
        noise = random.standard_normal(shape)
        if self.lag_1:
            for at in range(1, shape[1]):
                noise[:, at] = self.lag_1 * noise[:, at - 1] + np.sqrt(1 - self.lag_1**2) * noise[:, at]
        noise += self.drift * np.arange(shape[1])
        if self.outlying_share:
            outlying = random.random(shape) < self.outlying_share
            noise = np.where(outlying, noise - random.uniform(20, 60, shape), noise)
        return noise

    def series(self, random: np.random.Generator, trials: int, sides: str, runs: int, change: float) -> list[Values]:
        """Whole series one after the other: for each letter of ``sides`` (A the base) an array, a row a trial."""
        lengths = [BASE_RUNS_WHERE_UNEQUAL if self.unequal and side == "A" else runs for side in sides]
        noise = self.runs(random, (trials, sum(lengths)))
        parts = np.split(noise, np.cumsum(lengths)[:-1], axis=1)
        made = []
        for side, part in zip(sides, parts, strict=True):
            session = self.session * random.standard_normal((trials, 1))
            variation = self.base_variation if side in "AH" else self.other_variation
            made.append((LEVEL + variation * part + session) * (1 + change / 100 * (side == "B")))
        return made

    def turns(self, random: np.random.Generator, trials: int, runs: int, change: float) -> tuple[Values, Values]:
        """Two interleaved series (A B B A …), a row a trial each."""
        noise = self.runs(random, (trials, 2 * runs)) + self.session * random.standard_normal((trials, 1))
        others = np.arange(2 * runs) % 4 % 3 > 0
        base, other = LEVEL + self.base_variation * noise[:, ~others], LEVEL + self.other_variation * noise[:, others]
        return base, other * (1 + change / 100)


TIMELINES = (
    Timeline(name="independent"),
    *(Timeline(name=f"lag-1 {lag}", lag_1=lag) for lag in (0.3, 0.5, 0.8)),
    *(Timeline(name=f"drift {drift} % a run", drift=drift) for drift in (0.1, 0.25, 0.5, 1)),
    *(Timeline(name=f"session effect {effect} %", session=effect) for effect in (0.5, 1, 2, 3)),
    Timeline(name="unequal variation (1 and 10 %) and n (30 and n)", other_variation=10, unequal=True),
    Timeline(name="outliers (8 %, 20 to 60 % slower)", outlying_share=0.08),
)
