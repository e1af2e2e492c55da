"""The bottleneck worksheet on paper (Using Samba, tables B-5, B-8, B-10): what each part moves, and what limits all."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from forms import report, wording
from forms.worksheets import references, summary

FORM = "bottleneck calculation"
SCHEMA = "sharebench/worksheet/bottleneck/1"
_NAMES = {kind: f"{word[0].upper()}{word[1:]}" for kind, word in references.SINGULARS.items()}
"""The kinds of parts as headings write them: CPU, Disk, Network."""

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
"""The book's warning of every such calculation."""

_BLANK_ROWS = 6


def bottleneck_report(worksheet: summary.BottleneckCalculation, name: str = "") -> report.Report:
    """A filled calculation, in kB/s as on paper, or MB/s where all of it is large."""
    factor, unit = _rate_unit(worksheet)
    last = worksheet.machines[-1]
    calculation = report.Table(
        columns=_columns(),
        rows=tuple(_row(machine, index, factor) for index, machine in enumerate(worksheet.machines)),
        caption=f"Throughput in {unit}; the total is the least of the three",
    )

    return report.Report(
        form=FORM,
        title=f"{_TITLE}: {name or worksheet.machines[0].name}",
        name=name or _TITLE,
        fields=(*_step_field(worksheet), *_part_fields(last)),
        tables=(_single_parts_table(worksheet, factor, unit), calculation),
        results=tuple(_bottleneck_results(worksheet)),
        advice=tuple(_bottleneck_advice(last)),
        drawn=(_bottleneck_chart(last),),
        document=partial(_bottleneck_document, name, worksheet),
    )


def _step_field(worksheet: summary.BottleneckCalculation) -> Iterator[report.Field]:
    """Which of several machines the fields below are of: the title has the name of the first."""
    steps = len(worksheet.machines) - 1
    if steps:
        yield report.Field(name="After", text=f"step {steps}: {worksheet.machines[-1].name}")


def _bottleneck_document(name: str, worksheet: summary.BottleneckCalculation) -> dict[str, Any]:
    return {"schema": SCHEMA, "name": name, **worksheet.to_content()}


def _rate_unit(worksheet: summary.BottleneckCalculation) -> tuple[float, str]:
    """Bytes in a unit of the table's rates, and that unit."""
    rates = []
    for machine in worksheet.machines:
        rates += [part.bytes_per_second for _, part in machine.parts]
    return (1e6, "MB/s") if rates and min(rates) >= 1e6 else (1e3, "kB/s")


def _single_parts_table(worksheet: summary.BottleneckCalculation, factor: float, unit: str) -> report.Table:
    rows = []
    for index, machine in enumerate(worksheet.machines):
        parts = [machine.part_of_kind(kind) for kind in references.ReferenceKind]
        rates = [part.bytes_per_second / factor if part else None for part in parts]
        rows.append(report.row_of(str(index), machine.name, *rates))
    headings = [(f"One {kind}, {unit}", report.ReportKind.DECIMAL) for kind in references.SINGULARS.values()]
    return report.Table(
        columns=report.columns_of("Step", "Machine", *headings), rows=tuple(rows), caption="What one of each moves"
    )


def blank_bottleneck_report() -> report.Report:
    """Table B-8, empty."""
    results = report.fields_of(
        ("CPU throughput", "throughput of one CPU x number of CPUs"),
        ("Disk throughput", "throughput of one disk x number of disks"),
        ("Network throughput", "throughput of one network x number of networks"),
        ("Total", "the least of the three"),
    )
    empty = report.blank_form(FORM, _TITLE, ("Server", "Date"), _columns(), [None] * _BLANK_ROWS)
    return replace(empty, results=results)


def _columns() -> tuple[report.Column, ...]:
    parts = []
    for name in _NAMES.values():
        parts += [(f"Number of {name}s", report.ReportKind.WHOLE), (f"{name} Throughput", report.ReportKind.DECIMAL)]
    return report.columns_of("Step", *parts, ("Total Throughput", report.ReportKind.DECIMAL))


