"""An experiment's steps, each with its one change, and the total gain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from forms.comparison.comparison import Comparison
from forms.comparison.differences import is_repeat
from forms.comparison.verdict import Sides, compare_steps, unseen_between
from forms.stats.decision import Limits
from forms.stats.summary import mean
from forms.tuning.change_evidence import SettingState, standing
from storage.records import Change, Command, Decision, Evidence, Series, SeriesStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentStep:
    """A series compared with the one it was made from."""

    number: int
    series: Series
    base_number: int | None
    average_bytes_per_second: float | None
    comparison: Comparison | None
    on_kept_path: bool

    @property
    def change(self) -> Change | None:
        return self.series.change

    @property
    def standing(self) -> SettingState | None:
        return standing(self.change) if self.change else None

    @property
    def contradicted(self) -> bool:
        return self.standing is SettingState.NOT_AS_CLAIMED

    @property
    def mark(self) -> str:
        """``!`` contradicted, ``?`` unproven or not alone, else blank."""
        return "!" if self.contradicted else "?" if self.doubts else " "

    @property
    def decision(self) -> Decision | None:
        return self.series.decision

    @property
    def proof(self) -> str | None:
        return self.change.remark if self.change and self.standing is SettingState.PROVEN else None

    @property
    def doubts(self) -> tuple[str, ...]:
        change = self.change
        said: list[str] = []
        if change is not None:
            if self.standing is not SettingState.PROVEN and change.remark:
                said.append(change.remark)
            if change.also_changed:
                said.append(f"Also changed: {'; '.join(change.also_changed)}.")
        elif self.base_number is not None and self.comparison and self.comparison.differences:
            said.append(f"No change is claimed, but: {'; '.join(map(str, self.comparison.differences))}.")
        return tuple(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The total gain of the kept steps of one direction."""

    path: tuple[ExperimentStep, ...]
    comparison: Comparison | None

    @property
    def counted(self) -> tuple[ExperimentStep, ...]:
        return tuple(step for step in self.path if step.change is not None and not step.contradicted)

    @property
    def command(self) -> Command:
        return self.path[0].series.command


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentSummary:
    """All steps of an experiment and their total gain."""

    name: str
    steps: tuple[ExperimentStep, ...]
    gains: tuple[Gain, ...]

    def step_of(self, series_id: str) -> ExperimentStep | None:
        return next((step for step in self.steps if step.series.id == series_id), None)


def experiment_summary(name: str, series: Sequence[Series]) -> ExperimentSummary:
    """Build an experiment from its series in order; one without a change repeats its base."""
    bases = _bases(series)
    by_id = {one.id: one for one in series}
    numbers = {one.id: number for number, one in enumerate(series)}
    commands = dict.fromkeys(one.command for one in reversed(series))
    heads = [head for command in reversed(commands) if (head := next_base(series, command))]
    ways = [_way_down(head.id, bases) for head in heads]
    kept = {series_id for way in ways for series_id in way}
    paths = [_without_contradicted_end([by_id[series_id] for series_id in way]) for way in ways]
    pairs = [(by_id[base], one) for one in series if (base := bases[one.id]) in by_id and base]
    groups = _repeats(series, bases)
    sides = {one.id: _sides(base, one, groups) for base, one in pairs}
    whole: dict[str, Sides] = {}
    for path in paths:
        if len(path) > 1:
            way = [by_id[series_id] for series_id in path]
            whole[path[0]] = replace(_sides(way[-1], way[0], groups), unseen=unseen_between(path[-1], way))
    by_step: dict[str, Comparison] = {}
    by_span: dict[str, Comparison] = {}
    for command in commands:  # each direction is an experiment of its own
        own = [key for key in sides if by_id[key].command is command]
        all_in = [key for key in whole if by_id[key].command is command]
        found = compare_steps([*(sides[key] for key in own), *(whole[key] for key in all_in)], Limits())
        by_step.update(zip(own, found, strict=False))
        by_span.update(zip(all_in, found[len(own) :], strict=True))
    steps = tuple(
        ExperimentStep(
            number=numbers[one.id],
            series=one,
            base_number=numbers.get(bases[one.id] or ""),
            average_bytes_per_second=mean(one.rates()),
            comparison=by_step.get(one.id),
            on_kept_path=one.id in kept,
        )
        for one in series
    )
    gains = tuple(
        Gain(path=tuple(steps[numbers[series_id]] for series_id in reversed(path)), comparison=by_span.get(path[0]))
        for path in paths
    )
    return ExperimentSummary(name=name, steps=steps, gains=gains)


def _without_contradicted_end(way: Sequence[Series]) -> tuple[str, ...]:
    claimed = [one for one in way if one.change is not None and one.change.evidence is Evidence.CONTRADICTED]
    return tuple(one.id for one in dropwhile(lambda one: one in claimed, way)) or (way[-1].id,)


def _repeats(series: Sequence[Series], bases: Mapping[str, str | None]) -> list[tuple[Series, ...]]:
    by_id = {one.id: one for one in series}
    first: dict[str, str] = {}
    groups: dict[str, list[Series]] = {}
    for one in series:
        base = bases[one.id]
        again = one.change is None and base in by_id and is_repeat(by_id[base], one)
        first[one.id] = first.get(base, base) if again and base else one.id
        if one.measured():
            groups.setdefault(first[one.id], []).append(one)
    return [tuple(group) for group in groups.values()]


def _sides(base: Series, other: Series, groups: Sequence[tuple[Series, ...]]) -> Sides:
    mine = next((group for group in groups if base in group), (base,))
    theirs = next((group for group in groups if other in group), (other,))
    if mine == theirs:
        return Sides(base=(base,), other=(other,), equal=True)
    return Sides(
        base=(base, *(one for one in mine if one is not base)),
        other=(other, *(one for one in theirs if one is not other)),
    )


def next_base(series: Sequence[Series], command: Command | None = None) -> Series | None:
    """The series whose settings are in force; None where all changes were restored."""
    usable = [
        one for one in series if one.status is SeriesStatus.COMPLETE and (command is None or one.command is command)
    ]
    bases = _bases(usable)
    by_id = {one.id: one for one in usable}
    moved = [one for one in usable if one.change is not None or bases[one.id] is None]
    at = (moved or usable)[-1] if usable else None
    if at is not None and at.decision is not Decision.REVERTED:
        again = [one for one in usable if one.change is None and bases[one.id] == at.id]
        at = again[-1] if again else at
    seen: set[str] = set()
    while at is not None and at.decision is Decision.REVERTED and at.id not in seen:
        seen.add(at.id)
        at = by_id.get(bases[at.id] or "")
    return None if at is None or at.id in seen else at


def _bases(series: Sequence[Series]) -> Mapping[str, str | None]:
    bases: dict[str, str | None] = {}
    reverted: set[str] = set()
    last: dict[Command, str | None] = {}
    for one in series:
        before = last.get(one.command)
        seen: set[str | None] = set()
        while before in reverted and before not in seen:
            seen.add(before)
            before = bases[before] if before is not None else None
        bases[one.id] = one.base_id if one.base_id is not None and one.base_id != one.id else before
        if one.decision is Decision.REVERTED:
            reverted.add(one.id)
        if one.status is SeriesStatus.COMPLETE:
            last[one.command] = one.id
    return bases


def _way_down(series_id: str, bases: Mapping[str, str | None]) -> tuple[str, ...]:
    way: list[str] = []
    at: str | None = series_id
    while at is not None and at in bases and at not in way:
        way.append(at)
        at = bases[at]
    return tuple(way)
