"""The series of one path over time, in groups of one level and the same settings."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from forms import wording
from forms.comparison.client_options import CLIENT_OPTIONS
from forms.stats.decision import Verdict
from forms.stats.levels import confirmed_changes
from forms.tuning.differences import differences, differences_of_repeat, differences_prose, requests_text
from storage.records import Series, measured_from

NEW_NORMAL = "new normal"
"""Why a group begins where a person said so."""


_OPTION_NAMES = frozenset(option.difference for option in CLIENT_OPTIONS)
"""What differences between series are called that an option of ``run`` makes."""


@dataclass(frozen=True, slots=True)
class HistoryGroup:
    """Series of one path at one level, and why the group begins."""

    series: tuple[Series, ...]
    why: str = ""
    """What was changed or differs there, for people; empty for the first group, and where only the figures show it."""
    verdict: Verdict | None = None
    """Faster or slower, where the level changed for good by the figures."""


def groups_of(
    earlier: Sequence[Series], base: Series, new_normal: Collection[str] = ()
) -> tuple[tuple[Series, ...], ...]:
    """The earlier series with the settings of the base, in groups of one level, the oldest first.

    ``new_normal``: the ids of series from which on a person said that this is the normal level.
    """
    same_path = points_of_path([series for series in earlier if path_of(series) == path_of(base)])
    groups = history_groups(same_path, new_normal)
    return tuple(group.series for group in groups if not differences_of_repeat(group.series[-1], base))


def points_of_path(all_series: Sequence[Series]) -> list[Series]:
    """The series of a path, oldest first, without those that only show what other options of the client would give.

    Such a one was measured beside another, run by run (``run --versus``). Of each two the one with the options of the
    series before is a point of the path, or else of the series after, or else the one that began first.
    """
    points: list[Series] = []
    left_out: set[str] = set()
    for place, series in enumerate(all_series):
        if series.id in left_out:
            continue

        measured_beside = _measured_beside(all_series, place)
        neighbours = [*reversed(points), *all_series[place + 1 + len(measured_beside) :]]
        for beside in measured_beside:
            other = _with_other_options(series, beside, neighbours)
            left_out.add(other.id)
            if other is series:
                break
        if series.id not in left_out:
            points.append(series)
    return points


def _measured_beside(all_series: Sequence[Series], place: int) -> list[Series]:
    """The series that follow the one at that place, and were measured with other options at one time with it."""
    first = all_series[place]
    return list(takewhile(lambda later: _is_versus(first, later), all_series[place + 1 :]))


def _is_versus(first: Series, second: Series) -> bool:
    """Whether two series that follow each other were measured at one time, with different options of the client."""
    first_moments = [run.started_at for run in first.measured() if run.started_at]
    second_moments = [run.started_at for run in second.measured() if run.started_at]
    if not first_moments or not second_moments:
        return False
    overlap = min(second_moments) < max(first_moments) and min(first_moments) < max(second_moments)
    return overlap and not _have_same_options(first, second)


def _with_other_options(first: Series, second: Series, neighbours: Sequence[Series]) -> Series:
    """Which of both has not the options of the path's other series, the nearest of which that says so decides."""
    for neighbour in neighbours:
        first_is_usual = _have_same_options(neighbour, first)
        if first_is_usual != _have_same_options(neighbour, second):
            return second if first_is_usual else first
    return second


def _have_same_options(first: Series, second: Series) -> bool:
    return _OPTION_NAMES.isdisjoint(difference.name for difference in differences(first, second))


def history_groups(all_series: Sequence[Series], new_normal: Collection[str] = ()) -> list[HistoryGroup]:
    """The measured series of a path, oldest first, in groups of one level and the same settings."""
    # Each group with the reason why it begins.
    groups: list[tuple[list[Series], str]] = []
    for series in all_series:
        if not series.measured():
            continue
        if not groups:
            groups.append(([series], ""))
            continue

        last_group, _ = groups[-1]
        reason = _why_new_group(last_group[-1], series, new_normal)
        if reason is None:
            last_group.append(series)
        else:
            groups.append(([series], reason))

    # Changes of the level are sought within a group: between groups the settings differ anyway.
    levels: list[HistoryGroup] = []
    for group, reason in groups:
        levels += _levels_of_group(group, reason)
    return levels


def _why_new_group(last: Series, series: Series, new_normal: Collection[str]) -> str | None:
    """Why a series begins a new group; None where it belongs to that of the last one."""
    if series.id in new_normal:
        return NEW_NORMAL
    if series.change is not None:
        return wording.plain(wording.changed(series.change))
    differing = differences_of_repeat(last, series)
    return wording.plain(differences_prose(differing)) if differing else None


def _levels_of_group(group: Sequence[Series], reason: str) -> Iterator[HistoryGroup]:
    """The group, cut where its level changed for good."""
    changes = confirmed_changes([series.rates() for series in group], [series.moment for series in group])
    begin = 0
    verdict: Verdict | None = None
    for change_at, change in changes:
        yield HistoryGroup(tuple(group[begin:change_at]), reason, verdict)
        begin = change_at
        reason = ""
        verdict = change
    yield HistoryGroup(tuple(group[begin:]), reason, verdict)


def path_of(series: Series) -> tuple[object, ...]:
    """What series of one path share: both its ends, client, direction, order and sizes, whoever logged in."""
    target = replace(series.target, user=None, domain=None)
    ends = target, measured_from(series.environment)
    return *ends, series.client.name, series.command, requests_text(series), series.file_sizes()
