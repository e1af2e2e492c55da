"""What is ordered from the recorder: a plan, and all that is to be written on the form beside the runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.measure.plan import Plan
from storage.records import Experiment, JSONValue, Series


class QuietTime(StrEnum):
    """What to do about a busy time."""

    RECORD = "record"
    REQUIRE = "require"
    SKIP = "skip"


class CeilingPolicy(StrEnum):
    """What to do about the client's own limit: use or calibrate it, renew it, or leave it out."""

    RECORD = "record"
    RENEW = "renew"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRequest:
    """A series to be measured and all that is to be written on its form."""

    plan: Plan
    link_bits_per_second: int | None = None
    """The link's nominal rate; None to ask the network interface for it."""
    title: str = ""
    """Empty for one made from command and target."""
    label: str = ""
    note: str = ""
    experiment: Experiment | None = None
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
    ceiling: CeilingPolicy = CeilingPolicy.RECORD

    def to_notebook(self) -> dict[str, JSONValue]:
        """The choices that a resumed series goes on with; never a secret."""
        return self.plan.to_notebook() | {
            "quiet_time": self.quiet_time.value,
            "server_ssh": self.server_ssh,
            "smb_conf": str(self.smb_conf) if self.smb_conf else None,
            "ceiling": self.ceiling.value,
        }


def choices_of(series: Series) -> dict[str, Any]:
    """What a stored series was ordered with beside its plan, as arguments of :class:`Order`."""
    conf = series.plan.get("smb_conf")
    return {
        "quiet_time": QuietTime(str(series.plan.get("quiet_time", QuietTime.RECORD))),
        "server_ssh": series.plan.get("server_ssh"),
        "smb_conf": Path(str(conf)) if conf else None,
        "ceiling": CeilingPolicy(str(series.plan.get("ceiling", CeilingPolicy.RECORD))),
    }
