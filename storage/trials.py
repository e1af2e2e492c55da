"""How trials and sweeps are carried out, and in which order their runs were made."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ChangeKind(StrEnum):
    """What holds a setting that can be changed and put back."""

    SMB_CONF = "smb.conf"
    REGISTRY = "registry"
    SYSCTL = "sysctl"
    NIC = "nic"
    HOOK = "hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """How a trial or sweep is carried out: what is needed to go on with it, and to judge it."""

    kind: ChangeKind
    name: str
    section: str = ""
    """``[global]`` or ``[SHARE]`` in smb.conf; a network card's name; empty elsewhere."""
    previous: str | None = None
    """The setting's effective value before; None where it had none."""
    values: tuple[str, ...]
    """What is tried beside the value that is there."""
    looks: tuple[int, ...]
    """After how many pairs (blocks of a sweep) it is judged."""
    noise_percent: float = 1.0
    margin_percent: float = 5.0
    seed: int = 0
    """Of the order of a sweep's blocks."""
    server_ssh: str | None = None
    smb_conf: str | None = None
    accepted_risks: tuple[str, ...] = ()
    apply: str | None = None
    revert: str | None = None
    proofs: tuple[str, ...] = ()
    """What showed that each value acted, a line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place in the order of a trial: which run of which series was measured there."""

    series_id: str
    number: int
    """The run's number, which is that of its pair or block."""
    position: int
    """From 0, over the whole trial."""
    control_seconds: float
    """What a fixed piece of work took right before the run, which no setting of the server can touch."""


def trial_plan_of(raw: Mapping[str, Any]) -> TrialPlan:
    """The plan that ``asdict`` of it gave. Raises TypeError, ValueError or KeyError for anything else."""
    found: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in raw.items()}
    return TrialPlan(**{**found, "kind": ChangeKind(raw["kind"])})
