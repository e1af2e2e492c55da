"""The decision on a change: faster, slower, the same, or not known and why; of plain sequences of throughputs.

The rule. Runs within a series never prove a change between series measured at different times: sessions differ, and
drift and dependence make a series' own scatter too small a yardstick (tests/truth, TRUTH.md). So:

- Runs that took turns (A B B A) are compared pair by pair: Student's t of the differences.
- Series that did not are compared as whole series: Student's t of their averages, with the variation between repeated
  series and its degrees of freedom (one-way random effects). Repeats are the series of either side, and those of
  ``history``. Without any there is no verdict. With two base series and one other (A B A) that is one degree of
  freedom: the change must exceed eleven times what the base moved.
- The scatter of the runs alone (Welch 1947) and the exact Mann-Whitney test must say the same; the interval that is
  told is the widest of all, so verdict and interval never disagree.
- Where the order in time would let a steady trend alone come halfway to a verdict (A A A B B B), the change must also
  stand beside a fitted trend.
- Fewer than four runs a side give no verdict; a change inside the noise threshold is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from forms.stats import change
from forms.stats.change import ChangeEstimate, Rates, Variation
from forms.stats.mann_whitney import mann_whitney_p, rank_shift
from forms.stats.summary import student_t

LEAST_RUNS = 4
"""The fewest runs a side for any verdict: three against three cannot reach 5 % by ranks."""

TREND_SHARE = 0.5
"""The share of a verdict from which on a steady trend alone counts as a rival explanation."""

APART_TIMES = 2
"""So many times what their runs explain must series lie apart for the runs not to be what is missing."""


class Verdict(StrEnum):
    """What the other side is against the base."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNKNOWN = "unknown"


class Doubt(StrEnum):
    """Why there is no verdict."""

    NO_RUNS = "no runs"
    FEW_RUNS = "few runs"
    NO_REPEATS = "no repeats"
    """One series a side and no history: how far equal series lie apart is not known."""
    WANDERED = "wandered"
    """The runs alone would say different, the variation between equal series takes it back."""
    TREND = "trend"
    """A steady trend over the series explains the change."""
    RANKS = "ranks"
    """Most runs went the other way than the average."""
    SCATTER = "scatter"
    """The runs scatter too much for a change of this size."""
    CONTRADICTED = "contradicted"
    """The claimed change is not what was made."""
    SAME_SETTINGS = "same settings"
    """A change was made and taken back: what is left is variation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What counts as a change, and how sure it has to be."""

    noise_percent: float = 1.0
    """A change inside ± this is no difference, however sure."""
    margin_percent: float = 5.0
    """The same: the change's interval lies inside ± this."""
    alpha: float = 0.05

    @property
    def level(self) -> float:
        """Of the interval that goes with ``alpha``."""
        return 1 - self.alpha


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDecision:
    """The verdict on a change with the figures that it rests on; absent ones mean too few runs or series for them."""

    verdict: Verdict
    doubt: Doubt | None = None
    """Absent where there is a verdict."""
    change_percent: float | None = None
    interval_percent: tuple[float, float] | None = None
    """(low, high) of the change, the widest that the rule needs; None where only repeats could tell."""
    runs_interval_percent: tuple[float, float] | None = None
    """(low, high) by the runs' scatter alone: how far these very series differ."""
    t_p_value: float | None = None
    """The largest p of Student's t tests that the verdict needs."""
    variation: Variation | None = None
    """Between equal series, where any were repeated."""
    in_turns: bool = False


def decide(
    base: Sequence[Rates],
    other: Sequence[Rates],
    *,
    positions: Sequence[int] | None = None,
    history: Sequence[Sequence[Rates]] = (),
    limits: Limits | None = None,
) -> ChangeDecision:
    """The other series against the base series, each a sequence of its runs' throughputs.

    ``positions`` are the places in time of the base's series and then of the other's, 0 for the first of all; without
    them the base came first. ``history`` are groups of repeated series, each of equal settings within itself.
    """
    limits = limits or Limits()
    places = list(positions) if positions is not None else list(range(len(base) + len(other)))
    short = _too_few(base, other)
    if short:
        return short
    runs = change.within_series(base, other)
    found = change.variation([base, other, *history])
    told = change.log_change(base, other)
    alone = runs.interval_percent(limits.level) if runs else None
    if found is None:
        return ChangeDecision(
            verdict=Verdict.UNKNOWN,
            doubt=Doubt.NO_REPEATS,
            change_percent=change.percent_of(told),
            runs_interval_percent=alone,
            t_p_value=runs.p_value if runs else None,
        )
    series = change.between_series(base, other, found)
    needed = [series, *([runs] if runs else [])]
    trend = _rival_trend(base, other, places, found, limits)
    interval = _widest([*needed, *([trend] if trend else [])], limits.level)
    verdict = _verdict(interval, told, _joined(base), _joined(other), limits)
    doubt = None
    if verdict is Verdict.UNKNOWN:
        doubt = _doubt(needed, trend, told, _joined(base), _joined(other), limits)
    return ChangeDecision(
        verdict=verdict,
        doubt=doubt,
        change_percent=change.percent_of(told),
        interval_percent=interval,
        runs_interval_percent=alone,
        t_p_value=max(one.p_value for one in (*needed, *([trend] if trend else []))),
        variation=found,
    )


