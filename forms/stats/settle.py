"""What each way to measure shows nine times in ten, and which would settle a comparison."""

import math
import statistics as basic
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from itertools import product

from forms.stats import distributions
from forms.stats.changes import percent_of
from forms.stats.decision import LEAST_RUNS, Limits
from forms.stats.summary import LEVEL
from forms.stats.variation import LEAST_ALTERNATING, RunVariance, side_run_variance, updated_prior

POWER = 0.9
"""How often a way to measure must show the change that it is said to show: nine times in ten."""

MOST_RUNS = 1000
"""A change that needs more runs a side is smaller than the set-up can show."""

SWITCH_SECONDS = 1.5
"""About what it takes to set a value, prove it and connect."""

_RANK_EFFICIENCY = 3 / math.pi
"""Efficiency of the rank test beside Student's t for normal runs (Pitman)."""

_STEPS = 8
"""Changes that are looked at on each side of the one that was seen."""

_NO_WEIGHT = 1e-14
"""Pairs of scales that weigh less change no digit of the sum."""

_CHANGE_LEVEL = 0.88
"""With it, and 80 % for the variation, the range holds in 85 % of first looks or more (TRUTH.md)."""


def slot_seconds(run_seconds: float) -> float:
    """How long one value of a trial takes: the change, a warm-up and a run."""
    return 2 * run_seconds + SWITCH_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVariation:
    """The variation of two sides' runs, in percent of the base's mean."""

    percent: float
    """Of pair differences, or the root of the sum of both variances."""
    runs: int
    """The runs a side from which it is known."""
    paired: bool
    """Whether the runs were interleaved, so that neighbours are compared."""

    def freedom(self, runs: int) -> int:
        """The degrees of freedom of that many runs a side, one less for each average: of the pairs, or of the sides."""
        return runs - 1 if self.paired else 2 * runs - 2

    def error(self, runs: int) -> float:
        """The standard error in percent of a change between that many runs a side."""
        efficiency = 1.0 if self.paired else _RANK_EFFICIENCY
        return self.percent / math.sqrt(runs * efficiency)


def run_variation(base: Sequence[float], other: Sequence[float], *, paired: bool) -> RunVariation | None:
    """The variation of two sides, ``paired`` if interleaved; None below two runs a side."""
    runs = min(len(base), len(other))
    if runs < 2:
        return None
    if paired:
        spread = basic.stdev(changed - unchanged for unchanged, changed in zip(base, other, strict=True))
    else:
        spread = math.sqrt(basic.variance(base) + basic.variance(other))
    return RunVariation(percent=100 * spread / basic.fmean(base), runs=runs, paired=paired)


def needed_runs(change_percent: float, variation: RunVariation, limits: Limits) -> int | None:
    """Runs a side that find the change or show the same, nine times in ten; None above ``MOST_RUNS``."""
    change = abs(change_percent)

    def find_change(runs: int) -> bool:
        return smallest_found_percent(variation, runs, limits) <= change

    def show_the_same(runs: int) -> bool:
        return _room_for_the_same(variation, runs, limits) <= limits.margin_percent - change

    answers = (_fewest_runs(find_change), _fewest_runs(show_the_same))
    return min((runs for runs in answers if runs is not None), default=None)


def needed_range(change_percent: float, variation: RunVariation, limits: Limits) -> tuple[int, int | None]:
    """(fewest, most) runs a side, if the true variation and the true change are not those of the first look.

    The variation lies in its 80 % interval (chi-square), the change in its 88 % interval (Student's t). None for the
    most: no number may be enough.
    """
    freedom = variation.freedom(variation.runs)
    half = distributions.student_t(_CHANGE_LEVEL, freedom) * variation.error(variation.runs)
    changes = {abs(change_percent + half * step / _STEPS) for step in range(-_STEPS, _STEPS + 1)}
    # Where there may be no change at all, it must be shown that there is none.
    if abs(change_percent) <= half:
        changes.add(0.0)

    # Both ends of the 80 % interval of the variation, the smaller first.
    answers = []
    for share in (0.9, 0.1):
        spread = variation.percent * math.sqrt(freedom / distributions.chi_square_quantile(share, freedom))
        possible_variation = replace(variation, percent=spread)
        answers += [needed_runs(change, possible_variation, limits) for change in changes]

    enough = [runs for runs in answers if runs is not None]
    fewest = min(enough, default=MOST_RUNS)
    most = max(enough) if len(enough) == len(answers) else None
    return fewest, most


def smallest_found_percent(variation: RunVariation, runs: int, limits: Limits) -> float:
    """The change found nine times in ten at exactly this variation.

    It must be found beyond chance, and its average must come out beyond the noise threshold.
    """
    freedom = variation.freedom(runs)
    error = variation.error(runs)
    bound = distributions.student_t(limits.level, freedom)
    beyond_chance = distributions.noncentral_t_shift(bound, freedom, POWER) * error

    # One-sided, hence 2 · power - 1; with as many degrees of freedom Student's t is the normal distribution.
    beyond_noise = limits.noise_percent + distributions.student_t(2 * POWER - 1, 1e6) * error
    return max(beyond_noise, beyond_chance)


