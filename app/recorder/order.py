"""What is ordered from the recorder: a plan, and all that is to be written on the form beside the runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from app.measure.plan import Plan


class QuietTime(StrEnum):
    """What to do about a busy time."""

    RECORD = "record"
    REQUIRE = "require"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A series to be measured and all that is to be written on its form."""

    plan: Plan
    link_bits_per_second: int | None = None
    """The link's nominal rate; None to ask the network interface for it."""
    title: str = ""
    """Empty for one made from command and target."""
    label: str = ""
    note: str = ""
    experiment: str | None = None
    base_id: str | None = None
    change_name: str | None = None
    change_value: str = ""
    quiet_time: QuietTime = QuietTime.RECORD
    wait_seconds: float = 0.0
    """How long to wait for a quiet time before measuring anyway, or refusing to."""
    server_ssh: str | None = None
    """``[USER@]HOST`` to read facts of the server through, by the system's ssh."""
    smb_conf: Path | None = None
    """Where the server keeps its smb.conf, if not where its smbd was built to look."""
    recalibrate: bool = False
    """Measure this client's own limit anew."""
