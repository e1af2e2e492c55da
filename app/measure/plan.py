"""The request for a series, and the measuring process: its plan, sent as one JSON object, its start, its events."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from app.child_process import ChildProcess
from app.clients.base import Secrets
from app.measure.control import SeriesControl
from app.measure.events import EVENTS, Event, Failed, Finished
from app.messages import line_of, message_of
from storage.plan import MonitorChoices, Plan, RunChoices
from storage.records import ClientFacts, Command, Experiment, Series, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementPlan(RunChoices):
    """One series; ``done_*`` describe the finished part of a resumed series."""

    command: Command
    target: Target
    stepped: bool = False
    """Wait for a ``step`` before each run, to interleave several series."""
    done_warmups: int = 0
    done_runs: int = 0
    done_rates: tuple[float, ...] = ()
    """Bytes per second of the valid measured runs, for ``until_percent``."""
    scratch_path: str | None = None
    """A leftover of an interrupted attempt, removed before the first run."""
    profile_ssh: str | None = None
    profile_conf: str | None = None
    """The smb.conf of the smbd whose profile is read; None: no profile."""
    secrets: Secrets = field(default_factory=Secrets)

    @classmethod
    def of(cls, choices: RunChoices | None, command: Command, target: Target) -> Self:
        """From a stored series; defaults for what it does not say."""
        return cls(command=command, target=target, **(choices or RunChoices()).run_choices())


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOrder:
    """One client to be calibrated."""

    protocol: str
    command: Command
    client: ClientFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What it reached; None where there is nothing to calibrate it against."""

    bytes_per_second: float | None


GRACE_SECONDS = 30.0


class MeasuringProcess:
    """One measuring process; read :meth:`events` to the end, inside ``with``."""

    def __init__(self, plan: MeasurementPlan, control: SeriesControl) -> None:
        self._plan = plan
        self._control = control
        self._process = ChildProcess("app.measure.child", grace_seconds=GRACE_SECONDS)

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        self._process.say(line_of(self._plan))
        self._control.attach(lambda word: self._process.say(word.value), self._process.cancel)
        return self

    def __exit__(self, *_: object) -> None:
        self._control.detach()
        self._process.close()

    def events(self) -> Iterator[Event]:
        """The last event is Finished or Failed, however the process ends."""
        for line in self._process.lines():
            event: Event = message_of(line, EVENTS)
            yield event
            if isinstance(event, Finished | Failed):
                return
        how = self._process.how_it_ended()
        text = f"the measuring process {how}; what was measured before is kept, and the series can be resumed"
        yield Failed(kind="ChildDiedError", text=text, options="--resume")


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
