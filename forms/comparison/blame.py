"""Two profiles of smbd call by call: what takes the time that one recording spends more than the other.

``smbd`` counts its requests and the calls of the operating system that it makes for them; a recording has a profile for
each of its rounds. What counts as sure is judged in ``forms/comparison/call_effects.py``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from forms.comparison.call_effects import (
    LEAST_ROUNDS,
    NO_EFFECT,
    OWN,
    UNUSED_CALL,
    CallEffect,
    CallOfBoth,
    CallOfSide,
    CallUse,
    effect_without_interval,
    slowdown_of_all_calls,
    sure_effects,
)
from storage.isolation import PROCESSOR, ProfileCounter

Round = Mapping[str, ProfileCounter]
"""The profile of one round: smbd's counters by their names."""

LEAST_SHARE = 0.05
"""The share of the base's time that the sure part of an effect must have to be blamed."""

_UNITS = {"smb2_create": "create", "SMBntcreateX": "create", "syscall_openat": "open", "syscall_open": "open"}
"""What is counted per, the first that both sides have."""

_REQUESTS = ("smb2_", "SMB", "Trans2_")
"""How the names of the counters of requests begin."""

CALL_PREFIX = "syscall_"
"""How the names of the counters of calls begin."""

_NO_WORK = ("negprot", "sesssetup", "logoff", "tcon", "tdis", "cancel", "notify", "break")
"""Requests of the login, and those that wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChange:
    """One call of smbd, or smbd's own work, on both sides; everything for each create or open (:attr:`Blame.per`)."""

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

    # Whether the profiles have the processor time of smbd.
    is_timed = all(PROCESSOR in one_round for one_round in rounds)
    calls = _calls(
        [_uses_per_unit(one_round, unit, is_timed=is_timed) for one_round in base],
        [_uses_per_unit(one_round, unit, is_timed=is_timed) for one_round in other],
    )
    base_seconds = sum(call.base.seconds for call in calls.values())
    other_seconds = sum(call.other.seconds for call in calls.values())
    has_intervals = min(len(base), len(other)) >= LEAST_ROUNDS

    overall_slowdown = 1.0
    if has_intervals:
        overall_slowdown = slowdown_of_all_calls(calls.values())
        effects = sure_effects(calls, overall_slowdown, is_timed=is_timed)
    else:
        # Too few rounds for an interval: the whole change is told.
        effects = {name: effect_without_interval(call) for name, call in calls.items()}
    blamed = {name: effect for name, effect in effects.items() if effect.sure_seconds >= LEAST_SHARE * base_seconds}

    changes = [_call_change(name, call, blamed.get(name, NO_EFFECT)) for name, call in calls.items()]
    total_change = other_seconds - base_seconds

    def most_to_blame_first(change: CallChange) -> tuple[bool, bool, float, float]:
        acts_against_total = change.blamed_seconds * total_change < 0
        sure_seconds = blamed.get(change.name, NO_EFFECT).sure_seconds
        return not change.blamed_seconds, acts_against_total, -sure_seconds, -abs(change.change_seconds)

    return Blame(
        per=_UNITS[unit],
        base_rounds=len(base),
        other_rounds=len(other),
        base_seconds=base_seconds,
        other_seconds=other_seconds,
        calls=tuple(sorted(changes, key=most_to_blame_first)),
        slower_alike_factor=overall_slowdown,
    )


def _shared_unit(rounds: Sequence[Round]) -> str | None:
    """The counter per which calls are counted: the first that every round has."""
    for name in _UNITS:
        if all(name in one_round for one_round in rounds):
            return name
    return None


def _call_change(name: str, call: CallOfBoth, effect: CallEffect) -> CallChange:
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


def _uses_per_unit(one_round: Round, unit: str, *, is_timed: bool) -> dict[str, CallUse]:
    """Each call's use, smbd's own work included."""
    units = max(1, one_round[unit].calls)
    calls = {name: counter for name, counter in one_round.items() if name.startswith(CALL_PREFIX)}
    uses = {name: CallUse(counter.calls / units, counter.microseconds / 1e6 / units) for name, counter in calls.items()}

    request_microseconds = [
        counter.microseconds
        for name, counter in one_round.items()
        if name.startswith(_REQUESTS) and not name.endswith(_NO_WORK)
    ]
    if request_microseconds or is_timed:
        beyond_calls = sum(request_microseconds) - sum(counter.microseconds for counter in calls.values())
        own_microseconds = one_round[PROCESSOR].microseconds if is_timed else beyond_calls
        uses[OWN] = CallUse(1.0, max(own_microseconds, 0) / 1e6 / units)
    return uses


def _calls(base: Sequence[Mapping[str, CallUse]], other: Sequence[Mapping[str, CallUse]]) -> dict[str, CallOfBoth]:
    """Each call on both sides, by its name, from the uses in each round."""
    rounds = (*base, *other)
    names = dict.fromkeys(chain.from_iterable(rounds))

    # A profile that was printed without its requests tells nothing of smbd's own work.
    if not all(OWN in uses for uses in rounds):
        names.pop(OWN, None)
    return {name: CallOfBoth(_call_of_side(name, base), _call_of_side(name, other)) for name in names}


def _call_of_side(name: str, rounds: Sequence[Mapping[str, CallUse]]) -> CallOfSide:
    return CallOfSide(tuple(uses.get(name, UNUSED_CALL) for uses in rounds))
