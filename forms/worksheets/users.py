"""The clients worksheet: clients times transfers a second times file size is what they ask of a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from storage.json_reader import DocumentError, JSONNode


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGroup:
    """Clients that work alike."""

    name: str
    clients: int
    transfers_per_second: float
    """Of each client."""
    file_bytes: int

    @property
    def each_bytes_per_second(self) -> float:
        """What one of them asks for."""
        return self.transfers_per_second * self.file_bytes

    @property
    def demand_bytes_per_second(self) -> float:
        """What all of them ask for."""
        return self.clients * self.each_bytes_per_second


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersCalculation:
    """Groups of clients against what a server moves."""

    capacity_bytes_per_second: float
    capacity_source: str
    """Where that number is from: a series, a calculation, a guess."""
    groups: tuple[UserGroup, ...]

    @property
    def demand_bytes_per_second(self) -> float:
        """What all groups ask for together."""
        return sum(group.demand_bytes_per_second for group in self.groups)

    @property
    def percent_used(self) -> float:
        """The demand in percent of what the server moves."""
        return 100 * self.demand_bytes_per_second / self.capacity_bytes_per_second

    @property
    def is_enough(self) -> bool:
        """Whether the server carries them."""
        return self.demand_bytes_per_second <= self.capacity_bytes_per_second * (1 + 1e-12)

    def carried(self, group: UserGroup) -> int | None:
        """How many clients of that kind alone the server carries; None where they ask for nothing."""
        each = group.each_bytes_per_second
        return int(self.capacity_bytes_per_second / each * (1 + 1e-12)) if each else None

    def to_content(self) -> dict[str, Any]:
        """The worksheet as plain values, to be saved and written as JSON."""
        return {
            "capacity_bytes_per_second": self.capacity_bytes_per_second,
            "capacity_source": self.capacity_source,
            "groups": [
                {
                    "name": group.name,
                    "clients": group.clients,
                    "transfers_per_second": group.transfers_per_second,
                    "file_bytes": group.file_bytes,
                    "demand_bytes_per_second": group.demand_bytes_per_second,
                    "carried_clients": self.carried(group),
                }
                for group in self.groups
            ],
            "demand_bytes_per_second": self.demand_bytes_per_second,
            "percent_used": self.percent_used,
            "is_enough": self.is_enough,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> UsersCalculation:
        """The worksheet that :meth:`to_content` gave. Raises DocumentError."""
        top = JSONNode("", content)
        capacity = top.at("capacity_bytes_per_second").number()
        if capacity <= 0:
            raise DocumentError("capacity_bytes_per_second: expected a number above 0")
        return cls(
            capacity_bytes_per_second=capacity,
            capacity_source=top.maybe("capacity_source").text_or_none() or "",
            groups=tuple(_group_from(place) for place in top.at("groups").items()),
        )


def _group_from(place: JSONNode) -> UserGroup:
    group = place.object()
    transfers = group.at("transfers_per_second").number()
    if transfers < 0:
        raise DocumentError(f"{place.name}.transfers_per_second: expected a number of at least 0")
    return UserGroup(
        name=group.at("name").text(),
        clients=group.at("clients").whole(at_least=0),
        transfers_per_second=transfers,
        file_bytes=group.at("file_bytes").whole(at_least=0),
    )
