"""The journal of settings that sharebench changed on servers, and the plans of trials and their orders.

A *trial* changes a setting of a server again and again, and measures its values in turn; a *sweep* does so with many
values, or with the values of two settings (a grid). What is changed is written into the journal first, so that whatever
happens to the program the server can be restored.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Any

from storage import json_reader, owners, records
from storage.codec import object_of, of_a_sound_file
from storage.errors import DamagedNotebookError
from storage.load.records import MOST_USERS, Scenario, scenario_from_json
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT
from storage.recordings import RecordingTables


class ChangeKind(StrEnum):
    """Where a setting is."""

    SMB_CONF = "smb.conf"
    REGISTRY = "registry"
    """Samba's own registry, in place of its smb.conf."""
    SYSCTL = "sysctl"
    NIC = "nic"
    """A network card's, by ethtool."""
    HOOK = "hook"
    """Whatever a command of the user's changes."""


class ChangeState(StrEnum):
    OPEN = "open"
    """The change stands on the server, or may."""
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One change, written before the server is touched: all that is needed to restore it from anywhere."""

    id: str
    created_at: str
    experiment: str
    """The name of the trial or sweep that makes the change."""
    kind: ChangeKind
    name: str
    """Of the setting."""

    # Where it was changed, and how to restore it.
    machine: str
    """The server's own name, so that nobody restores another machine."""
    ssh: str | None = None
    """The way to the server; None for this machine."""
    undo_path: str
    """Where the undo script lies on the server."""
    undo_script: str
    """Its text, in case it is there no more."""
    effective_before: str | None = None
    """The setting's value as the server had it in effect; None where that cannot be read."""
    configuration_before: str = ""
    """SHA-256 of the effective configuration; empty where none can be read."""

    # Whether it stands, and who is at it.
    owner: owners.Owner
    """The process that makes or restores the change; one that has ended leaves it to others."""
    state: ChangeState = ChangeState.OPEN
    ended_at: str | None = None
    """When it was restored."""

    @property
    def left(self) -> str:
        """What people are told of a change that still stands on a server."""
        return f"{self.name} changed on {self.ssh or 'this machine'}"

    @property
    def at_work(self) -> bool:
        """Whether it stands because a live process still measures with it."""
        return self.state is ChangeState.OPEN and self.owner.is_alive


@dataclass(frozen=True, slots=True, kw_only=True)
class GridAxis:
    """One setting and its values; a grid of two settings has two axes."""

    kind: ChangeKind
    name: str
    section: str = ""
    """``[global]`` or ``[SHARE]`` of smb.conf, or a network card; else empty."""
    previous: str | None = None
    """What it was set to before; None where it was not set."""
    values: tuple[str, ...]
    """To try, without the previous one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadWindow:
    """A load point with a fixed number of users, as one observation of a trial."""

    users: Annotated[int, json_reader.up_to(MOST_USERS, at_least=1)]
    processes: json_reader.Count = 1
    """Of the load generator."""
    scenario: Annotated[Scenario, scenario_from_json]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan(GridAxis):
    """How a trial or sweep is made: what resuming and judging it need.

    The plan is the axis of its setting, too; a grid, of two settings, has them in ``axes``.
    """

    axes: tuple[GridAxis, ...] = ()
    """The two of a grid; empty for one setting."""
    cells: tuple[tuple[str, str], ...] = ()
    """The pairs of values of a grid that are tried."""

    # When it is judged, and by which measure.
    looks: tuple[int, ...]
    """The numbers of measured pairs after which it is judged; the last one ends it."""
    noise_percent: float = NOISE_PERCENT
    """A difference that is surely smaller counts as none, at any look."""
    margin_percent: float = MARGIN_PERCENT
    """A difference that is surely smaller counts as none at the last look."""
    seed: int = 0
    """Of the order in which the values take turns."""

    # The way to the server, and what its owner agreed to.
    server_ssh: str | None = None
    """None for this machine."""
    smb_conf: str | None = None
    """None for the usual one."""
    accepted_risks: tuple[str, ...] = ()
    allow_restart: bool = False

    # What is measured, and what changes the setting.
    load: LoadWindow | None = None
    """None where an observation is one transfer."""
    apply: str | None = None
    revert: str | None = None
    """The user's commands that make the change and take it back; None where we change a setting ourselves."""
    proofs: tuple[str, ...] = ()
    """How it was proven that each change took effect."""
    processor_percent: tuple[float, ...] = ()
    """Per transfer, in percent of one processor: working or waiting for one, with a server on this machine."""

    @property
    def arms(self) -> tuple[tuple[str, ...], ...]:
        """What is tried beside the present setting: a value each, or one of each axis."""
        return self.cells or tuple((value,) for value in self.values)

    def to_json(self) -> dict[str, Any]:
        document = asdict(self)
        if self.load:
            scenario = self.load.scenario.to_json()
            document["load"] = {**json_reader.named(self.load, "users", "processes"), "scenario": scenario}
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Which run of which series was measured at one place in a trial's order."""

    series_id: str
    number: int
    """Of the run in its series."""
    position: int
    """In the order of the whole trial."""
    control_seconds: float
    """How long work of this machine took just before, which is always the same: how fast the machine was then."""
    requests_per_second: float | None = None
    """Where an observation is a load window; None where it is a transfer."""
    generator_limited: bool = False
    """Whether the load generator could not keep up in that window."""


