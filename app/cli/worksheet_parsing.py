"""What is typed for a worksheet, read into its parts: names of the tables, rates, series, steps, groups of clients."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import click

from app.cli import common
from app.errors import NotebookError, UsageError
from app.units import parse_size
from app.workflows.worksheets import read_demand, read_part
from forms.series.summary import run_form
from forms.worksheets.bottleneck import PLURALS, BottleneckCalculation, Machine, Part
from forms.worksheets.reference import DEMANDS, ReferenceKind
from forms.worksheets.users import CLIENT_BYTES, CarryingPart, ServerMemory, UserGroup
from storage.json_reader import DocumentError
from storage.records import Worksheet
from storage.target_url import format_target

_Read = TypeVar("_Read")
PARTS = ("cpu", "disk", "network")


def measured_part(context: click.Context, reference: str, count: int) -> Part:
    """A part that moves what a series measured. Raises UsageError where it has no average."""
    series = common.series(context, reference)
    average = run_form(series).average
    if average is None or not average.bytes_per_second:
        raise UsageError(f"series {series.id} has no valid run, so it says nothing of what it measured")
    return Part(
        name=series.label or f"{series.command} {format_target(series.target, escaped=False)}",
        bytes_per_second=average.bytes_per_second,
        count=count,
        source=f"measured, series {series.id}",
    )


def upgraded(machine: Machine, words: str) -> Machine:
    """The machine after one step, such as ``disks=6`` or ``network=10 Gb/s Ethernet,networks=2``. Raises UsageError."""
    said: list[str] = []
    for change in words.split(","):
        name, _, value = (part.strip() for part in change.partition("="))
        kind = name.removesuffix("s")
        if kind not in PARTS or not value:
            raise UsageError(f"--upgrade {words}: write cpus=N, disks=N, networks=N, cpu=…, disk=… or network=…")
        part = machine.part(ReferenceKind(kind))
        if name == kind:
            new = read_part(ReferenceKind(kind), value, part.count if part else 1)
            machine = machine.with_part(ReferenceKind(kind), new)
            said.append(new.name)
            continue
        if part is None:
            raise UsageError(f"--upgrade {words}: which {kind}? Give it with --{kind} first")
        if not value.isdigit() or int(value) < 1:
            raise UsageError(f"--upgrade {words}: {name} is a number of at least 1, not {value!r}")
        machine = machine.with_part(ReferenceKind(kind), replace(part, count=int(value)))
        said.append(f"{value} {PLURALS[ReferenceKind(kind)]}")
    return replace(machine, name=", ".join(said))


def group_from(words: str, number: int) -> UserGroup:
    """A group of clients from ``office=36:2.3:12KB``, ``36:office`` or ``75:375KB/25``. Raises UsageError."""
    name, given, rest = words.rpartition("=")
    values = rest.split(":")
    try:
        count = int(values[0])
        if len(values) == 2:
            transfers, size = read_demand(values[1])
        else:
            transfers, size = float(values[1]), parse_size(values[2])
    except (ValueError, IndexError, UsageError):
        raise UsageError(
            f"--group {words}: write NAME=CLIENTS:TRANSFERS:SIZE, such as office=36:2.3:12KB, or NAME=CLIENTS:DEMAND,"
            f" of {', '.join(DEMANDS)}, or RATE/CLIENTS of a server that is just enough, such as 75:375KB/25"
        ) from None
    if count < 0 or not 0 <= transfers < 1e9 or len(values) > 3:
        raise UsageError(f"--group {words}: clients and transfers a second cannot be below 0")
    preset = values[1].strip().lower() if len(values) == 2 else ""
    return UserGroup(
        name=name if given and name else preset if preset in DEMANDS else f"group {number}",
        clients=count,
        transfers_per_second=transfers,
        file_bytes=size,
    )


def server_memory(available: str | None, each: str | None) -> ServerMemory | None:
    """What there is for the processes of clients, and what one takes; None where it is not looked at."""
    if available is None:
        if each is not None:
            raise UsageError("--client-memory: say with --memory what the server has for its clients")
        return None
    return ServerMemory(client_bytes=parse_size(each) if each else CLIENT_BYTES, available_bytes=parse_size(available))


def calculated_machine(context: click.Context, name: str) -> Machine:
    """The last machine of a saved bottleneck worksheet, which has a total. Raises UsageError."""
    with common.notebook(context) as notebook:
        found = next((sheet for sheet in notebook.worksheets("bottleneck") if sheet.name == name), None)
    sheet = readable(lambda saved: BottleneckCalculation.from_content(saved.content), found) if found else None
    if sheet is None or sheet.machines[-1].total_bytes_per_second is None:
        raise UsageError(f"no bottleneck worksheet is called {name!r}; `sharebench worksheet list` shows them")
    return sheet.machines[-1]


def carrying_parts(machine: Machine, disk: str | None, network: str | None) -> tuple[CarryingPart, ...]:
    """The parts of a machine, with the disk and the network that are named in place of its own. Raises UsageError."""
    for kind, words in ((ReferenceKind.DISK, disk), (ReferenceKind.NETWORK, network)):
        machine = machine.with_part(kind, read_part(kind, words, 1)) if words else machine
    return tuple(CarryingPart.of(kind, part) for kind, part in machine.parts)


def readable(read: Callable[[Worksheet], _Read], saved: Worksheet) -> _Read:
    """What a saved worksheet holds. Raises NotebookError where somebody else wrote into it."""
    try:
        return read(saved)
    except DocumentError as error:
        raise NotebookError(f"the {saved.kind} worksheet {saved.name!r} cannot be read: {error}") from error
