"""The bottleneck of a server (Using Samba, table B-8), its clients, and what one part moves."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from forms import wording
from forms.tuning.smb_conf import toml_data
from storage.json_reader import AboveZero, Count, DocumentError, JSONNode, NotNegative


class ReferenceKind(StrEnum):
    CPU = "cpu"
    DISK = "disk"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Reference:
    kind: ReferenceKind
    name: str
    bytes_per_second: float
    source: str
    note: str = ""

    @property
    def line(self) -> str:
        return f"{self.name}: {wording.rate(self.bytes_per_second)}"


OPERATION_BYTES = 8_000
"""Average of one I/O operation (Using Samba, tables B-2 and B-3)."""
_OPERATIONS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:ops|iops|operations)(?:/s)?", re.IGNORECASE)


def rate_of_operations(words: str) -> float | None:
    """Bytes/s from ``70 ops``; None for other words."""
    match = _OPERATIONS.fullmatch(words.strip())
    return float(match[1]) * OPERATION_BYTES if match and float(match[1]) > 0 else None


class UnknownComponentError(LookupError):
    """No reference, or several, match a name; ``str()`` lists them."""


def find(kind: ReferenceKind, name: str, tables: Mapping[str, tuple[Reference, ...]]) -> Reference:
    """The reference of a name or an unambiguous part of it. Raises UnknownComponentError."""
    folded_name = _folded(name)
    candidates = [reference for reference in chain.from_iterable(tables.values()) if reference.kind is kind]
    exact = [reference for reference in candidates if _folded(reference.name) == folded_name]
    matches = exact[:1] or [reference for reference in candidates if folded_name in _folded(reference.name)]
    if len(matches) == 1 and folded_name:
        return matches[0]

    problem = "could be more than one" if matches else "is no"
    names = ", ".join(reference.name for reference in (matches or candidates))
    raise UnknownComponentError(f"{name!r} {problem} {kind.value} of the tables; there are: {names}")


def _folded(name: str) -> str:
    return " ".join(name.lower().replace("/", " ").split())


@dataclass(frozen=True, slots=True)
class Demand:
    """A client's demand by kind of work (Using Samba, appendix B), where nothing is measured."""

    transfers_per_second: float
    file_bytes: int
    description: str

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Demand":
        return cls(row["transfers_per_second"], row["file_bytes"], row["what"])


_DATA = toml_data("references.toml", package="forms.worksheets")
DEMANDS: Mapping[str, Demand] = MappingProxyType({name: Demand.from_row(row) for name, row in _DATA["demands"].items()})


BOOK = "1999"
TODAY = "today"
BOOK_TABLES = ("B-2", "B-3", "B-4", "B-5", "B-8", "B-10", "clients")
_KILO = 1000.0
_MEGA = 1_000_000.0

FRAME_BYTES = 1538
"""A full Ethernet frame on the wire: 1,500 bytes with header, checksum, preamble and gap (IEEE 802.3)."""
PAYLOAD_BYTES = 1448
"""TCP payload in it: less 20 for IP, 20 for TCP, 12 for time stamps (RFC 7323)."""
WIFI_SHARE = 0.6


def _book() -> Iterator[Reference]:
    for row in _DATA["book"]:
        rate = row["kilobytes"] * _KILO
        source = f"Using Samba (1999), table {row['table']}"
        yield Reference(ReferenceKind(row["kind"]), row["name"], rate, source, row.get("note", ""))


def ethernet_payload(megabits: float) -> float:
    """File data in bytes/s over Ethernet of that rate, with full frames of 1,500 bytes."""
    return megabits * _MEGA / 8 * PAYLOAD_BYTES / FRAME_BYTES


def _today() -> Iterator[Reference]:
    for row in _DATA["disks"]:
        yield Reference(ReferenceKind.DISK, row["name"], row["megabytes"] * _MEGA, row["source"])

    framing_source = "IEEE 802.3 framing and RFC 7323"
    framing_note = f"{PAYLOAD_BYTES} of {FRAME_BYTES} bytes on the wire are file data"
    for megabits in _DATA["ethernet"]:
        name = f"{megabits} Mb/s Ethernet" if megabits < 1_000 else f"{megabits / 1_000:g} Gb/s Ethernet"
        yield Reference(ReferenceKind.NETWORK, name, ethernet_payload(megabits), framing_source, framing_note)

    wifi_note = f"{WIFI_SHARE:.0%} of that rate is an assumption: measure your own"
    for row in _DATA["wifi"]:
        rate = row["megabits"] * _MEGA / 8 * WIFI_SHARE
        source = f"{row['source']}: {row['megabits']:g} Mb/s at best"
        yield Reference(ReferenceKind.NETWORK, row["name"], rate, source, wifi_note)


TABLES: Mapping[str, tuple[Reference, ...]] = MappingProxyType({TODAY: tuple(_today()), BOOK: tuple(_book())})
"""No CPUs today: what they move depends on signing and encryption."""


