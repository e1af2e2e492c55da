"""How many runs a side show a change, and which change a number of runs shows: nine times in ten.

Both follow from the power of Student's t. With n runs a side, the standard error of the change is e = v / √n, with v
what the runs vary by (:class:`RunVariation`), and the interval is t(level, f) · e to each side, f degrees of freedom. A
change is found where its t exceeds that bound in nine of ten measurements, which the noncentral t distribution tells.
The *first look* is the measurement from which v is known. *The same* is shown where the interval lies in the margin.
"""

import math
import statistics as basic
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from forms.stats import distributions
from forms.stats.changes import pair_deviation
from forms.stats.decision import LEAST_RUNS, Limits

POWER = 0.9
"""How often a way to measure must show the change that it is said to show: nine times in ten."""

MOST_RUNS = 1000
"""A change that needs more runs a side is smaller than the set-up can show."""

_RANK_EFFICIENCY = 3 / math.pi
"""Efficiency of the rank test beside Student's t for normal runs (Pitman): runs count as that share of their number."""

_STEPS = 8
"""How many changes are looked at on each side of the one that was seen, to find the range of needed runs."""

_NORMAL_FREEDOM = 1e6
"""With as many degrees of freedom Student's t is the normal distribution."""

_NO_WEIGHT = 1e-14
"""Pairs of scales that weigh less change no digit of the sum."""

_CHANGE_LEVEL = 0.88
"""Level of the interval of the change. With it, and 80 % for the variation (:data:`_VARIATION_CHANCES`), the range of
needed runs holds in 85 % of first looks or more (TRUTH.md).
"""

_VARIATION_CHANCES = (0.9, 0.1)
"""Of chi-square, at both ends of the 80 % interval of the variation, the smaller variation first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVariation:
    """The variation of two sides' runs, in percent of the base's mean."""

    percent: float
    """Interleaved: v √r, with v the deviation of the ratio in pairs, as a share of it, and r the ratio of the averages:
    a change c is found by its logarithm, which is about c / √r. Else √(s_base² + s_other²), s the deviation of a side's
    runs.
    """
    runs: int
    """The runs a side from which it is known."""
    paired: bool
    """Whether the runs were interleaved, so that neighbours are compared."""

    def freedom(self, runs: int) -> int:
        """The degrees of freedom of that many runs a side, one less for each average: of the pairs, or of the sides."""
        return runs - 1 if self.paired else 2 * runs - 2

    def error(self, runs: int) -> float:
        """The standard error in percent of a change between that many runs a side: e = v / √(n · efficiency)."""
        efficiency = 1.0 if self.paired else _RANK_EFFICIENCY
        return self.percent / math.sqrt(runs * efficiency)


def run_variation(base: Sequence[float], other: Sequence[float], *, paired: bool) -> RunVariation | None:
    """The variation of two sides, ``paired`` if interleaved; None below two runs a side."""
    runs = min(len(base), len(other))
    if runs < 2:
        return None
    if paired:
        share = pair_deviation(base, other) * math.sqrt(basic.fmean(other) / basic.fmean(base))
    else:
        share = math.sqrt(basic.variance(base) + basic.variance(other)) / basic.fmean(base)
    return RunVariation(percent=100 * share, runs=runs, paired=paired)


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

    # f v² / true v² ~ chi-square(f), so that an end of the interval of the true v is v √(f / chi-square quantile).
    answers = []
    for chance in _VARIATION_CHANCES:
        spread = variation.percent * math.sqrt(freedom / distributions.chi_square_quantile(chance, freedom))
        possible_variation = replace(variation, percent=spread)
        answers += [needed_runs(change, possible_variation, limits) for change in changes]

    enough = [runs for runs in answers if runs is not None]
    fewest = min(enough, default=MOST_RUNS)
    most = max(enough) if len(enough) == len(answers) else None
    return fewest, most


def smallest_found_percent(variation: RunVariation, runs: int, limits: Limits) -> float:
    """The change in percent that is found nine times in ten, if this is exactly what runs vary by.

    It must be found beyond chance, and its average must come out beyond the noise threshold: with z the normal quantile
    of 90 %, noise + z · e.
    """
    freedom = variation.freedom(runs)
    error = variation.error(runs)
    bound = distributions.student_t(limits.level, freedom)
    beyond_chance = distributions.noncentral_t_shift(bound, freedom, POWER) * error

    # One-sided, hence the two-sided level 2 · power - 1.
    beyond_noise = limits.noise_percent + distributions.student_t(2 * POWER - 1, _NORMAL_FREEDOM) * error
    return max(beyond_noise, beyond_chance)


def smallest_promised_percent(variation: RunVariation, runs: int, limits: Limits) -> float:
    """:func:`smallest_found_percent`, but larger, as the first look may have varied less than runs do."""
    freedom = variation.freedom(runs)
    first_freedom = variation.freedom(variation.runs)
    error = variation.error(runs)
    beyond_noise = limits.noise_percent + distributions.student_t(2 * POWER - 1, first_freedom) * error
    return max(beyond_noise, _predictive_shift(freedom, first_freedom, limits.level) * error)


@cache
def _predictive_shift(freedom: int, first_freedom: int, level: float) -> float:
    """Errors, as the first look estimated them, of a change whose t exceeds its bound in a new test nine times in ten.

    Neither the first look's variation nor that of the new test is the true one: both are averaged over. With w1 and w2
    what these estimates are over the true deviation, and Φ the normal chance up to a value, it is the x at which the
    mean of Φ(x · w1 - t(level, f) · w2) is 90 %.
    """
    bound = distributions.student_t(level, freedom)
    # A quarter of the nodes of one scale averages as well, and takes a quarter of the time.
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

    Half the interval, and as far as the seen change lies from the true one, to either side: (t(level, f) + t(90 %, f))
    · e, both two-sided.
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
