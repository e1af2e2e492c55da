"""The journal of settings that sharebench changed on servers, and the plans and orders of trials, in their tables.

Their records are loaded with the first of them: most commands meet none.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from storage import json_reader, owners, records
from storage.codec import object_of, reports_damage
from storage.errors import DamagedNotebookError
from storage.recordings import RecordingTables

if TYPE_CHECKING:
    from storage.changes import ChangeState, JournalEntry, Slot, TrialPlan

_OPEN = "open"
"""The state of a change that stands: ``ChangeState.OPEN``."""

_OF_EXPERIMENT = "(SELECT recording_id FROM experiments WHERE name = ?)"


class ChangeTables(RecordingTables):
    """The journal of changes, and the plans and orders of trials.

    A journal entry is *opened* before its change is made and *closed* once that is restored. In between its process
    *renews* it as a sign of life; one that gives up *leaves* it, and another *takes* it to restore the change.
    """

    def open_journal(self, entry: "JournalEntry") -> None:
        """Write down a change before it is made; on disk when this returns."""
        row = asdict(entry) | {"owner": json.dumps(asdict(entry.owner))}
        with self._db.atomic():
            self._db.table("changes").insert(row)

    def close_journal(self, change_id: str) -> None:
        """Note that a change was restored."""
        from storage.changes import ChangeState

        with self._db.atomic():
            self._db.execute(
                "UPDATE changes SET state = ?, ended_at = ? WHERE id = ?",
                (ChangeState.UNDONE.value, records.utc_now(), change_id),
            )

    def take_journal(self, change_id: str) -> bool:
        """Claim a standing change for this process; False where it is restored or claimed."""
        with self._db.atomic():
            if not any(entry.id == change_id for entry in self.abandoned_changes()):
                return False

            owner = json.dumps(asdict(owners.this_process()))
            self._db.execute("UPDATE changes SET owner = ? WHERE id = ?", (owner, change_id))
        return True

    def renew_journal(self, change_id: str) -> None:
        """Say that the process of a change is alive, for those on other hosts."""
        with self._db.atomic():
            renewed = {"owner": "json_set(owner, '$.renewed_at', ?)"}  # SQL in place of the bare value
            self._db.table("changes").update(change_id, {"owner": records.utc_now()}, conversions=renewed)

    def leave_journal(self, entry: "JournalEntry") -> None:
        """Release a change that still stands, so that another process can restore it."""
        from storage.changes import ChangeState

        with self._db.atomic():
            owner = json.dumps(asdict(entry.owner.as_ended()))
            self._db.execute(
                "UPDATE changes SET owner = ? WHERE id = ? AND state = ?", (owner, entry.id, ChangeState.OPEN.value)
            )

    def journal(self, state: "ChangeState | None" = None, experiment: str | None = None) -> "list[JournalEntry]":
        return self._entries(state and state.value, experiment)

    def _entries(self, state: str | None, experiment: str | None = None) -> "list[JournalEntry]":
        rows = self._rows(
            "SELECT * FROM changes WHERE state = ifnull(?, state) AND experiment = ifnull(?, experiment)"
            " ORDER BY created_at, id",
            (state, experiment),
        )
        return [_entry_from_row(row) for row in rows]

    def abandoned_changes(self) -> "list[JournalEntry]":
        """Changes that still stand, and that no live process will restore."""
        return [entry for entry in self._entries(_OPEN) if not entry.at_work]

    def changes_at_work(self) -> "list[JournalEntry]":
        """Changes that stand because a live process measures with them."""
        return [entry for entry in self._entries(_OPEN) if entry.at_work]

    def set_trial(self, experiment: str, plan: "TrialPlan") -> None:
        """Store the plan of a trial with its recording."""
        content = json.dumps(plan.to_json())
        with self._db.atomic():
            recording_ids = self._db.execute(f"SELECT {_OF_EXPERIMENT}", (experiment,)).fetchall()
            for (recording_id,) in recording_ids:
                self._set_content(recording_id, content)

    @reports_damage
    def trial(self, experiment: str) -> "TrialPlan | None":
        """The plan of a trial; None where the experiment is none."""
        from storage.changes import TrialPlan

        sql = f"SELECT content FROM recordings WHERE id = {_OF_EXPERIMENT}"
        row = self._db.execute(sql, (experiment,)).fetchone()
        content = object_of(row[0]) if row else {}
        return json_reader.JSONNode("plan", content).record(TrialPlan) if content else None

    def add_slot(self, slot: "Slot") -> None:
        with self._db.atomic():
            self._db.table("trial_slots").insert(asdict(slot), replace=True)

    def slots(self, experiment: str) -> "list[Slot]":
        """The order of a trial, as far as it was measured."""
        from storage.changes import slot_from_row

        sql = (
            "SELECT trial_slots.* FROM trial_slots JOIN series ON series.id = series_id"
            " WHERE series.experiment = ? ORDER BY position"
        )
        slots = []
        for row in self._rows(sql, (experiment,)):
            if row["control_seconds"] <= 0 or (row["requests_per_second"] or 0) < 0:
                raise DamagedNotebookError("a place of a trial holds no time")
            slots.append(slot_from_row(row))
        return slots


def _entry_from_row(row: Mapping[str, Any]) -> "JournalEntry":
    from storage.changes import entry_from_row

    return entry_from_row(row)
