"""When a watch reports: what a check found, what has to confirm it, and which state follows.

A check is judged by the rule of all verdicts, against the baseline's series, with the history of the path. What would
change the state is measured again at once. Recovered: not slower than the baseline, or, where that is inconclusive,
faster than the series that showed the slowdown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from forms.comparison.comparison import Comparison
from forms.comparison.verdict import moment
from forms.stats.decision import Limits, Verdict
from forms.stats.distributions import student_t
from storage.records import Series
from storage.watches import WatchState

BASELINE_NIGHTS = 3
NIGHT_SECONDS = 12 * 3600.0
"""Series at least this far apart are of different nights."""
FOUND_IN_ONE = 0.478
"""Standard errors at which one night finds 68.4 %, and one of two nights 9 in 10."""


class Outcome(StrEnum):
    """What one check says about the path."""

    SLOWER = "slower"
    NOT_SLOWER = "not slower"
    UNDECIDED = "undecided"
    POSTPONED = "postponed"
    COLLECTED = "collected"
    UNMEASURABLE = "unmeasurable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """``needed`` of at most ``most`` series have to agree."""

    needed: int = 2
    most: int = 2


def outcome_of(verdict: Verdict, against_slow: Verdict | None = None) -> Outcome:
    """``verdict`` against the baseline; ``against_slow`` against the series that showed the slowdown, if any."""
    if verdict is Verdict.SLOWER:
        return Outcome.SLOWER
    decided = verdict is not Verdict.UNKNOWN or against_slow is Verdict.FASTER
    return Outcome.NOT_SLOWER if decided else Outcome.UNDECIDED


def settled(outcomes: Sequence[Outcome], confirm: Confirm, *, slowed: bool, retries: bool = True) -> Outcome | None:
    """What the series of one check say together; None where another has to be measured.
    ``retries``: what cannot be measured is tried once more.
    """
    if Outcome.POSTPONED in outcomes:
        return Outcome.POSTPONED
    if outcomes[-1] is Outcome.UNMEASURABLE:
        again = retries and outcomes.count(Outcome.UNMEASURABLE) == 1
        return None if again else Outcome.UNMEASURABLE
    outcomes = [one for one in outcomes if one is not Outcome.UNMEASURABLE]
    first = outcomes[0]
    if first is not (Outcome.NOT_SLOWER if slowed else Outcome.SLOWER):
        return first
    agreeing = outcomes.count(first)
    if agreeing >= confirm.needed:
        return first
    return outcomes[-1] if len(outcomes) - agreeing > confirm.most - confirm.needed else None


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


def nights(series: Sequence[Series]) -> int:
    """The number of different nights of these series."""
    count, newest = 0, -math.inf
    for at in sorted(map(moment, series)):
        if at - newest >= NIGHT_SECONDS:
            count, newest = count + 1, at
    return count


def smallest_slowdown_percent(found: Comparison, limits: Limits) -> float | None:
    """The slowdown that one of two nights reports nine times in ten; None without an interval."""
    if found.interval_percent is None or found.variation is None:
        return None
    low, high = (math.log1p(end / 100) for end in found.interval_percent)
    half = (high - low) / 2
    error = half / student_t(found.limits.level, found.variation.freedom)
    noise = -math.log1p(-limits.noise_percent / 100) if limits.noise_percent < 100 else math.inf
    return -100 * math.expm1(-(max(half, noise) + FOUND_IN_ONE * error))
