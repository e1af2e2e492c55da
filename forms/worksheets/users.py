"""The clients worksheet: clients x transfers a second x file size."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from forms.worksheets.bottleneck import SINGULARS, Part
from forms.worksheets.reference import ReferenceKind
from storage.json_reader import AboveZero, Count, JSONNode, NotNegative, named

TIGHT_PERCENT = 80.0
CLIENT_BYTES = 800_000
"""One smbd: 600 to 800 KB on Intel Linux, 768 KB on Solaris (Using Samba, appendix B)."""
BASE_BYTES = 5_200_000
"""2.6 MB of smbd, 2.1 MB and 496 KB of nmbd (Using Samba, appendix B, of Solaris)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGroup:
    """Clients that work alike."""

    name: str
    clients: int
    transfers_per_second: NotNegative
    file_bytes: int

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
    available_bytes: Count
    base_bytes: int = BASE_BYTES

    def needed_bytes(self, clients: int) -> int:
        return self.base_bytes + clients * self.client_bytes

    @property
    def carried(self) -> int:
        return max(0, self.available_bytes - self.base_bytes) // self.client_bytes

    def to_content(self, clients: int) -> dict[str, Any]:
        return asdict(self) | {"needed_bytes": self.needed_bytes(clients), "carried_clients": self.carried}


@dataclass(frozen=True, slots=True, kw_only=True)
class CarryingPart:
    """A part that must suffice for the clients."""

    kind: ReferenceKind
    name: str
    bytes_per_second: AboveZero

    @classmethod
    def of(cls, kind: ReferenceKind, part: Part) -> "CarryingPart":
        return cls(kind=kind, name=part.name or SINGULARS[kind], bytes_per_second=part.bytes_per_second)

    def needed(self, bytes_per_second: float) -> int:
        return max(1, math.ceil(bytes_per_second / self.bytes_per_second - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersCalculation:
    """Groups of clients against what a server moves."""

    capacity_bytes_per_second: AboveZero
    capacity_source: str = ""
    series_id: str | None = None
    groups: tuple[UserGroup, ...]
    memory: ServerMemory | None = None
    parts: tuple["CarryingPart", ...] = ()

    @property
    def clients(self) -> int:
        return sum(group.clients for group in self.groups)

    @property
    def is_tight(self) -> bool:
        return self.is_enough and self.percent_used > TIGHT_PERCENT

    @property
    def demand_bytes_per_second(self) -> float:
        return sum(group.demand_bytes_per_second for group in self.groups)

    @property
    def percent_used(self) -> float:
        return 100 * self.demand_bytes_per_second / self.capacity_bytes_per_second

    @property
    def is_enough(self) -> bool:
        return self.demand_bytes_per_second <= self.capacity_bytes_per_second * (1 + 1e-12)

    def carried(self, group: UserGroup) -> int | None:
        each = group.each_bytes_per_second
        return int(self.capacity_bytes_per_second / each * (1 + 1e-12)) if each else None

    def to_content(self) -> dict[str, Any]:
        return {
            "capacity_bytes_per_second": self.capacity_bytes_per_second,
            "capacity_source": self.capacity_source,
            "groups": [
                asdict(group)
                | {"demand_bytes_per_second": group.demand_bytes_per_second, "carried_clients": self.carried(group)}
                for group in self.groups
            ],
            **named(self, "demand_bytes_per_second", "percent_used", "is_enough", "is_tight"),
            **({} if self.series_id is None else {"series_id": self.series_id}),
            **({} if self.memory is None else {"memory": self.memory.to_content(self.clients)}),
            **({"parts": [self._part_content(part) for part in self.parts]} if self.parts else {}),
        }

    def _part_content(self, part: CarryingPart) -> dict[str, Any]:
        return asdict(part) | {"kind": part.kind.value, "needed": part.needed(self.demand_bytes_per_second)}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "UsersCalculation":
        return JSONNode("", content).record(cls)
