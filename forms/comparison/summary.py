"""Comparisons of series with the summaries (averages, deviations, unusual runs) of all that is compared.

Commands, screens and forms begin here: :func:`sides_of` says what is compared with what, :func:`comparisons` does it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from forms.comparison.comparison import Comparison
from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_several
from forms.series.summary import SeriesSummary, run_form
from forms.stats.decision import Limits
from storage.records import Command, Series


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonSummary:
    """A comparison with the summary of each series of its sides."""

    comparison: Comparison
    bases: tuple[SeriesSummary, ...]
    """The series that was named as the base, then those that repeat it."""
    others: tuple[SeriesSummary, ...]
    """The series that was named to be compared with it, then those that repeat that one."""

    @property
    def bases_in_time(self) -> tuple[SeriesSummary, ...]:
        """The series of the base as a form lists them: in the order in which they were measured."""
        return _in_time(self.bases)

    @property
    def others_in_time(self) -> tuple[SeriesSummary, ...]:
        return _in_time(self.others)

    @property
    def base(self) -> SeriesSummary:
        """The named series of the base."""
        return self.bases[0]

    @property
    def other(self) -> SeriesSummary:
        """The named series of the other side."""
        return self.others[0]


def _in_time(side: Sequence[SeriesSummary]) -> tuple[SeriesSummary, ...]:
    return tuple(sorted(side, key=attrgetter("series.created_at")))


def series_of(several: Sequence[ComparisonSummary]) -> list[Series]:
    """All series that stand on a side of the comparisons, each once."""
    by_id: dict[str, Series] = {}
    for compared in several:
        for series_summary in (*compared.bases, *compared.others):
            by_id[series_summary.series.id] = series_summary.series
    return list(by_id.values())


def comparison_form(base: Series, other: Series, limits: Limits | None = None) -> ComparisonSummary:
    """Two series compared by themselves."""
    return comparisons([Sides(base=(base,), other=(other,))], limits)[0]


def comparisons(several: Sequence[Sides], limits: Limits | None = None) -> list[ComparisonSummary]:
    """All comparisons of one command. The chance that any of their verdicts is wrong is at most alpha of the limits."""
    results = compare_several(several, limits or Limits())
    return [
        ComparisonSummary(
            comparison=comparison,
            bases=tuple(map(run_form, sides.base)),
            others=tuple(map(run_form, sides.other)),
        )
        for comparison, sides in zip(results, several, strict=True)
    ]


def sides_of(groups: Sequence[Sequence[Series]]) -> list[Sides]:
    """What to compare, of groups of series that repeat each other.

    Two groups with each other; of more each with the first one of its host and direction.
    """
    if len(groups) == 2:
        return [Sides(base=tuple(groups[0]), other=tuple(groups[1]))]

    first_groups: dict[tuple[str, Command], Sequence[Series]] = {}
    sides = []
    for group in groups:
        host_and_command = (group[0].target.host, group[0].command)
        base = first_groups.setdefault(host_and_command, group)
        if base is not group:
            sides.append(Sides(base=tuple(base), other=tuple(group)))
    return sides
