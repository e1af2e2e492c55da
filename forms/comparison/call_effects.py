"""What each call of smbd takes on two sides, and how much of the difference is sure.

A *side* is a recording of several rounds, each with a profile of smbd: how often it made each call of the operating
system, and how long those calls took. Everything is counted per *unit*, a create or an open, so that rounds of any
length are comparable. The time of a call can change in two ways, which are judged apart: by the number of calls, and by
the time of each. A machine that is slower or busier lengthens all calls alike; that *overall slowdown* is taken out.
"""

import math
import statistics as basic
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from forms.stats.changes import within_series
from forms.stats.readings import plain_reading
from forms.stats.summary import confidence_interval

OWN = "smbd itself"
"""The name of smbd's own work: its processor time. Where a side has none, it is the time of requests beyond all calls,
waits for a processor included.
"""

LEVEL = 0.99
"""Of each interval: there are many calls. 30 of 380 pairs of the few equal recordings it was chosen on blamed one."""

LEAST_ROUNDS = 3
"""Fewer rounds on a side give no interval: the whole change is told then (:func:`effect_without_interval`)."""

_SESSION = 0.25
"""By how much the time of a call differs between equal recordings, as a logarithm, beside what rounds differ by."""

_PROCESSOR_SESSION = 0.05
"""The same of smbd's processor time: of 94 equal pairs none blamed it, nor would any at 0.02."""

_FASTEST_SHARE = 0.6
"""The share of the rounds, the fastest ones, whose times count."""

_MOST_FREEDOM = 1000.0
"""Degrees of freedom from which Student's t is the normal distribution for all that matters here."""

_OFTEN = 0.1
"""Calls per unit from which a call tells how fast the machine is."""


class CallUse(NamedTuple):
    """What one call took in one round, per unit."""

    calls: float
    seconds: float
    """Of all these calls together."""


UNUSED_CALL = CallUse(0.0, 0.0)


class CallEffect(NamedTuple):
    """By how many seconds per unit the time of a call changed from the base to the other side."""

    seconds: float = 0.0
    low: float = 0.0
    """The interval of ``seconds``, at ``LEVEL``, from here to ``high``."""
    high: float = 0.0

    @property
    def sure_seconds(self) -> float:
        """The end of the interval next to zero, without its sign; 0 where the interval contains zero."""
        has_one_sign = self.low * self.high > 0
        return min(abs(self.low), abs(self.high)) if has_one_sign else 0.0

    def plus(self, other: "CallEffect") -> "CallEffect":
        return CallEffect(self.seconds + other.seconds, self.low + other.low, self.high + other.high)

    def scaled(self, factor: float) -> "CallEffect":
        return CallEffect(factor * self.seconds, factor * self.low, factor * self.high)


NO_EFFECT = CallEffect()


@dataclass(frozen=True, slots=True)
class CallOfSide:
    """One call in each round of one side."""

    uses: tuple[CallUse, ...]
    """One for each round."""

    @property
    def calls(self) -> float:
        """The mean number of calls per unit, of all rounds."""
        return basic.fmean(use.calls for use in self.uses)

    @property
    def seconds(self) -> float:
        """The time of that many calls, as the fastest rounds made them."""
        return self.calls / basic.fmean(self.rates) if self.rates else 0.0

    @property
    def rates(self) -> list[float]:
        """Calls in a second of their own time, in the fastest rounds: a busy machine only ever lengthens a call.

        Empty where no round has both calls and a time.
        """
        rates = sorted((use.calls / use.seconds for use in self.uses if use.calls and use.seconds), reverse=True)
        return rates[: max(LEAST_ROUNDS, math.ceil(_FASTEST_SHARE * len(rates)))]


@dataclass(frozen=True, slots=True)
class CallOfBoth:
    """One call on both sides."""

    base: CallOfSide
    other: CallOfSide

    @property
    def change_seconds(self) -> float:
        return self.other.seconds - self.base.seconds

    @property
    def slowdown(self) -> float:
        """How many times as long it takes on the other side; both sides must have rates."""
        return basic.median(self.base.rates) / basic.median(self.other.rates)


def slowdown_of_all_calls(calls: Iterable[CallOfBoth]) -> float:
    """How many times as long calls take on the other side: the median of all calls that both sides make often."""
    slowdowns = [
        call.slowdown
        for call in calls
        if min(call.base.calls, call.other.calls) >= _OFTEN and call.base.rates and call.other.rates
    ]
    return basic.median(slowdowns) if slowdowns else 1.0


def sure_effects(calls: Mapping[str, CallOfBoth], overall_slowdown: float, *, is_timed: bool) -> dict[str, CallEffect]:
    """The sure effect of each call, by its name; each side has ``LEAST_ROUNDS`` at least.

    ``is_timed``: whether the profiles have smbd's processor time.
    """
    effects = {name: _effect_of_call(call, overall_slowdown) for name, call in calls.items()}
    if OWN not in calls:
        return effects
    if not is_timed:
        effects[OWN] = _effect_beyond_calls(calls, overall_slowdown, _SESSION)
        return effects

    # A busy machine lengthens all calls, but hardly a processor's time. So the effect on it is judged with the overall
    # slowdown taken out and without, and the less sure of both counts.
    with_slowdown = _effect_beyond_calls(calls, overall_slowdown, _PROCESSOR_SESSION)
    without_slowdown = _effect_beyond_calls(calls, 1.0, _PROCESSOR_SESSION)
    is_surer_with = with_slowdown.sure_seconds > without_slowdown.sure_seconds
    effects[OWN] = without_slowdown if is_surer_with else with_slowdown
    return effects


