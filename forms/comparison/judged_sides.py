"""The two sides of a comparison, and the form in which the statistics take them.

A *side* is one or more series of the same settings. The statistics judge two sides by the averages of their whole
series, or, where a single series stands on each side and their runs were interleaved, by the pairs of neighbouring
runs. ``app/comparison`` finds the sides in the notebook; ``forms/comparison/verdict.py`` compares them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from forms.comparison import hiccups
from forms.comparison.pairs import paired_runs
from forms.stats.variation import SeriesGroup
from forms.tuning.differences import Difference
from storage import records

if TYPE_CHECKING:
    from forms.trial.summary import TrialSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutMember:
    """A series of a baseline that is not averaged with the baseline's newest one."""

    baseline: str
    series: records.Series
    differences: tuple[Difference, ...]
    """Of its settings from those of the newest; empty where it has none, but was not measured whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What is compared: series of equal settings on each side, and what is known of them beside their runs."""

    base: tuple[records.Series, ...]
    """The series that was named as the base comes first; the others repeat it."""
    other: tuple[records.Series, ...]
    """The series that was named to be compared with it comes first; the others repeat that one."""
    history: tuple[tuple[records.Series, ...], ...] = ()
    """Earlier series of the path in groups of equal settings, which tell how far equal series differ."""

    equal: bool = False
    """Whether both sides are of the same settings, so that there is no change to find."""
    unseen: bool = False
    """Whether a change on the way from the base to the other is unknown, or was not confirmed on the server."""
    baselines: Mapping[str, str] = field(default_factory=dict)
    """The names of baselines that the first series of the sides are called by, by their ids."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What people call the sides where several comparisons stand together, by the ids of the first series.

    Empty for a comparison by itself.
    """
    unnamed_ids: tuple[str, ...] = ()
    """The ids of complete series that repeat a side, and are not averaged in because nobody named them."""
    with_repeats: "Sides | None" = None
    """The sides with those averaged in; None where there are none."""
    left_out_members: tuple[LeftOutMember, ...] = ()
    """Of the baselines that were named."""

    base_told_gone: bool = False
    """Whether the user said that the base cannot be measured again."""
    stands_in: bool = False
    """Whether these two, whose runs were interleaved, are compared in place of the series that were named."""
    interleaved_since: bool = False
    """Whether the runs of just the two named series were interleaved later, which is a better answer than this."""

    tried: "TrialSummary | None" = None
    """A trial of the same change that came to its end after these series; None without one."""
    tried_back: bool = False
    """Whether it is the base that has the tried value, so that the trial says the reverse of these sides."""

    @property
    def asks_for_unseen_change(self) -> bool:
        """Whether just one side is a baseline: who compares with it asks for a change that no setting may show."""
        base_name = self.baselines.get(self.base[0].id, "")
        other_name = self.baselines.get(self.other[0].id, "")
        return base_name != other_name


def ids_of_side(side: Sequence[records.Series]) -> frozenset[str]:
    return frozenset(series.id for series in side)


def newest_moment(side: Sequence[records.Series]) -> float:
    """When the newest series of a side began, in seconds since 1970."""
    return max(series.moment for series in side)


def group_of_side(side: Sequence[records.Series], without: hiccups.RunNumbers = MappingProxyType({})) -> SeriesGroup:
    """The series of a side with their rates and times, ``without`` some of their runs."""
    rates = [hiccups.rates_without(series, without.get(series.id, ())) for series in side]
    return SeriesGroup(rates, [series.moment for series in side])


def groups_of_history(history: Sequence[Sequence[records.Series]]) -> list[SeriesGroup]:
    """The measured series of each group of earlier series; a group without any is left out."""
    groups = []
    for series_of_group in history:
        measured = [series for series in series_of_group if series.measured()]
        if measured:
            groups.append(group_of_side(measured))
    return groups


def interleaved_pairs(sides: Sides) -> hiccups.RunPairs | None:
    """The pairs of interleaved runs; None where a side has several series, or the runs are not interleaved."""
    if len(sides.base) != 1 or len(sides.other) != 1:
        return None
    return paired_runs(sides.base[0], sides.other[0])


def unseen_between(base_id: str, way: Sequence[records.Series]) -> bool:
    """Whether a change between a series and an earlier one is unknown, or was not confirmed on the server.

    ``way``: the later series, the series that it was made from, the one before that, and so on. It is followed down to
    ``base_id``; where it does not lead there, what was changed is unknown.
    """
    made_since: list[records.Series] = []
    for series in way:
        if series.id == base_id:
            break
        made_since.append(series)

    leads_to_base = bool(made_since) and made_since[-1].base_id == base_id
    if not leads_to_base:
        return True
    return any(series.change and series.change.evidence is not records.Evidence.CONFIRMED for series in made_since)