def _row(machine: summary.Machine, index: int, factor: float) -> report.Row:
    """A machine: number and throughput of each kind of part, and the least of these, with formulas for a spreadsheet.

    The columns are the step, then two for each kind of part, then the total.
    """
    cells = [report.Cell(value=str(index))]
    totals = []
    for place, kind in enumerate(references.ReferenceKind, start=1):
        part = machine.part_of_kind(kind)
        if part is None:
            cells += [report.Cell(), report.Cell()]
            continue

        count_cell = report.cell_at(2 * place - 1, index)
        single_cell = report.cell_at(place + 1, index, table=0)
        product = report.Formula(template="{0}*{1}", references=(count_cell, single_cell))
        cells += [
            report.Cell(value=part.count),
            report.Cell(value=part.total_bytes_per_second / factor, formula=product),
        ]
        totals.append(report.cell_at(2 * place, index))

    total = machine.total_bytes_per_second
    if total is None:
        cells.append(report.Cell())
    else:
        arguments = ",".join(f"{{{place}}}" for place in range(len(totals)))
        least = report.Formula(template=f"MIN({arguments})", references=tuple(totals))
        cells.append(report.Cell(value=total / factor, formula=least))
    return report.Row(cells=tuple(cells))


def _limits(machine: summary.Machine) -> str:
    """The kinds of parts that are the bottleneck, in words."""
    return wording.listed([_limit(kind, machine) for kind in machine.bottlenecks])


def _limit(kind: references.ReferenceKind, machine: summary.Machine) -> str:
    part = machine.part_of_kind(kind)
    return references.PLURALS[kind] if part and part.count > 1 else references.SINGULARS[kind]


def _part_fields(machine: summary.Machine) -> Iterator[report.Field]:
    for kind in references.ReferenceKind:
        part = machine.part_of_kind(kind)
        if part is None:
            yield report.Field(name=_NAMES[kind], text="not known, so not looked at")
            continue
        source = f" ({part.source})" if part.source else ""
        yield report.Field(
            name=_NAMES[kind], text=f"{part.count} x {part.name}, {wording.rate(part.bytes_per_second)} each{source}"
        )


def _bottleneck_results(worksheet: summary.BottleneckCalculation) -> Iterator[report.Field]:
    machines = worksheet.machines
    for machine in machines:
        text = f"{_limits(machine)} at {_rate(machine)}" if machine.parts else "nothing is known"
        yield report.Field(name="Bottleneck" if len(machines) == 1 else machine.name, text=text)

    if worksheet.target_bytes_per_second is not None:
        steps = wording.count(len(machines) - 1, "step")
        result = (
            f"reached in {steps}" if worksheet.reaches_target else f"NOT reached: {_rate(machines[-1])} after {steps}"
        )
        yield report.Field(name="Target", text=f"{wording.rate(worksheet.target_bytes_per_second)}, {result}")

    first_rate = machines[0].total_bytes_per_second
    last_rate = machines[-1].total_bytes_per_second
    if len(machines) > 1 and first_rate and last_rate:
        yield report.Field(name="Gained in all", text=f"{last_rate / first_rate:.1f} times as much")


def _rate(machine: summary.Machine) -> str:
    return wording.rate(machine.total_bytes_per_second)


def _bottleneck_advice(machine: summary.Machine) -> Iterator[str]:
    for upgrade in summary.upgrades(machine):
        if upgrade.gain_bytes_per_second > 0:
            yield (
                f"{upgrade.description} would give {_rate(upgrade.machine)},"
                f" {wording.rate(upgrade.gain_bytes_per_second)} more; then the {_limits(upgrade.machine)} would limit."
            )
        else:
            yield f"{upgrade.description} would give nothing: the {_limits(machine)} would still limit."

    # What the book warns of where the plain sum is too good.
    if machine.disk and machine.disk.count > 1:
        yield DISKS_RULE
    if machine.network and machine.network.count > 1:
        yield BUS_RULE
    if machine.parts:
        yield NOT_WITHIN


def _bottleneck_chart(machine: summary.Machine) -> report.Chart:
    bars = tuple(
        report.Bar(
            name=f"{part.count} {_limit(kind, machine)}",
            value=part.total_bytes_per_second,
            mark=report.Mark.BOTTLENECK if kind in machine.bottlenecks else report.Mark.NONE,
        )
        for kind, part in machine.parts
    )
    return report.Chart(title="Which part is the bottleneck", unit="bytes/sec", bars=bars, source=(1, 7), in_text=True)
