"""Throughputs of runs, one after the other, where nothing was changed: what servers and links do by themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
LEVEL = 100.0
"""The true throughput, in any unit; a deviation of 1 is 1 %."""
BASE_RUNS_WHERE_UNEQUAL = 30


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Of every ``period`` runs the first ``slow`` ones are slower: a flush every few puts, a job every few seconds."""

    period: int
    slow: int
    percent: float = 10.0

    def is_slow(self, random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Of consecutive runs, a row a trial; each trial begins anywhere in the rhythm."""
        phase = random.integers(self.period, size=(shape[0], 1))
        return np.asarray((np.arange(shape[1]) + phase) % self.period < self.slow)


@dataclass(frozen=True, slots=True)
class Hiccup:
    """One run that is slower by ``percent``, in one series of each of these sides (A the base, B the other, H earlier
    repeats)."""

    percent: float
    sides: str

    def slow_down(self, random: np.random.Generator, series: list[Values], sides: str) -> None:
        for side in self.sides:
            places = [place for place, letter in enumerate(sides) if letter == side]
            if not places:
                continue
            trials, runs = series[places[0]].shape
            hit_series = random.choice(places, size=trials)
            hit_run = random.integers(runs, size=(trials,))
            for place in places:
                hit = np.flatnonzero(hit_series == place)
                series[place][hit, hit_run[hit]] *= 1 - self.percent / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One way for runs to vary; its names are the rows of the table."""

    name: str
    lag_1: float = 0.0
    """Correlation of neighbouring runs, across series too."""
    drift: float = 0.0
    """Percent a run, all the time."""
    session: float = 0.0
    """Deviation between sessions, in percent; interleaved runs share one."""
    walk: float = 0.0
    """Deviation of the step that the level takes from series to series, for good, in percent."""
    other_variation: float = 1.0
    """Deviation of the other side's runs, in percent."""
    base_variation: float = 1.0
    """Deviation of the base's runs, in percent."""
    unequal: bool = False
    """Whether each base series has 30 runs, whatever the other has."""
    outlying_share: float = 0.0
    """The share of runs that are 20 to 60 % slower."""
    rhythm: Rhythm | None = None
    hiccup: Hiccup | None = None

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
        if self.rhythm:
            noise = np.where(self.rhythm.is_slow(random, shape), noise - self.rhythm.percent, noise)
        return noise

    def series(self, random: np.random.Generator, trials: int, sides: str, runs: int, change: float) -> list[Values]:
        """Whole series one after the other: for each letter of ``sides`` (A the base) an array, a row a trial."""
        lengths = [BASE_RUNS_WHERE_UNEQUAL if self.unequal and side == "A" else runs for side in sides]
        noise = self.runs(random, (trials, sum(lengths)))
        parts = np.split(noise, np.cumsum(lengths)[:-1], axis=1)
        level = np.full((trials, 1), LEVEL)
        made = []
        for side, part in zip(sides, parts, strict=True):
            session = self.session * random.standard_normal((trials, 1))
            if self.walk:
                level = level * np.exp(self.walk / 100 * random.standard_normal((trials, 1)))
            variation = self.base_variation if side in "AH" else self.other_variation
            made.append((level + variation * part + session) * (1 + change / 100 * (side == "B")))
        if self.hiccup:
            self.hiccup.slow_down(random, made, sides)
        return made

    def interleaved(self, random: np.random.Generator, trials: int, runs: int, change: float) -> tuple[Values, Values]:
        """Two interleaved series, each pair in random order, a row a trial each."""
        noise = self.runs(random, (trials, 2 * runs)) + self.session * random.standard_normal((trials, 1))
        first = noise[:, 0::2]
        second = noise[:, 1::2]
        base_first = drawn_orders(random, trials, runs)
        base = LEVEL + self.base_variation * np.where(base_first, first, second)
        other = (LEVEL + self.other_variation * np.where(base_first, second, first)) * (1 + change / 100)
        if self.hiccup:
            sides = [base, other]
            self.hiccup.slow_down(random, sides, "AB")
        return base, other


def drawn_orders(random: np.random.Generator, trials: int, pairs: int) -> NDArray[np.bool_]:
    """Whether the base comes first in each pair, a row a trial: as :func:`forms.stats.paired.drawn_order` draws it."""
    orders = random.random((trials, pairs)) < 0.5
    while len(uniform := np.flatnonzero(orders.all(axis=1) | ~orders.any(axis=1))):
        orders[uniform] = random.random((len(uniform), pairs)) < 0.5
    return orders


TIMELINES = (
    Timeline(name="independent"),
    *(Timeline(name=f"lag-1 {lag}", lag_1=lag) for lag in (0.3, 0.5, 0.8)),
    *(Timeline(name=f"drift {drift} % a run", drift=drift) for drift in (0.1, 0.25, 0.5, 1)),
    *(Timeline(name=f"session effect {effect} %", session=effect) for effect in (0.5, 1, 2, 3)),
    Timeline(name="unequal variation (1 and 10 %) and n (30 and n)", other_variation=10, unequal=True),
    Timeline(name="outliers (8 %, 20 to 60 % slower)", outlying_share=0.08),
    Timeline(name="one run of the base 40 % slower", hiccup=Hiccup(40, "A")),
    Timeline(name="one run of either side 40 % slower", hiccup=Hiccup(40, "AB")),
    Timeline(name="one earlier run 40 % slower", hiccup=Hiccup(40, "H")),
    *(
        Timeline(name=f"{slow} of every {period} runs 10 % slower", rhythm=Rhythm(period, slow))
        for period, slow in ((2, 1), (3, 1), (4, 1), (4, 2), (5, 1), (5, 2), (7, 3))
    ),
)
