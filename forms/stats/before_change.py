"""Before a change: the smallest change that a base will show, as it stands and with more series of it.

After the change nobody can come back to the base, so what it lacks has to be measured before. ``compare`` will judge
the base and one later series by the variation of :mod:`forms.stats.variation`. Of that, something is known already (the
runs and repeats of the base, the path's history), and the rest is still to come (the runs of the later series, and of
repeats that are measured first). The change that is told is found nine times in ten over what may come:

1. The true deviation s of the runs is that of the known runs over r, where r² is chi-square(f) / f of their f.
2. The runs to come have the variance (s u)², where u² is chi-square(g) / g of their g degrees of freedom.
3. Equal series differ by √(session² + s² / n), n runs each. Repeats to come count in the rule with that.
4. A change of x is found where what is seen of it, normal around x, exceeds half the interval that the rule then gives.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from forms.stats import distributions, needed_runs, variation
from forms.stats.changes import percent_of
from forms.stats.readings import read_series
from forms.stats.summary import LEVEL
from forms.stats.variation import RunVariance, SeriesGroup

USUAL_GAP_SECONDS = 30 * 60.0
"""From the last series of the base to the series after the change, where nobody says how long that takes."""

ENOUGH_SERIES = 3
"""A base of as many is not asked for more: each further one costs a wait, and shows hardly less."""

SPACING_SECONDS = 10 * 60.0
"""From one repeat to the next, where they are to tell how far the path itself moves."""

SESSION_DEVIATION = 0.02
"""How far equal series are taken to differ besides their runs, as a logarithm: the most up to which verdicts are held
to their false alarms (TRUTH.md). With less, a path that moves would show less than promised."""

_NODE_STEP = 8
"""Every eighth node of a scale is enough for four digits of the answer."""

_NO_WEIGHT = 1e-9
"""Pairs of scales that weigh less change none of those digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPlan:
    """More series of the base, and what it shows with them."""

    series: int
    spacing_seconds: float
    """From the begin of one to the begin of the next."""
    shows_percent: float
    """The smallest change that is found nine times in ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BasePower:
    """What a base shows after a change."""

    series: int
    """How many series the base has."""
    shows_percent: float
    """The smallest change that is found nine times in ten by one later series."""
    plans: tuple[RepeatPlan, ...] = ()
    """What is worth measuring before the change, the shortest first; each shows less than the one before."""


def base_power(
    base: SeriesGroup,
    history: Sequence[SeriesGroup] = (),
    *,
    series_seconds: float,
    gap_seconds: float = USUAL_GAP_SECONDS,
) -> BasePower | None:
    """What the base shows, ``gap_seconds`` later; None where its runs are too few for any verdict.

    ``history`` are earlier groups of equal series of the path, and ``series_seconds`` is what one series takes.
    """
    as_it_is = _Outlook(base=base, history=history, gap_seconds=gap_seconds)
    shows_percent = _shown_percent(as_it_is)
    if shows_percent is None:
        return None

    # No plan is left out because it gains little: the bases that would then get one are those whose runs happened to
    # agree, and they would show less than they are promised.
    plans: list[RepeatPlan] = []
    least_shown = shows_percent
    missing = ENOUGH_SERIES - len(base.series)
    spacings = sorted({series_seconds, max(series_seconds, SPACING_SECONDS)}) if missing > 0 else []
    for spacing_seconds in spacings:
        shown = _shown_percent(replace(as_it_is, more=missing, spacing_seconds=spacing_seconds))
        if shown is not None and shown < least_shown:
            plans.append(RepeatPlan(series=missing, spacing_seconds=spacing_seconds, shows_percent=shown))
            least_shown = shown
    return BasePower(series=len(base.series), shows_percent=shows_percent, plans=tuple(plans))


@dataclass(frozen=True, slots=True)
class _Repeats:
    """What repeats tell of the variation between equal series, weighted as the rule weighs them."""

    freedom: float = 0.0
    squares: float = 0.0
    freedom_to_come: float = 0.0
    """Of the repeats that are not measured yet, included in ``freedom``; each adds one variance to the squares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outlook:
    """A base with ``more`` series to come, and one series after the change."""

    base: SeriesGroup
    history: Sequence[SeriesGroup]
    gap_seconds: float
    more: int = 0
    spacing_seconds: float = 0.0

    @property
    def times(self) -> list[float]:
        last = max(self.base.times)
        return [*self.base.times, *(last + self.spacing_seconds * (number + 1) for number in range(self.more))]

    @property
    def later_at(self) -> float:
        return max(self.times) + self.gap_seconds

    @property
    def runs_a_series(self) -> int:
        return len(self.base.series[-1])

    @property
    def known_runs(self) -> RunVariance:
        return variation.pooled_run_variance(self.base.series)

    @property
    def freedom_to_come(self) -> int:
        """The degrees of freedom of the runs that are not measured yet: of each series its runs less one."""
        return (self.more + 1) * (self.runs_a_series - 1)

    def run_variance(self, variance_to_come: float) -> RunVariance:
        """The mean of both sides' variances, as the rule takes it, if the runs to come have this one."""
        known = self.known_runs
        base_freedom_to_come = self.more * (self.runs_a_series - 1)
        base_freedom = known.freedom + base_freedom_to_come
        base_squares = known.variance * known.freedom + variance_to_come * base_freedom_to_come

        both_sides = statistics.fmean([base_squares / base_freedom, variance_to_come])
        # Of the side that has less, doubled, since both sides contribute.
        return RunVariance(both_sides, 2 * min(base_freedom, self.runs_a_series - 1))

    def repeats_of_base(self) -> _Repeats:
        share = self._weight(replace(self.base, times=self.times))
        averages = [read_series(rates).log_average for rates in self.base.series]
        return _Repeats(
            freedom=share * (len(self.times) - 1),
            squares=share * variation.squared_deviations(averages),
            freedom_to_come=share * self.more,
        )

    def repeats_of_history(self) -> _Repeats:
        freedom = squares = 0.0
        for group in self.history:
            share = self._weight(group)
            freedom += share * (len(group.series) - 1)
            squares += share * variation.squared_deviations([read_series(rates).log_average for rates in group.series])
        return _Repeats(freedom=freedom, squares=squares)

    def _weight(self, group: SeriesGroup) -> float:
        """What the repeats of a group count, 0 to 1: less where they are old, or closer in time than the sides."""
        between_sides = self.later_at - statistics.fmean(self.times)
        return variation.weight(group, between_sides, self.later_at)


