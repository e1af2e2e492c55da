"""What a load is told, once, on its processes' stdin, and what it tells, one JSON line an event."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, get_args

from app.clients.base import Secrets
from app.load.window import WorkerFigures
from app.measure.events import Warned
from storage.loads.records import LoadWorker
from storage.loads.scenario import Scenario, scenario_from_json
from storage.plan import Settings
from storage.records import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """One load, as the engine and each of its workers get it."""

    targets: tuple[Target, ...]
    """Users take them in turns."""
    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    scenario: Annotated[Scenario, scenario_from_json]
    folder: str = ""
    """The name of our own folder, in the folder that each target names."""
    reuse: bool = False
    """Whether the files are there already."""
    keep: bool = False
    """Whether they stay."""
    leftover: bool = False
    """Whether the folder may be there from a load that was broken off: it is removed first."""
    processes: int = 1
    hosts: tuple[str, ...] = ()
    ramp_per_second: float = 20.0


class LoadPhase(StrEnum):
    """Where a load is."""

    FILES = "files"
    """The scenario's files are made."""
    RAMP = "ramp"
    """Users log in."""
    SETTLE = "settle"
    STEADY = "steady"
    """What happens counts."""
    PRINTING = "printing"
    """Nothing is handed over any more; the printer's queue becomes empty."""
    CLEANING = "cleaning"
    """The scenario's files are removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseBegan:
    """A phase has begun."""

    phase: LoadPhase
    point: int = 0
    users: int = 0
    seconds: float = 0.0
    """How long it will last; 0 where that is not known."""
    at_seconds: float = 0.0
    """By the monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesMade:
    """So many of the scenario's files have been made, or removed."""

    files: int
    of_files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondPassed:
    """What all users did in about one second."""

    point: int
    users: int
    connected: int
    requests_per_second: float
    read_bytes_per_second: float
    write_bytes_per_second: float
    errors: int
    p95_seconds: float | None
    cpu_percent: float
    """Of the busiest process of this end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointMeasured:
    """A point is over."""

    point: int
    users: int
    began_seconds: float
    ended_seconds: float
    """Of the steady window, by the monotonic clock."""
    ramp_seconds: float
    workers: tuple[WorkerFigures, ...] = ()
    failure: str | None = None
    """Why it does not count, where the load itself went wrong."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Of the ramp and settle time."""
    first_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersGone:
    """All users have left until the next point."""

    at_seconds: float
    """When they were told to, by the monotonic clock: their last requests ended about then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsWait:
    """A printer is still at work on the jobs that the point's users handed over."""

    jobs: int
    of_jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersReady:
    """The processes that make load are there."""

    workers: tuple[LoadWorker, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEnded:
    """The engine has cleaned up; always the last event."""

    kind: str = ""
    """The name of the error that ended it; empty for a load that ended as it should."""
    text: str = ""
    left_behind: bool = False
    """Whether files of ours could not be removed."""


LoadEvent = (
    PhaseBegan | FilesMade | SecondPassed | PointMeasured | UsersGone | JobsWait | WorkersReady | Warned | LoadEnded
)
LOAD_EVENTS: tuple[type, ...] = get_args(LoadEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePoint:
    """The order to measure a point."""

    number: int
    users: int
    size_bytes: int = 0
    """The one size of file; 0 for all of the scenario's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The order that all users leave until the next point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The order to clean up and end."""


LoadOrder = MeasurePoint | Rest | Finish
LOAD_ORDERS: tuple[type, ...] = get_args(LoadOrder)
