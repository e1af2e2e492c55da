"""What the measuring process of a quick test is told, and what it tells."""

from dataclasses import dataclass, field
from typing import get_args

from app.clients.base import Secrets
from app.recording import process
from storage.plan import Settings
from storage.quick.records import QuickLine
from storage.records import ClientFacts, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickOrder:
    """Measure; the end of stdin cancels. Further lines are steps (`app.recording.process.Control`)."""

    target: Target
    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    size_bytes: int
    runs: int
    run_seconds: float
    stepped: bool = False
    """Whether each line, and at last the end, waits for its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalOrder:
    """Only remove the file that an earlier process left."""

    target: Target
    secrets: Secrets = field(default_factory=Secrets)
    settings: Settings = field(default_factory=Settings)
    path: str


ORDERS: tuple[type, ...] = (QuickOrder, RemovalOrder)
"""A process has one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReady:
    """Logged in, and the file is made."""

    client: ClientFacts
    path_facts: process.PathFacts = field(default_factory=dict)
    file_bytes: int
    lacks_room: bool | None = None
    """Whether the free space made the file smaller than was asked for, else the time; None for a whole one."""
    past_page_cache: bool | None = None
    """Of a local path: whether the requests go past the page cache; None for a path through a network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBegan:
    """The first run of a line begins."""

    line: QuickLine
    """Without runs."""
    number: int
    """Its place, from 1."""
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMeasured:
    """All runs of a line have ended."""

    line: QuickLine


ChildEvent = (
    process.ScratchMade
    | process.ScratchRemoved
    | FileReady
    | LineBegan
    | LineMeasured
    | process.Warned
    | process.Failed
    | process.Finished
)
CHILD_EVENTS: tuple[type, ...] = get_args(ChildEvent)
