"""An experiment's steps, one change each, and what they gained together.

Each series was made from another one, its *base*, by a change, or repeats it: that is a *step*. The *way* of a series
leads from it down over its bases to the first. The changes on the way of the newest series that was not restored are
*kept*: they are in force. What they gained together is measured along the *path*, which is that way without a newest
change that the server contradicts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, dropwhile

from forms.comparison.comparison import Comparison
from forms.comparison.judged_sides import Sides, unseen_between
from forms.comparison.verdict import compare_steps
from forms.experiments.ways import bases_of, next_base, way_down
from forms.stats.decision import Limits
from forms.stats.summary import mean
from forms.tuning.change_evidence import SettingState, setting_state
from forms.tuning.differences import is_repeat
from storage import records


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStep:
    """A series of an experiment, compared with the one that it was made from.

    Of its change, ``standing`` is what the server says (proven, contradicted, …), ``decision`` what the user decided
    (kept, restored), ``doubts`` what speaks against its being the only one.
    """

    number: int
    """Its place in the experiment, from 0."""
    series: records.Series
    base_number: int | None
    """The number of the step that it was made from; None for a first one, or where that is not in the experiment."""
    average_bytes_per_second: float | None
    """The mean of its runs; None without a valid one."""
    comparison: Comparison | None
    """Beside its base; None without one, or while the series is being measured."""
    on_kept_path: bool
    """Whether its settings are still in force: it lies on the way from the newest series that was not restored.

    The path of a `Gain` is without a newest change that is contradicted; such a step is on the way all the same.
    """

    @property
    def change(self) -> records.Change | None:
        return self.series.change

    @property
    def standing(self) -> SettingState | None:
        """What is known of the changed setting on the server; None for a step without a change."""
        return setting_state(self.change) if self.change else None

    @property
    def contradicted(self) -> bool:
        return self.standing is SettingState.NOT_AS_CLAIMED

    @property
    def mark(self) -> str:
        """``!`` where the change is contradicted, ``?`` where something speaks against it, else a space."""
        if self.contradicted:
            return "!"
        return "?" if self.doubts else " "

    @property
    def decision(self) -> records.Decision | None:
        return self.series.decision

    @property
    def proof(self) -> str | None:
        """For people: how the change was seen on the server; None where it was not."""
        return self.change.remark if self.change and self.standing is SettingState.PROVEN else None

    @property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against the claim that just this was changed."""
        change = self.change
        if change is None:
            differences = self.comparison.differences if self.comparison else ()
            if self.base_number is None or not differences:
                return ()
            return (f"No change is claimed, but: {'; '.join(map(str, differences))}.",)

        doubts = []
        if self.standing is not SettingState.PROVEN and change.remark:
            doubts.append(change.remark)
        if change.also_changed:
            doubts.append(f"Also changed: {'; '.join(change.also_changed)}.")
        return tuple(doubts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The total gain of the kept steps of one direction, get or put."""

    path: tuple[ExperimentStep, ...]
    """The steps of the way but for a newest one that is contradicted, the first base first."""
    comparison: Comparison | None
    """The last step of the path beside the first; None where there is but one."""

    @property
    def counted(self) -> tuple[ExperimentStep, ...]:
        """The steps whose changes the gain is due to: one that is contradicted was not in effect."""
        return tuple(step for step in self.path if step.change is not None and not step.contradicted)

    @property
    def command(self) -> records.Command:
        return self.path[0].series.command


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSummary:
    """All steps of an experiment, in the order measured."""

    name: str
    steps: tuple[ExperimentStep, ...]
    gains: tuple[Gain, ...]
    """One for each direction of which something is kept."""

    def step_of(self, series_id: str) -> ExperimentStep | None:
        return next((step for step in self.steps if step.series.id == series_id), None)


def experiment_summary(name: str, series: Sequence[records.Series]) -> ExperimentSummary:
    """Build an experiment from its series in order; one without a change repeats its base.

    A base that is no series of the experiment counts as none.
    """
    bases = bases_of(series)
    by_id = {one_series.id: one_series for one_series in series}
    numbers = {one_series.id: number for number, one_series in enumerate(series)}
    directions = _directions(series)

    # In each direction the way from the series whose settings are in force down to the first base, newest first, and of
    # it the path that is compared: without a newest series whose change is contradicted.
    ways = _kept_ways(series, bases, directions)
    paths = [_without_contradicted_end(way) for way in ways]
    kept_ids = {series_on_way.id for series_on_way in chain.from_iterable(ways)}

    groups = _groups_of_repeats(series, bases)
    sides_of_steps = _sides_of_steps(series, bases, groups)
    sides_of_paths = _sides_of_paths(paths, groups)

    # Each direction is an experiment of its own, judged by its own variation.
    comparison_of_step: dict[str, Comparison] = {}
    comparison_of_path: dict[str, Comparison] = {}
    for command in directions:
        step_ids = [series_id for series_id in sides_of_steps if by_id[series_id].command is command]
        path_ids = [series_id for series_id in sides_of_paths if by_id[series_id].command is command]
        step_sides = [sides_of_steps[series_id] for series_id in step_ids]
        path_sides = [sides_of_paths[series_id] for series_id in path_ids]

        # The gain is judged together with the steps, so that all verdicts hold at once.
        comparisons = compare_steps([*step_sides, *path_sides], Limits())
        comparison_of_step.update(zip(step_ids, comparisons[: len(step_ids)], strict=True))
        comparison_of_path.update(zip(path_ids, comparisons[len(step_ids) :], strict=True))

    steps = tuple(
        ExperimentStep(
            number=numbers[one_series.id],
            series=one_series,
            base_number=numbers.get(bases[one_series.id] or ""),
            average_bytes_per_second=mean(one_series.rates()),
            comparison=comparison_of_step.get(one_series.id),
            on_kept_path=one_series.id in kept_ids,
        )
        for one_series in series
    )

    gains = []
    for path in paths:
        path_steps = tuple(steps[numbers[one_series.id]] for one_series in reversed(path))
        gains.append(Gain(path=path_steps, comparison=comparison_of_path.get(path[0].id)))
    return ExperimentSummary(name=name, steps=steps, gains=tuple(gains))


def _directions(series: Sequence[records.Series]) -> list[records.Command]:
    """The directions that were measured, in the order of their newest series."""
    newest_first = list(dict.fromkeys(one_series.command for one_series in reversed(series)))
    return newest_first[::-1]


def _kept_ways(
    series: Sequence[records.Series], bases: Mapping[str, str | None], directions: Sequence[records.Command]
) -> list[list[records.Series]]:
    """The way from the series whose settings are in force down to the first base, in each direction that has one."""
    by_id = {one_series.id: one_series for one_series in series}
    ways = []
    for command in directions:
        newest_kept = next_base(series, command)
        if newest_kept is not None:
            ways.append([by_id[series_id] for series_id in way_down(newest_kept.id, bases)])
    return ways


def _sides_of_steps(
    series: Sequence[records.Series], bases: Mapping[str, str | None], groups: Sequence[tuple[records.Series, ...]]
) -> dict[str, Sides]:
    """Each series that has ended and its base, by the id of the series."""
    by_id = {one_series.id: one_series for one_series in series}
    sides = {}
    for one_series in series:
        base_id = bases[one_series.id]
        if one_series.running_by is None and base_id and base_id in by_id:
            sides[one_series.id] = _sides(by_id[base_id], one_series, groups)
    return sides


def _sides_of_paths(
    paths: Sequence[Sequence[records.Series]], groups: Sequence[tuple[records.Series, ...]]
) -> dict[str, Sides]:
    """The first base and the newest series of each path that has more than one, by the id of the newest."""
    sides = {}
    for path in paths:
        if len(path) > 1:
            newest = path[0]
            base = path[-1]
            sides[newest.id] = replace(_sides(base, newest, groups), unseen=unseen_between(base.id, path))
    return sides


def _without_contradicted_end(way: Sequence[records.Series]) -> list[records.Series]:
    """The way without its newest series as long as their changes are contradicted; the base alone where all are."""
    path = list(dropwhile(_is_contradicted, way))
    return path or [way[-1]]


def _is_contradicted(series: records.Series) -> bool:
    return series.change is not None and series.change.evidence is records.Evidence.CONTRADICTED


def _groups_of_repeats(
    all_series: Sequence[records.Series], bases: Mapping[str, str | None]
) -> list[tuple[records.Series, ...]]:
    """The measured series in groups of equal settings: those without a change go with their base."""
    by_id = {series.id: series for series in all_series}
    first_ids: dict[str, str] = {}
    groups: dict[str, list[records.Series]] = {}
    # A base usually comes before its repeats, and then leads to the first series of its group.
    for series in all_series:
        base_id = bases[series.id]
        first_id = series.id
        if series.change is None and base_id and base_id in by_id and is_repeat(by_id[base_id], series):
            first_id = first_ids.get(base_id, base_id)
        first_ids[series.id] = first_id

        if series.measured() and series.running_by is None:
            groups.setdefault(first_id, []).append(series)
    return [tuple(group) for group in groups.values()]


def _sides(base: records.Series, other: records.Series, groups: Sequence[tuple[records.Series, ...]]) -> Sides:
    """Both sides with all that was measured at their settings."""
    base_group = _group_with(base, groups)
    other_group = _group_with(other, groups)
    # A repeat and its base are of one group: what they are averaged with would be the same on both sides.
    if base_group == other_group:
        return Sides(base=(base,), other=(other,), equal=True)
    return Sides(base=(base, *_repeats_of(base, base_group)), other=(other, *_repeats_of(other, other_group)))


def _repeats_of(first: records.Series, group: Sequence[records.Series]) -> Iterator[records.Series]:
    """The others of a group that are averaged with the first: an interrupted one is not."""
    for series in group:
        if series is not first and series.status is records.SeriesStatus.COMPLETE:
            yield series


def _group_with(series: records.Series, groups: Sequence[tuple[records.Series, ...]]) -> tuple[records.Series, ...]:
    return next((group for group in groups if series in group), (series,))
