"""The notebook: one open SQLite file, for one thread."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from storage.changes import ChangeTables
from storage.codec import (
    WRITTEN_BY_PEOPLE,
    Row,
    SeriesHistory,
    attempt_to_row,
    experiment_from_row,
    experiment_to_row,
    run_from_row,
    run_to_row,
    series_from_row,
    series_to_row,
)
from storage.errors import DamagedNotebookError, RefusedError, did_you_mean
from storage.isolations import IsolationTables
from storage.loads.tables import LoadTables
from storage.measuring import MeasuringTables, held_text
from storage.queries import Found, SeriesQuery, dialects_of, find, rates_of, repeated_ids
from storage.records import (
    Baseline,
    Experiment,
    ExperimentEntry,
    ExperimentKind,
    Facts,
    FactValue,
    Run,
    RunStatus,
    Series,
    Target,
    kind_told_by,
    utc_now,
)
from storage.side_tables import SideTables

LAST = "last"
"""The reference that means the newest series."""


class UnknownReferenceError(LookupError):
    """No series, or more than one, answers to a reference; ``str()`` says which, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A series taken out of the notebook, with all that is needed to put it back."""

    series: Series
    baselines: tuple[Baseline, ...]
    followers: tuple[str, ...]
    """Ids of the series that were based on it."""
    stored_order: int
    """Its place among the series that were stored."""


class Notebook(MeasuringTables, ChangeTables, LoadTables, SideTables, IsolationTables):
    """All series, baselines, ceilings and worksheets of one file. Every writing method is one transaction."""

    def add(self, series: Series) -> None:
        """Store a series that is not there yet, with its runs and facts. Raises sqlite3.IntegrityError if it is."""
        with self._db.atomic():
            if series.experiment is not None:
                self.add_experiment(Experiment(name=series.experiment, created_at=series.created_at))
            self._db.table("series").insert(series_to_row(series) | {"stored_order": self._next_order()})
            for run in series.runs:
                self._db.table("runs").insert(run_to_row(series.id, run))
            for attempt, run in enumerate(series.failed_attempts, start=1):
                self._db.table("failed_attempts").insert(attempt_to_row(series.id, attempt, run))
            for resumed_at in series.resumed_at:
                self._add_resumption(series.id, resumed_at)
            for side, facts in series.environment.items():
                self._write_facts(series.id, side, facts)

    def _next_order(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(stored_order), 0) + 1 FROM series").fetchone()[0])

    def add_all(self, many: Sequence[Series]) -> None:
        """Store series from documents that are not there yet, all or none; a base that is not there is forgotten.

        They are stored in the order of their own times, so that an experiment's stay in theirs.
        """
        with self._db.atomic():
            for one in sorted(many, key=lambda one: one.created_at):
                if one.experiment is not None:
                    kind = kind_told_by(one.experiment)
                    self.add_experiment(Experiment(name=one.experiment, kind=kind, created_at=one.created_at))
                self.add(replace(one, base_id=None, imported_at=utc_now()))
            for one in many:
                known = one.base_id and self._db.execute("SELECT 1 FROM series WHERE id = ?", (one.base_id,)).fetchone()
                if known:
                    self._db.execute("UPDATE series SET base_id = ? WHERE id = ?", (one.base_id, one.id))

    def update(self, series: Series) -> None:
        """Store what measuring tells of the series, but its runs and facts; what people write stays as it is."""
        row = series_to_row(series)
        settled = {"id", "base_id", *WRITTEN_BY_PEOPLE}
        self._write_series(series.id, {name: row[name] for name in row if name not in settled})

    def annotate(self, series: Series) -> None:
        """Store what people write about the series, also while it is being measured elsewhere."""
        row = series_to_row(series)
        with self._db.atomic():
            if series.experiment is not None:
                self.add_experiment(Experiment(name=series.experiment, created_at=series.created_at))
            self._write_series(series.id, {name: row[name] for name in WRITTEN_BY_PEOPLE})

    def _write_series(self, series_id: str, row: Row) -> None:
        with self._db.atomic():
            self._db.table("series").update(series_id, row)

    def set_facts(self, series_id: str, side: str, facts: Facts) -> None:
        """Store facts of one side (``client``, ``server``, ``path``); a fact of the same name is replaced."""
        with self._db.atomic():
            self._write_facts(series_id, side, facts)

    def _write_facts(self, series_id: str, side: str, facts: Facts) -> None:
        self._db.conn.executemany(
            "INSERT OR REPLACE INTO facts (series_id, side, name, value) VALUES (?, ?, ?, ?)",
            [(series_id, side, name, value) for name, value in facts.items()],
        )

    def judge_run(self, series_id: str, number: int, status: RunStatus, reason: str | None) -> None:
        """Mark a measured run rejected (with its reason) or valid again. Raises UnknownReferenceError."""
        with self._db.atomic():
            found = self._db.conn.execute(
                "UPDATE runs SET status = ?, reason = ?"
                " WHERE series_id = ? AND phase = 'measured' AND number = ? AND status != 'failed'",
                (status.value, reason, series_id, number),
            ).rowcount
        if not found:
            raise UnknownReferenceError(f"series {series_id} has no finished measured run {number}")

    def series(self, reference: str) -> Series:
        """The series with its runs and facts: by id, unambiguous prefix, baseline's name, or ``last``.

        Of a baseline that names several it is the newest.
        """
        series_id = self.resolve(reference)
        for found in self.all_of([series_id]):
            return found
        raise DamagedNotebookError(f"series {series_id} is in an index and nowhere else")

    def resolve(self, reference: str) -> str:
        """The id that a reference means. Raises UnknownReferenceError."""
        if reference == LAST:
            for (found,) in self._db.execute(
                "SELECT id FROM series WHERE EXISTS (SELECT 1 FROM runs WHERE series_id = series.id)"
                " ORDER BY stored_order DESC LIMIT 1"
            ):
                return str(found)
            raise UnknownReferenceError("the notebook is empty: measure something first (sharebench run TARGET)")
        named = self.baseline_ids(reference)
        if named:
            return named[-1]
        ids = [
            str(found)
            for (found,) in self._db.execute(
                "SELECT id FROM series WHERE id >= :r AND id < :r || char(1114111) ORDER BY id = :r DESC, id LIMIT 6",
                {"r": reference},
            )
        ]
        if ids and (len(ids) == 1 or ids[0] == reference) and reference:
            return ids[0]
        if not ids or not reference:
            meant = did_you_mean(reference, (each.name for each in self.baselines()))
            raise UnknownReferenceError(
                f"no series or baseline is called {reference!r}; {meant}`sharebench list` shows what there is"
            )
        more = ", …" if len(ids) > 5 else ""
        raise UnknownReferenceError(f"{reference!r} is short for several series: {', '.join(ids[:5])}{more}")

    def all_of(self, ids: Sequence[str]) -> list[Series]:
        """The series of these ids with runs and facts, in this order; an id that is gone is left out."""
        runs: dict[str, list[Run]] = {}
        facts: dict[str, dict[str, dict[str, FactValue]]] = {}
        heads = {row["id"]: row for row in self._rows_of("SELECT * FROM series WHERE id IN (ids)", ids)}
        for row in self._rows_of("SELECT * FROM runs WHERE series_id IN (ids) ORDER BY phase DESC, number", ids):
            runs.setdefault(row["series_id"], []).append(run_from_row(row))
        for row in self._rows_of("SELECT * FROM facts WHERE series_id IN (ids) ORDER BY side, name", ids):
            facts.setdefault(row["series_id"], {}).setdefault(row["side"], {})[row["name"]] = row["value"]
        history = self._histories(list(heads))
        return [series_from_row(heads[i], runs.get(i, ()), facts.get(i), history.get(i)) for i in ids if i in heads]

    def experiment(self, name: str) -> list[Series]:
        """The series of an experiment with runs and facts, in the order they were stored."""
        found = self._db.execute("SELECT id FROM series WHERE experiment = ? ORDER BY stored_order", (name,))
        return self.all_of([row[0] for row in found])

    def add_experiment(self, experiment: Experiment) -> None:
        """Store an experiment before its first series; one that has this name already stays as it is."""
        with self._db.atomic():
            self._db.table("experiments").insert(experiment_to_row(experiment), ignore=True)

    def rename_experiment(self, name: str, new_name: str) -> None:
        """Give an experiment, and with it its series, another name. Raises RefusedError for one that is taken."""
        with self._db.atomic():
            if self._db.execute("SELECT 1 FROM series WHERE experiment = ?", (new_name,)).fetchone():
                raise RefusedError(f"another experiment is called {new_name!r}: choose a name that is free")
            self._db.execute("DELETE FROM experiments WHERE name = ?", (new_name,))  # all its series were deleted
            self._db.execute("UPDATE experiments SET name = ? WHERE name = ?", (new_name, name))

    def experiment_called(self, name: str) -> Experiment | None:
        """The experiment of that name, if there is one."""
        rows = self._rows("SELECT * FROM experiments WHERE name = ?", (name,))
        return next(map(experiment_from_row, rows), None)

    def experiments(self, kind: ExperimentKind | None = None) -> list[ExperimentEntry]:
        """The experiments of a kind, or of all, that have a series; the one with the newest series first."""
        rows = self._rows(
            "SELECT experiments.*, count(*) AS series_count, max(series.created_at) AS last_at,"
            " max(series.stored_order) AS last_order"
            " FROM experiments JOIN series ON series.experiment = experiments.name"
            " WHERE experiments.kind = ifnull(?, experiments.kind)"
            " GROUP BY experiments.name ORDER BY last_order DESC",
            (kind and kind.value,),
        )
        return [
            ExperimentEntry(
                experiment=experiment_from_row(row), series_count=row["series_count"], last_at=row["last_at"]
            )
            for row in rows
        ]

    def heads(self, limit: int | None = None, offset: int = 0, *, experiment: str | None = None) -> list[Series]:
        """Series without runs and facts, newest first, all or one experiment's: what a list needs at once."""
        rows = self._rows(
            "SELECT * FROM series WHERE ?1 IS NULL OR experiment = ?1"
            " ORDER BY created_at DESC, stored_order DESC LIMIT ?2 OFFSET ?3",
            (experiment, -1 if limit is None else limit, offset),
        )
        return self._heads(rows)

    def _heads(self, rows: Iterable[Row]) -> list[Series]:
        running = self.running()
        return [series_from_row(row, history=SeriesHistory(running_by=running.get(row["id"]))) for row in rows]

    def heads_of(self, ids: Sequence[str]) -> list[Series]:
        """The series of these ids without runs and facts, in this order; an id that is gone is left out."""
        rows = self._rows_of("SELECT * FROM series WHERE id IN (ids)", ids)
        found = {series.id: series for series in self._heads(rows)}
        return [found[series_id] for series_id in ids if series_id in found]

    def find(self, query: SeriesQuery) -> list[Found]:
        """The ids of the series that a list shows, filtered and in order."""
        return find(self._db, query)

    def count(self, *, experiment: str | None = None) -> int:
        """How many series there are, in all or in one experiment."""
        sql = "SELECT count(*) FROM series WHERE ?1 IS NULL OR experiment = ?1"
        return int(self._db.execute(sql, (experiment,)).fetchone()[0])

    def runs_of(self, ids: Iterable[str]) -> dict[str, tuple[Run, ...]]:
        """The runs of many series, without their progress."""
        wanted = list(ids)
        found: dict[str, list[Run]] = {series_id: [] for series_id in wanted}
        sql = (
            "SELECT series_id, phase, number, status, reason, started_at, size_bytes, seconds, open_seconds,"
            " close_seconds, error, '[]' AS progress FROM runs WHERE series_id IN (ids) ORDER BY phase DESC, number"
        )
        for row in self._rows_of(sql, wanted):
            found[row["series_id"]].append(run_from_row(row))
        return {series_id: tuple(runs) for series_id, runs in found.items()}

    def rates_of(self, ids: Sequence[str]) -> dict[str, list[float]]:
        """The bytes per second of the valid measured runs of many series, in no order: what a list's averages need."""
        return rates_of(self._db, ids)

    def remove(self, series_id: str) -> Removed:
        """Take a series out, giving back what :meth:`restore` needs. Raises RefusedError while it is being measured."""
        series = self.series(series_id)
        if series.running_by:
            raise RefusedError(f"{held_text(series.id, series.running_by)}, so it is not deleted")
        names = tuple(b for b in self.baselines() if b.series_id == series_id)
        followers = tuple(
            str(row[0]) for row in self._db.execute("SELECT id FROM series WHERE base_id = ?", (series_id,))
        )
        sql = "SELECT stored_order FROM series WHERE id = ?"
        order = int(self._db.execute(sql, (series_id,)).fetchone()[0])
        with self._db.atomic():
            self._db.table("series").delete(series_id)
        return Removed(series=series, baselines=names, followers=followers, stored_order=order)

    def restore(self, removed: Removed) -> None:
        """Put a removed series back as it was."""
        with self._db.atomic():
            self.add(removed.series)
            sql = "UPDATE series SET stored_order = ? WHERE id = ?"
            self._db.execute(sql, (removed.stored_order, removed.series.id))
            for baseline in removed.baselines:
                self._db.table("baselines").insert(asdict(baseline), replace=True)
            for follower in removed.followers:
                self._db.execute("UPDATE series SET base_id = ? WHERE id = ?", (removed.series.id, follower))

    # Baselines

    def baselines(self) -> list[Baseline]:
        """All baselines by name."""
        rows = self._rows("SELECT name, series_id, set_at FROM baselines ORDER BY name, set_at, series_id")
        return [Baseline(**row) for row in rows]

    def baseline_ids(self, name: str) -> list[str]:
        """The ids of the series that a baseline names, the oldest first; none where there is no such baseline."""
        sql = (
            "SELECT series_id FROM baselines JOIN series ON series.id = series_id WHERE name = ? ORDER BY stored_order"
        )
        return [str(found) for (found,) in self._db.execute(sql, (name,))]

    def set_baseline(self, name: str, *series_ids: str, keep: bool = False) -> None:
        """Give the series a name; a name that was given already moves to them, or with ``keep`` names them as well.

        Raises RefusedError for a series without a valid measured run, with which nothing can be compared.
        """
        set_at = utc_now()
        with self._db.atomic():
            if not keep:
                self._db.execute("DELETE FROM baselines WHERE name = ?", (name,))
            for series_id in series_ids:
                if not self._is_measured(series_id):
                    raise RefusedError(
                        f"series {series_id} has no valid measured run, so nothing can be compared with it:"
                        " complete it, or measure a new one",
                        options=f"run --resume {series_id}",
                    )
                row = asdict(Baseline(name=name, series_id=series_id, set_at=set_at))
                self._db.table("baselines").insert(row, replace=True)

    def repeated_ids(self) -> list[tuple[str, ...]]:
        """The ids of series that were measured again with the same settings, group by group, the oldest first.

        Baselines that name several, and experiments that repeat the same thing.
        """
        return repeated_ids(self._db)

    def dialects_of(self, target: Target, client: str) -> list[str]:
        """The SMB dialects that this client spoke with the target's server, in series that were measured here."""
        return dialects_of(self._db, target, client)

    def _is_measured(self, series_id: str) -> bool:
        sql = "SELECT 1 FROM runs WHERE series_id = ? AND phase = 'measured' AND status = 'valid' LIMIT 1"
        return self._db.execute(sql, (series_id,)).fetchone() is not None

    def remove_baseline(self, name: str) -> None:
        """Forget a name; the series stays. Raises UnknownReferenceError."""
        with self._db.atomic():
            if not self._db.execute("DELETE FROM baselines WHERE name = ?", (name,)).rowcount:
                raise UnknownReferenceError(f"no baseline is called {name!r}; `sharebench baseline list` shows them")
