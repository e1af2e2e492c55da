"""When a watch reports.

A check is judged by the rule of all verdicts, against the baseline's series; what would change the state is measured
again at once. Recovered: not slower than the baseline, or, if inconclusive, faster than the series that was slower.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from forms.comparison.comparison import Comparison
from forms.stats.decision import Limits, Verdict
from forms.stats.distributions import student_t
from storage.looks import Watch, WatchState
from storage.records import Series

BASELINE_NIGHTS = 3

NIGHT_SECONDS = 12 * 3600.0
"""Series at least this far apart are of different nights."""

FOUND_IN_ONE = 0.478
"""Standard errors at which one night finds 68.4 %, and one of two nights 9 in 10."""


class Outcome(StrEnum):
    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    UNDECIDED = "undecided"
    POSTPONED = "postponed"
    COLLECTED = "collected"
    UNMEASURABLE = "unmeasurable"


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
    """``needed`` of at most ``most`` series of one check have to agree; these are what ``--confirm`` usually is."""

    needed: int = 2
    most: int = 2

    def __str__(self) -> str:
        return f"{self.needed}/{self.most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    watch: Watch
    before: Watch
    outcome: Outcome
    comparison: Comparison | None = None
    series: Series | None = None
    nights: int = 0
    limits: Limits = field(default_factory=Limits)

    @property
    def changed(self) -> bool:
        return self.watch.standing is not self.before.told

    @property
    def smallest_percent(self) -> float | None:
        return smallest_slowdown_percent(self.comparison, self.limits) if self.comparison else None


def outcome_of(verdict: Verdict, against_slow: Verdict | None = None) -> Outcome:
    """``verdict`` against the baseline; ``against_slow`` against the series that showed the slowdown, if any."""
    if verdict is Verdict.SLOWER:
        return Outcome.SLOWER
    is_decided = verdict is not Verdict.UNKNOWN or against_slow is Verdict.FASTER
    return Outcome.NOT_SLOWER if is_decided else Outcome.UNDECIDED


def joint_outcome(
    outcomes: Sequence[Outcome], confirm: Confirm, *, slowed: bool, retries: bool = True
) -> Outcome | None:
    """What one check's series say together; None: measure another. ``retries``: the unmeasurable is tried once more."""
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
    can_still_agree = len(measured) - agreeing <= confirm.most - confirm.needed
    return None if can_still_agree else measured[-1]


def state_after(state: WatchState, outcome: Outcome, *, slowed: bool) -> WatchState:
    """The state that a check leaves; ``slowed``: a slowdown was reported and is not over."""
    match outcome:
        case Outcome.SLOWER:
            return WatchState.SLOWER
        case Outcome.UNMEASURABLE:
            return WatchState.UNMEASURABLE
        case Outcome.POSTPONED:
            return state
        case Outcome.UNDECIDED:
            return WatchState.SLOWER if slowed else WatchState.STEADY
        case Outcome.NOT_SLOWER | Outcome.COLLECTED:
            return WatchState.STEADY


def count_nights(all_series: Sequence[Series]) -> int:
    count = 0
    newest = -math.inf
    for moment in sorted(series.moment for series in all_series):
        if moment - newest >= NIGHT_SECONDS:
            count += 1
            newest = moment
    return count


def smallest_slowdown_percent(comparison: Comparison, limits: Limits) -> float | None:
    """The slowdown that one of two nights reports nine times in ten; None without an interval."""
    if comparison.interval_percent is None or comparison.variation is None:
        return None
    low, high = (math.log1p(end / 100) for end in comparison.interval_percent)
    half = (high - low) / 2
    error = half / student_t(comparison.limits.level, comparison.variation.freedom)
    noise = -math.log1p(-limits.noise_percent / 100) if limits.noise_percent < 100 else math.inf
    return -100 * math.expm1(-(max(half, noise) + FOUND_IN_ONE * error))
