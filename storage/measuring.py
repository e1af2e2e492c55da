"""What a notebook keeps of a series while it is measured: who measures it, each run, what was tried again."""

from collections.abc import Sequence

from storage.base import NotebookBase
from storage.codec import (
    SeriesHistory,
    attempt_from_row,
    attempt_to_row,
    owner_from_row,
    owner_to_row,
    run_from_row,
    run_to_row,
)
from storage.errors import RefusedError
from storage.ownership import is_alive, this_process
from storage.records import Owner, Run, RunStatus, utc_now


def held_text(reference: str, owner: Owner, kind: str = "series") -> str:
    """Who has a series, or what else is measured, in the beginning of a sentence."""
    since = owner.since[:16].replace("T", " ")
    return f"{kind} {reference} is being measured by process {owner.process_id} on {owner.host} since {since} UTC"


class MeasuringTables(NotebookBase):
    """Owners, runs, failed attempts and resumptions."""

    def take(self, series_id: str) -> None:
        """Have this process measure the series from now on. Raises RefusedError while another one does."""
        with self._db.atomic():
            owner = self._owner(series_id)
            if owner and is_alive(owner):
                raise RefusedError(f"{held_text(series_id, owner)}: wait for its end, or end that process")
            self._db.table("owners").insert(owner_to_row(series_id, this_process()), replace=True)

    def renew(self, series_id: str) -> None:
        """Say that the process that measures the series goes on."""
        with self._db.atomic():
            self._db.execute("UPDATE owners SET renewed_at = ? WHERE series_id = ?", (utc_now(), series_id))

    def release(self, series_id: str) -> None:
        """Have nobody measure the series any more."""
        with self._db.atomic():
            self._db.execute("DELETE FROM owners WHERE series_id = ?", (series_id,))

    def running(self) -> dict[str, Owner]:
        """The series that are being measured right now, and by whom."""
        owners = {row["series_id"]: owner_from_row(row) for row in self._rows("SELECT * FROM owners")}
        return {series_id: owner for series_id, owner in owners.items() if is_alive(owner)}

    def _owner(self, series_id: str) -> Owner | None:
        rows = self._rows("SELECT * FROM owners WHERE series_id = ?", (series_id,))
        return next(map(owner_from_row, rows), None)

    def add_resumption(self, series_id: str) -> None:
        """Note that the series goes on now."""
        with self._db.atomic():
            self._add_resumption(series_id, utc_now())

    def _add_resumption(self, series_id: str, resumed_at: str) -> None:
        row = {"series_id": series_id, "resumed_at": resumed_at}
        self._db.table("resumptions").insert(row, ignore=True)

    def add_run(self, series_id: str, run: Run) -> None:
        """Store one run the moment it ended. A failed one of the same number becomes a failed attempt.

        A run that did not fail is never replaced: raises sqlite3.IntegrityError. One that is there already, since the
        disk gave an error after it was written, is not stored twice.
        """
        key = (series_id, run.phase.value, run.number)
        with self._db.atomic():
            rows = self._rows("SELECT * FROM runs WHERE series_id = ? AND phase = ? AND number = ?", key)
            before = next(map(run_from_row, rows), None)
            if before == run:
                return
            if before and before.status is RunStatus.FAILED:
                sql = "SELECT coalesce(max(attempt), 0) + 1 FROM failed_attempts WHERE series_id = ?"
                attempt = int(self._db.execute(sql, (series_id,)).fetchone()[0])
                self._db.table("failed_attempts").insert(attempt_to_row(series_id, attempt, before))
                self._db.execute("DELETE FROM runs WHERE series_id = ? AND phase = ? AND number = ?", key)
            self._db.table("runs").insert(run_to_row(series_id, run))

    def _histories(self, ids: Sequence[str]) -> dict[str, SeriesHistory]:
        """What the tables of this class tell of these series, by id."""
        found = {series_id: SeriesHistory() for series_id in ids}
        for series_id, owner in self.running().items():
            if series_id in found:
                found[series_id].running_by = owner
        attempts = "SELECT * FROM failed_attempts WHERE series_id IN (ids) ORDER BY series_id, attempt"
        for row in self._rows_of(attempts, ids):
            found[row["series_id"]].failed_attempts.append(attempt_from_row(row))
        for row in self._rows_of("SELECT * FROM resumptions WHERE series_id IN (ids) ORDER BY resumed_at", ids):
            found[row["series_id"]].resumed_at.append(row["resumed_at"])
        return found