SMALL_STEPS = 10
_MOST_STEPS = 20
SINGULARS = {kind: kind.value for kind in ReferenceKind} | {ReferenceKind.CPU: "CPU"}
PLURALS = {kind: f"{word}s" for kind, word in SINGULARS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    bytes_per_second: AboveZero
    count: Count
    source: str = ""

    @property
    def total_bytes_per_second(self) -> float:
        return self.count * self.bytes_per_second


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A server in the calculation; an unknown part does not limit it."""

    name: str
    cpu: Part | None = None
    disk: Part | None = None
    network: Part | None = None

    def part_of_kind(self, kind: ReferenceKind) -> Part | None:
        match kind:
            case ReferenceKind.CPU:
                return self.cpu
            case ReferenceKind.DISK:
                return self.disk
            case ReferenceKind.NETWORK:
                return self.network

    def with_part(self, kind: ReferenceKind, part: Part | None) -> "Machine":
        match kind:
            case ReferenceKind.CPU:
                return replace(self, cpu=part)
            case ReferenceKind.DISK:
                return replace(self, disk=part)
            case ReferenceKind.NETWORK:
                return replace(self, network=part)

    @property
    def parts(self) -> tuple[tuple[ReferenceKind, Part], ...]:
        return tuple((kind, part) for kind in ReferenceKind if (part := self.part_of_kind(kind)) is not None)

    @property
    def total_bytes_per_second(self) -> float | None:
        return min((part.total_bytes_per_second for _, part in self.parts), default=None)

    @property
    def bottlenecks(self) -> tuple[ReferenceKind, ...]:
        return tuple(kind for kind, part in self.parts if part.total_bytes_per_second == self.total_bytes_per_second)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    description: str
    machine: Machine
    gain_bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BottleneckCalculation:
    machines: tuple[Machine, ...]
    target_bytes_per_second: float | None = None

    @property
    def reaches_target(self) -> bool:
        total = self.machines[-1].total_bytes_per_second or 0.0
        return self.target_bytes_per_second is None or total >= self.target_bytes_per_second * (1 - 1e-9)

    def to_content(self) -> dict[str, Any]:
        content: dict[str, Any] = {"machines": [_machine_content(machine) for machine in self.machines]}
        if self.target_bytes_per_second is not None:
            content["target_bytes_per_second"] = self.target_bytes_per_second
            content["reaches_target"] = self.reaches_target
        return content

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "BottleneckCalculation":
        worksheet = JSONNode("", content).record(cls)
        if not worksheet.machines:
            raise DocumentError("machines: expected at least one")
        return worksheet


def upgrades(machine: Machine) -> Iterator[Upgrade]:
    """Throughput with more of each part, the most helpful first."""
    present_rate = machine.total_bytes_per_second
    if present_rate is None:
        return

    candidates = []
    for kind, part in machine.parts:
        count = max(count_needed(machine, kind), part.count + 1)
        better = machine.with_part(kind, replace(part, count=count))
        gain = (better.total_bytes_per_second or 0.0) - present_rate
        description = f"{count} {PLURALS[kind]} instead of {part.count}"
        candidates.append(Upgrade(description=description, machine=better, gain_bytes_per_second=gain))
    yield from sorted(candidates, key=attrgetter("gain_bytes_per_second"), reverse=True)


# A quotient such as 3.0000000001 parts is three parts and a rounding error.
_ROUNDING = 1e-9


def count_needed(machine: Machine, kind: ReferenceKind) -> int:
    """How many of a part are needed so that it no longer limits."""
    part = machine.part_of_kind(kind)
    if part is None:
        return 0

    others = [other.total_bytes_per_second for other_kind, other in machine.parts if other_kind is not kind]
    if not others or not part.bytes_per_second:
        return part.count
    return max(part.count, math.ceil(min(others) / part.bytes_per_second - _ROUNDING))


def way_to(machine: Machine, bytes_per_second: float) -> list[Machine]:
    """Steps to that throughput, this machine first; each adds enough to move the bottleneck (Using Samba)."""
    steps = [machine]
    while len(steps) <= _MOST_STEPS:
        last = steps[-1]
        rate = last.total_bytes_per_second
        if rate is None or rate >= bytes_per_second:
            break

        kind = last.bottlenecks[0]
        part = last.part_of_kind(kind)
        assert part is not None
        count_for_target = math.ceil(bytes_per_second / part.bytes_per_second - _ROUNDING)
        # Past a number of steps that one still reads, the rest is done in one go.
        next_count = count_for_target if len(steps) > SMALL_STEPS else count_needed(last, kind)
        one_more = part.count + 1
        count = min(max(next_count, one_more), max(count_for_target, one_more))

        added = count - part.count
        words = PLURALS[kind] if added > 1 else SINGULARS[kind]
        steps.append(replace(last.with_part(kind, replace(part, count=count)), name=f"{added} more {words}"))
    return steps


def _machine_content(machine: Machine) -> dict[str, Any]:
    content: dict[str, Any] = {"name": machine.name}
    for kind, part in machine.parts:
        content[kind.value] = asdict(part) | {"total_bytes_per_second": part.total_bytes_per_second}
    content["total_bytes_per_second"] = machine.total_bytes_per_second
    content["bottlenecks"] = [kind.value for kind in machine.bottlenecks]
    return content


TIGHT_PERCENT = 80.0
CLIENT_BYTES = 800_000
"""One smbd: 600 to 800 KB on Intel Linux, 768 KB on Solaris (Using Samba, appendix B)."""
BASE_BYTES = 5_200_000
"""2.6 MB of smbd, 2.1 MB and 496 KB of nmbd (Using Samba, appendix B, of Solaris)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGroup:
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
    kind: ReferenceKind
    name: str
    bytes_per_second: AboveZero

    @classmethod
    def from_part(cls, kind: ReferenceKind, part: Part) -> "CarryingPart":
        return cls(kind=kind, name=part.name or SINGULARS[kind], bytes_per_second=part.bytes_per_second)

    def needed(self, bytes_per_second: float) -> int:
        return max(1, math.ceil(bytes_per_second / self.bytes_per_second - _ROUNDING))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersCalculation:
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
        client_demand = group.each_bytes_per_second
        if not client_demand:
            return None
        return int(self.capacity_bytes_per_second / client_demand * (1 + 1e-12))

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
