"""An experiment's steps, one change each, and what they gained together.

Each series was made from another one, its *base*, by a change, or repeats it. The *way* of a series leads from it down
over its bases to the first. The changes on the way of the newest series that was not restored are *kept*.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, dropwhile

from forms.comparison.comparison import Comparison
from forms.comparison.verdict import Sides, compare_steps, unseen_between
from forms.stats.decision import Limits
from forms.stats.summary import mean
from forms.tuning.change_evidence import SettingState, standing
from forms.tuning.differences import is_repeat
from storage.records import Change, Command, Decision, Evidence, Series, SeriesStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStep:
    """A series of an experiment, compared with the one that it was made from."""

    number: int
    """Its place in the experiment, from 0."""
    series: Series
    base_number: int | None
    """The number of the step that it was made from; None for a first one, or where that is not in the experiment."""
    average_bytes_per_second: float | None
    """The mean of its runs; None without a valid one."""
    comparison: Comparison | None
    """Beside its base; None without one, or while the series is being measured."""
    on_kept_path: bool
    """Whether its settings are still in force: it lies on the way from the newest series that was not restored."""

    @property
    def change(self) -> Change | None:
        return self.series.change

    @property
    def standing(self) -> SettingState | None:
        """What is known of the changed setting on the server; None for a step without a change."""
        return standing(self.change) if self.change else None

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
    def decision(self) -> Decision | None:
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
    """The total gain of the kept steps of one direction."""

    path: tuple[ExperimentStep, ...]
    """The steps of the way, the first base first."""
    comparison: Comparison | None
    """The last step of the path beside the first; None where there is but one."""

    @property
    def counted(self) -> tuple[ExperimentStep, ...]:
        """The steps whose changes the gain is due to: one that is contradicted was not in effect."""
        return tuple(step for step in self.path if step.change is not None and not step.contradicted)

    @property
    def command(self) -> Command:
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


def experiment_summary(name: str, series: Sequence[Series]) -> ExperimentSummary:
    """Build an experiment from its series in order; one without a change repeats its base."""
    bases = _bases(series)
    by_id = {one_series.id: one_series for one_series in series}
    numbers = {one_series.id: number for number, one_series in enumerate(series)}
    commands = list(dict.fromkeys(one_series.command for one_series in reversed(series)))

    # The way from the series whose settings are in force down to the first base, in each direction.
    heads = [head for command in reversed(commands) if (head := next_base(series, command))]
    ways = [_way_down(head.id, bases) for head in heads]
    kept_ids = set(chain.from_iterable(ways))
    paths = [_without_contradicted_end(_look_up(way, by_id)) for way in ways]

    groups = _groups_of_repeats(series, bases)
    step_sides = _sides_of_steps(series, bases, groups)
    path_sides = _sides_of_paths([_look_up(path, by_id) for path in paths], groups)

    # Each direction is an experiment of its own, judged by its own variation.
    of_steps: dict[str, Comparison] = {}
    of_paths: dict[str, Comparison] = {}
    for command in commands:
        step_ids = [series_id for series_id in step_sides if by_id[series_id].command is command]
        path_ids = [series_id for series_id in path_sides if by_id[series_id].command is command]
        sides = [*(step_sides[series_id] for series_id in step_ids), *(path_sides[series_id] for series_id in path_ids)]
        comparisons = compare_steps(sides, Limits())
        of_steps.update(zip(step_ids, comparisons[: len(step_ids)], strict=True))
        of_paths.update(zip(path_ids, comparisons[len(step_ids) :], strict=True))

    steps = tuple(
        ExperimentStep(
            number=numbers[one_series.id],
            series=one_series,
            base_number=numbers.get(bases[one_series.id] or ""),
            average_bytes_per_second=mean(one_series.rates()),
            comparison=of_steps.get(one_series.id),
            on_kept_path=one_series.id in kept_ids,
        )
        for one_series in series
    )

    gains = []
    for path in paths:
        path_steps = tuple(steps[numbers[series_id]] for series_id in reversed(path))
        gains.append(Gain(path=path_steps, comparison=of_paths.get(path[0])))
    return ExperimentSummary(name=name, steps=steps, gains=tuple(gains))


def _look_up(ids: Sequence[str], by_id: Mapping[str, Series]) -> list[Series]:
    return [by_id[series_id] for series_id in ids]


def _sides_of_steps(
    series: Sequence[Series], bases: Mapping[str, str | None], groups: Sequence[tuple[Series, ...]]
) -> dict[str, Sides]:
    """Each series that has ended and its base, by the id of the series."""
    by_id = {one_series.id: one_series for one_series in series}
    sides = {}
    for one_series in series:
        base_id = bases[one_series.id]
        if one_series.running_by is None and base_id and base_id in by_id:
            sides[one_series.id] = _sides(by_id[base_id], one_series, groups)
    return sides


def _sides_of_paths(paths: Sequence[Sequence[Series]], groups: Sequence[tuple[Series, ...]]) -> dict[str, Sides]:
    """The first base and the last series of each path of several, by the id of the last."""
    sides = {}
    for path in paths:
        if len(path) > 1:
            newest = path[0]
            base = path[-1]
            sides[newest.id] = replace(_sides(base, newest, groups), unseen=unseen_between(base.id, path))
    return sides


def _without_contradicted_end(way: Sequence[Series]) -> tuple[str, ...]:
    """The way down without the newest series whose changes are contradicted; the base alone where all are."""
    proven = dropwhile(_is_contradicted, way)
    return tuple(series.id for series in proven) or (way[-1].id,)


def _is_contradicted(series: Series) -> bool:
    return series.change is not None and series.change.evidence is Evidence.CONTRADICTED


def _groups_of_repeats(all_series: Sequence[Series], bases: Mapping[str, str | None]) -> list[tuple[Series, ...]]:
    """The measured series in groups of equal settings: those without a change go with their base."""
    by_id = {series.id: series for series in all_series}
    first_ids: dict[str, str] = {}
    groups: dict[str, list[Series]] = {}
    for series in all_series:
        base_id = bases[series.id]
        first_id = series.id
        if series.change is None and base_id and base_id in by_id and is_repeat(by_id[base_id], series):
            first_id = first_ids.get(base_id, base_id)
        first_ids[series.id] = first_id
        if series.measured() and series.running_by is None:
            groups.setdefault(first_id, []).append(series)
    return [tuple(group) for group in groups.values()]


def _sides(base: Series, other: Series, groups: Sequence[tuple[Series, ...]]) -> Sides:
    """Both sides with all that was measured at their settings."""
    base_group = _group_with(base, groups)
    other_group = _group_with(other, groups)
    if base_group == other_group:
        return Sides(base=(base,), other=(other,), equal=True)
    return Sides(
        base=(base, *(series for series in base_group if series is not base)),
        other=(other, *(series for series in other_group if series is not other)),
    )


def _group_with(series: Series, groups: Sequence[tuple[Series, ...]]) -> tuple[Series, ...]:
    return next((group for group in groups if series in group), (series,))


def next_base(all_series: Sequence[Series], command: Command | None = None) -> Series | None:
    """The series whose settings are in force; None where all changes were restored."""
    usable = [
        series for series in all_series if series.status is SeriesStatus.COMPLETE and command in {None, series.command}
    ]
    if not usable:
        return None
    bases = _bases(usable)
    by_id = {series.id: series for series in usable}

    # The last change or first base; measured again since, its newest repeat.
    moved = [series for series in usable if series.change is not None or bases[series.id] is None]
    current: Series | None = (moved or usable)[-1]
    if current is not None and current.decision is not Decision.REVERTED:
        repeats = [series for series in usable if series.change is None and bases[series.id] == current.id]
        current = repeats[-1] if repeats else current

    # Restored changes lead down to the series that they were made from; a damaged notebook may lead in a circle.
    visited: set[str] = set()
    while current is not None and current.decision is Decision.REVERTED and current.id not in visited:
        visited.add(current.id)
        current = by_id.get(bases[current.id] or "")
    return None if current is None or current.id in visited else current


def _bases(all_series: Sequence[Series]) -> Mapping[str, str | None]:
    """The id of the series that each one was made from: the one it names, else the last that was not restored."""
    bases: dict[str, str | None] = {}
    reverted: set[str] = set()
    last: dict[Command, str | None] = {}
    for series in all_series:
        before = last.get(series.command)
        visited: set[str | None] = set()
        while before in reverted and before not in visited:
            visited.add(before)
            before = bases[before] if before is not None else None

        names_another = series.base_id is not None and series.base_id != series.id
        bases[series.id] = series.base_id if names_another else before
        if series.decision is Decision.REVERTED:
            reverted.add(series.id)
        if series.status is SeriesStatus.COMPLETE:
            last[series.command] = series.id
    return bases


def _way_down(series_id: str, bases: Mapping[str, str | None]) -> tuple[str, ...]:
    """The ids from a series down over its bases; each once, as a damaged notebook may lead in a circle."""
    way: list[str] = []
    current: str | None = series_id
    while current is not None and current in bases and current not in way:
        way.append(current)
        current = bases[current]
    return tuple(way)
