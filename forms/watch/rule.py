"""When a watch reports that a path became slower, or recovered.

A *watch* measures one path again and again, mostly once a night; each time is a *check*. It measures a series, and
compares it with the *baseline*, the series of the first three nights, by the rule of all verdicts. What would change
what is reported is measured again at once, and has to agree (``--confirm``). A path has *recovered* where it is not
slower than the baseline or, where that is inconclusive, is faster than the series that showed the slowdown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from forms.comparison.comparison import Comparison
from forms.stats.decision import Limits, Verdict
from forms.stats.distributions import student_t
from storage.records import Series
from storage.watch.records import Watch, WatchState

BASELINE_NIGHTS = 3
"""The number of nights whose series are the baseline."""

NIGHT_SECONDS = 12 * 3600.0
"""Series at least this far apart are of different nights."""

FOUND_IN_ONE = 0.478
"""The normal quantile of 68.4 %: of two nights that each find a slowdown that often, one does so 9 times in 10."""


class Outcome(StrEnum):
    """What a series, or a whole check, says against the baseline."""

    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    UNDECIDED = "undecided"
    """The comparison is inconclusive."""
    POSTPONED = "postponed"
    """It was a busy time, so that nothing was measured, or what was measured decides nothing."""
    COLLECTED = "collected"
    """The baseline is not complete yet: the series is added to it, and nothing is compared."""
    UNMEASURABLE = "unmeasurable"
    """The path could not be measured."""


EXIT_CODES = {
    Outcome.SLOWER: 1,
    Outcome.NOT_SLOWER: 0,
    Outcome.UNDECIDED: 3,
    Outcome.POSTPONED: 3,
    Outcome.COLLECTED: 3,
    Outcome.UNMEASURABLE: 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """``needed`` of at most ``most`` series of one check have to agree; without ``--confirm`` it is these two."""

    needed: int = 2
    most: int = 2

    def __str__(self) -> str:
        return f"{self.needed}/{self.most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of a watch."""

    watch: Watch
    """The watch after it."""
    before: Watch
    """The watch before it."""
    outcome: Outcome
    comparison: Comparison | None = None
    """That with the baseline; None where nothing was compared."""
    series: Series | None = None
    """The last series of the check; None where nothing was measured."""
    nights: int = 0
    """The number of nights whose series are in the baseline."""
    limits: Limits = field(default_factory=Limits)
    """Those that were asked for."""

    @property
    def changed(self) -> bool:
        """Whether there is something to report: the standing is another than the one that was last reported."""
        return self.watch.standing is not self.before.told

    @property
    def smallest_percent(self) -> float | None:
        """The slowdown that one of two nights reports nine times in ten; None where nothing was compared."""
        return smallest_slowdown_percent(self.comparison, self.limits) if self.comparison else None


def outcome_of(verdict: Verdict, against_slow: Verdict | None = None) -> Outcome:
    """What one series says: by its verdict against the baseline, and that against the series that were slow, if any."""
    if verdict is Verdict.SLOWER:
        return Outcome.SLOWER
    is_decided = verdict is not Verdict.UNKNOWN or against_slow is Verdict.FASTER
    return Outcome.NOT_SLOWER if is_decided else Outcome.UNDECIDED


def joint_outcome(
    outcomes: Sequence[Outcome], confirm: Confirm, *, slowed: bool, retries: bool = True
) -> Outcome | None:
    """What the series of one check say together so far; None where another one has to be measured.

    ``slowed``: whether a slowdown was reported and is not over. ``retries``: whether a series that could not be
    measured is tried once more.
    """
    if Outcome.POSTPONED in outcomes:
        return Outcome.POSTPONED
    if outcomes[-1] is Outcome.UNMEASURABLE:
        may_try_again = retries and outcomes.count(Outcome.UNMEASURABLE) == 1
        return None if may_try_again else Outcome.UNMEASURABLE

    # Only what would change the state has to be confirmed.
    measured = [outcome for outcome in outcomes if outcome is not Outcome.UNMEASURABLE]
    first = measured[0]
    would_change = first is (Outcome.NOT_SLOWER if slowed else Outcome.SLOWER)
    if not would_change:
        return first

    agreeing = measured.count(first)
    if agreeing >= confirm.needed:
        return first
    # Of ``most`` series ``needed`` must agree, so that the others may differ; with more of these it is not confirmed.
    disagreeing = len(measured) - agreeing
    can_still_agree = disagreeing <= confirm.most - confirm.needed
    # The last series is the one that disagreed once too often: what it says does not change the state.
    return None if can_still_agree else measured[-1]


def standing_after(standing: WatchState, outcome: Outcome, *, slowed: bool) -> WatchState:
    """The standing that a check leaves, from that before it; ``slowed``: a slowdown was reported and is not over."""
    match outcome:
        case Outcome.SLOWER:
            return WatchState.SLOWER
        case Outcome.UNMEASURABLE:
            return WatchState.UNMEASURABLE
        case Outcome.POSTPONED:
            return standing
        case Outcome.UNDECIDED:
            return WatchState.SLOWER if slowed else WatchState.STEADY
        case Outcome.NOT_SLOWER | Outcome.COLLECTED:
            return WatchState.STEADY


def count_nights(all_series: Sequence[Series]) -> int:
    """The number of nights in which series were measured: each is at least ``NIGHT_SECONDS`` after the one before."""
    count = 0
    newest = -math.inf
    for moment in sorted(series.moment for series in all_series):
        if moment - newest >= NIGHT_SECONDS:
            count += 1
            newest = moment
    return count


def smallest_slowdown_percent(comparison: Comparison, limits: Limits) -> float | None:
    """The slowdown that one of two nights reports nine times in ten; None without an interval.

    As a logarithm it is the larger of half the interval (t · e) and the noise threshold, and 0.478 e more, with e the
    standard error of the change.
    """
    if comparison.interval_percent is None or comparison.variation is None:
        return None
    # The interval is half = t · e to each side of the change.
    low, high = (math.log1p(end / 100) for end in comparison.interval_percent)
    half = (high - low) / 2
    error = half / student_t(comparison.limits.level, comparison.variation.freedom)
    noise = -math.log1p(-limits.noise_percent / 100) if limits.noise_percent < 100 else math.inf
    return -100 * math.expm1(-(max(half, noise) + FOUND_IN_ONE * error))