def effect_without_interval(call: CallOfBoth) -> CallEffect:
    return CallEffect(call.change_seconds, call.change_seconds, call.change_seconds)


def _effect_of_call(call: CallOfBoth, overall_slowdown: float) -> CallEffect:
    """The change by the number of calls and by the time of each, as far as each of them is sure."""
    total = NO_EFFECT
    for effect in (_effect_by_number(call, overall_slowdown), _effect_by_time(call, overall_slowdown)):
        if effect.sure_seconds:
            total = total.plus(effect)
    return total


def _effect_beyond_calls(calls: Mapping[str, CallOfBoth], overall_slowdown: float, session: float) -> CallEffect:
    """The effect on smbd's own work, less what changed with the number of calls: each call's result is work as well.

    With m times as many calls, own work that takes up to m times as long is explained, and has no effect; of work that
    takes longer only what is beyond m counts, and of work that takes less long all (with fewer calls the reverse).
    ``session`` is what equal recordings differ by in it, as a logarithm.
    """
    own_work = calls[OWN]
    if not own_work.base.rates or not own_work.other.rates:
        return NO_EFFECT

    base_calls = sum(call.base.calls for name, call in calls.items() if name != OWN)
    other_calls = sum(call.other.calls for name, call in calls.items() if name != OWN)
    more_calls = other_calls / base_calls if base_calls else 1.0
    longer = own_work.slowdown / overall_slowdown

    # As much of the growth as the number of calls can explain: between none (1) and all that is in proportion to it.
    least, most = sorted((1.0, more_calls))
    explained = min(max(longer, least), most)
    # The effect by time is the base's seconds · (longer / explained - 1); times explained that is the growth beyond
    # what is explained: the base's seconds · (longer - explained).
    return _effect_by_time(own_work, overall_slowdown * explained, session).scaled(explained)


def _effect_by_number(call: CallOfBoth, overall_slowdown: float) -> CallEffect:
    """The effect of the number of calls: (calls of the other - calls of the base) · seconds of a call.

    The seconds are the lesser of both sides, so that nothing is counted that is due to the time of a call.
    """
    base_low, base_high = _calls_interval(call.base)
    other_low, other_high = _calls_interval(call.other)

    seconds_a_call = []
    if call.base.rates:
        seconds_a_call.append(1 / basic.median(call.base.rates))
    if call.other.rates:
        seconds_a_call.append(1 / basic.median(call.other.rates) / overall_slowdown)
    least_seconds = min(seconds_a_call, default=0.0)
    return CallEffect(
        (call.other.calls - call.base.calls) * least_seconds,
        (other_low - base_high) * least_seconds,
        (other_high - base_low) * least_seconds,
    )


def _calls_interval(side: CallOfSide) -> tuple[float, float]:
    interval = confidence_interval([use.calls for use in side.uses], LEVEL)
    assert interval is not None, "a side has rounds enough for an interval"
    return interval


def _effect_by_time(call: CallOfBoth, overall_slowdown: float, session: float = _SESSION) -> CallEffect:
    """The effect of the time of a call: calls of the slower side · (seconds of the other - seconds of the base).

    Together with the effect by number it is the whole change. ``session`` is what equal recordings differ by in the
    time of a call, as a logarithm.
    """
    base_rates = call.base.rates
    other_rates = [rate * overall_slowdown for rate in call.other.rates]
    if min(len(base_rates), len(other_rates)) < LEAST_ROUNDS:
        return NO_EFFECT
    # The change of the rate from the base to the other, as a logarithm with its standard error, by the rounds alone.
    by_rounds = within_series([plain_reading(base_rates)], [plain_reading(other_rates)])
    if by_rounds is None:
        return NO_EFFECT

    # What rounds and recordings differ by together: error² = by_rounds² + session². Of its degrees of freedom only
    # those of the rounds are limited: freedom = by_rounds' · (error / by_rounds)^4 (Welch-Satterthwaite).
    error = math.hypot(by_rounds.error, session)
    freedom = _MOST_FREEDOM
    if by_rounds.error > 0:
        freedom = min(_MOST_FREEDOM, by_rounds.freedom * (error / by_rounds.error) ** 4)
    low, high = replace(by_rounds, error=error, freedom=freedom).interval_percent(LEVEL)

    # How many times as long a call takes on the other side: as seen, and at both ends of the interval of the rates.
    average = basic.fmean(base_rates)
    factors = (average / basic.fmean(other_rates), 1 / (1 + high / 100), 1 / (1 + low / 100))
    effects = []
    for factor in factors:
        slower_side = call.other if factor > 1 else call.base
        effects.append(slower_side.calls / average * (factor - 1))
    return CallEffect(*effects)
