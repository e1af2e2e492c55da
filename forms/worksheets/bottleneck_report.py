"""The bottleneck calculation on paper, as table B-8 has it, with each step of an improvement as a row (B-5, B-10)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from forms import wording
from forms.report import Bar, Cell, Chart, Column, ColumnGroup, Field, Formula, Mark, Report, Row, Table
from forms.report import ReportKind as Holds
from forms.worksheets.bottleneck import PLURALS, SINGULARS, BottleneckCalculation, Machine, Part, total_gain, upgrades
from forms.worksheets.reference import ReferenceKind

FORM = "bottleneck calculation"
SCHEMA = "sharebench/worksheet/bottleneck/1"
_ORDER = (ReferenceKind.CPU, ReferenceKind.DISK, ReferenceKind.NETWORK)
_NAMES = {ReferenceKind.CPU: "CPU", ReferenceKind.DISK: "Disk", ReferenceKind.NETWORK: "Network"}
_STEP = Column(heading="Step", kind=Holds.TEXT)
_TITLE = "Bottleneck calculation"
DISKS_RULE = (
    "Disks add up only where each has a way of its own (Using Samba: one IDE disk a controller, three SCSI disks a"
    " controller; today, no more than the controller and its slot carry), and RAID 5 writes everything twice."
)
BUS_RULE = "From the second network card on the bus may be the limit: look at it as at a part of its own (Using Samba)."
NOT_WITHIN = (
    "This is not a complete model of a server: do not expect it to be within 10 percent (Using Samba). Measure what it"
    " says."
)
_BLANK_ROWS = 6
"""As many as the paper form has."""


def bottleneck_report(worksheet: BottleneckCalculation, name: str = "") -> Report:
    """A filled calculation; throughput in kB/s as on paper, or MB/s where all of it is large."""
    rates = [part.bytes_per_second for machine in worksheet.machines for _, part in machine.parts]
    factor, unit = (1e6, "MB/s") if rates and min(rates) >= 1e6 else (1e3, "kB/s")
    last = worksheet.machines[-1]
    return Report(
        form=FORM,
        title=f"{_TITLE}: {name or worksheet.machines[0].name}",
        name=name or _TITLE,
        fields=tuple(_parts(last)),
        tables=(_one_of_each(worksheet, factor, unit), _calculation(worksheet, factor, unit)),
        results=tuple(_results(worksheet)),
        advice=tuple(_advice(last)),
        chart=_chart(last),
        document=partial(document, worksheet, name),
    )


def document(worksheet: BottleneckCalculation, name: str = "") -> dict[str, Any]:
    """The JSON object of a calculation."""
    return {"schema": SCHEMA, "name": name, **worksheet.to_content()}


def blank_bottleneck_report() -> Report:
    """Table B-8 as it is printed: empty rows, to be filled by hand."""
    columns = _columns()
    return Report(
        form=FORM,
        title=_TITLE,
        name=_TITLE,
        fields=(Field(name="Server", text=""), Field(name="Date", text="")),
        tables=(Table(columns=columns, rows=tuple(Row(cells=(Cell(),) * len(columns)) for _ in range(_BLANK_ROWS))),),
        results=(
            Field(name="CPU throughput", text="throughput of one CPU x number of CPUs"),
            Field(name="Disk throughput", text="throughput of one disk x number of disks"),
            Field(name="Network throughput", text="throughput of one network x number of networks"),
            Field(name="Total", text="the least of the three"),
        ),
        blank=True,
    )


def _one_of_each(worksheet: BottleneckCalculation, factor: float, unit: str) -> Table:
    """What one CPU, disk and network of each machine moves."""
    rows = []
    for index, machine in enumerate(worksheet.machines):
        parts = [machine.part(kind) for kind in _ORDER]
        each = [Cell(value=part.bytes_per_second / factor if part else None) for part in parts]
        rows.append(Row(cells=(Cell(value=str(index)), Cell(value=machine.name), *each)))
    columns = [_STEP, Column(heading="Machine", kind=Holds.TEXT)]
    columns += [Column(heading=f"One {kind}, {unit}", kind=Holds.DECIMAL) for kind in ("CPU", "disk", "network")]
    return Table(columns=tuple(columns), rows=tuple(rows), caption="What one of each moves")


def _calculation(worksheet: BottleneckCalculation, factor: float, unit: str) -> Table:
    return Table(
        columns=_columns(),
        rows=tuple(_row(machine, index, factor) for index, machine in enumerate(worksheet.machines)),
        caption=f"Throughput in {unit}; the total is the least of the three",
    )


def _columns() -> tuple[Column, ...]:
    columns = [_STEP]
    for name, plural in (("CPU", "CPUs"), ("Disk", "Disks"), ("Network", "Networks")):
        columns.append(Column(heading=f"Number of {plural}"))
        columns.append(Column(heading=f"{name} Throughput", kind=Holds.DECIMAL))
    return (*columns, Column(heading="Total Throughput", kind=Holds.DECIMAL))


def _row(machine: Machine, index: int, factor: float) -> Row:
    cells = [Cell(value=str(index))]
    totals = []
    for place, kind in enumerate(_ORDER, start=1):
        cells += _part_cells(machine.part(kind), place, index, factor)
        if machine.part(kind):
            totals.append(ColumnGroup(column=2 * place, first=index, last=index))
    total = machine.total_bytes_per_second
    least = "MIN(" + ",".join(f"{{{i}}}" for i in range(len(totals))) + ")"
    formula = Formula(template=least, references=tuple(totals)) if totals else None
    cells.append(Cell(value=None if total is None else total / factor, formula=formula))
    return Row(cells=tuple(cells))


def _part_cells(part: Part | None, place: int, row: int, factor: float) -> list[Cell]:
    """Number and throughput of a part; ``place`` counts the parts from 1."""
    if part is None:
        return [Cell(), Cell()]
    count = ColumnGroup(column=2 * place - 1, first=row, last=row)
    each = ColumnGroup(column=place + 1, first=row, last=row, table=0)
    formula = Formula(template="{0}*{1}", references=(count, each))
    return [Cell(value=part.count), Cell(value=part.total_bytes_per_second / factor, formula=formula)]


def _limits(machine: Machine) -> str:
    return wording.listed([_limit(kind, machine) for kind in machine.bottlenecks])


def _limit(kind: ReferenceKind, machine: Machine) -> str:
    part = machine.part(kind)
    return PLURALS[kind] if part and part.count > 1 else SINGULARS[kind]


def _parts(machine: Machine) -> Iterator[Field]:
    for kind in _ORDER:
        part = machine.part(kind)
        if part is None:
            yield Field(name=_NAMES[kind], text="not known, so not looked at")
            continue
        source = f" ({part.source})" if part.source else ""
        yield Field(
            name=_NAMES[kind],
            text=f"{part.count} x {part.name}, {wording.rate(part.bytes_per_second)} each{source}",
        )


def _results(worksheet: BottleneckCalculation) -> Iterator[Field]:
    for machine in worksheet.machines:
        said = "nothing is known" if not machine.parts else f"{_limits(machine)} at {_rate(machine)}"
        yield Field(name="Bottleneck" if len(worksheet.machines) == 1 else machine.name, text=said)
    if worksheet.target_bytes_per_second is not None:
        aim, last = wording.rate(worksheet.target_bytes_per_second), worksheet.machines[-1]
        steps = wording.count(len(worksheet.machines) - 1, "step")
        reached = f"reached in {steps}" if worksheet.reaches_target else f"NOT reached: {_rate(last)} after {steps}"
        yield Field(name="Target", text=f"{aim}, {reached}")
    gain = total_gain(worksheet.machines)
    if len(worksheet.machines) > 1 and gain is not None:
        yield Field(name="Gained in all", text=f"{gain:.1f} times as much")


def _rate(machine: Machine) -> str:
    return wording.rate(machine.total_bytes_per_second)


def _advice(machine: Machine) -> Iterator[str]:
    for upgrade in upgrades(machine):
        if upgrade.gain_bytes_per_second > 0:
            yield (
                f"{upgrade.what} would give {_rate(upgrade.machine)},"
                f" {wording.rate(upgrade.gain_bytes_per_second)} more; then the {_limits(upgrade.machine)} would limit."
            )
        else:
            yield f"{upgrade.what} would give nothing: the {_limits(machine)} would still limit."
    if machine.disk and machine.disk.count > 1:
        yield DISKS_RULE
    if machine.network and machine.network.count > 1:
        yield BUS_RULE
    if machine.parts:
        yield NOT_WITHIN


def _chart(machine: Machine) -> Chart | None:
    if not machine.parts:
        return None
    bars = tuple(
        Bar(
            name=f"{part.count} {_limit(kind, machine)}",
            value=part.total_bytes_per_second,
            mark=Mark.BOTTLENECK if kind in machine.bottlenecks else Mark.NONE,
        )
        for kind, part in machine.parts
    )
    return Chart(title="Which part is the bottleneck", unit="bytes/sec", bars=bars, source=(1, 7), in_text=True)
