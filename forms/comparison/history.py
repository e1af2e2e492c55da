"""The series of one path over time, in groups of one level and the same settings."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from forms import wording
from forms.stats.decision import Verdict
from forms.stats.levels import confirmed_changes
from forms.tuning.differences import differences_of_repeat, differences_prose
from storage.records import Series

NEW_NORMAL = "new normal"
"""Why a group begins where a person said so."""


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
    same_path = [series for series in earlier if path_of(series) == path_of(base)]
    groups = history_groups(same_path, new_normal)
    return tuple(group.series for group in groups if not differences_of_repeat(group.series[-1], base))


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
    """What series of one path share: place, client, direction and sizes, whoever logged in."""
    target = replace(series.target, user=None, domain=None)
    return target, series.client.name, series.command, {run.size_bytes for run in series.measured()}
