"""Where two series were measured with interleaved runs, lets them stand for all series of their two sides.

Such a *pair* was measured at one time, a run of the one and a run of the other by turns, so that nothing else that
changed lies between them. ``named`` are the series that the user asked to compare.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from operator import attrgetter
from typing import NamedTuple

from forms.comparison.judged_sides import Sides
from forms.comparison.pairs import paired_rates
from forms.stats.decision import Verdict
from forms.stats.verdict_rule import decide_interleaved
from storage.records import Series


class StandIn(Enum):
    """Which pairs may stand for all series of two sides."""

    ANY = "any"
    ONE_NAMED = "one of the two is named, or both were measured later than what is named and have an answer"
    BOTH_NAMED = "both are named"


class _InterleavedPair(NamedTuple):
    base: Series
    other: Series

    @property
    def ids(self) -> set[str]:
        return {self.base.id, self.other.id}

    def settles_after(self, moment: str) -> bool:
        """Whether both were measured after that moment, and their runs say faster, slower or no change."""
        if min(self.base.created_at, self.other.created_at) <= moment:
            return False
        rates = paired_rates(self.base, self.other)
        return rates is not None and decide_interleaved(*rates).verdict is not Verdict.UNKNOWN


def stand_in_rule(by_interleaved: bool | None, count_of_named: int) -> StandIn:
    """The rule for that many named series; where ``by_interleaved`` was asked for, any pair may stand for all."""
    if by_interleaved:
        return StandIn.ANY
    return StandIn.ONE_NAMED if count_of_named == 2 else StandIn.BOTH_NAMED


def prefer_interleaved(
    all_sides: Sequence[Sides], named_series: Sequence[Series], named_ids: set[str], stand_in: StandIn
) -> list[Sides]:
    """The sides, each cut down to its newest pair that may stand for all: series of other times would blur it."""
    narrowed_sides = []
    unnamed_ids: set[str] = set()
    for sides in all_sides:
        pairs = _interleaved_pairs(sides)
        for pair in pairs:
            unnamed_ids |= pair.ids - named_ids

        # An iterator, since it takes a statistical test of each later pair to see whether it has an answer.
        near_pairs = _near_pairs(pairs, sides, named_series)
        chosen_pair = _chosen_pair(pairs, near_pairs, named_ids, stand_in)
        if chosen_pair is not None:
            named_here = {series.id for series in (*sides.base, *sides.other) if series.id in named_ids}
            stands_in = chosen_pair.ids != named_here
            two_series = replace(sides, base=(chosen_pair.base,), other=(chosen_pair.other,), stands_in=stands_in)
            narrowed_sides.append(two_series)
        else:
            # Of more than two named series no other pair stands in: it is only told that one would answer better.
            has_better_answer = stand_in is StandIn.BOTH_NAMED and next(near_pairs, None) is not None
            narrowed_sides.append(replace(sides, interleaved_since=has_better_answer))

    # Where no pair stands for all, what was interleaved without being named does not mix with the others.
    return [sides if sides.stands_in else _without(sides, unnamed_ids) for sides in narrowed_sides]


def _interleaved_pairs(sides: Sides) -> list[_InterleavedPair]:
    """All pairs of a series of either side that were measured with interleaved runs, the newest first."""
    if sides.equal:
        return []
    bases = sorted(sides.base, key=attrgetter("created_at"), reverse=True)
    pairs = []
    for other in sorted(sides.other, key=attrgetter("created_at"), reverse=True):
        pairs += [_InterleavedPair(base, other) for base in bases if paired_rates(base, other)]
    return pairs


def _near_pairs(
    pairs: Sequence[_InterleavedPair], sides: Sides, named_series: Sequence[Series]
) -> Iterator[_InterleavedPair]:
    """The pairs with one of the two series named, which stand first on their sides, or later pairs with an answer."""
    first_ids = {sides.base[0].id, sides.other[0].id}
    newest = max(series.created_at for series in named_series if series.id in first_ids)
    for pair in pairs:
        if first_ids & pair.ids or pair.settles_after(newest):
            yield pair


def _chosen_pair(
    pairs: Sequence[_InterleavedPair],
    near_pairs: Iterator[_InterleavedPair],
    named_ids: set[str],
    stand_in: StandIn,
) -> _InterleavedPair | None:
    """The newest pair that may stand for all series of both sides; None where none may."""
    match stand_in:
        case StandIn.ANY:
            return next(iter(pairs), None)
        case StandIn.ONE_NAMED:
            return next(near_pairs, None)
        case StandIn.BOTH_NAMED:
            return next((pair for pair in pairs if pair.ids <= named_ids), None)


def _without(sides: Sides, ids: Collection[str]) -> Sides:
    return replace(
        sides,
        base=tuple(series for series in sides.base if series.id not in ids),
        other=tuple(series for series in sides.other if series.id not in ids),
    )
