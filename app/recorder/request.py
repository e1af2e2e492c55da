"""What is asked of the recorder: a plan, and all that is to be written on the form beside the runs."""

from dataclasses import dataclass

from app.measure.plan import MeasurementPlan
from storage.plan import MonitorChoices, Plan
from storage.records import Experiment, Series


@dataclass(frozen=True, kw_only=True)
class FormEntries:
    """What a user says of a series, for its form."""

    link_bits_per_second: int | None = None
    """The link's nominal rate; None to ask the network interface for it."""
    label: str = ""
    note: str = ""
    question: str = ""
    """What it is meant to answer."""
    base_id: str | None = None
    """The series that the change is compared with; None for the last one of the experiment that was kept."""
    repeats: bool = False
    """Whether it is that series measured again: refused where the session or the way there is another one."""
    change_name: str | None = None
    change_value: str = ""
    wait_seconds: float = 0.0
    """How long to wait for a quiet time before measuring anyway, or refusing to."""


@dataclass(frozen=True, kw_only=True)
class SeriesRequest(FormEntries, MonitorChoices):
    """A series to be measured and all that is to be written on its form."""

    plan: MeasurementPlan
    title: str = ""
    """Empty for one made from command and target."""
    experiment: Experiment | None = None

    def stored_plan(self) -> Plan:
        """The choices that a resumed series goes on with; never a secret."""
        return Plan(**self.plan.run_choices(), **self.monitor_choices())


def request_to_resume(series: Series, plan: MeasurementPlan) -> SeriesRequest:
    """The request of a stored series, to go on with by a plan that leaves out what is done."""
    stored = series.plan or Plan()
    return SeriesRequest(plan=plan, link_bits_per_second=series.link_bits_per_second, **stored.monitor_choices())
