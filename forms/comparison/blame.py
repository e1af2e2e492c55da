"""Two profiles of smbd call by call: what takes the time that one recording spends more than the other."""

import math
import statistics as basic
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from forms.stats.changes import within_series
from forms.stats.readings import plain_reading
from forms.stats.summary import confidence_interval
from storage.isolation import PROCESSOR, ProfileCounter

Round = Mapping[str, ProfileCounter]

OWN = "smbd itself"
"""Its processor time; where a side has none, the time of requests beyond all calls, waits for a processor included."""

LEVEL = 0.99
"""Of each interval: there are many calls. 30 of 380 pairs of the few equal recordings it was chosen on blamed one."""

LEAST_SHARE = 0.05
"""Of the base's time; a smaller effect is not blamed."""

LEAST_ROUNDS = 3
"""Fewer on a side give no interval: the whole change is told then."""

_UNITS = {"smb2_create": "create", "SMBntcreateX": "create", "syscall_openat": "open", "syscall_open": "open"}
"""What is counted per, the first that both sides have."""

_REQUESTS = ("smb2_", "SMB", "Trans2_")
CALL_PREFIX = "syscall_"
_NO_WORK = ("negprot", "sesssetup", "logoff", "tcon", "tdis", "cancel", "notify", "break")
"""Requests of the login, and those that wait."""

_SESSION = 0.25
"""By how much the time of a call differs between equal recordings, as a logarithm, beside what rounds differ by."""

_PROCESSOR_SESSION = 0.05
"""The same of smbd's processor time: of 94 equal pairs none blamed it, nor would any at 0.02."""

_FASTEST_SHARE = 0.6
"""Of the rounds, those whose times count."""

_MOST_FREEDOM = 1000.0

_OFTEN = 0.1
"""Calls per unit from which a call tells how fast the machine is."""


class _Use(NamedTuple):
    """One call in one round, per unit."""

    calls: float
    seconds: float


_UNUSED = _Use(0.0, 0.0)


class _Effect(NamedTuple):
    """Seconds per unit, and the interval of what surely changed."""

    seconds: float = 0.0
    low: float = 0.0
    high: float = 0.0

    @property
    def sure_seconds(self) -> float:
        """The least of what changed by the interval; 0 where that contains zero."""
        has_one_sign = self.low * self.high > 0
        return min(abs(self.low), abs(self.high)) if has_one_sign else 0.0

    def plus(self, other: "_Effect") -> "_Effect":
        return _Effect(self.seconds + other.seconds, self.low + other.low, self.high + other.high)

    def scaled(self, factor: float) -> "_Effect":
        return _Effect(factor * self.seconds, factor * self.low, factor * self.high)


_NO_EFFECT = _Effect()


@dataclass(frozen=True, slots=True)
class _CallOfSide:
    """One call in each round of one side."""

    uses: tuple[_Use, ...]

    @property
    def calls(self) -> float:
        return basic.fmean(use.calls for use in self.uses)

    @property
    def seconds(self) -> float:
        return self.calls / basic.fmean(self.rates) if self.rates else 0.0

    @property
    def rates(self) -> list[float]:
        """Calls in a second of their own time, in the fastest rounds: a busy machine only ever lengthens a call."""
        rates = sorted((use.calls / use.seconds for use in self.uses if use.calls and use.seconds), reverse=True)
        return rates[: max(LEAST_ROUNDS, math.ceil(_FASTEST_SHARE * len(rates)))]


