"""The notebook: one open SQLite file, for one thread.

A recording is anything that was measured, with one row of ``recordings``, its head: what every kind has. A series is
the recording of kind ``series``, whose own rows are here: its runs, attempts that failed, facts and resumptions. The
head of a series (``heads``, ``heads_of``) is a `Series` read without those. A series of a trial or survey is part of
the recording of the whole (``part_of``); one of an experiment of steps is in it by name alone.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from storage import codec, errors, migrations, queries, recordings, records, shared
from storage.json_reader import named
from storage.load.tables import LoadTables
from storage.tables.changes import ChangeTables
from storage.tables.isolations import IsolationTables
from storage.tables.side import SideTables

_SERIES = (
    "SELECT recordings.*, series.*, (SELECT kind FROM experiments WHERE name = experiment) AS experiment_kind"
    " FROM series JOIN recordings ON recordings.id = series.id"
)
# Long statements: those of ``storage/statements``.
# They set the status of a whole by its parts, and find series that were repeated or interleaved, and earlier ones of a
# path.
_SETTLE = migrations.sql("settle")
_REPEATED = migrations.sql("repeated")
_INTERLEAVED = migrations.sql("interleaved")
_EARLIER = migrations.sql("earlier")

_FACTS_AS_JSON = (
    "SELECT series_id, side, json_group_object(name, value) AS facts FROM facts"
    " WHERE series_id IN (ids) AND typeof(value) <> 'real' GROUP BY series_id, side"
)
# SQLite's JSON has them to 15 digits only.
_REAL_FACTS = "SELECT * FROM facts WHERE series_id IN (ids) AND typeof(value) = 'real'"

WHOLE_SERIES = ("ladder", "repeats", "survey")
"""The kinds of experiment whose series are each measured as a whole: the runs of a trial's or sweep's take turns."""


class Notebook(ChangeTables, LoadTables, SideTables, IsolationTables):
    """All records of one file. Every writing method is one transaction.

    What the bases give, and is used here:

    - `NotebookBase`: the connection (``_db``); ``_rows`` and ``_rows_of``, which check what they read; ``_insert_all``.
      ``IN (ids)`` in the SQL of ``_rows_of`` stands for the ids: it asks in parts that SQLite accepts (`in_parts`).
    - `TextTables`: people's texts (``_write_texts``), and the rejection of a run, which is one (``judge``).
    - `RecordingTables`: ``add_recordings``, ``update_recording`` and ``recordings_of``; ``resolve``, which finds what a
      name means; who is measuring what (``running``).
    - `ChangeTables`, `LoadTables`, `SideTables`, `IsolationTables`: subjects of their own, of which nothing is used.
    """

    def add(self, series: records.Series) -> None:
        """Store a new series, and the experiment that it names where there is none yet."""
        with self._db.atomic():
            part_of = self._make_experiment_of(series)
            self._insert_series([_SeriesToAdd(series, part_of)])
            self._settle(part_of)

    def _insert_series(self, additions: Sequence["_SeriesToAdd"]) -> None:
        """Insert all rows of new series, within the transaction of whoever calls it."""
        many = [addition.series for addition in additions]
        self.add_recordings([_head_of(addition.series, part_of=addition.part_of) for addition in additions])
        self._insert_all("series", map(codec.series_to_row, many))
        self._insert_all("runs", _run_rows(many))
        self._insert_all("failed_attempts", _attempt_rows(many))

        for series in many:
            for resumed_at in series.resumed_at:
                self.add_resumption(series.id, resumed_at)
            for side, facts in series.environment.items():
                self.set_facts(series.id, side, facts)

    def _make_experiment_of(self, series: records.Series) -> str | None:
        """The id of the recording that the series is a part of; None where it is none's."""
        if series.experiment is None:
            return None
        experiment = records.Experiment(name=series.experiment, created_at=series.created_at)
        return self.add_experiment(experiment, imported_at=series.imported_at)

    def expect_parts(self, experiment: str, parts: int) -> None:
        """A survey counts as interrupted until it has this many series; 0 ends its round."""
        stored = self.experiment_called(experiment)
        if stored is None or stored.recording_id is None:
            return
        with self._db.atomic():
            content = json.dumps({"parts": parts} if parts else {})
            self._db.execute("UPDATE recordings SET content = ? WHERE id = ?", (content, stored.recording_id))
            self._settle(stored.recording_id)

    def _settle(self, whole_id: str | None) -> None:
        """Set the status of a whole (trial, survey), which follows from those of its parts."""
        if whole_id is not None:
            self._db.execute(_SETTLE, (whole_id,))

    def add_all(self, many: Sequence[records.Series]) -> None:
        """Store new series from documents, all or none, in order of time; a missing base is forgotten."""
        # The id of the recording of each experiment that a series names; None for one of steps, which has none.
        imported_at = records.utc_now()
        whole_ids: dict[str, str | None] = {}
        additions = []
        with self._db.atomic():
            for series in sorted(many, key=attrgetter("created_at")):
                part_of = None
                if series.experiment is not None:
                    if series.experiment not in whole_ids:
                        whole_ids[series.experiment] = self._make_imported_experiment(series, imported_at)
                    part_of = whole_ids[series.experiment]
                stored = replace(series, base_id=None, imported_at=imported_at)
                additions.append(_SeriesToAdd(stored, part_of))

            self._insert_series(additions)
            for whole_id in whole_ids.values():
                self._settle(whole_id)
            self._link_bases(many)

    def _make_imported_experiment(self, series: records.Series, imported_at: str) -> str | None:
        assert series.experiment is not None
        experiment = records.Experiment(
            name=series.experiment,
            kind=series.experiment_kind or records.kind_in_name(series.experiment),
            created_at=series.created_at,
        )
        return self.add_experiment(experiment, imported_at=imported_at)

    def _link_bases(self, many: Sequence[records.Series]) -> None:
        """Have each series follow its base where that is stored; after all are, as a base may be among them."""
        for series in many:
            if series.base_id and self._db.execute("SELECT 1 FROM series WHERE id = ?", (series.base_id,)).fetchone():
                self._db.execute("UPDATE series SET base_id = ? WHERE id = ?", (series.base_id, series.id))

    def update(self, series: records.Series) -> None:
        """Store what measuring changes, without runs and facts; people's texts stay."""
        row = codec.series_to_row(series)
        unchanged = {"id", "base_id", *codec.SERIES_WRITTEN_BY_PEOPLE}
        # What people write has methods of its own (``annotate``), so that neither undoes the other.
        with self._db.atomic():
            self.update_recording(_head_of(series))  # leaves what the series is a part of as it is
            self._db.table("series").update(series.id, {name: row[name] for name in row if name not in unchanged})
            self._settle(self.recordings_of([series.id])[0].part_of)

    def annotate(self, series: records.Series) -> None:
        """Store what people say of a series."""
        row = codec.series_to_row(series)
        texts = {
            "label": series.label,
            "note": series.note,
            "question": series.question,
            shared.DECISION: series.decision.value if series.decision else "",
        }
        with self._db.atomic():
            part_of = self._make_experiment_of(series)
            self._write_texts(series.id, texts)
            self._db.table("recordings").update(series.id, {"part_of": part_of})
            self._db.table("series").update(series.id, {name: row[name] for name in codec.SERIES_WRITTEN_BY_PEOPLE})

    def set_link(self, series_id: str, bits_per_second: int | None) -> None:
        """Correct the link speed of a series, of which its rates are percentages; None where nobody knows it."""
        with self._db.atomic():
            self._db.table("series").update(series_id, {"link_bits_per_second": bits_per_second})

    def set_facts(self, series_id: str, side: str, facts: records.Facts) -> None:
        """Store facts of one side beside those that are there; one of the same name is replaced."""
        with self._db.atomic():
            self._db.conn.executemany(
                "INSERT OR REPLACE INTO facts (series_id, side, name, value) VALUES (?, ?, ?, ?)",
                [(series_id, side, name, value) for name, value in facts.items()],
            )

    def add_resumption(self, series_id: str, resumed_at: str = "") -> None:
        """Note that the series is continued, now unless ``resumed_at`` says when it was."""
        row = {"series_id": series_id, "resumed_at": resumed_at or records.utc_now()}
        with self._db.atomic():
            self._db.table("resumptions").insert(row, ignore=True)

    def add_run(self, series_id: str, run: records.Run) -> None:
        """Store a run; a failed one that has its number becomes a failed attempt.

        A run stored just before a disk error is not stored twice. Raises sqlite3.IntegrityError where another run, that
        did not fail, has its number.
        """
        key = (series_id, run.phase.value, run.number)
        with self._db.atomic():
            rows = self._rows("SELECT * FROM runs WHERE series_id = ? AND phase = ? AND number = ?", key)
            before = next(map(codec.run_from_row, rows), None)
            if before == run:
                return

            if before and before.status is records.RunStatus.FAILED:
                self._add_failed_attempt(series_id, before)
                self._db.execute("DELETE FROM runs WHERE series_id = ? AND phase = ? AND number = ?", key)
            self._db.table("runs").insert(codec.run_to_row(series_id, run))

    def _add_failed_attempt(self, series_id: str, run: records.Run) -> None:
        next_attempt = "SELECT coalesce(max(attempt), 0) + 1 FROM failed_attempts WHERE series_id = ?"
        attempt = int(self._db.execute(next_attempt, (series_id,)).fetchone()[0])
        self._db.table("failed_attempts").insert(codec.attempt_to_row(series_id, attempt, run))

    def _histories(self, ids: Sequence[str]) -> dict[str, codec.SeriesHistory]:
        """By id, what other tables know of series: failed attempts, resumptions, and who measures them now."""
        histories = {series_id: codec.SeriesHistory() for series_id in ids}
        for series_id, owner in self.running().items():
            if series_id in histories:
                histories[series_id].running_by = owner

        attempts = "SELECT * FROM failed_attempts WHERE series_id IN (ids) ORDER BY series_id, attempt"
        for row in self._rows_of(attempts, ids):
            # A failed attempt is stored without a status, which is always the same.
            attempt = codec.run_from_row({**row, "status": "failed", "reason": None})
            histories[row["series_id"]].failed_attempts.append(attempt)

        for row in self._rows_of("SELECT * FROM resumptions WHERE series_id IN (ids) ORDER BY resumed_at", ids):
            histories[row["series_id"]].resumed_at.append(row["resumed_at"])
        return histories

    def judge_run(self, series_id: str, number: int, status: records.RunStatus, reason: str | None) -> None:
        """Reject a finished measured run, or take it back. Raises UnknownReferenceError where there is none."""
        key = {"series_id": series_id, "phase": "measured", "number": number}
        if not self.judge("runs", key, status.value, reason):
            raise recordings.UnknownReferenceError(f"series {series_id} has no finished measured run {number}")

    def series(self, reference: str) -> records.Series:
        """The whole series of that id, its beginning, or a name. Raises UnknownReferenceError."""
        series_id = self.resolve(reference, recordings.SERIES)
        many = self.all_of([series_id])
        if not many:
            raise errors.DamagedNotebookError(f"series {series_id} is in an index and nowhere else")
        return many[0]

    def all_of(self, ids: Sequence[str], *, brief: bool = False) -> list[records.Series]:
        """Whole series, in the order of the ids; those that are gone are left out.

        ``brief``, for many: with the valid measured runs alone, without their progress and requests.
        """
        rows = {row["id"]: row for row in self._rows_of(f"{_SERIES} WHERE series.id IN (ids)", ids)}
        runs = self.runs_of(ids, with_progress=not brief, measured=brief)
        facts = self._facts_in_brief(ids) if brief else self._facts_of(ids)
        histories = self._histories(list(rows))
        return [
            codec.series_from_row(rows[series_id], runs.get(series_id, ()), facts.get(series_id), histories[series_id])
            for series_id in ids
            if series_id in rows
        ]

    def _facts_of(self, ids: Sequence[str]) -> "_FactsBySeries":
        facts: _FactsBySeries = {}
        for row in self._rows_of("SELECT * FROM facts WHERE series_id IN (ids) ORDER BY side, name", ids):
            facts.setdefault(row["series_id"], {}).setdefault(row["side"], {})[row["name"]] = row["value"]
        return facts

    def _facts_in_brief(self, ids: Sequence[str]) -> "_FactsBySeries":
        """The same facts in no order; a row a side is read in a third of the time of a row a fact."""
        facts: _FactsBySeries = {}
        for row in self._rows_of(_FACTS_AS_JSON, ids):
            facts.setdefault(row["series_id"], {})[row["side"]] = json.loads(row["facts"])
        for row in self._rows_of(_REAL_FACTS, ids):
            facts.setdefault(row["series_id"], {}).setdefault(row["side"], {})[row["name"]] = row["value"]
        return facts

    def experiment(self, name: str) -> list[records.Series]:
        """The series of an experiment, in the order in which they were stored."""
        rows = self._db.execute(
            "SELECT series.id FROM series JOIN recordings ON recordings.id = series.id WHERE experiment = ?"
            " ORDER BY stored_order",
            (name,),
        )
        return self.all_of([row[0] for row in rows])

    def add_experiment(
        self, experiment: records.Experiment, *, note: str = "", question: str = "", imported_at: str | None = None
    ) -> str | None:
        """Store an experiment, unless there is one of its name, and, but for one of steps, its recording.

        Returns the id of that recording; None for an experiment of steps.
        """
        with self._db.atomic():
            row = named(experiment, "name", "kind", "subject", "created_at")
            self._insert_all("experiments", [row], unless_there=True)
            stored = self.experiment_called(experiment.name)
            assert stored is not None
            has_no_recording = stored.kind is records.ExperimentKind.STEPS
            if has_no_recording or stored.recording_id:
                return stored.recording_id

            recording = recordings.Recording(
                id=experiment.recording_id or records.new_series_id(),
                kind=stored.kind.value,
                created_at=stored.created_at,
                note=note,
                question=question,
                subject=stored.name,
                imported_at=imported_at,
            )
            self.add_recording(recording)
            self._db.execute("UPDATE experiments SET recording_id = ? WHERE name = ?", (recording.id, stored.name))
            return recording.id

    def rename_experiment(self, name: str, new_name: str) -> None:
        """Rename an experiment of steps: no recording has its name. Raises RefusedError for a name that is taken."""
        with self._db.atomic():
            if self._db.execute("SELECT 1 FROM series WHERE experiment = ?", (new_name,)).fetchone():
                raise errors.RefusedError(f"another experiment is called {new_name!r}: choose a name that is free")

            self._db.execute("DELETE FROM experiments WHERE name = ?", (new_name,))  # all its series were deleted
            self._db.execute("UPDATE experiments SET name = ? WHERE name = ?", (new_name, name))
            series_ids = self._db.execute("SELECT id FROM series WHERE experiment = ?", (new_name,)).fetchall()
            for (series_id,) in series_ids:
                self._write_texts(series_id, {shared.EXPERIMENT: new_name})

    def experiment_called(self, name: str) -> records.Experiment | None:
        rows = self._rows("SELECT * FROM experiments WHERE name = ?", (name,))
        return next(map(codec.experiment_from_row, rows), None)

    def experiments(self, kind: records.ExperimentKind | None = None) -> list[records.ExperimentEntry]:
        """Those that have series, of one kind or of all; the one with the newest series first."""
        rows = self._rows(
            "SELECT experiments.*, count(*) AS series_count, max(recordings.created_at) AS last_at,"
            " max(recordings.stored_order) AS last_order FROM experiments"
            " JOIN series ON series.experiment = experiments.name JOIN recordings ON recordings.id = series.id"
            " WHERE experiments.kind = ifnull(?, experiments.kind)"
            " GROUP BY experiments.name ORDER BY last_order DESC",
            (kind and kind.value,),
        )

        return [
            records.ExperimentEntry(
                experiment=codec.experiment_from_row(row), series_count=row["series_count"], last_at=row["last_at"]
            )
            for row in rows
        ]

    def heads(self, limit: int | None = None, *, experiment: str | None = None) -> list[records.Series]:
        """The heads of all series, or of an experiment's, the newest first."""
        rows = self._rows(
            f"{_SERIES} WHERE ?1 IS NULL OR experiment = ?1 ORDER BY created_at DESC, stored_order DESC LIMIT ?2",
            (experiment, -1 if limit is None else limit),
        )
        return self._heads(rows)

    def _heads(self, rows: Iterable[codec.Row]) -> list[records.Series]:
        running = self.running()
        return [
            codec.series_from_row(row, history=codec.SeriesHistory(running_by=running.get(row["id"]))) for row in rows
        ]

    def heads_of(self, ids: Sequence[str]) -> list[records.Series]:
        """The heads of these series, in the order of the ids; those that are gone, or no series, are left out."""
        rows = self._rows_of(f"{_SERIES} WHERE series.id IN (ids)", ids)
        heads = {series.id: series for series in self._heads(rows)}
        return [heads[series_id] for series_id in ids if series_id in heads]

    def interleaved_ids(self, series_id: str) -> list[str]:
        """The ids of the series of the comparison that this one's runs were interleaved for, the base first.

        Empty for a series that was measured by itself.
        """
        rows = self._db.execute(_INTERLEAVED, (series_id,)).fetchall()
        return [str(row[0]) for row in rows]

    def find(self, query: queries.SeriesQuery) -> list[queries.Found]:
        return queries.find(self._db, query)

    @codec.reports_damage
    def runs_of(
        self, ids: Iterable[str], *, with_progress: bool = False, measured: bool = False
    ) -> dict[str, tuple[records.Run, ...]]:
        """The runs by series, the warm-up runs first; ``measured``: only those that count, valid measured ones.

        ``with_progress``: also their course, and how long their random requests took.
        """
        series_ids = list(ids)
        runs_by_series: dict[str, list[records.Run]] = {series_id: [] for series_id in series_ids}
        courses = "progress, requests" if with_progress else "'[]' AS progress, NULL AS requests"
        that_count = " AND phase = 'measured' AND status = 'valid'" if measured else ""
        query = (
            "SELECT series_id, phase, number, status, reason, started_at, size_bytes, seconds, open_seconds,"
            f" close_seconds, error, {courses} FROM runs WHERE series_id IN (ids){that_count}"
            " ORDER BY phase DESC, number"
        )

        for row in self._rows_of(query, series_ids):
            runs_by_series[row["series_id"]].append(codec.run_from_row(row))
        return {series_id: tuple(runs) for series_id, runs in runs_by_series.items()}

    def rates_of(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Bytes/s of the valid measured runs, unordered; read from an index alone."""
        rates: dict[str, list[float]] = {}
        query = (
            "SELECT series_id, size_bytes, seconds FROM runs WHERE series_id IN (ids)"
            " AND phase = 'measured' AND status = 'valid' AND size_bytes BETWEEN 1 AND 9e18"
        )
        for part_sql, some_ids in queries.in_parts(query, ids):
            for series_id, size_bytes, seconds in self._db.execute(part_sql, some_ids):
                # A damaged row may hold anything.
                if type(seconds) is float and records.SHORTEST_SECONDS <= seconds <= records.LONGEST_SECONDS:
                    rates.setdefault(series_id, []).append(size_bytes / seconds)
        return rates

    def repeated_ids(self) -> list[tuple[str, ...]]:
        """Groups of ids of series measured again with the same settings; overlapping groups are merged."""
        # The query names a team for each reason why series belong together: one baseline's name, one experiment of
        # repeats, or one series that the others were based on.
        teams: dict[str, list[str]] = {}
        for team, series_id in self._db.execute(_REPEATED, (records.ExperimentKind.REPEATS.value,)):
            teams.setdefault(str(team), []).append(str(series_id))
        return [group for group in _merge_overlapping(teams.values()) if len(group) > 1]

    def earlier_ids(
        self, series: records.Series, *, before: str, since: str, most: int, kinds: Sequence[str] = WHOLE_SERIES
    ) -> list[str]:
        """The newest complete series of the path in that time, oldest first, of no experiment or one of these kinds."""
        quoted_kinds = ", ".join(f"'{kind}'" for kind in kinds)
        newest_first = self._db.execute(
            _EARLIER.replace("KINDS", quoted_kinds),
            {
                **named(series.target, "protocol", "host", "port", "share", "path"),
                "command": series.command.value,
                "client": series.client.name,
                "before": before,
                "since": since,
                "most": most,
            },
        )

        return [str(series_id) for (series_id,) in newest_first][::-1]

    def dialects_of(self, target: records.Target, client: str) -> list[str]:
        """The dialects that this client negotiated with the target's server, in series measured into this notebook."""
        rows = self._db.execute(
            "SELECT DISTINCT dialect FROM series JOIN recordings ON recordings.id = series.id"
            " WHERE protocol = ? AND host = ? COLLATE NOCASE AND port IS ?"
            " AND client = ? AND dialect IS NOT NULL AND imported_at IS NULL",
            (target.protocol, target.host, target.port, client),
        )
        return [str(dialect) for (dialect,) in rows]


def _merge_overlapping(teams: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Groups of ids of which no two share one: teams that share an id become one group, in order of their ids."""
    group_by_id: dict[str, tuple[str, ...]] = {}
    for team in teams:
        members: dict[str, None] = {}  # without repetition, in order
        for series_id in team:
            members.update(dict.fromkeys(group_by_id.get(series_id, (series_id,))))

        group = tuple(members)
        group_by_id.update(dict.fromkeys(group, group))

    # No two groups share an id, so the first one names its group.
    return list({group[0]: group for group in group_by_id.values()}.values())


class _SeriesToAdd(NamedTuple):
    """A series to be stored, with what it is a part of."""

    series: records.Series
    part_of: str | None
    """The id of the recording that it is a part of; None where it is none's."""


_FactsBySeries = dict[str, dict[str, dict[str, records.FactValue]]]
"""By series, side and name."""


def _run_rows(many: Iterable[records.Series]) -> Iterator[codec.Row]:
    for series in many:
        for run in series.runs:
            yield codec.run_to_row(series.id, run)


def _attempt_rows(many: Iterable[records.Series]) -> Iterator[codec.Row]:
    for series in many:
        for number, run in enumerate(series.failed_attempts, start=1):
            yield codec.attempt_to_row(series.id, number, run)


def _head_of(series: records.Series, *, part_of: str | None = None) -> recordings.Recording:
    """The row of ``recordings`` of a series; ``part_of`` is stored with a new one alone."""
    return recordings.Recording(
        id=series.id,
        created_at=series.created_at,
        status=series.status,
        error=series.error,
        label=series.label,
        note=series.note,
        question=series.question,
        kind=recordings.SERIES,
        part_of=part_of,
        imported_at=series.imported_at,
        leftovers={"scratch_path": series.scratch_path} if series.scratch_path else None,
    )
