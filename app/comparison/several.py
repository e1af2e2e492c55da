"""Compares the series that were named: each with the base, and each with the one that was measured before it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from app.comparison import change_between
from app.comparison.named import Counted, first_series
from app.comparison.sides import sides_to_compare
from app.comparison.sides_history import with_history
from forms.comparison.judged_sides import Sides, interleaved_pairs
from forms.comparison.summary import ComparisonSummary, comparisons
from forms.stats.decision import Limits
from forms.tuning.differences import same_path
from storage.notebook import Notebook
from storage.records import Series


class NamedComparisons(NamedTuple):
    """The comparisons of the series that were named."""

    named: list[Series]
    """The series that each name means, in the order of the names; of a baseline the newest complete one."""
    with_base: list[ComparisonSummary]
    """Each other one beside the base."""
    neighbours: list[ComparisonSummary]
    """Of three and more that are the same work at different times: each beside the one before, the oldest first."""


def compare_named(
    notebook: Notebook,
    references: Sequence[str],
    again: Sequence[str] = (),
    *,
    counted: Counted = Counted.NAMED,
    limits: Limits | None = None,
    each_is_a_side: bool = False,
) -> NamedComparisons:
    """Compare the series named; the arguments are those of :func:`sides_to_compare`.

    The verdicts of either list hold together. Raises UsageError, UnknownReferenceError.
    """
    named = first_series(notebook, references)
    sides = sides_to_compare(
        notebook, references, again, named_series=named, counted=counted, each_is_a_side=each_is_a_side
    )
    with_base = comparisons(sides, limits)
    neighbours = comparisons(sides_of_neighbours(notebook, sides, counted), limits)

    # A pair that is of both kinds has one verdict.
    by_pair = {_ids_of(summary): summary for summary in with_base}
    return NamedComparisons(named, with_base, [by_pair.get(_ids_of(summary), summary) for summary in neighbours])


def _ids_of(summary: ComparisonSummary) -> tuple[str, str]:
    """Of the base and the other side."""
    return summary.comparison.base_id, summary.comparison.other_id


def sides_of_neighbours(notebook: Notebook, several: Sequence[Sides], counted: Counted) -> list[Sides]:
    """Each side with the one measured before it, the oldest first, of sides that were all compared with one base.

    None where they are not the same work at different times: another target or client, sides that overlap in time, or
    interleaved runs.
    """
    groups: dict[str, tuple[Series, ...]] = {}
    for sides in several:
        groups.setdefault(sides.base[0].id, sides.base)
        groups.setdefault(sides.other[0].id, sides.other)
    # With one base there is one side more than comparisons; two sides have been compared already.
    if len(groups) != len(several) + 1 or len(groups) < 3:
        return []

    in_order = sorted(groups.values(), key=_first_moment)
    pairs = list(pairwise(in_order))
    if not all(_is_later_of_same_path(*pair) for pair in pairs):
        return []
    return [_sides_of_neighbours(notebook, *pair, several, counted) for pair in pairs]


def _first_moment(group: Sequence[Series]) -> str:
    return min(series.created_at for series in group)


def _is_later_of_same_path(before: Sequence[Series], after: Sequence[Series]) -> bool:
    is_after = max(series.created_at for series in before) < _first_moment(after)
    is_interleaved = interleaved_pairs(Sides(base=tuple(before), other=tuple(after))) is not None
    return is_after and not is_interleaved and same_path(before[0], after[0])


def _sides_of_neighbours(
    notebook: Notebook,
    before: tuple[Series, ...],
    after: tuple[Series, ...],
    several: Sequence[Sides],
    counted: Counted,
) -> Sides:
    """Those that were compared already, if any, else made in the same way."""
    for sides in several:
        if sides.base == before and sides.other == after:
            return sides
    neighbours = Sides(base=before, other=after, baselines=several[0].baselines)
    neighbours = change_between.with_unseen_changes(notebook, change_between.with_trial(notebook, neighbours))
    return neighbours if counted is Counted.ALONE else with_history(notebook, neighbours)
