"""What happens while a series is measured, as frozen events; one JSON object a line on the child's pipe."""

from dataclasses import dataclass, field
from typing import Annotated, get_args

from app.errors import SharebenchError
from storage.json_reader import JSONNode
from storage.records import ClientFacts, Phase, Run

PathFacts = Annotated[dict[str, str | int | float], JSONNode.object_or_empty]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The client is connected and the file is there; runs begin."""

    client: ClientFacts
    size_bytes: int
    path_facts: PathFacts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSeen:
    """What the connections went through, by the end of the runs."""

    path_facts: PathFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchMade:
    """A file of ours now lies on the target."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchRemoved:
    """It is gone again."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A run begins; ``of`` is how many of its phase are planned, absent when that is open."""

    number: int
    phase: Phase
    of: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressed:
    """Bytes have moved in the current run; at most ten a second."""

    seconds: float
    moved_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """A run ended, well or not."""

    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """The series waits, after a run, until it is told to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something the admin should know; the text ends in what to do."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The series ended before its time; ``kind`` is the name of an error class of :mod:`app.errors`."""

    kind: str
    text: str
    options: str = ""
    """Those of the command line that do what the text advises."""

    @classmethod
    def of(cls, error: SharebenchError, more: str = "") -> "Failed":
        """What an error says, and what there is to say beside it."""
        return cls(kind=type(error).__name__, text=f"{error}{more}", options=error.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """All runs are done; ``reached`` is False when ``--until`` was not met within the maximum."""

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
