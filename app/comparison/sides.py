"""Selects the series of a comparison: those named, with their repeats and with what was measured of the path before.

The first series named is the base; each other one makes a pair of sides with it (``Sides``). A repeat is a series of
the same settings. Series whose runs were *interleaved* were measured together, a run of the one and a run of the other
by turns, so that what disturbed one disturbed both: they answer better than series of different times.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from app.base.errors import UsageError
from app.comparison import change_between
from app.comparison.stand_in import prefer_interleaved, stand_in_rule
from forms.comparison.bases import power_of_base
from forms.comparison.history import groups_of
from forms.comparison.judged_sides import Sides
from forms.comparison.summary import sides_of
from forms.stats.before_change import BasePower
from forms.stats.variation import MOST_EARLIER, NONE_AFTER_DAYS
from forms.tuning import differences as tuning
from storage.looks import WATCH, unconfirmed_ids
from storage.notebook import Notebook
from storage.records import Series


def sides_to_compare(
    notebook: Notebook,
    references: Sequence[str],
    again: Sequence[str] = (),
    *,
    only_named: bool = False,
    by_interleaved: bool | None = None,
    each_is_a_side: bool = False,
) -> list[Sides]:
    """The sides that the named series are compared as: one pair of sides for each series after the base.

    - ``references``: the base and the others, as the user names them;
    - ``again``: further series that repeat the base; the third of three does so too where it has the base's settings;
    - ``only_named``: whether repeats and history are left out;
    - ``by_interleaved``: whether the newest two series with interleaved runs stand for all of their sides: True always,
      False never, None by ``stand_in_rule``;
    - ``each_is_a_side``: whether the third of three is a side of its own even with the base's settings.

    Raises UsageError, UnknownReferenceError.
    """
    named_series = [notebook.series(reference) for reference in references]
    base = named_series[0]
    if any(series.id == base.id for series in named_series[1:]):
        raise UsageError(f"{references[0]} is compared with itself (series {base.id}): name another series")

    repeats = [notebook.series(reference) for reference in again]
    for repeat in repeats:
        _check_repeat(base, repeat)
    if not (repeats or each_is_a_side) and len(named_series) == 3 and _is_base_again(*named_series):
        repeats = [named_series.pop()]

    # Every named series with its repeats; then the base's group makes sides with each of the others.
    groups = _groups_of_named(notebook, named_series, only_named=only_named)
    ids_of_base = {series.id for series in groups[0]}
    groups[0] = (*groups[0], *(repeat for repeat in repeats if repeat.id not in ids_of_base))
    all_sides = [_one_of_each_if_shared(sides, named_series) for sides in sides_of(groups)]

    if not only_named and by_interleaved is not False:
        named_ids = {series.id for series in (*named_series, *repeats)}
        stand_in = stand_in_rule(by_interleaved, len(named_series))
        all_sides = prefer_interleaved(all_sides, named_series, named_ids, stand_in)

    all_sides = [change_between.with_trial(notebook, sides) for sides in all_sides]
    all_sides = [
        change_between.with_unseen_changes(notebook, change_between.with_baseline_name(notebook, sides))
        for sides in all_sides
    ]
    if only_named:
        return all_sides
    return [with_history(notebook, sides) for sides in all_sides]


def with_history(notebook: Notebook, sides: Sides, judged: Series | None = None) -> Sides:
    """The sides with the path's series of before, in groups of equal settings, which tell how much equal series vary.

    Before is before the newest series of the base, or before ``judged``, the series that a watch checks. Series that a
    watch found slow without confirmation are left out.
    """
    base = max(sides.base, key=attrgetter("created_at"))
    end = (judged or base).created_at
    since = dt.datetime.fromisoformat(end).astimezone(dt.UTC) - dt.timedelta(days=NONE_AFTER_DAYS)
    earlier_ids = notebook.earlier_ids(base, before=end, since=since.isoformat(), most=MOST_EARLIER)

    new_normals = notebook.new_normals()
    left_out = unconfirmed_ids(notebook.recordings(WATCH)) - set(new_normals)
    left_out |= {series.id for series in (*sides.base, *sides.other)}
    earlier = notebook.all_of([series_id for series_id in earlier_ids if series_id not in left_out])
    return replace(sides, history=groups_of(earlier, base, new_normals))


def series_with_repeats(notebook: Notebook, series: Series) -> tuple[Series, ...]:
    """The series, and those that count with it as one side: measured with the same settings in the same environment."""
    return _group_of(notebook, series, notebook.repeated_ids(), set())


def power_of_stored_base(notebook: Notebook, ids: Sequence[str]) -> BasePower | None:
    """What these series, as the base of a change, will show; None where their runs are too few for any verdict."""
    sides = with_history(notebook, Sides(base=tuple(notebook.all_of(ids)), other=()))
    return power_of_base(sides.base, sides.history)


def _check_repeat(base: Series, repeat: Series) -> None:
    """Raises UsageError where a series has not the base's settings."""
    differing = tuning.differences_of_repeat(base, repeat)
    if differing:
        raise UsageError(
            f"series {repeat.id} is not {base.id} measured again: {tuning.differences_prose(differing)};"
            " restore that and measure again, or compare it as OTHER"
        )


def _is_base_again(base: Series, other: Series, third: Series) -> bool:
    """Whether the third was measured last, with the base's settings again, after the other was measured without."""
    in_order = base.created_at < other.created_at < third.created_at
    changed = bool(tuning.differences(base, other)) or other.change is not None
    return in_order and changed and not tuning.differences_of_repeat(base, third)


# Which series stand on a side


def _groups_of_named(
    notebook: Notebook, named_series: Sequence[Series], *, only_named: bool
) -> list[tuple[Series, ...]]:
    """Each named series with those that repeat it; others that are named stay apart."""
    if only_named:
        return [(series,) for series in named_series]

    repeated_ids = notebook.repeated_ids()
    ids_of_others = {series.id for series in named_series} - {named_series[0].id}
    groups = []
    for series in named_series:
        apart = ids_of_others if series.id in ids_of_others else set[str]()
        groups.append(_group_of(notebook, series, repeated_ids, apart))
    return groups


def _group_of(
    notebook: Notebook, series: Series, repeated_ids: Sequence[tuple[str, ...]], apart: set[str]
) -> tuple[Series, ...]:
    """The series, and the measured ones of the same baseline or settings that are not to stay ``apart``."""
    ids = next((group for group in repeated_ids if series.id in group), ())
    others = notebook.all_of([other_id for other_id in ids if other_id != series.id and other_id not in apart])
    return (series, *(other for other in others if other.measured() and tuning.is_repeat(series, other)))


def _one_of_each_if_shared(sides: Sides, named_series: Sequence[Series]) -> Sides:
    """The sides; or just the two series named, as equal, where the sides have a series in common."""
    ids_of_base = {series.id for series in sides.base}
    if ids_of_base.isdisjoint(series.id for series in sides.other):
        return sides

    named_ids = {series.id for series in named_series}
    return Sides(
        base=tuple(series for series in sides.base[:1] if series.id in named_ids),
        other=tuple(series for series in sides.other[:1] if series.id in named_ids),
        equal=True,
    )
