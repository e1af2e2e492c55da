"""Whether a server carries its users: what they ask of it beside what it moves, and the memory of their processes.

Each user has a *client*, a computer that moves files; a *group* are users that move as many and as large ones. smbd has
a process for each client.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from forms.worksheets.references import SINGULARS, ReferenceKind
from forms.worksheets.summary import QUOTIENT_ROUNDING, Part
from storage.json_reader import AboveZero, Count, JSONNode, NotNegative

ROUNDING = 1 + 1e-12
"""So much a sum of demands may be above what the server moves by rounding alone."""

TIGHT_PERCENT = 80.0
"""Of what the server moves: from here on busy moments, which ask for more than the average, find it too slow."""

CLIENT_BYTES = 800_000
"""One smbd: 600 to 800 KB on Intel Linux, 768 KB on Solaris (Using Samba, appendix B)."""

BASE_BYTES = 5_200_000
"""2.6 MB of smbd, 2.1 MB and 496 KB of nmbd (Using Samba, appendix B, of Solaris)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGroup:
    """Users who ask for the same."""

    name: str
    clients: int
    """How many they are."""
    transfers_per_second: NotNegative
    """The files that each of them moves in a second, on average."""
    file_bytes: int
    """The size of each file."""

    @property
    def each_bytes_per_second(self) -> float:
        return self.transfers_per_second * self.file_bytes

    @property
    def demand_bytes_per_second(self) -> float:
        return self.clients * self.each_bytes_per_second


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerMemory:
    """Memory that the clients' server processes need, against what there is."""

    client_bytes: Count
    """Of the process of one client."""
    available_bytes: Count
    base_bytes: int = BASE_BYTES
    """Of the processes that there are without a client."""

    def needed_bytes(self, clients: int) -> int:
        return self.base_bytes + clients * self.client_bytes

    @property
    def carried(self) -> int:
        """The number of clients that the memory is enough for."""
        return max(0, self.available_bytes - self.base_bytes) // self.client_bytes

    def to_content(self, clients: int) -> dict[str, Any]:
        return asdict(self) | {"needed_bytes": self.needed_bytes(clients), "carried_clients": self.carried}


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryingPart:
    """One part of a server that could carry the users, were there enough of it."""

    kind: ReferenceKind
    name: str
    bytes_per_second: AboveZero

    @classmethod
    def from_part(cls, kind: ReferenceKind, part: Part) -> "CarryingPart":
        return cls(kind=kind, name=part.name or SINGULARS[kind], bytes_per_second=part.bytes_per_second)

    def needed(self, bytes_per_second: float) -> int:
        """How many of it move that much."""
        return max(1, math.ceil(bytes_per_second / self.bytes_per_second - QUOTIENT_ROUNDING))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersCalculation:
    """A filled worksheet: the groups of users, and what the server moves."""

    capacity_bytes_per_second: AboveZero
    """What the server moves."""
    capacity_source: str = ""
    """Where that figure is from, for people; empty where it was typed."""
    series_id: str | None = None
    """The series that measured it; None where none did."""
    groups: tuple[UserGroup, ...]
    memory: ServerMemory | None = None
    parts: tuple["CarryingPart", ...] = ()
    """Parts of which is computed how many the users need."""

    @property
    def clients(self) -> int:
        return sum(group.clients for group in self.groups)

    @property
    def is_tight(self) -> bool:
        """Whether it is enough on average, but perhaps not at busy moments."""
        return self.is_enough and self.percent_used > TIGHT_PERCENT

    @property
    def demand_bytes_per_second(self) -> float:
        return sum(group.demand_bytes_per_second for group in self.groups)

    @property
    def percent_used(self) -> float:
        return 100 * self.demand_bytes_per_second / self.capacity_bytes_per_second

    @property
    def is_enough(self) -> bool:
        return self.demand_bytes_per_second <= self.capacity_bytes_per_second * ROUNDING

    def carried(self, group: UserGroup) -> int | None:
        """How many such users the server carries if there are no others; None for users who ask for nothing."""
        client_demand = group.each_bytes_per_second
        if not client_demand:
            return None
        return int(self.capacity_bytes_per_second / client_demand * ROUNDING)

    def to_content(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "capacity_bytes_per_second": self.capacity_bytes_per_second,
            "capacity_source": self.capacity_source,
            "groups": [self._group_content(group) for group in self.groups],
            "demand_bytes_per_second": self.demand_bytes_per_second,
            "percent_used": self.percent_used,
            "is_enough": self.is_enough,
            "is_tight": self.is_tight,
        }

        # What was not given has no key.
        if self.series_id is not None:
            content["series_id"] = self.series_id
        if self.memory is not None:
            content["memory"] = self.memory.to_content(self.clients)
        if self.parts:
            content["parts"] = [self._part_content(part) for part in self.parts]
        return content

    def _group_content(self, group: UserGroup) -> dict[str, Any]:
        computed = {"demand_bytes_per_second": group.demand_bytes_per_second, "carried_clients": self.carried(group)}
        return asdict(group) | computed

    def _part_content(self, part: CarryingPart) -> dict[str, Any]:
        return asdict(part) | {"kind": part.kind.value, "needed": part.needed(self.demand_bytes_per_second)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "UsersCalculation":
        return JSONNode("", content).record(cls)