def smallest_promised_percent(variation: RunVariation, runs: int, limits: Limits) -> float:
    """:func:`smallest_found_percent` that allows for first looks that happened to vary little."""
    freedom = variation.freedom(runs)
    first_freedom = variation.freedom(variation.runs)
    error = variation.error(runs)
    beyond_noise = limits.noise_percent + distributions.student_t(2 * POWER - 1, first_freedom) * error
    return max(beyond_noise, _predictive_shift(freedom, first_freedom, limits.level) * error)


@cache
def _predictive_shift(freedom: int, first_freedom: int, level: float) -> float:
    """Errors, as the first look estimated them, of a change whose t exceeds its bound in a new test nine times in ten.

    Neither the first look's variation nor that of the new test is the true one: both are averaged over.
    """
    bound = distributions.student_t(level, freedom)
    new_scales = distributions.scale_nodes(freedom)[::4]
    terms = []
    for (first_scale, first_weight), (new_scale, new_weight) in product(
        distributions.scale_nodes(first_freedom), new_scales
    ):
        weight = first_weight * new_weight
        if weight > _NO_WEIGHT:
            terms.append((first_scale, bound * new_scale, weight))
    total = math.fsum(weight for *_, weight in terms)
    return distributions.shift_with_power(POWER, [(factor, at, weight / total) for factor, at, weight in terms])


def _room_for_the_same(variation: RunVariation, runs: int, limits: Limits) -> float:
    """How far within the margin, in percent, a change must lie to be shown as the same nine times in ten.

    Half the interval, and as far as the average comes out elsewhere, to either side.
    """
    freedom = variation.freedom(runs)
    errors_of_interval = distributions.student_t(limits.level, freedom)
    errors_of_average = distributions.student_t(POWER, freedom)
    return (errors_of_interval + errors_of_average) * variation.error(runs)


def _fewest_runs(are_enough: Callable[[int], bool]) -> int | None:
    """The fewest runs a side that are enough, where more are so too; None above ``MOST_RUNS``."""
    if not are_enough(MOST_RUNS):
        return None

    too_few = LEAST_RUNS - 1
    enough = MOST_RUNS
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if are_enough(middle):
            enough = middle
        else:
            too_few = middle
    return enough


_NINE_IN_TEN = 1.2816
"""The normal quantile of 90 %."""

UNKNOWN_SESSION = 0.005
"""Assumed difference between sessions where there are no repeats yet."""

MOST_ALTERNATING = 10
"""More alternating series a side are not advised."""

LEAST_INTERLEAVED = 5
"""Fewer interleaved runs a side are not advised to settle a comparison of series."""

MOST_INTERLEAVED = 60
"""More of them are not advised either."""

PAIRS = (8, 14, 20)
"""The numbers of pairs after which a trial may decide."""

_SHOWN_BY_PAIRS = (
    (0.0, (1.0, 1.0, 1.0)),
    (0.1, (1.1, 1.1, 1.1)),
    (0.3, (1.4, 1.2, 1.2)),
    (1.0, (2.5, 1.8, 1.6)),
    (2.0, (5.0, 3.5, 2.6)),
    (5.0, (13.0, 9.0, 6.4)),
    (10.0, (27.0, 19.0, 13.0)),
)
"""(run variation in percent, changes that 8, 14 and 20 pairs find) (tests/truth)."""
_SAME_BY_PAIRS = (0.5, 2.0, 3.0)
"""Run variation in percent up to which 8, 14 and 20 pairs show the same."""


class Way(StrEnum):
    """What to measure so that a comparison is settled."""

    TRY = "try"
    """A trial, which changes the server and restores it."""
    INTERLEAVED = "interleaved"
    """Two series with interleaved runs, which differ in what this client is told."""
    BASE_AGAIN = "base again"
    """One more series of the base."""
    ALTERNATING = "alternating"
    """Series of both sides in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settles:
    """A way that settles it nine times in ten if the observed change is real."""

    way: Way
    count: int
    """How many: pairs of a trial, interleaved runs a side, or further series of both sides together."""
    shows_percent: float
    """The smallest change that it shows nine times in ten."""


def shown_by_series(
    runs: RunVariance, *, base: int = 1, other: int = 1, repeats: float = 0.0, spread: float = 0.0
) -> float:
    """The change in percent that whole series show, by the variation that ``compare`` judges them by.

    ``runs`` is what their runs vary by, ``repeats`` the degrees of freedom of repeated series, which differ by
    ``spread``, as does the change that is seen.
    """

    def least_shown(luck: float) -> float:
        unlucky = RunVariance(runs.variance * luck, runs.freedom)
        judged_by = updated_prior(unlucky, repeats, repeats * spread**2)
        return judged_by.least_shown(base, other, LEVEL)

    usual = least_shown(1.0)
    # What the runs turn out to vary by in nine of ten comparisons at most.
    wide = least_shown(distributions.chi_square_quantile(0.9, runs.freedom) / runs.freedom) if runs.freedom else usual
    error = spread * math.sqrt(1 / base + 1 / other)
    return percent_of(usual + math.hypot(wide - usual, _NINE_IN_TEN * error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The changes in percent that measuring like this finds nine times in ten."""

    series_percent: float
    pairs_percent: float


