"""Which series each series of an experiment was made from, and which one has the settings that are in force.

A series names its *base*, the series whose settings it changed or repeats; where it names none, that is the last one
before it that was not restored. A *way* leads from a series down over the bases. Where a change was *restored* (its
decision is ``REVERTED``), the settings of its base are in force again. A damaged notebook may have bases in a circle.
"""

from collections.abc import Mapping, Sequence

from storage import records


def next_base(all_series: Sequence[records.Series], command: records.Command | None = None) -> records.Series | None:
    """The series whose settings are in force, in one direction or in any; None where all changes were restored."""
    usable = [
        series
        for series in all_series
        if series.status is records.SeriesStatus.COMPLETE and command in {None, series.command}
    ]
    if not usable:
        return None
    bases = bases_of(usable)
    by_id = {series.id: series for series in usable}

    # The last change or first base (there is none where a damaged notebook has bases in a circle); where that was
    # measured again, the newest repeat of it.
    changes_and_firsts = [series for series in usable if series.change is not None or bases[series.id] is None]
    newest = (changes_and_firsts or usable)[-1]
    if newest.decision is not records.Decision.REVERTED:
        repeats = [series for series in usable if series.change is None and bases[series.id] == newest.id]
        newest = repeats[-1] if repeats else newest

    # From a restored change down to the series that it was made from, until one was not restored.
    current: records.Series | None = newest
    visited: set[str] = set()
    while current is not None and current.decision is records.Decision.REVERTED and current.id not in visited:
        visited.add(current.id)
        current = by_id.get(bases[current.id] or "")
    return None if current is None or current.id in visited else current


def bases_of(all_series: Sequence[records.Series]) -> Mapping[str, str | None]:
    """The id of the base of each series, by the id of the series; None for a first one. In the order measured."""
    bases: dict[str, str | None] = {}
    restored: set[str] = set()
    newest_complete: dict[records.Command, str] = {}

    for series in all_series:
        names_another = series.base_id is not None and series.base_id != series.id
        base_before = _last_not_restored(newest_complete.get(series.command), bases, restored)
        bases[series.id] = series.base_id if names_another else base_before

        if series.decision is records.Decision.REVERTED:
            restored.add(series.id)
        if series.status is records.SeriesStatus.COMPLETE:
            newest_complete[series.command] = series.id
    return bases


def _last_not_restored(series_id: str | None, bases: Mapping[str, str | None], restored: set[str]) -> str | None:
    """The first series on the way down from ``series_id`` that was not restored; of a circle any of its series."""
    current = series_id
    visited: set[str] = set()
    while current is not None and current in restored and current not in visited:
        visited.add(current)
        current = bases[current]
    return current


def way_down(series_id: str, bases: Mapping[str, str | None]) -> tuple[str, ...]:
    """The ids from a series down over its bases, as far as they are in the experiment; each id once."""
    way: list[str] = []
    current: str | None = series_id
    while current is not None and current in bases and current not in way:
        way.append(current)
        current = bases[current]
    return tuple(way)
