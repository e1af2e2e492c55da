"""The request for a series: its plan and its form's entries."""

from dataclasses import dataclass

from app.measure.plan import MeasurementPlan
from storage.plan import MonitorChoices, Plan
from storage.records import Experiment, Series


@dataclass(frozen=True, kw_only=True)
class FormEntries:
    """What the user says about a series."""

    link_bits_per_second: int | None = None
    """Nominal link speed; None to ask the network interface."""
    label: str = ""
    note: str = ""
    question: str = ""
    base_id: str | None = None
    """Base of the change; None for the experiment's last kept series."""
    repeats: bool = False
    """The base series measured again; refused if session or path differ."""
    change_name: str | None = None
    change_value: str = ""
    wait_seconds: float = 0.0
    """Longest wait for a quiet time."""


@dataclass(frozen=True, kw_only=True)
class SeriesRequest(FormEntries, MonitorChoices):
    """A series to measure and its form's entries."""

    plan: MeasurementPlan
    title: str = ""
    """Empty for one made from command and target."""
    experiment: Experiment | None = None

    def stored_plan(self) -> Plan:
        """For resuming; never contains a secret."""
        return Plan(**self.plan.run_choices(), **self.monitor_choices())


def request_to_resume(series: Series, plan: MeasurementPlan) -> SeriesRequest:
    """Resume a stored series by a plan of its missing runs."""
    stored = series.plan or Plan()
    return SeriesRequest(plan=plan, link_bits_per_second=series.link_bits_per_second, **stored.monitor_choices())
