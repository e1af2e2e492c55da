"""The bottleneck (Using Samba, table B-8; worked in B-5 and B-10): the least of CPU, disks and networks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from forms.worksheets.reference import ReferenceKind
from storage.json_reader import AboveZero, Count, DocumentError, JSONNode

SMALL_STEPS = 10
SINGULARS: Mapping[ReferenceKind, str] = {
    ReferenceKind.CPU: "CPU",
    ReferenceKind.DISK: "disk",
    ReferenceKind.NETWORK: "network",
}
PLURALS: Mapping[ReferenceKind, str] = {kind: f"{word}s" for kind, word in SINGULARS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Equal CPUs, disks or networks."""

    name: str
    bytes_per_second: AboveZero
    count: Count
    source: str = ""

    @property
    def total_bytes_per_second(self) -> float:
        """The sum, as in the book: the best case."""
        return self.count * self.bytes_per_second


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A server in the calculation; an unknown part does not limit it."""

    name: str
    cpu: Part | None = None
    disk: Part | None = None
    network: Part | None = None

    def part(self, kind: ReferenceKind) -> Part | None:
        part: Part | None = getattr(self, kind.value)
        return part

    def with_part(self, kind: ReferenceKind, part: Part | None) -> "Machine":
        changed: dict[str, Any] = {kind.value: part}
        return replace(self, **changed)

    @property
    def parts(self) -> tuple[tuple[ReferenceKind, Part], ...]:
        return tuple((kind, part) for kind in ReferenceKind if (part := self.part(kind)) is not None)

    @property
    def total_bytes_per_second(self) -> float | None:
        return min((part.total_bytes_per_second for _, part in self.parts), default=None)

    @property
    def bottlenecks(self) -> tuple[ReferenceKind, ...]:
        return tuple(kind for kind, part in self.parts if part.total_bytes_per_second == self.total_bytes_per_second)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """A possible upgrade and the throughput with it."""

    what: str
    machine: Machine
    gain_bytes_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BottleneckCalculation:
    """A machine and the steps of its improvement, the machine as it is first."""

    machines: tuple[Machine, ...]
    target_bytes_per_second: float | None = None

    @property
    def reaches_target(self) -> bool:
        total = self.machines[-1].total_bytes_per_second or 0.0
        return self.target_bytes_per_second is None or total >= self.target_bytes_per_second * (1 - 1e-9)

    def to_content(self) -> dict[str, Any]:
        content: dict[str, Any] = {"machines": [_machine_content(machine) for machine in self.machines]}
        if self.target_bytes_per_second is not None:
            content |= {
                "target_bytes_per_second": self.target_bytes_per_second,
                "reaches_target": self.reaches_target,
            }
        return content

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> "BottleneckCalculation":
        worksheet = JSONNode("", content).record(cls)
        if not worksheet.machines:
            raise DocumentError("machines: expected at least one")
        return worksheet


def upgrades(machine: Machine) -> Iterator[Upgrade]:
    """Throughput with more of each part, the most helpful first."""
    now = machine.total_bytes_per_second
    if now is None:
        return
    found = []
    for kind, part in machine.parts:
        wanted = enough(machine, kind)
        if wanted <= part.count:
            wanted = part.count + 1
        better = machine.with_part(kind, replace(part, count=wanted))
        gain = (better.total_bytes_per_second or 0.0) - now
        what = f"{wanted} {PLURALS[kind]} instead of {part.count}"
        found.append(Upgrade(what=what, machine=better, gain_bytes_per_second=gain))
    yield from sorted(found, key=lambda upgrade: -upgrade.gain_bytes_per_second)


def enough(machine: Machine, kind: ReferenceKind) -> int:
    """How many of a part are needed so that it no longer limits."""
    part = machine.part(kind)
    others = [other.total_bytes_per_second for other_kind, other in machine.parts if other_kind is not kind]
    if part is None or not others or not part.bytes_per_second:
        return part.count if part else 0
    return max(part.count, math.ceil(min(others) / part.bytes_per_second - 1e-9))


def way_to(machine: Machine, bytes_per_second: float, *, most_steps: int = 20) -> list[Machine]:
    """Steps to that throughput, this machine first; each adds enough to move the bottleneck (Using Samba)."""
    steps = [machine]
    while (now := steps[-1].total_bytes_per_second) is not None and now < bytes_per_second:
        at = steps[-1]
        if len(steps) > most_steps:
            break
        kind = at.bottlenecks[0]
        part = at.part(kind)
        assert part is not None
        target = math.ceil(bytes_per_second / part.bytes_per_second - 1e-9)
        next_count = target if len(steps) > SMALL_STEPS else enough(at, kind)
        count = min(max(next_count, part.count + 1), max(target, part.count + 1))
        name = f"{count - part.count} more {PLURALS[kind] if count - part.count > 1 else SINGULARS[kind]}"
        steps.append(replace(at.with_part(kind, replace(part, count=count)), name=name))
    return steps


def _machine_content(machine: Machine) -> dict[str, Any]:
    return {
        "name": machine.name,
        **{
            kind.value: asdict(part) | {"total_bytes_per_second": part.total_bytes_per_second}
            for kind, part in machine.parts
        },
        "total_bytes_per_second": machine.total_bytes_per_second,
        "bottlenecks": [kind.value for kind in machine.bottlenecks],
    }


def total_gain(machines: Sequence[Machine]) -> float | None:
    """The last throughput over the first; None where either is unknown."""
    first, last = machines[0].total_bytes_per_second, machines[-1].total_bytes_per_second
    return last / first if first and last else None