def decide_in_turns(base: Rates, other: Rates, *, limits: Limits | None = None) -> ChangeDecision:
    """The other series against the base, both of as many runs, ``base[i]`` measured beside ``other[i]``."""
    limits = limits or Limits()
    short = _too_few([base], [other])
    if short:
        return short
    pairs = change.in_turns(base, other)
    assert pairs
    interval = pairs.interval_percent(limits.level)
    told = change.percent_of(pairs.log_change)
    more = sum(1 if b > a else -1 if b < a else 0 for a, b in zip(base, other, strict=True))
    verdict, doubt = Verdict.UNKNOWN, None
    if _excludes_zero(interval) and abs(told) > limits.noise_percent:
        if more * told > 0:
            verdict = Verdict.FASTER if told > 0 else Verdict.SLOWER
        else:
            doubt = Doubt.RANKS
    elif _inside(interval, limits.margin_percent):
        verdict = Verdict.SAME
    else:
        doubt = Doubt.SCATTER
    return ChangeDecision(
        verdict=verdict,
        doubt=doubt,
        change_percent=told,
        interval_percent=interval,
        runs_interval_percent=interval,
        t_p_value=pairs.p_value,
        in_turns=True,
    )


def holm(p_values: Sequence[float], alpha: float) -> list[float]:
    """The alpha at which each of several tests is to be decided, so that all together are wrong in ``alpha`` at most.

    Holm 1979: the smallest p at alpha / m, the next at alpha / (m - 1), and so on; from the first that fails on, all
    at that one's.
    """
    levels = [alpha] * len(p_values)
    failed: float | None = None
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        level = alpha / (len(p_values) - rank) if failed is None else failed
        if failed is None and p_values[index] >= level:
            failed = level
        levels[index] = level
    return levels


def _too_few(base: Sequence[Rates], other: Sequence[Rates]) -> ChangeDecision | None:
    counts = [sum(len(rates) for rates in side) for side in (base, other)]
    if min(counts) == 0 or any(not rates for side in (base, other) for rates in side):
        return ChangeDecision(verdict=Verdict.UNKNOWN, doubt=Doubt.NO_RUNS)
    if min(counts) < LEAST_RUNS:
        runs = change.within_series(base, other)
        return ChangeDecision(
            verdict=Verdict.UNKNOWN,
            doubt=Doubt.FEW_RUNS,
            change_percent=change.percent_of(change.log_change(base, other)),
            runs_interval_percent=runs.interval_percent(0.95) if runs else None,
        )
    return None


def _rival_trend(
    base: Sequence[Rates], other: Sequence[Rates], places: Sequence[int], found: Variation, limits: Limits
) -> ChangeEstimate | None:
    """The change beside a fitted trend, where the order in time makes a trend a rival explanation; else None."""
    score = change.steady_trend_score(places, len(base), found)
    if len(places) < 4 or score <= TREND_SHARE * student_t(limits.level, found.freedom):
        return None
    return change.beside_trend(base, other, places, found)


def _verdict(
    interval: tuple[float, float], told: float, base: Sequence[float], other: Sequence[float], limits: Limits
) -> Verdict:
    if _excludes_zero(interval) and abs(change.percent_of(told)) > limits.noise_percent:
        agreed = rank_shift(base, other) * told > 0 and mann_whitney_p(base, other) < limits.alpha
        if agreed:
            return Verdict.FASTER if told > 0 else Verdict.SLOWER
        return Verdict.UNKNOWN
    return Verdict.SAME if _inside(interval, limits.margin_percent) else Verdict.UNKNOWN


def _doubt(
    needed: Sequence[ChangeEstimate],
    trend: ChangeEstimate | None,
    told: float,
    base: Sequence[float],
    other: Sequence[float],
    limits: Limits,
) -> Doubt:
    """What is missing: more runs where those of these very series would not tell, more series where they would."""
    runs = needed[-1].interval_percent(limits.level)
    different = _excludes_zero(runs) and abs(change.percent_of(told)) > limits.noise_percent
    apart = needed[0].error > APART_TIMES * needed[-1].error
    if not (different or apart or _inside(runs, limits.margin_percent)):
        return Doubt.SCATTER
    if different and rank_shift(base, other) * told <= 0:
        return Doubt.RANKS
    if trend and _excludes_zero(_widest(needed, limits.level)):
        return Doubt.TREND
    return Doubt.WANDERED if len(needed) > 1 else Doubt.SCATTER


def _widest(estimates: Sequence[ChangeEstimate], level: float) -> tuple[float, float]:
    intervals = [one.interval_percent(level) for one in estimates]
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def _joined(side: Sequence[Rates]) -> list[float]:
    return [rate for rates in side for rate in rates]


def _excludes_zero(interval: tuple[float, float]) -> bool:
    return interval[0] > 0 or interval[1] < 0


def _inside(interval: tuple[float, float], margin_percent: float) -> bool:
    return -margin_percent <= interval[0] and interval[1] <= margin_percent