_OF_EXPERIMENT = "(SELECT recording_id FROM experiments WHERE name = ?)"


class ChangeTables(RecordingTables):
    """The journal of changes, and the plans and orders of trials.

    A journal entry is *opened* before its change is made and *closed* once that is restored. In between its process
    *renews* it as a sign of life; one that gives up *leaves* it, and another *takes* it to restore the change.
    """

    def open_journal(self, entry: JournalEntry) -> None:
        """Write down a change before it is made; on disk when this returns."""
        row = asdict(entry) | {"owner": json.dumps(asdict(entry.owner))}
        with self._db.atomic():
            self._db.table("changes").insert(row)

    def close_journal(self, change_id: str) -> None:
        """Note that a change was restored."""
        with self._db.atomic():
            self._db.execute(
                "UPDATE changes SET state = ?, ended_at = ? WHERE id = ?",
                (ChangeState.UNDONE.value, records.utc_now(), change_id),
            )

    def take_journal(self, change_id: str) -> bool:
        """Claim a standing change for this process; False where it is restored or claimed."""
        with self._db.atomic():
            if not any(entry.id == change_id for entry in self.left_behind()):
                return False

            owner = json.dumps(asdict(owners.this_process()))
            self._db.execute("UPDATE changes SET owner = ? WHERE id = ?", (owner, change_id))
        return True

    def renew_journal(self, change_id: str) -> None:
        """Say that the process of a change is alive, for those on other hosts."""
        with self._db.atomic():
            renewed = {"owner": "json_set(owner, '$.renewed_at', ?)"}
            self._db.table("changes").update(change_id, {"owner": records.utc_now()}, conversions=renewed)

    def leave_journal(self, entry: JournalEntry) -> None:
        """Release a change that still stands, so that another process can restore it."""
        with self._db.atomic():
            owner = json.dumps(asdict(entry.owner.as_ended()))
            self._db.execute(
                "UPDATE changes SET owner = ? WHERE id = ? AND state = ?", (owner, entry.id, ChangeState.OPEN.value)
            )

    def journal(self, state: ChangeState | None = None, experiment: str | None = None) -> list[JournalEntry]:
        rows = self._rows(
            "SELECT * FROM changes WHERE state = ifnull(?, state) AND experiment = ifnull(?, experiment)"
            " ORDER BY created_at, id",
            (state and state.value, experiment),
        )
        return [_entry_from_row(row) for row in rows]

    def left_behind(self) -> list[JournalEntry]:
        """Changes that still stand, and that no live process will restore."""
        return [entry for entry in self.journal(ChangeState.OPEN) if not entry.at_work]

    def at_work(self) -> list[JournalEntry]:
        """Changes that stand because a live process measures with them."""
        return [entry for entry in self.journal(ChangeState.OPEN) if entry.at_work]

    def set_trial(self, experiment: str, plan: TrialPlan) -> None:
        """Store the plan of a trial with its recording."""
        content = json.dumps(plan.to_json())
        with self._db.atomic():
            recording_ids = self._db.execute(f"SELECT {_OF_EXPERIMENT}", (experiment,)).fetchall()
            for (recording_id,) in recording_ids:
                self._set_content(recording_id, content)

    @of_a_sound_file
    def trial(self, experiment: str) -> TrialPlan | None:
        """The plan of a trial; None where the experiment is none."""
        sql = f"SELECT content FROM recordings WHERE id = {_OF_EXPERIMENT}"
        row = self._db.execute(sql, (experiment,)).fetchone()
        content = object_of(row[0]) if row else {}
        return json_reader.JSONNode("plan", content).record(TrialPlan) if content else None

    def add_slot(self, slot: Slot) -> None:
        with self._db.atomic():
            self._db.table("trial_slots").insert(asdict(slot), replace=True)

    def slots(self, experiment: str) -> list[Slot]:
        """The order of a trial, as far as it was measured."""
        sql = (
            "SELECT trial_slots.* FROM trial_slots JOIN series ON series.id = series_id"
            " WHERE series.experiment = ? ORDER BY position"
        )
        slots = []
        for row in self._rows(sql, (experiment,)):
            if row["control_seconds"] <= 0 or (row["requests_per_second"] or 0) < 0:
                raise DamagedNotebookError("a place of a trial holds no time")
            slots.append(_slot_from_row(row))
        return slots


def _slot_from_row(row: Mapping[str, Any]) -> Slot:
    return Slot(
        series_id=row["series_id"],
        number=row["number"],
        position=row["position"],
        control_seconds=row["control_seconds"],
        requests_per_second=row["requests_per_second"],
        generator_limited=bool(row["generator_limited"]),
    )


@of_a_sound_file
def _entry_from_row(row: Mapping[str, Any]) -> JournalEntry:
    return json_reader.JSONNode("changes", {**row, "owner": json.loads(row["owner"])}).record(JournalEntry)
