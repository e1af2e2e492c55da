"""The ladder of an experiment: series in order, each with the one change that made it, and what was gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forms.comparison.verdict import ALPHA, MARGIN_PERCENT, NOISE_PERCENT, Comparison, compare, rates_of
from forms.stats.summary import mean
from forms.tuning.change_evidence import SettingState, standing
from storage.records import Change, Command, Decision, Series, SeriesStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One series of the experiment, against the series that it was made from."""

    number: int
    """From 0, in the order measured."""
    series: Series
    base_number: int | None
    """The rung that it was made from; None for the first, and where that series is no longer there."""
    average_bytes_per_second: float | None
    comparison: Comparison | None
    """Against the rung that it was made from; None where there is none."""
    on_kept_path: bool
    """Whether the settings in force now came about by way of it."""

    @property
    def change(self) -> Change | None:
        """The change that it claims; None for a base, and for a series measured again."""
        return self.series.change

    @property
    def standing(self) -> SettingState | None:
        """What the claimed change is worth; None where nothing is claimed."""
        return standing(self.change) if self.change else None

    @property
    def decision(self) -> Decision | None:
        """What became of the change; None while nobody has decided."""
        return self.series.decision

    @property
    def proof(self) -> str | None:
        """What proves its change, as a sentence or two; None where it is not proven."""
        return self.change.remark if self.change and self.standing is SettingState.PROVEN else None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why its figure may not speak for its change, in sentences; empty where nothing stands against it."""
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
    """What the kept rungs of one direction gained in all."""

    path: tuple[Rung, ...]
    """The rungs that led to the settings in force, first to last."""
    comparison: Comparison | None
    """The last of them against the first; None while there is only one."""

    @property
    def command(self) -> Command:
        """The direction: gets and puts are ladders of their own."""
        return self.path[0].series.command


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """All rungs of an experiment and what the kept ones gained in all."""

    name: str
    rungs: tuple[Rung, ...]
    gains: tuple[Gain, ...]
    """One for each direction that has a rung in force; the one measured last is the last."""

    @property
    def gain(self) -> Comparison | None:
        """What was gained in the direction measured last; None while nothing is."""
        return self.gains[-1].comparison if self.gains else None

    @property
    def kept_path(self) -> tuple[Rung, ...]:
        """The rungs that led to the settings in force in the direction measured last, first to last."""
        return self.gains[-1].path if self.gains else ()

    def rung_of(self, series_id: str) -> Rung | None:
        """The rung of that series; None where it is no part of the experiment."""
        return next((rung for rung in self.rungs if rung.series.id == series_id), None)


def build_ladder(
    name: str,
    series: Sequence[Series],
    *,
    noise_percent: float = NOISE_PERCENT,
    margin_percent: float = MARGIN_PERCENT,
    alpha: float = ALPHA,
) -> Ladder:
    """The ladder of the series of one experiment, given in the order measured; the options are those of compare.

    A rung stands on the series in its ``base_id``. A series that does not name one stands on what was in force when
    it was made: the series before it, or where that was put back the one that it was made from, and so on.
    """

    def compared(base: Series, other: Series) -> Comparison:
        return compare(base, other, noise_percent=noise_percent, margin_percent=margin_percent, alpha=alpha)

    bases = _bases(series)
    by_id = {one.id: one for one in series}
    numbers = {one.id: number for number, one in enumerate(series)}
    commands = dict.fromkeys(one.command for one in reversed(series))
    heads = [head for command in reversed(commands) if (head := next_base(series, command))]
    paths = [_way_down(head.id, bases) for head in heads]
    kept = {series_id for path in paths for series_id in path}
    rungs = tuple(
        Rung(
            number=numbers[one.id],
            series=one,
            base_number=numbers.get(bases[one.id] or ""),
            average_bytes_per_second=mean(rates_of(one)),
            comparison=compared(by_id[base], one) if (base := bases[one.id]) in by_id and base else None,
            on_kept_path=one.id in kept,
        )
        for one in series
    )
    gains = tuple(
        Gain(
            path=tuple(rungs[numbers[series_id]] for series_id in reversed(path)),
            comparison=compared(by_id[path[-1]], by_id[path[0]]) if len(path) > 1 else None,
        )
        for path in paths
    )
    return Ladder(name=name, rungs=rungs, gains=gains)


def next_base(series: Sequence[Series], command: Command | None = None) -> Series | None:
    """The series whose settings are in force after those of an experiment: what the next change is made from.

    The last complete one, or where its change was put back the one that it was made from, and so on; None where all
    were put back. With ``command``, only series of that direction count.
    """
    usable = [
        one for one in series if one.status is SeriesStatus.COMPLETE and (command is None or one.command is command)
    ]
    bases = _bases(usable)
    by_id = {one.id: one for one in usable}
    at = usable[-1] if usable else None
    seen: set[str] = set()
    while at is not None and at.decision is Decision.REVERTED and at.id not in seen:
        seen.add(at.id)
        at = by_id.get(bases[at.id] or "")
    return None if at is None or at.id in seen else at


def _bases(series: Sequence[Series]) -> Mapping[str, str | None]:
    """The base of each series by id: as recorded, or else what was in force when it was made."""
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
    """The series and those below it, down to the first that is part of the experiment."""
    way: list[str] = []
    at: str | None = series_id
    while at is not None and at in bases and at not in way:
        way.append(at)
        at = bases[at]
    return tuple(way)