def _shown_percent(outlook: _Outlook) -> float | None:
    """The smallest change that the base shows nine times in ten; None where no verdict could be given."""
    known = outlook.known_runs
    # The rule doubles the freedom of the side that has less, and needs more than two for a variance.
    if known.freedom <= 1:
        return None

    no_runs = RunVariance(0.0, 0.0)
    of_base = outlook.repeats_of_base()
    by_sides = _shift(outlook, known, no_runs, of_base)
    if not outlook.history:
        return by_sides

    earlier = variation.usual_run_variance([rates for group in outlook.history for rates in group.series])
    of_history = outlook.repeats_of_history()
    of_both = replace(
        of_base, freedom=of_base.freedom + of_history.freedom, squares=of_base.squares + of_history.squares
    )
    together = _shift(outlook, variation.pooled_variance(known, earlier), earlier, of_both)

    # As in the rule, earlier series only ever help, unless they differ by more than the sides alone allow for.
    sides_now = variation.updated_prior(outlook.run_variance(known.variance), of_base.freedom, of_base.squares)
    if of_history.squares > of_history.freedom * sides_now.variance:
        return together
    return min(by_sides, together)


def _shift(outlook: _Outlook, known: RunVariance, earlier: RunVariance, repeats: _Repeats) -> float:
    """The change in percent that is found nine times in ten, by ``known`` runs of which some are ``earlier`` ones.

    Step 4: the x at which the mean of Φ((x - bound) / e) over all pairs of scales is 90 %.
    """
    terms = [*_terms(outlook, known, earlier, repeats)]
    total = math.fsum(weight for *_, weight in terms)
    normed_terms = [(factor, bound, weight / total) for factor, bound, weight in terms]
    return percent_of(distributions.shift_with_power(needed_runs.POWER, normed_terms))


def _terms(
    outlook: _Outlook, known: RunVariance, earlier: RunVariance, repeats: _Repeats
) -> Iterator[tuple[float, float, float]]:
    """(1 / e, bound / e, weight) of each pair of scales, where e is the standard error of the change that is seen."""
    base_series = len(outlook.times)
    critical = distributions.student_t(LEVEL, variation.PRIOR_FREEDOM + repeats.freedom)
    known_scales = distributions.scale_nodes(known.freedom)[::_NODE_STEP]
    scales_to_come = distributions.scale_nodes(outlook.freedom_to_come)[::_NODE_STEP]

    for (known_scale, known_weight), (scale, scale_weight) in product(known_scales, scales_to_come):
        weight = known_weight * scale_weight
        if weight < _NO_WEIGHT:
            continue

        true_variance = known.variance / known_scale**2
        series_variance = SESSION_DEVIATION**2 + true_variance / outlook.runs_a_series
        runs = variation.pooled_variance(outlook.run_variance(true_variance * scale**2), earlier)
        squares = repeats.squares + repeats.freedom_to_come * series_variance
        judged_by = variation.updated_prior(runs, repeats.freedom, squares)

        error = math.sqrt(series_variance * (1 / base_series + 1))
        bound = critical * judged_by.error(base_series, 1)
        yield 1 / error, bound / error, weight
