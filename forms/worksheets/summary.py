"""The bottleneck of a server (Using Samba, table B-8): the kind of its parts that moves least limits the whole.

A *machine* is a server with some number of equal CPUs, disks and networks. What one of each moves is measured, or taken
from tables (``references.py``).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

from forms.worksheets.references import PLURALS, SINGULARS, ReferenceKind
from storage.json_reader import AboveZero, Count, DocumentError, JSONNode

SMALL_STEPS = 10
"""Each of the first steps to a throughput moves the bottleneck once; the one after them goes all of the way left."""

_MOST_STEPS = 20

QUOTIENT_ROUNDING = 1e-9
"""A quotient such as 3.0000000001 parts is three parts and a rounding error of at most this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The parts of one kind in a machine."""

    name: str
    bytes_per_second: AboveZero
    """What one of them moves."""
    count: Count
    source: str = ""
    """Where that figure is from, for people."""

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
    """A machine with more parts of one kind."""

    description: str
    machine: Machine
    gain_bytes_per_second: float
    """By how much more it moves; 0 where another kind of part limits it as before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BottleneckCalculation:
    """A filled worksheet: a server, and the steps of a way to a faster one if one was asked for."""

    machines: tuple[Machine, ...]
    target_bytes_per_second: float | None = None
    """The throughput that was asked for; None without one."""

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


def count_needed(machine: Machine, kind: ReferenceKind) -> int:
    """How many of a part are needed so that it no longer limits."""
    part = machine.part_of_kind(kind)
    if part is None:
        return 0

    others = [other.total_bytes_per_second for other_kind, other in machine.parts if other_kind is not kind]
    if not others or not part.bytes_per_second:
        return part.count
    return max(part.count, math.ceil(min(others) / part.bytes_per_second - QUOTIENT_ROUNDING))


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
        count_for_target = math.ceil(bytes_per_second / part.bytes_per_second - QUOTIENT_ROUNDING)
        # Past a number of steps that one still reads, the rest is done in one go.
        count_for_step = count_for_target if len(steps) > SMALL_STEPS else count_needed(last, kind)
        # At least one more, and no more than the target takes.
        one_more = part.count + 1
        count = min(max(count_for_step, one_more), max(count_for_target, one_more))

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
