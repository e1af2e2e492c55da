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

from storage import json_reader, owners
from storage.codec import reports_damage
from storage.load.records import MOST_USERS, Scenario, scenario_from_json
from storage.plan import MARGIN_PERCENT, NOISE_PERCENT


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
    def description(self) -> str:
        """What people are told of a change that stands on a server."""
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


def slot_from_row(row: Mapping[str, Any]) -> Slot:
    return Slot(
        series_id=row["series_id"],
        number=row["number"],
        position=row["position"],
        control_seconds=row["control_seconds"],
        requests_per_second=row["requests_per_second"],
        generator_limited=bool(row["generator_limited"]),
    )


@reports_damage
def entry_from_row(row: Mapping[str, Any]) -> JournalEntry:
    return json_reader.JSONNode("changes", {**row, "owner": json.loads(row["owner"])}).record(JournalEntry)
