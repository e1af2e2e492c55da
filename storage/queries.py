"""Which recordings a list shows, in order. Loads no other module: the TUI's first screen needs it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlite_utils import Database

    from storage.records import Series, Target


MANY = 500
"""Ids in one query: below SQLite's limit of variables."""


def in_parts(sql: str, ids: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """A query in parts that SQLite accepts; ``IN (ids)`` stands for the ids."""
    for start in range(0, len(ids), MANY):
        part = ids[start : start + MANY]
        yield sql.replace("IN (ids)", f"IN ({','.join('?' * len(part))})"), part


class SortKey(StrEnum):
    """The column that a list is sorted by."""

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
    """What a list asks for."""

    text: str = ""
    order: SortKey = SortKey.WHEN
    descending: bool = True
    grouped: bool = False
    parts: bool = False


class Found(NamedTuple):
    """A recording in a list; a tuple, since there may be very many."""

    series_id: str
    experiment: str | None
    kind: str = "series"


_TARGET = (
    "series.protocol || '://' || series.host || coalesce(':' || series.port, '')"
    " || coalesce('/' || series.share, '') || '/' || trim(series.path, '/')"
)
_HAYSTACK = "texts.text || char(10) || coalesce(named.names, '')"
_TEXTS = "JOIN recording_texts AS texts ON texts.recording_id = recordings.id"
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
_NEWER = "recordings.created_at DESC, recordings.stored_order DESC"
_NEEDS_RATES = {SortKey.RUNS, SortKey.AVERAGE, SortKey.DEVIATION, SortKey.PERCENT_OF_LINK}


def find(db: "Database", query: SeriesQuery) -> list[Found]:
    """Matching series in order; those without a value in the sorted column last, newest first."""
    words = query.text.split()
    arguments: list[str] = []
    conditions: list[str] = []
    for word in words:
        if word.isascii():
            conditions.append(f"{_HAYSTACK} LIKE ? ESCAPE '\\'")
            arguments.append(f"%{_escaped(word)}%")
        else:
            conditions.append(f"instr(folded({_HAYSTACK}), ?)")
            arguments.append(word.casefold())
    if len(arguments) != sum(word.isascii() for word in words):
        db.conn.create_function("folded", 1, _folded, deterministic=True)
    column = _COLUMN[query.order]
    direction = "DESC" if query.descending else "ASC"
    newer = "recordings.stored_order DESC" if query.order is SortKey.WHEN else _NEWER
    order = f"{column} {direction} NULLS LAST, {newer}"
    if query.grouped:
        newest = "max(recordings.created_at) OVER (PARTITION BY series.experiment) DESC, series.experiment"
        order = f"series.experiment IS NULL, {newest}, {order}"
    if not query.parts:
        conditions.append("part_of IS NULL")
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = (
        "SELECT recordings.id, series.experiment, kind FROM recordings LEFT JOIN series ON series.id = recordings.id"  # noqa: S608 (our own expressions; words are arguments)
        " LEFT JOIN (SELECT recording_id, group_concat(name, ' ') AS names FROM baselines GROUP BY recording_id)"
        f" AS named ON named.recording_id = recordings.id {_RATES if query.order in _NEEDS_RATES else ''}"
        f" {_TEXTS if words else ''} {where} ORDER BY {order}"
    )
    return [Found._make(row) for row in db.execute(sql, arguments)]


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _folded(text: str) -> str:
    return text.casefold()


_REPEATED = """
WITH RECURSIVE again (series_id, first_id) AS (
    SELECT id, id FROM series WHERE (base_id IS NULL OR change_name IS NOT NULL)
        AND EXISTS (SELECT 1 FROM series AS next WHERE next.base_id = series.id AND next.change_name IS NULL)
    UNION ALL
    SELECT series.id, first_id FROM again JOIN series ON series.base_id = again.series_id
    WHERE series.change_name IS NULL
)
SELECT team, found.series_id FROM (
    SELECT 'baseline ' || name AS team, recording_id AS series_id FROM baselines
    UNION ALL
    SELECT 'experiment ' || experiments.name, series.id FROM experiments
    JOIN series ON series.experiment = experiments.name
    JOIN recordings ON recordings.id = series.id WHERE experiments.kind = ? AND recordings.status = 'complete'
    UNION ALL
    SELECT 'series ' || first_id, series_id FROM again
) AS found JOIN recordings ON recordings.id = found.series_id AND recordings.kind = 'series'
ORDER BY team, stored_order
"""


def repeated_ids(db: "Database") -> list[tuple[str, ...]]:
    """Groups of ids of series measured again with the same settings; overlapping groups are merged."""
    teams: dict[str, list[str]] = {}
    from storage.records import ExperimentKind  # noqa: PLC0415  as the module says

    for team, series_id in db.execute(_REPEATED, (ExperimentKind.REPEATS.value,)):
        teams.setdefault(str(team), []).append(str(series_id))
    group_of: dict[str, list[str]] = {}
    for ids in teams.values():
        whole = list(dict.fromkeys(one for each in ids for one in group_of.get(each, [each])))
        group_of.update(dict.fromkeys(whole, whole))
    groups = {id(group): tuple(group) for group in group_of.values()}
    return [group for group in groups.values() if len(group) > 1]


_EARLIER = """
SELECT series.id FROM series JOIN recordings ON recordings.id = series.id
    LEFT JOIN experiments ON experiments.name = series.experiment
WHERE command = :command AND protocol = :protocol AND host = :host COLLATE NOCASE AND port IS :port
    AND share IS :share AND path = :path AND client = :client AND recordings.status = 'complete'
    AND recordings.created_at < :before AND recordings.created_at >= :since
    AND ifnull(experiments.kind, 'ladder') IN (KINDS)
ORDER BY recordings.created_at DESC LIMIT :most
"""


WHOLE_SERIES = ("ladder", "repeats", "survey")
"""The kinds of experiment whose series are not interleaved."""


def earlier_ids(
    db: "Database", series: "Series", *, before: str, since: str, most: int, kinds: Sequence[str] = WHOLE_SERIES
) -> list[str]:
    """The newest complete series of the path in that time, oldest first, of no experiment or one of these kinds."""
    target, client = series.target, series.client.name
    found = db.execute(
        _EARLIER.replace("KINDS", ", ".join(f"'{kind}'" for kind in kinds)),
        {
            "command": series.command.value, "protocol": target.protocol, "host": target.host, "port": target.port,
            "share": target.share, "path": target.path, "client": client, "before": before, "since": since,
            "most": most,
        },
    )  # fmt: skip
    return [str(series_id) for (series_id,) in found][::-1]


def dialects_of(database: "Database", target: "Target", client: str) -> list[str]:
    """The dialects of this client with the target's server, measured here."""
    found = database.execute(
        "SELECT DISTINCT dialect FROM series JOIN recordings ON recordings.id = series.id"
        " WHERE protocol = ? AND host = ? COLLATE NOCASE AND port IS ?"
        " AND client = ? AND dialect IS NOT NULL AND imported_at IS NULL",
        (target.protocol, target.host, target.port, client),
    )
    return [str(dialect) for (dialect,) in found]


def rates_of(database: "Database", ids: Sequence[str]) -> dict[str, list[float]]:
    """Bytes/s of the valid measured runs, unordered; read from an index alone."""
    from storage.records import LONGEST_SECONDS, SHORTEST_SECONDS  # noqa: PLC0415  as the module says

    found: dict[str, list[float]] = {}
    sql = (
        "SELECT series_id, size_bytes, seconds FROM runs WHERE series_id IN (ids)"
        " AND phase = 'measured' AND status = 'valid' AND size_bytes BETWEEN 1 AND 9e18"
    )
    for asked, part in in_parts(sql, ids):
        for series_id, size_bytes, seconds in database.execute(asked, part):
            if type(seconds) is float and SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS:
                found.setdefault(series_id, []).append(size_bytes / seconds)
    return found
