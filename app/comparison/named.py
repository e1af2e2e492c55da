"""The series that the names in a comparison mean, and those that repeat them.

The name of a baseline means all its series; every other name means one. A repeat is a complete series of the same
settings: an interrupted one is averaged with no other.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from itertools import chain

from app.base.errors import UsageError
from forms.comparison.judged_sides import LeftOutMember, Sides
from forms.tuning import differences as tuning
from storage.notebook import Notebook
from storage.recordings import SERIES
from storage.records import Series, SeriesStatus


class Counted(Enum):
    """Which series count in a comparison."""

    ALONE = "those that are named, and no history"
    NAMED = "those that are named, judged with the history of their path"
    REPEATS = "these, and all complete series that repeat them"


def first_series(notebook: Notebook, references: Sequence[str]) -> list[Series]:
    """The series that each name means; of a baseline the newest complete one. Raises UnknownReferenceError."""
    return [_first_series_called(notebook, reference) for reference in references]


def _first_series_called(notebook: Notebook, reference: str) -> Series:
    series = notebook.series(reference)
    if _is_complete(series) or reference == series.id:
        return series
    of_baseline = notebook.all_of(notebook.baseline_ids(reference, SERIES))
    complete = [candidate for candidate in of_baseline if _is_complete(candidate)]
    return complete[-1] if complete else series


def all_series(notebook: Notebook, reference: str, first: Series) -> tuple[Series, ...]:
    """All that a name means, the ``first`` in front."""
    if reference == first.id or not _is_complete(first):
        return (first,)
    ids = [series_id for series_id in notebook.baseline_ids(reference, SERIES) if series_id != first.id]
    return (first, *(other for other in notebook.all_of(ids) if _counts_with(first, other)))


def left_out_members(notebook: Notebook, reference: str, first: Series) -> tuple[LeftOutMember, ...]:
    """The series of a baseline that :func:`all_series` leaves out; none where one series was named."""
    if reference == first.id:
        return ()
    counted_ids = {series.id for series in all_series(notebook, reference, first)}
    members = notebook.all_of(notebook.baseline_ids(reference, SERIES))
    return tuple(
        LeftOutMember(baseline=reference, series=member, differences=tuning.differences_of_repeat(first, member))
        for member in members
        if member.id not in counted_ids
    )


def _counts_with(first: Series, other: Series) -> bool:
    """Whether another series may be averaged with the first: it repeats it, and is whole."""
    return _is_complete(other) and bool(other.measured()) and tuning.is_repeat(first, other)


def _is_complete(series: Series) -> bool:
    return series.status is SeriesStatus.COMPLETE


def baseline_names(notebook: Notebook, references: Sequence[str], series: Sequence[Series]) -> dict[str, str]:
    """The baselines that the series are called by, by id: as they were named, else one of just that series."""
    ids_by_name: dict[str, list[str]] = {}
    for baseline in notebook.baselines():
        ids_by_name.setdefault(baseline.name, []).append(baseline.recording_id)

    names: dict[str, str] = {}
    for name, ids in ids_by_name.items():
        if len(ids) == 1:
            names.setdefault(ids[0], name)
    for reference, named_series in zip(references, series, strict=True):
        if reference != named_series.id and named_series.id in ids_by_name.get(reference, ()):
            names[named_series.id] = reference
    return names


def with_names_of_baselines(notebook: Notebook, sides: Sides) -> Sides:
    """The sides, each called by the baseline whose series all stand on it, unless it has such a name already."""
    names: dict[str, str] = {}
    for name in dict.fromkeys(baseline.name for baseline in notebook.baselines()):
        ids = set(notebook.baseline_ids(name, SERIES))
        for side in (sides.base, sides.other):
            if side[0].id in ids and ids <= {series.id for series in side}:
                names.setdefault(side[0].id, name)
    return replace(sides, baselines={**names, **sides.baselines})


def with_repeats(notebook: Notebook, named_groups: Sequence[tuple[Series, ...]]) -> list[tuple[Series, ...]]:
    """Each group of named series with those that repeat them; others that are named stay apart."""
    repeated_ids = notebook.repeated_ids()
    ids_of_others = {series.id for series in chain.from_iterable(named_groups[1:])}
    groups = []
    for named_group in named_groups:
        first = named_group[0]
        apart = ids_of_others if first.id in ids_of_others else set[str]()
        ids = next((group for group in repeated_ids if first.id in group), ())
        repeats = notebook.all_of([series_id for series_id in ids if series_id not in apart])
        groups.append(joined(named_group, [repeat for repeat in repeats if _counts_with(first, repeat)]))
    return groups


def joined(group: Sequence[Series], more: Sequence[Series]) -> tuple[Series, ...]:
    """The group with those that are not in it yet."""
    ids = {series.id for series in group}
    return (*group, *(series for series in more if series.id not in ids))


def check_repeat(base: Series, repeat: Series) -> None:
    """Raises UsageError where a series has not the base's settings."""
    differing = tuning.differences_of_repeat(base, repeat)
    if differing:
        raise UsageError(
            f"series {repeat.id} is not {base.id} measured again: {tuning.differences_prose(differing)};"
            " restore that and measure again, or compare it as OTHER"
        )


def is_base_again(base: Series, other: Series, third: Series) -> bool:
    """Whether the third was measured last, with the base's settings again, after the other was measured without."""
    in_order = base.created_at < other.created_at < third.created_at
    changed = bool(tuning.differences(base, other)) or other.change is not None
    return in_order and changed and not tuning.differences_of_repeat(base, third)