@dataclass(frozen=True, slots=True)
class _Call:
    """One call on both sides."""

    base: _CallOfSide
    other: _CallOfSide

    @property
    def change_seconds(self) -> float:
        return self.other.seconds - self.base.seconds

    @property
    def slowdown(self) -> float:
        """How many times as long it takes on the other side; both sides must have rates."""
        return basic.median(self.base.rates) / basic.median(self.other.rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChange:
    """One call of smbd, or smbd's own work, on both sides; everything per create."""

    name: str
    """As smbd's profile has it, or :data:`OWN`."""
    base_calls: float
    """The mean of all rounds of the side."""
    other_calls: float
    base_seconds: float
    """The time of those calls, by the fastest rounds of the side."""
    other_seconds: float
    change_seconds: float
    """From the base to the other, whether it is sure or not."""
    blamed_seconds: float = 0.0
    """What surely changed; 0 where nothing did."""
    low_seconds: float = 0.0
    """The interval of what surely changed, from here to ``high_seconds``."""
    high_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """What changed between two profiles; seconds are those of all calls together, for each create or open."""

    per: str
    """What is counted by: ``create`` or ``open``."""
    base_rounds: int
    """The number of rounds that were profiled."""
    other_rounds: int
    base_seconds: float
    other_seconds: float
    calls: tuple[CallChange, ...]
    """What is most to blame first."""
    slower_alike_factor: float = 1.0
    """How many times as long all calls take: a slower or busier machine, for which no call is to blame."""

    @property
    def sure(self) -> bool:
        """Whether there are rounds enough for intervals."""
        return min(self.base_rounds, self.other_rounds) >= LEAST_ROUNDS

    @property
    def change_percent(self) -> float:
        return 100 * (self.other_seconds / self.base_seconds - 1)

    @property
    def blamed(self) -> tuple[CallChange, ...]:
        return tuple(call for call in self.calls if call.blamed_seconds)


def blame_calls(base: Sequence[Round], other: Sequence[Round]) -> Blame | None:
    """What changed between the rounds of two profiles; None where they have nothing in common to count by."""
    base = [one_round for one_round in base if one_round]
    other = [one_round for one_round in other if one_round]
    if not base or not other:
        return None

    rounds = (*base, *other)
    unit = _shared_unit(rounds)
    if unit is None:
        return None

    is_timed = all(PROCESSOR in one_round for one_round in rounds)
    calls = _calls(
        [_uses_per_unit(one_round, unit, is_timed=is_timed) for one_round in base],
        [_uses_per_unit(one_round, unit, is_timed=is_timed) for one_round in other],
    )
    base_seconds = sum(call.base.seconds for call in calls.values())
    other_seconds = sum(call.other.seconds for call in calls.values())
    has_intervals = min(len(base), len(other)) >= LEAST_ROUNDS

    slower_alike = 1.0
    if has_intervals:
        slower_alike = _slower_alike(calls.values())
        effects = _sure_effects(calls, slower_alike, is_timed=is_timed)
    else:
        # Too few rounds for an interval: the whole change is told.
        effects = {name: _effect_without_interval(call) for name, call in calls.items()}
    blamed = {name: effect for name, effect in effects.items() if effect.sure_seconds >= LEAST_SHARE * base_seconds}

    changes = [_call_change(name, call, blamed.get(name, _NO_EFFECT)) for name, call in calls.items()]
    total_change = other_seconds - base_seconds

    def most_to_blame_first(change: CallChange) -> tuple[bool, bool, float, float]:
        acts_against_total = change.blamed_seconds * total_change < 0
        sure_seconds = blamed.get(change.name, _NO_EFFECT).sure_seconds
        return not change.blamed_seconds, acts_against_total, -sure_seconds, -abs(change.change_seconds)

    return Blame(
        per=_UNITS[unit],
        base_rounds=len(base),
        other_rounds=len(other),
        base_seconds=base_seconds,
        other_seconds=other_seconds,
        calls=tuple(sorted(changes, key=most_to_blame_first)),
        slower_alike_factor=slower_alike,
    )


def _shared_unit(rounds: Sequence[Round]) -> str | None:
    """The counter per which calls are counted: the first that every round has."""
    for name in _UNITS:
        if all(name in one_round for one_round in rounds):
            return name
    return None


def _call_change(name: str, call: _Call, effect: _Effect) -> CallChange:
    return CallChange(
        name=name,
        base_calls=call.base.calls,
        other_calls=call.other.calls,
        base_seconds=call.base.seconds,
        other_seconds=call.other.seconds,
        change_seconds=call.change_seconds,
        blamed_seconds=effect.seconds,
        low_seconds=effect.low,
        high_seconds=effect.high,
    )


def _uses_per_unit(one_round: Round, unit: str, *, is_timed: bool) -> dict[str, _Use]:
    """Each call's use, smbd's own work included."""
    units = max(1, one_round[unit].calls)
    calls = {name: counter for name, counter in one_round.items() if name.startswith(CALL_PREFIX)}
    uses = {name: _Use(counter.calls / units, counter.microseconds / 1e6 / units) for name, counter in calls.items()}

    request_microseconds = [
        counter.microseconds
        for name, counter in one_round.items()
        if name.startswith(_REQUESTS) and not name.endswith(_NO_WORK)
    ]
    if request_microseconds or is_timed:
        beyond_calls = sum(request_microseconds) - sum(counter.microseconds for counter in calls.values())
        own_microseconds = one_round[PROCESSOR].microseconds if is_timed else beyond_calls
        uses[OWN] = _Use(1.0, max(own_microseconds, 0) / 1e6 / units)
    return uses


def _calls(base: Sequence[Mapping[str, _Use]], other: Sequence[Mapping[str, _Use]]) -> dict[str, _Call]:
    """Each call on both sides, by its name, from the uses in each round."""
    rounds = (*base, *other)
    names = dict.fromkeys(chain.from_iterable(rounds))

    # A profile that was printed without its requests tells nothing of smbd's own work.
    if not all(OWN in uses for uses in rounds):
        names.pop(OWN, None)
    return {name: _Call(_call_of_side(name, base), _call_of_side(name, other)) for name in names}


def _call_of_side(name: str, rounds: Sequence[Mapping[str, _Use]]) -> _CallOfSide:
    return _CallOfSide(tuple(uses.get(name, _UNUSED) for uses in rounds))


def _slower_alike(calls: Iterable[_Call]) -> float:
    """How many times as long a call takes, in the middle of all calls that are frequent."""
    slowdowns = [
        call.slowdown
        for call in calls
        if min(call.base.calls, call.other.calls) >= _OFTEN and call.base.rates and call.other.rates
    ]
    return basic.median(slowdowns) if slowdowns else 1.0


def _sure_effects(calls: Mapping[str, _Call], slower_alike: float, *, is_timed: bool) -> dict[str, _Effect]:
    """The effect of each call, by its name; ``is_timed``: whether the profiles have smbd's processor time."""
    effects = {name: _effect_of_call(call, slower_alike) for name, call in calls.items()}
    if OWN not in calls:
        return effects
    if not is_timed:
        effects[OWN] = _effect_beyond_calls(calls, slower_alike, _SESSION)
        return effects

    # A busy machine lengthens all calls, but hardly a processor's time: what surely changed did so with and without.
    with_slowdown = _effect_beyond_calls(calls, slower_alike, _PROCESSOR_SESSION)
    without_slowdown = _effect_beyond_calls(calls, 1.0, _PROCESSOR_SESSION)
    is_surer_with = with_slowdown.sure_seconds > without_slowdown.sure_seconds
    effects[OWN] = without_slowdown if is_surer_with else with_slowdown
    return effects


def _effect_without_interval(call: _Call) -> _Effect:
    return _Effect(call.change_seconds, call.change_seconds, call.change_seconds)


def _effect_of_call(call: _Call, slower_alike: float) -> _Effect:
    """The change by the number of calls and by the time of each, as far as each of them is sure."""
    total = _NO_EFFECT
    for effect in (_effect_by_number(call, slower_alike), _effect_by_time(call, slower_alike)):
        if effect.sure_seconds:
            total = total.plus(effect)
    return total


def _effect_beyond_calls(calls: Mapping[str, _Call], slower_alike: float, session: float) -> _Effect:
    """Smbd's own work, less what changed with the number of calls: each call's result is work as well."""
    own_work = calls[OWN]
    if not own_work.base.rates or not own_work.other.rates:
        return _NO_EFFECT

    base_calls = sum(call.base.calls for name, call in calls.items() if name != OWN)
    other_calls = sum(call.other.calls for name, call in calls.items() if name != OWN)
    more_calls = other_calls / base_calls if base_calls else 1.0
    longer = own_work.slowdown / slower_alike

    # As much of the growth as the number of calls can explain: between none and all that is in proportion to it.
    explained = min(max(longer, min(1.0, more_calls)), max(1.0, more_calls))
    return _effect_by_time(own_work, slower_alike * explained, session).scaled(explained)


def _effect_by_number(call: _Call, slower_alike: float) -> _Effect:
    """The change in calls at the lesser of both sides' times: whoever asks for the same makes the same calls."""
    base_low, base_high = _calls_interval(call.base)
    other_low, other_high = _calls_interval(call.other)

    seconds_a_call = []
    if call.base.rates:
        seconds_a_call.append(1 / basic.median(call.base.rates))
    if call.other.rates:
        seconds_a_call.append(1 / basic.median(call.other.rates) / slower_alike)
    least_seconds = min(seconds_a_call, default=0.0)
    return _Effect(
        (call.other.calls - call.base.calls) * least_seconds,
        (other_low - base_high) * least_seconds,
        (other_high - base_low) * least_seconds,
    )


def _calls_interval(side: _CallOfSide) -> tuple[float, float]:
    return confidence_interval([use.calls for use in side.uses], LEVEL) or (0.0, 0.0)


def _effect_by_time(call: _Call, slower_alike: float, session: float = _SESSION) -> _Effect:
    """The change in the time of a call, for the slower side's calls: with the effect by number the whole change."""
    base_rates = call.base.rates
    other_rates = [rate * slower_alike for rate in call.other.rates]
    if min(len(base_rates), len(other_rates)) < LEAST_ROUNDS:
        return _NO_EFFECT
    by_rounds = within_series([plain_reading(base_rates)], [plain_reading(other_rates)])
    if by_rounds is None:
        return _NO_EFFECT

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
    return _Effect(*effects)
