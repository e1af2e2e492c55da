"""The sides of several comparisons, each once, with what people call it and what was judged of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forms.comparison import settling
from forms.comparison.hiccups import OutstandingRun
from forms.comparison.side_values import counted_rates, pooled_deviation
from forms.comparison.summary import ComparisonSummary
from forms.series.summary import SeriesSummary
from forms.stats.changes import percent_of
from forms.stats.decision import Verdict
from forms.stats.summary import LEVEL

_MOST_NAMED = 4
"""Of more names a title has the first ones, and how many more there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide:
    """One side, by the first of the comparisons that it stands in."""

    name: str
    summaries: tuple[SeriesSummary, ...]
    """The series that was named, then those that are averaged with it."""
    counted_runs: int
    """The number of runs that the average is of: the valid ones, without those that are left out."""
    average: float | None
    """In bytes per second, of the runs that count."""
    deviation: float | None
    """Of the runs that count, in bytes per second."""
    apart_percent: float | None
    """The most by which two equal series differ, 19 times in 20; None where no whole series were judged."""

    @property
    def series_id(self) -> str:
        """Of the series that was named."""
        return self.summaries[0].series.id

    @property
    def moment(self) -> str:
        """When the last of its series began."""
        return max(summary.series.created_at for summary in self.summaries)


def oldest_first(comparisons: Sequence[ComparisonSummary]) -> list[ComparisonSummary]:
    """Those with one base together, in the order in which their other sides were measured."""
    place_of_base: dict[str, int] = {}
    for place, compared in enumerate(comparisons):
        place_of_base.setdefault(compared.comparison.base_id, place)

    def base_then_moment(compared: ComparisonSummary) -> tuple[int, str]:
        return place_of_base[compared.comparison.base_id], moment_of_other(compared)

    return sorted(comparisons, key=base_then_moment)


def moment_of_other(compared: ComparisonSummary) -> str:
    """When the last series of the other side began."""
    return max(side.series.created_at for side in compared.others)


def pair_of(compared: ComparisonSummary) -> frozenset[str]:
    """The ids of its two sides, whichever of them is the base."""
    return frozenset((compared.comparison.base_id, compared.comparison.other_id))


def sides_of_comparisons(comparisons: Sequence[ComparisonSummary]) -> list[ComparedSide]:
    """The base of each comparison and its other side, in their order, each once."""
    sides: dict[str, ComparedSide] = {}
    for compared in comparisons:
        for side in (_base_side(compared), _other_side(compared)):
            sides.setdefault(side.series_id, side)
    return list(sides.values())


def _base_side(compared: ComparisonSummary) -> ComparedSide:
    comparison = compared.comparison
    return _side(compared, comparison.base_name, compared.bases, comparison.counted_base_rate)


def _other_side(compared: ComparisonSummary) -> ComparedSide:
    comparison = compared.comparison
    return _side(compared, comparison.other_name, compared.others, comparison.counted_other_rate)


def _side(
    compared: ComparisonSummary, name: str, summaries: tuple[SeriesSummary, ...], average: float | None
) -> ComparedSide:
    rates = counted_rates(summaries, compared.comparison.left_out)
    return ComparedSide(
        name=name,
        summaries=summaries,
        counted_runs=sum(map(len, rates)),
        average=average,
        deviation=pooled_deviation(rates),
        apart_percent=_equal_series_differ_by_percent(compared),
    )


def _equal_series_differ_by_percent(compared: ComparisonSummary) -> float | None:
    """As :attr:`Comparison.apart_percent`, but 19 times in 20 whatever the level of the verdicts is."""
    variation = compared.comparison.variation
    return percent_of(variation.least_shown(1, 1, LEVEL)) if variation else None


def left_out_of_all(comparisons: Sequence[ComparisonSummary]) -> tuple[OutstandingRun, ...]:
    """The runs that the judged averages leave out, each once."""
    runs: dict[tuple[str, int], OutstandingRun] = {}
    for compared in comparisons:
        for run in compared.comparison.left_out:
            runs.setdefault((run.series_id, run.number), run)
    return tuple(runs.values())


def names_for_a_title(names: Sequence[str]) -> Iterator[str]:
    """All names, or of many the first ones and how many more there are."""
    if len(names) <= _MOST_NAMED:
        yield from names
        return
    kept_count = _MOST_NAMED - 1
    yield from names[:kept_count]
    yield f"{len(names) - kept_count} more"


def is_settled(compared: ComparisonSummary) -> bool:
    """Whether it has a verdict, by the series, by a trial or by the link."""
    comparison = compared.comparison
    return comparison.decided is not Verdict.UNKNOWN or comparison.is_certain_by_link


def is_of_the_past(compared: ComparisonSummary) -> bool:
    """Whether the other side was measured so long after the base that nobody goes back to that."""
    bases = [side.series for side in compared.bases]
    others = [side.series for side in compared.others]
    return settling.seconds_between(bases, others) >= settling.PAST_SECONDS
