"""What is ordered from the recorder: a plan, and all that is to be written on the form beside the runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.measure.plan import MeasurementPlan
from storage.plan import CeilingPolicy, Plan, QuietTime
from storage.records import Experiment, Series


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRequest:
    """A series to be measured and all that is to be written on its form."""

    plan: MeasurementPlan
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

    def stored_plan(self) -> Plan:
        """The choices that a resumed series goes on with; never a secret."""
        return Plan(
            **self.plan.run_choices(),
            quiet_time=self.quiet_time,
            server_ssh=self.server_ssh,
            smb_conf=str(self.smb_conf) if self.smb_conf else None,
            ceiling=self.ceiling,
        )


def request_to_resume(series: Series, plan: MeasurementPlan) -> SeriesRequest:
    """The request of a stored series, to go on with by a plan that leaves out what is done."""
    stored = series.plan or Plan()
    return SeriesRequest(
        plan=plan,
        link_bits_per_second=series.link_bits_per_second,
        quiet_time=stored.quiet_time,
        server_ssh=stored.server_ssh,
        smb_conf=Path(stored.smb_conf) if stored.smb_conf else None,
        ceiling=stored.ceiling,
    )
