"""Which recordings a list shows, and in which order: a `SeriesQuery` becomes one SQL statement.

Also ``in_parts``, for questions about many ids. Loads no other module: the TUI's first screen needs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from storage.notebook_file import NotebookDatabase


MANY = 500
"""Ids in one query: below SQLite's limit of variables."""


def in_parts(sql: str, ids: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """A query in parts that SQLite accepts; ``IN (ids)`` stands for the ids."""
    for start in range(0, len(ids), MANY):
        part = ids[start : start + MANY]
        yield sql.replace("IN (ids)", f"IN ({','.join('?' * len(part))})"), part


class SortKey(StrEnum):
    """What a list is sorted by."""

    WHEN = "when"
    KIND = "kind"
    LABEL = "label"
    TARGET = "target"
    COMMAND = "command"
    RUNS = "runs"
    AVERAGE = "average"
    DEVIATION = "deviation"
    PERCENT_OF_LINK = "percent of link"
    BASELINE = "baseline"
    EXPERIMENT = "experiment"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesQuery:
    """What a list is to show."""

    text: str = ""
    """Words that must all be found in a recording; empty for all recordings."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """What a list shows of a recording besides what is stored of it, such as its answer; words are sought there too."""
    order: SortKey = SortKey.WHEN
    descending: bool = True
    grouped: bool = False
    """Whether the series of an experiment stand together."""
    parts: bool = False
    """Whether the series of trials and surveys are found, too."""


class Found(NamedTuple):
    """A recording in a list; a tuple, since there may be very many."""

    recording_id: str
    experiment: str | None
    """The name of the one that it is in; None for none."""
    kind: str = "series"


# Parts of the statement. In them ``named`` are the names of baselines, ``texts`` all that is stored of a recording in
# words, and ``rates`` what is computed of a series' runs.
_TARGET = (
    "series.protocol || '://' || series.host || coalesce(':' || series.port, '')"
    " || coalesce('/' || series.share, '') || '/' || trim(series.path, '/')"
)
# What words are sought in.
_HAYSTACK = (
    "texts.text || char(10) || coalesce('baseline ' || named.names, '') || char(10) || shown(recordings.id)"
    " || char(10) || coalesce(change_value,"
    " (SELECT group_concat(change_value || ' ' || path, char(10)) FROM series AS tried"
    " JOIN recordings AS part ON part.id = tried.id WHERE part.part_of = recordings.id), '')"
)
_TEXTS = "JOIN recording_texts AS texts ON texts.recording_id = recordings.id"
_BASELINE_NAMES = (
    "LEFT JOIN (SELECT recording_id, group_concat(name, ' ') AS names FROM baselines GROUP BY recording_id)"
    " AS named ON named.recording_id = recordings.id"
)
_RATES = """
LEFT JOIN (
    SELECT series_id, count(*) AS n, avg(size_bytes / seconds) AS average,
        sum((size_bytes / seconds) * (size_bytes / seconds)) AS squares
    FROM runs WHERE phase = 'measured' AND status = 'valid' GROUP BY series_id
) AS rates ON rates.series_id = recordings.id
"""
_COLUMN = {
    SortKey.WHEN: "recordings.created_at",
    SortKey.KIND: "recordings.kind",
    SortKey.LABEL: "coalesce(nullif(label, ''), nullif(series.title, '')) COLLATE NOCASE",
    SortKey.TARGET: f"coalesce({_TARGET}, subject) COLLATE NOCASE",
    SortKey.COMMAND: "series.command",
    SortKey.RUNS: "coalesce(rates.n, 0)",
    SortKey.AVERAGE: "rates.average",
    # (deviation / average)², from the sum of squares: (Σx² / average² - n) / (n - 1). It sorts as the percentage does.
    SortKey.DEVIATION: (
        "CASE WHEN rates.n > 1 THEN (rates.squares / rates.average / rates.average - rates.n) / (rates.n - 1) END"
    ),
    SortKey.PERCENT_OF_LINK: "rates.average / series.link_bits_per_second",
    SortKey.BASELINE: "named.names COLLATE NOCASE",
    SortKey.EXPERIMENT: "series.experiment COLLATE NOCASE",
    SortKey.MACHINE: (
        "coalesce((SELECT value FROM facts WHERE series_id IN (recordings.id, (SELECT id FROM recordings AS part"
        " WHERE part.part_of = recordings.id)) AND side = 'client' AND name = 'host.name'),"
        """ json_extract(content, '$.environment.client."host.name"')) COLLATE NOCASE"""
    ),
}
_NEWEST_FIRST = "recordings.created_at DESC, recordings.stored_order DESC"
_NEEDS_RATES = {SortKey.RUNS, SortKey.AVERAGE, SortKey.DEVIATION, SortKey.PERCENT_OF_LINK}


def find(db: "NotebookDatabase", query: SeriesQuery) -> list[Found]:
    """The recordings of a query in order; those without a value in the sorted column last, the newest of them first."""
    words = query.text.replace("=", " ").casefold().split()

    def shown_of(recording_id: str) -> str:
        return query.shown.get(recording_id, "")

    db.conn.create_function("folded", 1, str.casefold, deterministic=True)
    db.conn.create_function("shown", 1, shown_of)
    parts = [
        "SELECT recordings.id, series.experiment, kind FROM recordings LEFT JOIN series ON series.id = recordings.id",
        _BASELINE_NAMES,
        _RATES if query.order in _NEEDS_RATES else "",
        _TEXTS if words else "",
        _condition(query, words),
        f"ORDER BY {_order(query)}",
    ]
    return [Found._make(row) for row in db.execute(" ".join(parts), words)]


def _condition(query: SeriesQuery, words: Sequence[str]) -> str:
    conditions = [f"instr(folded({_HAYSTACK}), ?)"] * len(words)
    if not query.parts:
        conditions.append("part_of IS NULL")
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def _order(query: SeriesQuery) -> str:
    column = _COLUMN[query.order]
    direction = "DESC" if query.descending else "ASC"
    among_equals = "recordings.stored_order DESC" if query.order is SortKey.WHEN else _NEWEST_FIRST
    order = f"{column} {direction} NULLS LAST, {among_equals}"
    if not query.grouped:
        return order

    newest = "max(recordings.created_at) OVER (PARTITION BY series.experiment) DESC, series.experiment"
    return f"series.experiment IS NULL, {newest}, {order}"
