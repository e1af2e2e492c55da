"""What the two processes of a load say to each other: the plan, the orders of the recorder, the events of the engine.

The recorder runs in the program's own process and stores what is measured; the engine is a child process that makes the
files and the load. `app.load.engine_process` sends plan and orders, `app.load.engine_child` sends events.

A load consists of load points. A point is a fixed number of users, measured in three phases: ramp (the users log in),
settle (nothing counts yet) and steady (the measured window).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, get_args

from app.clients.base import Secrets
from app.load.worker_figures import WorkerFigures
from app.recording.process import Failed, PathSeen, Warned
from storage.load import records
from storage.plan import Settings
from storage.records import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """What the engine is to do: sent first, and handed on to its worker processes."""

    targets: tuple[Target, ...]
    """Assigned to users round-robin. Several are, for example, the addresses of a server's network cards."""
    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    scenario: Annotated[records.Scenario, records.scenario_from_json]

    # The folder of the scenario's files

    folder: str = ""
    """Its name on each target."""
    reuse: bool = False
    """The files are there from an earlier load, and none are made."""
    keep: bool = False
    """The files are not removed at the end."""
    leftover: bool = False
    """An interrupted attempt at this load may have left the folder; it is removed and made anew."""

    # The load generator

    processes: int = 1
    """Worker processes on this machine."""
    hosts: tuple[str, ...] = ()
    """Other machines, ``[USER@]HOST``, that run workers as well: one for each of their processors."""
    ramp_per_second: float = 20.0
    """How many users log in each second."""
    interface: str = ""
    """The network card whose counters are read, of the machine that makes the load; empty for none."""


class LoadPhase(StrEnum):
    """What the engine is doing: FILES before the first point, CLEANING after the last, the others at each point."""

    FILES = "files"
    RAMP = "ramp"
    SETTLE = "settle"
    STEADY = "steady"
    PRINTING = "printing"
    """The users are gone, and their print jobs leave the printer's queue."""
    RESTING = "resting"
    """The users are gone, while another machine makes its load."""
    CLEANING = "cleaning"


# What the engine tells


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseBegan:
    phase: LoadPhase
    point: int = 0
    """The number of the load point; 0 where the phase belongs to none."""
    users: int = 0
    seconds: float = 0.0
    """Its expected length; 0 if unknown."""
    at_seconds: float = 0.0
    """When it began (monotonic clock)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesMade:
    """How many files of one target are made by now; in the phase CLEANING, how many are removed."""

    files: int
    of_files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondPassed:
    """What all workers together did in the last second."""

    point: int
    users: int
    connected: int
    requests_per_second: float
    read_bytes_per_second: float
    write_bytes_per_second: float
    errors: int
    p95_seconds: float | None
    """Of the response times; None for too few requests."""
    cpu_percent: float
    """Of the load generator's busiest process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointMeasured:
    """The end of a point, measured or failed: the answer to MeasurePoint."""

    point: int
    users: int
    began_seconds: float
    """When its measured window began and ended (monotonic clock)."""
    ended_seconds: float
    ramp_seconds: float
    workers: tuple[WorkerFigures, ...] = ()
    """Of each worker process that told its figures."""
    failure: str | None = None
    """Why the load generator could not measure the point; None if it did."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Of the whole point, its ramp included, by kind of error."""
    first_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersGone:
    """All users have been told to leave: the answer to Rest."""

    at_seconds: float
    """When they were told to leave (monotonic clock); their last requests ended about then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsWait:
    """Print jobs of a point that are still in the printer's queue; told by the recorder, which looks there."""

    jobs: int
    of_jobs: int
    """As many as waited when the users had left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersReady:
    """The files are there and the worker processes run: the first point can begin."""

    workers: tuple[records.LoadWorker, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEnded:
    """The last event, however the engine ends."""

    failure: Failed | None = None
    """Why it ended early; None after Finish."""
    left_behind: bool = False
    """Whether the folder of files could not be removed."""


LoadEvent = (
    PhaseBegan
    | FilesMade
    | SecondPassed
    | PointMeasured
    | UsersGone
    | JobsWait
    | WorkersReady
    | PathSeen
    | Warned
    | LoadEnded
)
LOAD_EVENTS: tuple[type, ...] = get_args(LoadEvent)


# What the engine is told


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePoint:
    number: int
    users: int
    size_bytes: int = 0
    """The only file size to use; 0 for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """All users leave until the next point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Remove the files and end."""


LoadOrder = MeasurePoint | Rest | Finish
LOAD_ORDERS: tuple[type, ...] = get_args(LoadOrder)
