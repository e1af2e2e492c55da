"""``sharebench worksheet``: calculates which part limits a server (bottleneck), and how many clients it carries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from app.base import errors
from app.base.units import parse_size
from app.cli import console, declare, notebooks
from app.worksheets import parsing
from forms.layout import visible
from forms.tuning.catalogue import misprints_about
from forms.worksheets import references, report, users
from forms.worksheets import summary as sheets
from storage import records
from storage.json_reader import DocumentError

_Read = TypeVar("_Read")
_KINDS = ("bottleneck", "clients")
"""Of worksheets, as they are stored."""
_NO_PARTS = sheets.Machine(name="")


def saved_worksheet(context: click.Context, kind: str, name: str, read: Callable[[records.Worksheet], _Read]) -> _Read:
    """What ``read`` makes of a saved worksheet. Raises UsageError, and NotebookError if it is malformed."""
    with notebooks.open_notebook(context) as notebook:
        matching = [saved for saved in notebook.worksheets(kind) if saved.name == name]
    if not matching:
        raise errors.UsageError(f"no {kind} worksheet is called {name!r}; `sharebench worksheet list` shows them")
    try:
        return read(matching[0])
    except DocumentError as error:
        raise errors.NotebookError(f"the {kind} worksheet {name!r} cannot be read: {error}") from error


@click.group("worksheet", cls=declare.Group)
def worksheet_command() -> None:
    """Calculate which part limits a server, and how many clients it carries."""


_worksheet_options = declare.several(
    declare.option("--save", "NAME", "Save the worksheet in the notebook as NAME."),
    declare.answering_options("Print the worksheet as JSON."),
)


@worksheet_command.command("bottleneck", short_help="Calculate which part limits a server.")
@declare.option("--cpu", "NAME|RATE", "Rate of one CPU: a name in the tables, bytes per second (60M), or 750ops.")
@declare.option("--cpus", "N", "Number of CPUs.", declare.Count(1), default=1, show_default=False)
@declare.option("--disk", "NAME|RATE", "Rate of one disk.")
@declare.option("--disks", "N", "Number of disks.", declare.Count(1), default=1, show_default=False)
@declare.option("--network", "NAME|RATE", "Rate of one network.")
@declare.option("--networks", "N", "Number of networks.", declare.Count(1), default=1, show_default=False)
@declare.option(
    "--from-series", "PART=SERIES", "Rate of a part from a series, such as disk=last.", name="measured", multiple=True
)
@declare.option(
    "--upgrade",
    "CHANGES",
    "Upgrade to compare, such as disks=6 or 'network=10 Gb/s Ethernet,networks=2'; may be repeated.",
    name="steps",
    multiple=True,
)
@declare.option("--target", "RATE", "Upgrade the limiting part, step by step, up to this rate.")
@declare.option("--name", "TEXT", "Name of the machine on the form.", default="as it is", show_default=False)
@click.option("--tables", is_flag=True, help="Print the tables with their sources and misprints, and exit.")
@_worksheet_options
def bottleneck(context: click.Context, /, *, name: str, tables: bool, **choices: Any) -> None:
    """Calculate which of CPU, disks and networks limits a server, and what each upgrade would give.

    The limit is the slowest of the three; leave out a part to ignore it.
    """
    if tables:
        _say_tables()
        return

    machine = _machine_from_options(context, name, choices)
    if not machine.parts:
        raise errors.UsageError("nothing to calculate: give --cpu, --disk or --network, or --from-series; see --tables")

    machines = [machine]
    for words in choices["steps"]:
        machines.append(parsing.upgraded(machines[-1], words))
    target_rate = parse_size(choices["target"]) if choices["target"] else None
    if target_rate is not None:
        _machine_before, *upgraded_machines = sheets.way_to(machines[-1], target_rate)
        machines += upgraded_machines
    worksheet = sheets.BottleneckCalculation(machines=tuple(machines), target_bytes_per_second=target_rate)
    _show(context, worksheet, choices)


def _machine_from_options(context: click.Context, name: str, choices: Mapping[str, Any]) -> sheets.Machine:
    """The machine of --cpu, --disk and --network, and of --from-series, which comes last. Raises UsageError."""
    machine = sheets.Machine(name=name)
    counts = {part: choices[f"{part}s"] for part in parsing.PARTS}
    for kind in references.ReferenceKind:
        if choices[kind] is not None:
            machine = machine.with_part(kind, parsing.read_part(kind, choices[kind], counts[kind]))

    for words in choices["measured"]:
        part, _, reference = words.partition("=")
        if part not in parsing.PARTS or not reference:
            raise errors.UsageError(f"--from-series {words}: write cpu=SERIES, disk=SERIES or network=SERIES")
        measured_part = parsing.part_of_series(notebooks.series_called(context, reference), counts[part])
        machine = machine.with_part(references.ReferenceKind(part), measured_part)
    return machine


@worksheet_command.command("clients", short_help="Calculate how many clients a server carries.")
@declare.option(
    "--group",
    "[NAME=]N:TRANSFERS:SIZE",
    "office=36:2.3:12KB: 36 clients, 2.3 transfers a second each, of 12 kB; or 36:office (workstation,"
    " programmers, compiling, imaging), or 75:375KB/25 after a server that is just enough for 25; again for more.",
    name="groups",
    multiple=True,
    required=True,
)
@declare.option("--capacity", "RATE", "Rate of the server in bytes per second (960KB).")
@declare.option("--from-series", "SERIES", "Rate of the server: the average of SERIES.", name="reference")
@declare.option("--from-worksheet", "NAME", "Rate of the server: the total of a saved bottleneck worksheet.")
@declare.option("--disk", "NAME|RATE", "Calculate how many of these disks the clients need.")
@declare.option("--network", "NAME|RATE", "Calculate how many of these networks the clients need.")
@declare.option("--memory", "SIZE", "Memory of the server for the processes of its clients.")
@declare.option("--client-memory", "SIZE", "Memory of the process of one client (800KB, as in 1999).")
@_worksheet_options
def clients(context: click.Context, /, groups: tuple[str, ...], capacity: str | None, **choices: Any) -> None:
    """Calculate how many clients a server carries: clients x transfers per second x file size."""
    ways = (capacity, choices["reference"], choices["from_worksheet"])
    if sum(way is not None for way in ways) != 1:
        raise errors.UsageError("say once what the server moves: --capacity, --from-series or --from-worksheet")

    server = _server_capacity(context, *ways)
    memory = _server_memory(choices["memory"], choices["client_memory"])
    machine = server.machine
    for kind in (references.ReferenceKind.DISK, references.ReferenceKind.NETWORK):
        if choices[kind.value]:  # in place of the machine's own
            machine = machine.with_part(kind, parsing.read_part(kind, choices[kind.value], 1))

    worksheet = users.UsersCalculation(
        capacity_bytes_per_second=server.bytes_per_second,
        capacity_source=server.source,
        series_id=server.series_id,
        groups=tuple(parsing.group_from(words, number) for number, words in enumerate(groups, start=1)),
        memory=memory,
        parts=tuple(users.CarryingPart.from_part(kind, part) for kind, part in machine.parts),
    )
    _show(context, worksheet, choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ServerCapacity:
    """What a server moves, where that is known from, and its parts as far as they are known."""

    bytes_per_second: float
    source: str = ""
    series_id: str | None = None
    machine: sheets.Machine = _NO_PARTS


def _server_capacity(
    context: click.Context, capacity: str | None, reference: str | None, from_worksheet: str | None
) -> _ServerCapacity:
    """By the one of the three that is given. Raises UsageError."""
    if capacity:
        return _ServerCapacity(bytes_per_second=float(parse_size(capacity)))
    if reference:
        series = notebooks.series_called(context, reference)
        part = parsing.part_of_series(series, 1)
        return _ServerCapacity(bytes_per_second=part.bytes_per_second, source=part.source, series_id=series.id)

    machine = saved_worksheet(context, "bottleneck", from_worksheet or "", _last_machine)
    return _ServerCapacity(
        bytes_per_second=machine.total_bytes_per_second or 0.0,
        source=f"the bottleneck worksheet {from_worksheet}",
        machine=machine,
    )


def _last_machine(saved: records.Worksheet) -> sheets.Machine:
    return sheets.BottleneckCalculation.from_content(saved.content).machines[-1]


def _server_memory(memory: str | None, of_one_client: str | None) -> users.ServerMemory | None:
    """Raises UsageError."""
    if of_one_client is not None and memory is None:
        raise errors.UsageError("--client-memory: say with --memory what the server has for its clients")
    client_bytes = parse_size(of_one_client) if of_one_client else users.CLIENT_BYTES
    return users.ServerMemory(client_bytes=client_bytes, available_bytes=parse_size(memory)) if memory else None


@worksheet_command.command("list")
@declare.options_of_all
def list_worksheets(context: click.Context) -> None:
    """List the saved worksheets."""
    worksheets: list[records.Worksheet] = []
    with notebooks.open_notebook(context) as notebook:
        for kind in _KINDS:
            worksheets += notebook.worksheets(kind)
    if not worksheets:
        console.say("no worksheets yet; keep one with: sharebench worksheet bottleneck … --save NAME")

    for saved in worksheets:
        console.answer(f"{records.with_zone(saved.saved_at)}  {saved.kind:<10}  {visible(saved.name)}")


@worksheet_command.command("show")
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("name")
@declare.answering_options("Print the worksheet as JSON.")
def show_worksheet(context: click.Context, kind: str, name: str, as_json: bool) -> None:
    """Show a saved worksheet."""
    console.answer_report(saved_worksheet(context, kind, name, report.worksheet_report), as_json=as_json)


def _show(
    context: click.Context,
    worksheet: sheets.BottleneckCalculation | users.UsersCalculation,
    choices: Mapping[str, Any],
) -> None:
    record = report.to_record(worksheet, choices["save"] or "")
    if choices["save"]:
        with notebooks.open_notebook(context, make=True) as notebook:
            notebook.save_worksheet(record)
    console.answer_report(report.worksheet_report(record), as_json=choices["as_json"])


def _say_tables() -> None:
    for title, table in references.TABLES.items():
        console.answer(f"{title}:")
        for reference in table:
            note = f"; {reference.note}" if reference.note else ""
            console.answer(f"  {reference.kind.value:<8} {reference.line:<48} {reference.source}{note}")
    console.answer("Misprints in the book:")
    for misprint in misprints_about(*references.BOOK_TABLES):
        console.answer(f"  {misprint.sentence}")
