"""Worksheets on paper: the bottleneck (Using Samba, tables B-5, B-8, B-10), and the clients."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from forms import layout, report, wording
from forms.worksheets import summary
from storage import records

FORM = "bottleneck calculation"
SCHEMA = "sharebench/worksheet/bottleneck/1"
_NAMES = {kind: f"{word[0].upper()}{word[1:]}" for kind, word in summary.SINGULARS.items()}
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
        fields=tuple(_part_fields(last)),
        tables=(_single_parts_table(worksheet, factor, unit), calculation),
        results=tuple(_bottleneck_results(worksheet)),
        advice=tuple(_bottleneck_advice(last)),
        drawn=(_bottleneck_chart(last),),
        document=partial(_worksheet_document, SCHEMA, name, worksheet),
    )


def _worksheet_document(
    schema: str, name: str, worksheet: summary.BottleneckCalculation | summary.UsersCalculation
) -> dict[str, Any]:
    return {"schema": schema, "name": name, **worksheet.to_content()}


def _rate_unit(worksheet: summary.BottleneckCalculation) -> tuple[float, str]:
    """Bytes in a unit of the table's rates, and that unit."""
    rates = []
    for machine in worksheet.machines:
        rates += [part.bytes_per_second for _, part in machine.parts]
    return (1e6, "MB/s") if rates and min(rates) >= 1e6 else (1e3, "kB/s")


def _single_parts_table(worksheet: summary.BottleneckCalculation, factor: float, unit: str) -> report.Table:
    rows = []
    for index, machine in enumerate(worksheet.machines):
        parts = [machine.part_of_kind(kind) for kind in summary.ReferenceKind]
        rates = [part.bytes_per_second / factor if part else None for part in parts]
        rows.append(report.row_of(str(index), machine.name, *rates))
    headings = [(f"One {kind}, {unit}", report.ReportKind.DECIMAL) for kind in summary.SINGULARS.values()]
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
    cells = [report.Cell(value=str(index))]
    totals = []
    for place, kind in enumerate(summary.ReferenceKind, start=1):
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
    return wording.listed([_limit(kind, machine) for kind in machine.bottlenecks])


def _limit(kind: summary.ReferenceKind, machine: summary.Machine) -> str:
    part = machine.part_of_kind(kind)
    return summary.PLURALS[kind] if part and part.count > 1 else summary.SINGULARS[kind]


def _part_fields(machine: summary.Machine) -> Iterator[report.Field]:
    for kind in summary.ReferenceKind:
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


CLIENTS_FORM = "clients"
CLIENTS_SCHEMA = "sharebench/worksheet/clients/1"
_CLIENTS_TITLE = "Clients of a server"
_CAPACITY = "Server moves"
_CLIENTS_BLANK_ROWS = 5
_CLIENTS_COLUMNS = report.columns_of(
    "Clients",
    ("Number", report.ReportKind.WHOLE),
    ("Transfers/sec each", report.ReportKind.PERCENT),
    ("File Size in Bytes", report.ReportKind.WHOLE),
    ("Bytes/sec asked", report.ReportKind.WHOLE),
    ("% of server", report.ReportKind.PERCENT),
    ("Carried alone", report.ReportKind.WHOLE),
)


def users_report(worksheet: summary.UsersCalculation, name: str = "") -> report.Report:
    capacity = worksheet.capacity_bytes_per_second
    rows = [_group_row(worksheet, group, index) for index, group in enumerate(worksheet.groups)]
    if len(rows) > 1:
        rows.append(_users_total(worksheet, len(rows)))

    return report.Report(
        form=CLIENTS_FORM,
        title=f"{_CLIENTS_TITLE}: {name}" if name else _CLIENTS_TITLE,
        name=name or _CLIENTS_TITLE,
        fields=(
            report.Field(
                name=_CAPACITY, text=f"{wording.whole(capacity)} bytes/sec", number=capacity, unit="bytes/sec"
            ),
            report.Field(name="That is from", text=worksheet.capacity_source or "the admin"),
        ),
        tables=(
            report.Table(
                columns=_CLIENTS_COLUMNS, rows=tuple(rows), caption="Clients x transfers a second x file size"
            ),
        ),
        results=tuple(_users_results(worksheet)),
        advice=(NOT_WITHIN,),
        drawn=(_users_chart(worksheet),),
        document=partial(_worksheet_document, CLIENTS_SCHEMA, name, worksheet),
    )


def blank_users_report() -> report.Report:
    fields = (_CAPACITY, "That is from", "Date")
    rows = [None] * _CLIENTS_BLANK_ROWS
    empty = report.blank_form(CLIENTS_FORM, _CLIENTS_TITLE, fields, _CLIENTS_COLUMNS, rows)
    return replace(empty, results=report.fields_of(("Bytes/sec asked", "number x transfers a second x file size")))


