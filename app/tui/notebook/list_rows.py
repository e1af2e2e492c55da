"""The rows of the notebook's list, before anything of a recording is read but its id: recordings and headings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from storage import queries

if TYPE_CHECKING:
    from forms.series.listing import RecordingLine

Group = tuple[str | None, int]
"""A heading: the name of an experiment (None for series of none), and how many of its series are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRows:
    """The rows of a query: series, and a heading above each group of them."""

    query: queries.SeriesQuery = field(default_factory=queries.SeriesQuery)
    rows: Sequence[queries.Found | Group] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    """The row of a series, by its id."""
    imported: bool = False
    """Whether the notebook has anything from elsewhere, so that the machine is shown."""

    def landing(self, row: int, direction: int) -> int:
        """The nearest row with a series: from this one on in the direction, else against it; 0 where there is none."""
        last = len(self.rows) - 1
        start = max(0, min(row, last))
        for step in (direction, -direction):
            row = start
            while 0 <= row <= last:
                if isinstance(self.rows[row], queries.Found):
                    return row
                row += step
        return 0


def listing(found_rows: Sequence[queries.Found], query: queries.SeriesQuery, *, imported: bool = False) -> ListRows:
    """The rows for what was found; ``imported``: whether the notebook has anything from elsewhere."""
    rows = list(_with_headings(found_rows)) if query.grouped else list(found_rows)
    places = {row.recording_id: index for index, row in enumerate(rows) if isinstance(row, queries.Found)}
    return ListRows(query=query, rows=rows, places=places, imported=imported)


def _with_headings(found_rows: Sequence[queries.Found]) -> Iterator[queries.Found | Group]:
    for experiment, group in groupby(found_rows, key=_experiment_of):
        members = list(group)
        yield experiment, len(members)
        yield from members


def _experiment_of(row: queries.Found) -> str | None:
    return row.experiment


def unique_names(ids: Sequence[str], lines: "Mapping[str, RecordingLine]", listing: ListRows) -> dict[str, str]:
    """Kind (but of series), name and time of each, and the id where another one listed has the same; by id."""
    names = {recording_id: _name_of(line) for recording_id, line in lines.items()}
    in_view = lines.keys() & {*listing.places, *ids}
    counts = Counter(names[recording_id] for recording_id in in_view)

    unique: dict[str, str] = {}
    for recording_id in ids:
        name = names.get(recording_id, recording_id)
        unique[recording_id] = f"{name} ({recording_id})" if counts[name] > 1 else name
    return unique


def _name_of(line: "RecordingLine") -> str:
    """Kind (but of series), name and time."""
    kind = f"{line.kind} " if line.names_its_kind else ""
    return f"{kind}{line.name} ({line.when})"
