"""Selects the series of a comparison: those named, and what was measured of the path before.

The first series named is the base; each other one makes a pair of sides with it (``Sides``). The name of a baseline
names all its series. A repeat is a series of the same settings: it is averaged in where it is named, or where somebody
asks for all of them; an interrupted one never. Series whose runs were *interleaved* were measured together, a run of
the one and a run of the other by turns, so that what disturbed one disturbed both: they answer better than series of
different times.
"""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain
from operator import attrgetter

from app.base.errors import UsageError
from app.comparison import change_between, gone_bases, named, stand_in
from app.comparison.named import Counted
from app.comparison.sides_history import with_history
from forms.comparison.judged_sides import LeftOutMember, Sides, ids_of_side
from forms.comparison.summary import sides_of
from storage.notebook import Notebook
from storage.records import Series


def sides_to_compare(
    notebook: Notebook,
    references: Sequence[str],
    again: Sequence[str] = (),
    *,
    named_series: Sequence[Series] | None = None,
    counted: Counted = Counted.NAMED,
    by_interleaved: bool | None = None,
    each_is_a_side: bool = False,
) -> list[Sides]:
    """The sides that the named series are compared as: one pair of sides for each series after the base.

    - ``references``: the base and the others, as the user names them;
    - ``again``: further series that repeat the base; the third of three does so too where it has the base's settings;
    - ``named_series``: the series that the references mean, by :func:`named.first_series`; None: they are read here;
    - ``counted``: which series count beside those that are named;
    - ``by_interleaved``: with repeats, whether the newest two series with interleaved runs stand for all of their
      sides: True always, False never, None by ``stand_in_rule``;
    - ``each_is_a_side``: whether the third of three is a side of its own even with the base's settings.

    Raises UsageError, UnknownReferenceError.
    """
    named_series = list(named.first_series(notebook, references) if named_series is None else named_series)
    baseline_names = named.baseline_names(notebook, references, named_series)
    base = named_series[0]
    if any(series.id == base.id for series in named_series[1:]):
        raise UsageError(f"{references[0]} is compared with itself (series {base.id}): name another series")

    repeats = [notebook.series(reference) for reference in again]
    for repeat in repeats:
        named.check_repeat(base, repeat)
    if not (repeats or each_is_a_side) and len(named_series) == 3 and named.is_base_again(*named_series):
        repeats = [named_series.pop()]

    named_groups = [
        named.all_series(notebook, reference, series)
        for reference, series in zip(references, named_series, strict=False)
    ]
    left_out_members = {
        series.id: named.left_out_members(notebook, reference, series)
        for reference, series in zip(references, named_series, strict=False)
    }
    named_groups[0] = named.joined(named_groups[0], repeats)
    named_ids = {series.id for series in chain.from_iterable(named_groups)}

    # Even where only what is named is averaged, its repeats tell whether both sides are the same, and whether a trial
    # or interleaved runs answer better.
    groups = named_groups if counted is Counted.ALONE else named.with_repeats(notebook, named_groups)
    by_baseline = {
        series.id for reference, series in zip(references, named_series, strict=False) if reference != series.id
    }
    ids_of_named_sides = {group[0].id: ids_of_side(group) for group in named_groups}
    all_sides = [_apart_if_shared(sides, ids_of_named_sides, by_baseline) for sides in sides_of(groups)]
    if counted is not Counted.ALONE and by_interleaved is not False:
        rule = stand_in.StandIn.BOTH_NAMED
        if counted is Counted.REPEATS:
            rule = stand_in.stand_in_rule(by_interleaved, len(named_series))
        all_sides = stand_in.prefer_interleaved(all_sides, named_series, named_ids, rule)

    all_sides = [
        change_between.with_unseen_changes(notebook, change_between.with_trial(notebook, sides)) for sides in all_sides
    ]
    gone_ids = gone_bases.gone_base_ids(notebook)
    all_sides = [
        replace(
            sides,
            baselines=baseline_names,
            left_out_members=_left_out_of(sides, left_out_members),
            base_told_gone=not gone_ids.isdisjoint(ids_of_side(sides.base)),
        )
        for sides in all_sides
    ]
    if counted is Counted.REPEATS:
        return [_with_repeats_and_history(notebook, sides) for sides in all_sides]

    named_sides = [_only_named(sides, named_ids) for sides in all_sides]
    if counted is Counted.ALONE:
        return named_sides
    return [
        with_history(notebook, _beside_repeats(notebook, sides, whole), _other_after_repeats(sides, whole))
        for sides, whole in zip(named_sides, all_sides, strict=True)
    ]


