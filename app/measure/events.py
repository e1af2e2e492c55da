"""Events of a series, as frozen classes; one JSON object a line on the child's pipe."""

from dataclasses import dataclass, field
from typing import Annotated, get_args

from app.errors import SharebenchError
from storage.json_reader import JSONNode
from storage.records import ClientFacts, Phase, Run

PathFacts = Annotated[dict[str, str | int | float], JSONNode.object_or_empty]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The client is connected and the file exists."""

    client: ClientFacts
    size_bytes: int
    path_facts: PathFacts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSeen:
    """Statistics of the connections, after the runs."""

    path_facts: PathFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchMade:
    """A scratch file exists on the target."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchRemoved:
    """The scratch file is removed."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """``of`` is the planned number of runs in the phase; absent if open."""

    number: int
    phase: Phase
    of: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressed:
    """Bytes moved in the current run; at most ten events a second."""

    seconds: float
    moved_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """A run ended, with or without success."""

    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """The series is paused after a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A warning that ends in what to do."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The series ended early; ``kind`` is a class name of :mod:`app.errors`."""

    kind: str
    text: str
    options: str = ""

    @classmethod
    def of(cls, error: SharebenchError, more: str = "") -> "Failed":
        return cls(kind=type(error).__name__, text=f"{error}{more}", options=error.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """All runs are done; ``reached`` is False if ``--until`` was not met."""

    reached: bool | None = None


Event = (
    Started
    | PathSeen
    | ScratchMade
    | ScratchRemoved
    | RunStarted
    | Progressed
    | RunFinished
    | Paused
    | Warned
    | Failed
    | Finished
)
EVENTS: tuple[type, ...] = get_args(Event)
