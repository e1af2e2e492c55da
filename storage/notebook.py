"""The notebook: one open SQLite file, for one thread."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from storage import codec, records
from storage.base import SideTables
from storage.changes import ChangeTables
from storage.errors import DamagedNotebookError, RefusedError
from storage.isolation import IsolationTables
from storage.json_reader import named
from storage.load.tables import LoadTables
from storage.migrations import sql
from storage.queries import Found, SeriesQuery, find, in_parts
from storage.recordings import SERIES, Recording, UnknownReferenceError
from storage.shared import DECISION, EXPERIMENT

_SERIES = (
    "SELECT recordings.*, series.*, (SELECT kind FROM experiments WHERE name = experiment) AS experiment_kind"
    " FROM series JOIN recordings ON recordings.id = series.id"
)
_SETTLE = sql("settle")
_FACTS_AS_JSON = (
    "SELECT series_id, side, json_group_object(name, value) AS facts FROM facts WHERE series_id IN (ids)"
    " GROUP BY series_id, side"
)

_REPEATED = sql("repeated")
_EARLIER = sql("earlier")

WHOLE_SERIES = ("ladder", "repeats", "survey")
"""The kinds of experiment whose series are not interleaved."""


class Notebook(ChangeTables, LoadTables, SideTables, IsolationTables):
    """All records of one file. Every writing method is one transaction."""

    def add(self, series: records.Series) -> None:
        with self._db.atomic():
            part_of = self._whole_of(series)
            self._add([(series, part_of)])
            self._settle(part_of)

    def _add(self, many: Sequence[tuple[records.Series, str | None]]) -> None:
        self.add_recordings([_head_of(series, part_of) for series, part_of in many])
        self._insert_all("series", (codec.series_to_row(series) for series, _ in many))
        self._insert_all("runs", (codec.run_to_row(series.id, run) for series, _ in many for run in series.runs))
        self._insert_all(
            "failed_attempts",
            (
                codec.attempt_to_row(series.id, number, run)
                for series, _ in many
                for number, run in enumerate(series.failed_attempts, start=1)
            ),
        )
        for series, _ in many:
            for resumed_at in series.resumed_at:
                self.add_resumption(series.id, resumed_at)
            for side, facts in series.environment.items():
                self.set_facts(series.id, side, facts)

    def _whole_of(self, series: records.Series) -> str | None:
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
        if whole_id is not None:
            self._db.execute(_SETTLE, (whole_id,))

    def add_all(self, many: Sequence[records.Series]) -> None:
        """Store new series from documents, all or none, in order of time; a missing base is forgotten."""
        with self._db.atomic():
            now, wholes = records.utc_now(), dict[str | None, str | None]()
            ordered = sorted(many, key=lambda one: one.created_at)
            for one in ordered:
                if one.experiment is not None and one.experiment not in wholes:
                    kind = one.experiment_kind or records.kind_in_name(one.experiment)
                    about = records.Experiment(name=one.experiment, kind=kind, created_at=one.created_at)
                    wholes[one.experiment] = self.add_experiment(about, imported_at=now)
            self._add([(replace(one, base_id=None, imported_at=now), wholes.get(one.experiment)) for one in ordered])
            for whole_id in wholes.values():
                self._settle(whole_id)
            for one in many:
                if one.base_id and self._db.execute("SELECT 1 FROM series WHERE id = ?", (one.base_id,)).fetchone():
                    self._db.execute("UPDATE series SET base_id = ? WHERE id = ?", (one.base_id, one.id))

    def update(self, series: records.Series) -> None:
        """Store what measuring changes, without runs and facts; people's texts stay."""
        row = codec.series_to_row(series)
        settled = {"id", "base_id", *codec.SERIES_WRITTEN_BY_PEOPLE}
        with self._db.atomic():
            self.update_recording(_head_of(series, None))
            self._db.table("series").update(series.id, {name: row[name] for name in row if name not in settled})
            self._settle(self.recordings_of([series.id])[0].part_of)

    def annotate(self, series: records.Series) -> None:
        row = codec.series_to_row(series)
        with self._db.atomic():
            part_of = self._whole_of(series)
            decided = {DECISION: series.decision.value if series.decision else ""}
            self._write_texts(
                series.id, {"label": series.label, "note": series.note, "question": series.question, **decided}
            )
            self._db.table("recordings").update(series.id, {"part_of": part_of})
            self._db.table("series").update(series.id, {name: row[name] for name in codec.SERIES_WRITTEN_BY_PEOPLE})

    def set_facts(self, series_id: str, side: str, facts: records.Facts) -> None:
        with self._db.atomic():
            self._db.conn.executemany(
                "INSERT OR REPLACE INTO facts (series_id, side, name, value) VALUES (?, ?, ?, ?)",
                [(series_id, side, name, value) for name, value in facts.items()],
            )

    def add_resumption(self, series_id: str, resumed_at: str = "") -> None:
        row = {"series_id": series_id, "resumed_at": resumed_at or records.utc_now()}
        with self._db.atomic():
            self._db.table("resumptions").insert(row, ignore=True)

    def add_run(self, series_id: str, run: records.Run) -> None:
        """A failed run becomes a failed attempt. Raises sqlite3.IntegrityError for replacing another one.
        A run stored just before a disk error is not stored twice.
        """
        key = (series_id, run.phase.value, run.number)
        with self._db.atomic():
            rows = self._rows("SELECT * FROM runs WHERE series_id = ? AND phase = ? AND number = ?", key)
            before = next(map(codec.run_from_row, rows), None)
            if before == run:
                return
            if before and before.status is records.RunStatus.FAILED:
                sql = "SELECT coalesce(max(attempt), 0) + 1 FROM failed_attempts WHERE series_id = ?"
                attempt = int(self._db.execute(sql, (series_id,)).fetchone()[0])
                self._db.table("failed_attempts").insert(codec.attempt_to_row(series_id, attempt, before))
                self._db.execute("DELETE FROM runs WHERE series_id = ? AND phase = ? AND number = ?", key)
            self._db.table("runs").insert(codec.run_to_row(series_id, run))

    def _histories(self, ids: Sequence[str]) -> dict[str, codec.SeriesHistory]:
        found = {series_id: codec.SeriesHistory() for series_id in ids}
        for series_id, owner in self.running().items():
            if series_id in found:
                found[series_id].running_by = owner
        attempts = "SELECT * FROM failed_attempts WHERE series_id IN (ids) ORDER BY series_id, attempt"
        for row in self._rows_of(attempts, ids):
            attempt = codec.run_from_row({**row, "status": "failed", "reason": None})
            found[row["series_id"]].failed_attempts.append(attempt)
        for row in self._rows_of("SELECT * FROM resumptions WHERE series_id IN (ids) ORDER BY resumed_at", ids):
            found[row["series_id"]].resumed_at.append(row["resumed_at"])
        return found

    def judge_run(self, series_id: str, number: int, status: records.RunStatus, reason: str | None) -> None:
        """Raises UnknownReferenceError."""
        key = {"series_id": series_id, "phase": "measured", "number": number}
        if not self.judge("runs", key, status.value, reason):
            raise UnknownReferenceError(f"series {series_id} has no finished measured run {number}")

    def series(self, reference: str) -> records.Series:
        series_id = self.resolve(reference, SERIES)
        for found in self.all_of([series_id]):
            return found
        raise DamagedNotebookError(f"series {series_id} is in an index and nowhere else")

    def all_of(self, ids: Sequence[str], *, brief: bool = False) -> list[records.Series]:
        """In the order of the ids. ``brief``: valid measured runs alone, without progress, and facts to 15 digits."""
        runs = self.runs_of(ids, with_progress=not brief, measured=brief)
        facts: dict[str, dict[str, dict[str, records.FactValue]]] = {}
        heads = {row["id"]: row for row in self._rows_of(f"{_SERIES} WHERE series.id IN (ids)", ids)}
        if brief:
            read = cache(json.loads)  # equal facts are one object
            for row in self._rows_of(_FACTS_AS_JSON, ids):
                facts.setdefault(row["series_id"], {})[row["side"]] = read(row["facts"])
        else:
            for row in self._rows_of("SELECT * FROM facts WHERE series_id IN (ids) ORDER BY side, name", ids):
                facts.setdefault(row["series_id"], {}).setdefault(row["side"], {})[row["name"]] = row["value"]
        history = self._histories(list(heads))
        return [codec.series_from_row(heads[i], runs.get(i, ()), facts.get(i), history[i]) for i in ids if i in heads]

    def experiment(self, name: str) -> list[records.Series]:
        found = self._db.execute(
            "SELECT series.id FROM series JOIN recordings ON recordings.id = series.id WHERE experiment = ?"
            " ORDER BY stored_order",
            (name,),
        )
        return self.all_of([row[0] for row in found])

    def add_experiment(
        self, experiment: records.Experiment, *, note: str = "", question: str = "", imported_at: str | None = None
    ) -> str | None:
        """An existing name stays as it is. Returns the recording's id; None for a series of changes."""
        with self._db.atomic():
            row = named(experiment, "name", "kind", "subject", "created_at")
            self._insert_all("experiments", [row], unless_there=True)
            stored = self.experiment_called(experiment.name)
            assert stored is not None
            if stored.kind is records.ExperimentKind.STEPS or stored.recording_id:
                return stored.recording_id
            recording = Recording(
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
        """Raises RefusedError for a name that is taken."""
        with self._db.atomic():
            if self._db.execute("SELECT 1 FROM series WHERE experiment = ?", (new_name,)).fetchone():
                raise RefusedError(f"another experiment is called {new_name!r}: choose a name that is free")
            self._db.execute("DELETE FROM experiments WHERE name = ?", (new_name,))  # all its series were deleted
            self._db.execute("UPDATE experiments SET name = ? WHERE name = ?", (new_name, name))
            for (series_id,) in self._db.execute("SELECT id FROM series WHERE experiment = ?", (new_name,)).fetchall():
                self._write_texts(series_id, {EXPERIMENT: new_name})

    def experiment_called(self, name: str) -> records.Experiment | None:
        rows = self._rows("SELECT * FROM experiments WHERE name = ?", (name,))
        return next(map(codec.experiment_from_row, rows), None)

    def experiments(self, kind: records.ExperimentKind | None = None) -> list[records.ExperimentEntry]:
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
        found = {series.id: series for series in self._heads(self._rows_of(f"{_SERIES} WHERE series.id IN (ids)", ids))}
        return [found[series_id] for series_id in ids if series_id in found]

    def find(self, query: SeriesQuery) -> list[Found]:
        return find(self._db, query)

    @codec.of_a_sound_file
    def runs_of(
        self, ids: Iterable[str], *, with_progress: bool = False, measured: bool = False
    ) -> dict[str, tuple[records.Run, ...]]:
        wanted = list(ids)
        found: dict[str, list[records.Run]] = {series_id: [] for series_id in wanted}
        progress = "progress" if with_progress else "'[]' AS progress"
        which = " AND phase = 'measured' AND status = 'valid'" if measured else ""
        sql = (
            "SELECT series_id, phase, number, status, reason, started_at, size_bytes, seconds, open_seconds,"  # noqa: S608  our own words
            f" close_seconds, error, {progress} FROM runs WHERE series_id IN (ids){which} ORDER BY phase DESC, number"
        )
        for row in self._rows_of(sql, wanted):
            found[row["series_id"]].append(codec.run_from_row(row))
        return {series_id: tuple(runs) for series_id, runs in found.items()}

    def rates_of(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """Bytes/s of the valid measured runs, unordered; read from an index alone."""
        found: dict[str, list[float]] = {}
        sql = (
            "SELECT series_id, size_bytes, seconds FROM runs WHERE series_id IN (ids)"
            " AND phase = 'measured' AND status = 'valid' AND size_bytes BETWEEN 1 AND 9e18"
        )
        for asked, part in in_parts(sql, ids):
            for series_id, size_bytes, seconds in self._db.execute(asked, part):
                if type(seconds) is float and records.SHORTEST_SECONDS <= seconds <= records.LONGEST_SECONDS:
                    found.setdefault(series_id, []).append(size_bytes / seconds)
        return found

    def repeated_ids(self) -> list[tuple[str, ...]]:
        """Groups of ids of series measured again with the same settings; overlapping groups are merged."""
        teams: dict[str, list[str]] = {}
        for team, series_id in self._db.execute(_REPEATED, (records.ExperimentKind.REPEATS.value,)):
            teams.setdefault(str(team), []).append(str(series_id))
        group_of: dict[str, list[str]] = {}
        for ids in teams.values():
            whole = list(dict.fromkeys(one for each in ids for one in group_of.get(each, [each])))
            group_of.update(dict.fromkeys(whole, whole))
        groups = {id(group): tuple(group) for group in group_of.values()}
        return [group for group in groups.values() if len(group) > 1]

    def earlier_ids(
        self, series: records.Series, *, before: str, since: str, most: int, kinds: Sequence[str] = WHOLE_SERIES
    ) -> list[str]:
        """The newest complete series of the path in that time, oldest first, of no experiment or one of these kinds."""
        found = self._db.execute(
            _EARLIER.replace("KINDS", ", ".join(f"'{kind}'" for kind in kinds)),
            {
                **named(series.target, "protocol", "host", "port", "share", "path"), "command": series.command.value,
                "client": series.client.name, "before": before, "since": since, "most": most,
            },
        )  # fmt: skip
        return [str(series_id) for (series_id,) in found][::-1]

    def dialects_of(self, target: records.Target, client: str) -> list[str]:
        found = self._db.execute(
            "SELECT DISTINCT dialect FROM series JOIN recordings ON recordings.id = series.id"
            " WHERE protocol = ? AND host = ? COLLATE NOCASE AND port IS ?"
            " AND client = ? AND dialect IS NOT NULL AND imported_at IS NULL",
            (target.protocol, target.host, target.port, client),
        )
        return [str(dialect) for (dialect,) in found]


def _head_of(series: records.Series, part_of: str | None) -> Recording:
    return Recording(
        **named(series, *records.HEAD),
        kind=SERIES,
        part_of=part_of,
        imported_at=series.imported_at,
        leftovers={"scratch_path": series.scratch_path} if series.scratch_path else None,
    )