def _with_repeats_and_history(notebook: Notebook, sides: Sides) -> Sides:
    return with_history(notebook, named.with_names_of_baselines(notebook, sides))


def _beside_repeats(notebook: Notebook, sides: Sides, whole: Sides) -> Sides:
    """The sides that were named, which know those with repeats where nobody named these; ``whole``: with them."""
    if not sides.unnamed_ids:
        return sides
    return replace(sides, with_repeats=_with_repeats_and_history(notebook, whole))


def _left_out_of(sides: Sides, left_out_members: Mapping[str, tuple[LeftOutMember, ...]]) -> tuple[LeftOutMember, ...]:
    """What the baselines of both sides leave out, of ``left_out_members`` by the ids of the series that were named."""
    ids = [series.id for series in (*sides.base, *sides.other)]
    return tuple(chain.from_iterable(left_out_members.get(series_id, ()) for series_id in ids))


def series_with_repeats(notebook: Notebook, series: Series) -> tuple[Series, ...]:
    """The series, and those that count with it as one side: measured with the same settings in the same environment."""
    return named.with_repeats(notebook, [(series,)])[0]


def _only_named(sides: Sides, named_ids: Collection[str]) -> Sides:
    """The sides without what nobody named, whose ids are noted."""
    unnamed_ids = [series.id for series in (*sides.base, *sides.other) if series.id not in named_ids]
    return replace(
        sides,
        base=tuple(series for series in sides.base if series.id in named_ids),
        other=tuple(series for series in sides.other if series.id in named_ids),
        unnamed_ids=tuple(unnamed_ids),
    )


def _other_after_repeats(sides: Sides, whole: Sides) -> Series | None:
    """The first of the other side, where repeats of the base were measured before it that are not averaged in.

    They tell how far equal series differ, as earlier ones do. ``whole``: the sides with them.
    """
    other = min(sides.other, key=attrgetter("created_at"))
    repeats = [series for series in whole.base if series.id in sides.unnamed_ids]
    return other if any(repeat.created_at < other.created_at for repeat in repeats) else None


def _apart_if_shared(
    sides: Sides, ids_of_named_sides: Mapping[str, frozenset[str]], ids_by_baseline: AbstractSet[str]
) -> Sides:
    """The sides; or, where they have series in common, these told apart, as of equal settings.

    Who names a baseline says that something may have changed since, which no setting shows. So what repeats both sides
    belongs to the other side if it was measured after the baseline; where the other side alone is one, to the base if
    it was measured before that. Without a baseline just the two series named are compared.
    ``ids_of_named_sides``: by the first series of each; ``ids_by_baseline``: the first series that a baseline names.
    """
    ids_of_base = ids_of_side(sides.base)
    if ids_of_base.isdisjoint(ids_of_side(sides.other)):
        return sides

    named_base_ids = ids_of_named_sides[sides.base[0].id]
    named_other_ids = ids_of_named_sides[sides.other[0].id]
    is_told_apart = not ids_by_baseline.isdisjoint((sides.base[0].id, sides.other[0].id))
    if not is_told_apart or not named_other_ids.isdisjoint(named_base_ids):
        return Sides(base=sides.base[:1], other=sides.other[:1], equal=True)

    base = tuple(series for series in sides.base if series.id in named_base_ids)
    other = tuple(series for series in sides.other if series.id in named_other_ids)
    is_base_a_baseline = base[0].id in ids_by_baseline
    # Repeats of the base were measured before this moment.
    if is_base_a_baseline:
        base_ended_at = max(series.moment for series in base)
    else:
        base_ended_at = min(series.moment for series in other)

    named_ids = named_base_ids | named_other_ids
    repeats = [series for series in named.joined(sides.base, sides.other) if series.id not in named_ids]
    repeats_of_base = [series for series in repeats if series.moment < base_ended_at]
    repeats_of_other = [series for series in repeats if series.moment >= base_ended_at]
    return Sides(base=(*base, *repeats_of_base), other=(*other, *repeats_of_other), equal=True)
