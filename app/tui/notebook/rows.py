"""The rows of the list: series, and a heading for each group; made in a thread, since there may be many."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from storage.queries import Found, SeriesQuery, SortKey

Group = tuple[str | None, int]
"""An experiment and how many of its series are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRows:
    """What was found, row by row."""

    query: SeriesQuery = field(default_factory=SeriesQuery)
    rows: Sequence[Found | Group] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    """The row of each series."""
    unused: frozenset[SortKey] = frozenset()
    """The columns in which none of them has anything."""

    def landing(self, row: int, direction: int) -> int:
        """The nearest row with a series: first in the direction (1 or -1), then against it; 0 where there is none."""
        last = len(self.rows) - 1
        row = max(0, min(row, last))
        for step in (direction, -direction):
            at = row
            while 0 <= at <= last:
                if isinstance(self.rows[at], Found):
                    return at
                at += step
        return 0

    def series_at(self, row: int) -> str | None:
        """The id of the series in a row; None for a heading, or outside."""
        found = self.rows[row] if 0 <= row < len(self.rows) else None
        return found.series_id if isinstance(found, Found) else None


def listing(found: Sequence[Found], query: SeriesQuery, *, baselines: bool = True) -> ListRows:
    """The rows for what was found; ``baselines``: whether any series is one."""
    rows = list(_with_headings(found)) if query.grouped else list(found)
    places = {row.series_id: index for index, row in enumerate(rows) if isinstance(row, Found)}
    unused = set() if baselines else {SortKey.BASELINE}
    if all(one.experiment is None for one in found):
        unused.add(SortKey.EXPERIMENT)
    return ListRows(query=query, rows=rows, places=places, unused=frozenset(unused))


def _with_headings(found: Sequence[Found]) -> Iterator[Found | Group]:
    for experiment, members in groupby(found, key=lambda f: f.experiment):
        inside = list(members)
        yield experiment, len(inside)
        yield from inside
