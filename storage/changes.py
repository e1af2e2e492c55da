"""What the notebook keeps of settings that sharebench changed itself: the journal of changes, and plans of trials."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from storage.base import NotebookBase
from storage.codec import object_of
from storage.ownership import is_alive
from storage.records import Owner, utc_now
from storage.trials import ChangeKind, Slot, TrialPlan, trial_plan_of


class ChangeState(StrEnum):
    """Whether a change still stands."""

    OPEN = "open"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One change, written down before anything on the server is: all that is needed to put it back from anywhere."""

    id: str
    created_at: str
    """UTC, ISO 8601."""
    experiment: str
    kind: ChangeKind
    name: str
    machine: str
    """The server's own name, so that nobody restores another machine."""
    ssh: str | None = None
    """``[USER@]HOST`` that leads there; None for this machine."""
    undo_path: str
    """Where the undo script lies on the server."""
    undo_script: str
    effective_before: str | None = None
    """The setting's effective value; None where it had none."""
    configuration_before: str = ""
    """SHA-256 of the whole effective configuration; empty where there is none to be read."""
    owner: Owner
    state: ChangeState = ChangeState.OPEN
    ended_at: str | None = None

    @property
    def at_work(self) -> bool:
        """Whether the process that made the change is still there to put it back."""
        return self.state is ChangeState.OPEN and is_alive(self.owner)


class ChangeTables(NotebookBase):
    """The journal of changes, plans of trials, and the order of their runs."""

    def open_journal(self, entry: JournalEntry) -> None:
        """Write down a change that is about to be made; on the disk when this returns."""
        row = {name: getattr(entry, name) for name in _PLAIN}
        row |= {"kind": entry.kind.value, "state": entry.state.value, "owner": json.dumps(asdict(entry.owner))}
        with self._db.atomic():
            self._db.table("changes").insert(row)

    def close_journal(self, change_id: str) -> None:
        """Note that everything is as it was before the change."""
        with self._db.atomic():
            self._db.execute(
                "UPDATE changes SET state = ?, ended_at = ? WHERE id = ?",
                (ChangeState.UNDONE.value, utc_now(), change_id),
            )

    def journal(self, state: ChangeState | None = None) -> list[JournalEntry]:
        """The changes in that state, or all, the oldest first."""
        sql = "SELECT * FROM changes WHERE state = ifnull(?, state) ORDER BY created_at, id"
        return [_entry(row) for row in self._rows(sql, (state and state.value,))]

    def left_behind(self) -> list[JournalEntry]:
        """The changes that stand although nobody is at work on them any more."""
        return [entry for entry in self.journal(ChangeState.OPEN) if not entry.at_work]

    def set_trial(self, experiment: str, plan: TrialPlan) -> None:
        """Keep the plan of an experiment of kind trial or sweep, in place of an earlier one."""
        with self._db.atomic():
            row = {"experiment": experiment, "plan": json.dumps(asdict(plan), ensure_ascii=False)}
            self._db.table("trials").insert(row, replace=True)

    def trial(self, experiment: str) -> TrialPlan | None:
        """The plan of that experiment; None where it is no trial."""
        for (text,) in self._db.execute("SELECT plan FROM trials WHERE experiment = ?", (experiment,)):
            return trial_plan_of(object_of(text))
        return None

    def add_slot(self, slot: Slot) -> None:
        """Note where in the order a run was measured."""
        with self._db.atomic():
            self._db.table("trial_slots").insert(asdict(slot), replace=True)

    def slots(self, experiment: str) -> list[Slot]:
        """The order of the experiment's runs."""
        sql = (
            "SELECT trial_slots.* FROM trial_slots JOIN series ON series.id = series_id"
            " WHERE series.experiment = ? ORDER BY position"
        )
        return [Slot(**row) for row in self._rows(sql, (experiment,))]


_PLAIN = (
    "id", "created_at", "experiment", "name", "machine", "ssh", "undo_path", "undo_script", "effective_before",
    "configuration_before", "ended_at",
)  # fmt: skip


def _entry(row: Mapping[str, Any]) -> JournalEntry:
    return JournalEntry(
        **{name: row[name] for name in _PLAIN},
        kind=ChangeKind(row["kind"]),
        state=ChangeState(row["state"]),
        owner=Owner(**json.loads(row["owner"])),
    )
