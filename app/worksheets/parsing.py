"""Reads what is typed for a worksheet: rates, parts, upgrades, groups of clients and their demands."""

from dataclasses import replace

from app.base.errors import UsageError
from app.base.units import parse_size
from forms.series.summary import run_form
from forms.worksheets import references, users
from forms.worksheets import summary as sheets
from storage.records import Series, format_target

PARTS = ("cpu", "disk", "network")
"""Of a machine, as the options spell them."""


def read_rate(text: str) -> float:
    """Bytes a second: ``560KB``, ``118MB/s``, ``64K``. Raises UsageError."""
    try:
        return float(parse_size(text.strip().removesuffix("/s")))
    except UsageError:
        raise UsageError("bytes a second, such as 560KB or 118MB") from None


def read_part(kind: references.ReferenceKind, words: str, count: int) -> sheets.Part:
    """A part by the name of a reference, or by its rate. Raises UsageError."""
    rate = references.rate_of_operations(words)
    if rate:
        return sheets.Part(name=kind.value, bytes_per_second=rate, count=count, source=f"{words.strip()} x 8 kB")

    try:
        reference = references.find(kind, words, references.TABLES)
    except references.UnknownComponentError as unknown:
        try:
            return sheets.Part(name=kind.value, bytes_per_second=read_rate(words), count=count)
        except UsageError:
            raise UsageError(f"{unknown}; or write bytes a second, such as 560KB or 118M, or 70ops") from None
    return sheets.Part(
        name=reference.name,
        bytes_per_second=reference.bytes_per_second,
        count=count,
        source=reference.source,
    )


def read_demand(words: str) -> tuple[float, int]:
    """Transfers a second and their size in bytes, of a preset or ``RATE/CLIENTS``. Raises UsageError."""
    preset = references.DEMANDS.get(words.strip().lower())
    if preset is not None:
        return preset.transfers_per_second, preset.file_bytes

    rate, slash, clients = words.partition("/")
    if not slash or not clients.strip().isdecimal() or int(clients) < 1:
        raise UsageError(f"{words!r} is no demand: {', '.join(references.DEMANDS)}, or RATE/CLIENTS, such as 375KB/25")
    return 1.0, round(parse_size(rate) / int(clients))


def group_from(words: str, number: int) -> users.UserGroup:
    """From ``office=36:2.3:12KB``, ``36:office`` or ``75:375KB/25``. Raises UsageError."""
    name, _, numbers = words.rpartition("=")
    values = numbers.split(":")
    has_demand = len(values) == 2
    try:
        count = int(values[0])
        if has_demand:
            transfers, size = read_demand(values[1])
        else:
            transfers = float(values[1])
            size = parse_size(values[2])
    except (ValueError, IndexError, UsageError):
        raise UsageError(
            f"group {words}: write NAME=CLIENTS:TRANSFERS:SIZE, such as office=36:2.3:12KB, or NAME=CLIENTS:DEMAND,"
            f" of {', '.join(references.DEMANDS)}, or RATE/CLIENTS of a server that is just enough, such as 75:375KB/25"
        ) from None
    if count < 0 or not 0 <= transfers < 1e9 or len(values) > 3:
        raise UsageError(f"group {words}: clients and transfers a second cannot be below 0")

    if not name:
        demand = values[1].strip().lower() if has_demand else ""
        name = demand if demand in references.DEMANDS else f"group {number}"
    return users.UserGroup(name=name, clients=count, transfers_per_second=transfers, file_bytes=size)


def part_of_series(series: Series, count: int) -> sheets.Part:
    """A part with a series' average rate. Raises UsageError if it has none."""
    average = run_form(series).average
    if average is None or not average.bytes_per_second:
        raise UsageError(f"series {series.id} has no valid run, so it says nothing of what it measured")
    name = series.label or f"{series.command} {format_target(series.target, escaped=False)}"
    source = f"measured, series {series.id}"
    return sheets.Part(name=name, bytes_per_second=average.bytes_per_second, count=count, source=source)


def upgraded(machine: sheets.Machine, words: str) -> sheets.Machine:
    """The machine after an upgrade: ``disks=6``, ``network=10 Gb/s Ethernet,networks=2``. Raises UsageError."""
    descriptions: list[str] = []
    for change in words.split(","):
        name, _, value = (part.strip() for part in change.partition("="))
        word = name.removesuffix("s")
        if word not in PARTS or not value:
            raise UsageError(f"--upgrade {words}: write cpus=N, disks=N, networks=N, cpu=…, disk=… or network=…")

        kind = references.ReferenceKind(word)
        part = machine.part_of_kind(kind)
        if name == word:
            new_part = read_part(kind, value, part.count if part else 1)
            descriptions.append(new_part.name)
        else:
            new_part = replace(_part_to_count(part, word, words), count=_part_count(name, value, words))
            descriptions.append(f"{value} {references.PLURALS[kind]}")
        machine = machine.with_part(kind, new_part)
    return replace(machine, name=", ".join(descriptions))


def _part_to_count(part: sheets.Part | None, word: str, words: str) -> sheets.Part:
    if part is None:
        raise UsageError(f"--upgrade {words}: which {word}? Give it with --{word} first")
    return part


def _part_count(name: str, value: str, words: str) -> int:
    if not value.isdigit() or int(value) < 1:
        raise UsageError(f"--upgrade {words}: {name} is a number of at least 1, not {value!r}")
    return int(value)