def shown_like(rates: Sequence[float]) -> Shown | None:
    """What series like this one show; None for fewer runs than a verdict needs."""
    if len(rates) < LEAST_RUNS or min(rates) <= 0:
        return None
    runs = side_run_variance([[rates], [rates]])
    run_deviation = math.sqrt(runs.variance)
    series = shown_by_series(runs, spread=run_deviation / math.sqrt(len(rates)))
    return Shown(series_percent=series, pairs_percent=shown_by_pairs(run_deviation))


def shown_by_alternating(spread: float, series: int, limits: Limits) -> float:
    """The change in percent that alternating series show, ``series`` a side, which differ by ``spread``."""
    # One less for the average of each side.
    freedom = 2 * series - 2
    error = spread * math.sqrt(2 / series)
    bound = distributions.student_t(limits.level, freedom)
    beyond_chance = distributions.noncentral_t_shift(bound, freedom, POWER) * error
    return max(percent_of(beyond_chance), limits.noise_percent + 100 * _NINE_IN_TEN * error)


def shown_by_pairs(run_deviation: float, pairs: int = PAIRS[0]) -> float:
    """The change in percent that 8, 14 or 20 pairs of a trial show."""
    column = PAIRS.index(pairs)
    percent = 100 * run_deviation

    # Between two rows of the table in proportion; beyond the last as its last two rows continue.
    place = min(bisect([row[0] for row in _SHOWN_BY_PAIRS], percent), len(_SHOWN_BY_PAIRS) - 1)
    low, below = _SHOWN_BY_PAIRS[place - 1]
    high, above = _SHOWN_BY_PAIRS[place]
    share = (percent - low) / (high - low)
    return below[column] + share * (above[column] - below[column])


def by_pairs(change_percent: float, run_deviation: float, limits: Limits) -> Settles | None:
    """The fewest pairs of a trial that settle it; None where 20 do not."""
    for pairs, most_deviation_percent in zip(PAIRS, _SAME_BY_PAIRS, strict=True):
        shows_percent = shown_by_pairs(run_deviation, pairs)
        finds_change = shows_percent <= abs(change_percent)
        is_noise = abs(change_percent) <= limits.noise_percent
        shows_the_same = is_noise and 100 * run_deviation <= most_deviation_percent
        if finds_change or shows_the_same:
            return Settles(way=Way.TRY, count=pairs, shows_percent=shows_percent)
    return None


def by_interleaved_runs(change_percent: float, run_deviation: float, limits: Limits) -> Settles | None:
    """The fewest interleaved runs a side that settle it; None where ``MOST_INTERLEAVED`` do not."""
    # Pair differences vary as both sides together do; each side varies in proportion to its average.
    difference_percent = 100 * run_deviation * math.hypot(1, 1 + change_percent / 100)
    variation = RunVariation(percent=difference_percent, runs=LEAST_INTERLEAVED, paired=True)
    runs = needed_runs(change_percent, variation, limits) or MOST_RUNS
    if runs > MOST_INTERLEAVED:
        return None
    return Settles(way=Way.INTERLEAVED, count=max(LEAST_INTERLEAVED, runs), shows_percent=abs(change_percent))


def by_base_again(
    change_percent: float, runs: RunVariance, *, base: int, other: int, repeats: float, spread: float
) -> Settles | None:
    """One more series of the base; None where it does not settle it. The numbers are those that there are now."""
    shows_percent = shown_by_series(runs, base=base + 1, other=other, repeats=repeats + 1, spread=spread)
    if shows_percent > abs(change_percent):
        return None
    return Settles(way=Way.BASE_AGAIN, count=1, shows_percent=shows_percent)


def by_alternating(change_percent: float, spread: float, limits: Limits, *, have: int) -> Settles | None:
    """The fewest alternating series that settle it, less those that count already."""
    for series in range(LEAST_ALTERNATING, MOST_ALTERNATING + 1):
        shows_percent = shown_by_alternating(spread, series, limits)
        freedom = 2 * series - 2
        half = distributions.student_t(limits.level, freedom) * spread * math.sqrt(2 / series)
        # Half the interval, as nine in ten such measurements estimate it at most: an estimated deviation is off by
        # 1 / √(2 · freedom) of itself.
        room = 100 * (1 + _NINE_IN_TEN / math.sqrt(2 * freedom)) * half

        finds_change = shows_percent <= abs(change_percent)
        shows_the_same = room <= limits.margin_percent - abs(change_percent)
        if (finds_change or shows_the_same) and 2 * series > have:
            return Settles(way=Way.ALTERNATING, count=2 * series - have, shows_percent=shows_percent)
    return None
