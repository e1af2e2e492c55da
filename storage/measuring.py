"""What a notebook keeps of a series while it is measured: each run, what was tried again."""

from collections.abc import Sequence

from storage.codec import SeriesHistory, attempt_from_row, attempt_to_row, run_from_row, run_to_row
from storage.recordings import RecordingTables
from storage.records import Run, RunStatus, utc_now


class MeasuringTables(RecordingTables):
    """Runs, failed attempts and resumptions."""

    def add_resumption(self, series_id: str) -> None:
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