def _group_row(worksheet: summary.UsersCalculation, group: summary.UserGroup, index: int) -> report.Row:
    number, transfers, size, demand = (report.cell_at(column, index) for column in range(1, 5))
    capacity = report.FieldReference(name=_CAPACITY)
    carried = worksheet.carried(group)
    share = 100 * group.demand_bytes_per_second / worksheet.capacity_bytes_per_second

    product = report.Formula(template="{0}*{1}*{2}", references=(number, transfers, size))
    # The tiny factor keeps a quotient that is whole but for rounding from losing a client, as in the summary.
    carried_alone = report.Formula(template="INT({0}/({1}*{2})*(1+1E-12))", references=(capacity, transfers, size))
    return report.row_of(
        group.name,
        group.clients,
        group.transfers_per_second,
        group.file_bytes,
        report.Cell(value=group.demand_bytes_per_second, formula=product),
        report.Cell(value=share, formula=report.Formula(template="100*{0}/{1}", references=(demand, capacity))),
        report.Cell(value=carried, formula=None if carried is None else carried_alone),
    )


def _users_total(worksheet: summary.UsersCalculation, count: int) -> report.Row:
    def total(column: int) -> report.Formula:
        return report.Formula(
            template="SUM({0})", references=(report.ColumnGroup(column=column, first=0, last=count - 1),)
        )

    return report.row_of(
        "Total:",
        report.Cell(value=worksheet.clients, formula=total(1)),
        None,
        None,
        report.Cell(value=worksheet.demand_bytes_per_second, formula=total(4)),
        report.Cell(value=worksheet.percent_used, formula=total(5)),
        role=report.Role.RESULT,
    )


def _answer_field(worksheet: summary.UsersCalculation) -> report.Field:
    if not worksheet.demand_bytes_per_second:
        return report.Field(
            name="Enough", text="nobody asks yet: give a group its number, files a second and file size"
        )

    percent_used = wording.percent(worksheet.percent_used)
    demand = f"{wording.rate(worksheet.demand_bytes_per_second)} asked, {percent_used} of it"
    if worksheet.is_tight:
        text = f"{layout.Sign.WARNING} tight: {demand}; busy moments ask for more than the average"
        return report.Field(name="Enough", text=text, tone=layout.Tone.CAUTION)
    if worksheet.is_enough:
        return report.Field(name="Enough", text=f"{layout.Sign.GOOD} yes: {demand}", tone=layout.Tone.GOOD)
    missing = worksheet.demand_bytes_per_second - worksheet.capacity_bytes_per_second
    return report.Field(
        name="Enough", text=f"{layout.Sign.BAD} no: {demand}; {wording.rate(missing)} are missing", tone=layout.Tone.BAD
    )


def _users_results(worksheet: summary.UsersCalculation) -> Iterator[report.Field]:
    yield _answer_field(worksheet)
    for group in worksheet.groups:
        carried = worksheet.carried(group)
        if carried is not None:
            yield report.Field(name=f"{group.name} alone", text=f"the server carries {carried:,}")

    demand = worksheet.demand_bytes_per_second
    if worksheet.parts and demand:
        parts = [
            f"{part.needed(demand)} x {part.name} of {wording.rate(part.bytes_per_second)}" for part in worksheet.parts
        ]
        yield report.Field(name="Needed for that", text=wording.listed(parts))
    if worksheet.memory is not None:
        yield report.Field(name="Memory", text=_memory_text(worksheet.memory, worksheet.clients))


def _memory_text(memory: summary.ServerMemory, clients: int) -> str:
    needed = memory.needed_bytes(clients)
    answer = f"{layout.Sign.GOOD} enough" if needed <= memory.available_bytes else f"{layout.Sign.BAD} too little"
    sum_text = f"{clients} x {_size(memory.client_bytes)} + {_size(memory.base_bytes)} = {_size(needed)}"
    return f"{answer}: {sum_text} of {_size(memory.available_bytes)}, which carries {memory.carried:,} clients"


def _size(size_bytes: int) -> str:
    return wording.byte_rate(size_bytes).removesuffix("/s")


def _users_chart(worksheet: summary.UsersCalculation) -> report.Chart:
    bars = [report.Bar(name=group.name, value=group.demand_bytes_per_second) for group in worksheet.groups]
    if len(bars) > 1:
        bars.append(report.Bar(name="total", value=worksheet.demand_bytes_per_second))
    if not worksheet.is_enough:
        bars[-1] = report.Bar(name=bars[-1].name, value=bars[-1].value, mark=report.Mark.BOTTLENECK)
    return report.Chart(
        title="Asked of the server",
        unit="bytes/sec",
        bars=tuple(bars),
        levels=(report.Level(name="server", value=worksheet.capacity_bytes_per_second),),
        source=(0, 4),
        in_text=True,
    )


BOTTLENECK = "bottleneck"
CLIENTS = "clients"


def to_record(worksheet: summary.BottleneckCalculation | summary.UsersCalculation, name: str) -> records.Worksheet:
    kind = BOTTLENECK if isinstance(worksheet, summary.BottleneckCalculation) else CLIENTS
    return records.Worksheet(kind=kind, name=name, saved_at=records.utc_now(), content=worksheet.to_content())


def worksheet_report(record: records.Worksheet) -> report.Report:
    """The report of a saved worksheet. Raises DocumentError for one that sharebench did not make."""
    if record.kind == BOTTLENECK:
        return bottleneck_report(summary.BottleneckCalculation.from_content(record.content), record.name)
    return users_report(summary.UsersCalculation.from_content(record.content), record.name)
