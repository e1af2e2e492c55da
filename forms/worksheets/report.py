"""Worksheets on paper: the bottleneck (Using Samba, tables B-5, B-8, B-10), and the clients."""

from collections.abc import Iterator
from dataclasses import replace

from forms import layout, report, wording
from forms.report import Bar, Cell, Chart, Field, Formula, Report, Row, Table, cell_at, columns_of, fields_of, row_of
from forms.report import ReportKind as Holds
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


def bottleneck_report(worksheet: summary.BottleneckCalculation, name: str = "") -> Report:
    """A filled calculation, in kB/s as on paper, or MB/s where all of it is large."""
    factor, unit = _rate_unit(worksheet)
    last = worksheet.machines[-1]
    calculation = Table(
        columns=_columns(),
        rows=tuple(_row(machine, index, factor) for index, machine in enumerate(worksheet.machines)),
        caption=f"Throughput in {unit}; the total is the least of the three",
    )
    return Report(
        form=FORM,
        title=f"{_TITLE}: {name or worksheet.machines[0].name}",
        name=name or _TITLE,
        fields=tuple(_part_fields(last)),
        tables=(_single_parts_table(worksheet, factor, unit), calculation),
        results=tuple(_bottleneck_results(worksheet)),
        advice=tuple(_bottleneck_advice(last)),
        drawn=(_bottleneck_chart(last),),
        document=lambda: {"schema": SCHEMA, "name": name, **worksheet.to_content()},
    )


def _rate_unit(worksheet: summary.BottleneckCalculation) -> tuple[float, str]:
    """Bytes in a unit of the table's rates, and that unit."""
    rates = []
    for machine in worksheet.machines:
        rates += [part.bytes_per_second for _, part in machine.parts]
    return (1e6, "MB/s") if rates and min(rates) >= 1e6 else (1e3, "kB/s")


def _single_parts_table(worksheet: summary.BottleneckCalculation, factor: float, unit: str) -> Table:
    rows = []
    for index, machine in enumerate(worksheet.machines):
        parts = [machine.part_of_kind(kind) for kind in summary.ReferenceKind]
        rates = [part.bytes_per_second / factor if part else None for part in parts]
        rows.append(row_of(str(index), machine.name, *rates))
    headings = [(f"One {kind}, {unit}", Holds.DECIMAL) for kind in summary.SINGULARS.values()]
    return Table(columns=columns_of("Step", "Machine", *headings), rows=tuple(rows), caption="What one of each moves")


def blank_bottleneck_report() -> Report:
    """Table B-8, empty."""
    results = fields_of(
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
        parts += [(f"Number of {name}s", Holds.WHOLE), (f"{name} Throughput", Holds.DECIMAL)]
    return columns_of("Step", *parts, ("Total Throughput", Holds.DECIMAL))


def _row(machine: summary.Machine, index: int, factor: float) -> Row:
    cells = [Cell(value=str(index))]
    totals = []
    for place, kind in enumerate(summary.ReferenceKind, start=1):
        part = machine.part_of_kind(kind)
        if part is None:
            cells += [Cell(), Cell()]
            continue

        count_cell = cell_at(2 * place - 1, index)
        single_cell = cell_at(place + 1, index, table=0)
        product = Formula(template="{0}*{1}", references=(count_cell, single_cell))
        cells += [Cell(value=part.count), Cell(value=part.total_bytes_per_second / factor, formula=product)]
        totals.append(cell_at(2 * place, index))

    total = machine.total_bytes_per_second
    if total is None:
        cells.append(Cell())
    else:
        arguments = ",".join(f"{{{place}}}" for place in range(len(totals)))
        least = Formula(template=f"MIN({arguments})", references=tuple(totals))
        cells.append(Cell(value=total / factor, formula=least))
    return Row(cells=tuple(cells))


def _limits(machine: summary.Machine) -> str:
    return wording.listed([_limit(kind, machine) for kind in machine.bottlenecks])


def _limit(kind: summary.ReferenceKind, machine: summary.Machine) -> str:
    part = machine.part_of_kind(kind)
    return summary.PLURALS[kind] if part and part.count > 1 else summary.SINGULARS[kind]


def _part_fields(machine: summary.Machine) -> Iterator[Field]:
    for kind in summary.ReferenceKind:
        part = machine.part_of_kind(kind)
        if part is None:
            yield Field(name=_NAMES[kind], text="not known, so not looked at")
            continue
        source = f" ({part.source})" if part.source else ""
        yield Field(
            name=_NAMES[kind], text=f"{part.count} x {part.name}, {wording.rate(part.bytes_per_second)} each{source}"
        )


def _bottleneck_results(worksheet: summary.BottleneckCalculation) -> Iterator[Field]:
    machines = worksheet.machines
    for machine in machines:
        text = f"{_limits(machine)} at {_rate(machine)}" if machine.parts else "nothing is known"
        yield Field(name="Bottleneck" if len(machines) == 1 else machine.name, text=text)

    if worksheet.target_bytes_per_second is not None:
        steps = wording.count(len(machines) - 1, "step")
        result = (
            f"reached in {steps}" if worksheet.reaches_target else f"NOT reached: {_rate(machines[-1])} after {steps}"
        )
        yield Field(name="Target", text=f"{wording.rate(worksheet.target_bytes_per_second)}, {result}")

    first_rate = machines[0].total_bytes_per_second
    last_rate = machines[-1].total_bytes_per_second
    if len(machines) > 1 and first_rate and last_rate:
        yield Field(name="Gained in all", text=f"{last_rate / first_rate:.1f} times as much")


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
    if machine.disk and machine.disk.count > 1:
        yield DISKS_RULE
    if machine.network and machine.network.count > 1:
        yield BUS_RULE
    if machine.parts:
        yield NOT_WITHIN


def _bottleneck_chart(machine: summary.Machine) -> Chart:
    bars = tuple(
        Bar(
            name=f"{part.count} {_limit(kind, machine)}",
            value=part.total_bytes_per_second,
            mark=report.Mark.BOTTLENECK if kind in machine.bottlenecks else report.Mark.NONE,
        )
        for kind, part in machine.parts
    )
    return Chart(title="Which part is the bottleneck", unit="bytes/sec", bars=bars, source=(1, 7), in_text=True)


CLIENTS_FORM = "clients"
CLIENTS_SCHEMA = "sharebench/worksheet/clients/1"
_CLIENTS_TITLE = "Clients of a server"
_CAPACITY = "Server moves"
_CLIENTS_BLANK_ROWS = 5
_CLIENTS_COLUMNS = columns_of(
    "Clients",
    ("Number", Holds.WHOLE),
    ("Transfers/sec each", Holds.PERCENT),
    ("File Size in Bytes", Holds.WHOLE),
    ("Bytes/sec asked", Holds.WHOLE),
    ("% of server", Holds.PERCENT),
    ("Carried alone", Holds.WHOLE),
)


def users_report(worksheet: summary.UsersCalculation, name: str = "") -> Report:
    capacity = worksheet.capacity_bytes_per_second
    rows = [_group_row(worksheet, group, index) for index, group in enumerate(worksheet.groups)]
    if len(rows) > 1:
        rows.append(_users_total(worksheet, len(rows)))
    return Report(
        form=CLIENTS_FORM,
        title=f"{_CLIENTS_TITLE}: {name}" if name else _CLIENTS_TITLE,
        name=name or _CLIENTS_TITLE,
        fields=(
            Field(name=_CAPACITY, text=f"{wording.whole(capacity)} bytes/sec", number=capacity, unit="bytes/sec"),
            Field(name="That is from", text=worksheet.capacity_source or "the admin"),
        ),
        tables=(Table(columns=_CLIENTS_COLUMNS, rows=tuple(rows), caption="Clients x transfers a second x file size"),),
        results=tuple(_users_results(worksheet)),
        advice=(NOT_WITHIN,),
        drawn=(_users_chart(worksheet),),
        document=lambda: {"schema": CLIENTS_SCHEMA, "name": name, **worksheet.to_content()},
    )


def blank_users_report() -> Report:
    fields = (_CAPACITY, "That is from", "Date")
    rows = [None] * _CLIENTS_BLANK_ROWS
    empty = report.blank_form(CLIENTS_FORM, _CLIENTS_TITLE, fields, _CLIENTS_COLUMNS, rows)
    return replace(empty, results=fields_of(("Bytes/sec asked", "number x transfers a second x file size")))


def _group_row(worksheet: summary.UsersCalculation, group: summary.UserGroup, index: int) -> Row:
    number, transfers, size, demand = (cell_at(column, index) for column in range(1, 5))
    capacity = report.FieldReference(name=_CAPACITY)
    carried = worksheet.carried(group)
    share = 100 * group.demand_bytes_per_second / worksheet.capacity_bytes_per_second
    product = Formula(template="{0}*{1}*{2}", references=(number, transfers, size))
    carried_alone = Formula(template="INT({0}/({1}*{2})*(1+1E-12))", references=(capacity, transfers, size))
    return row_of(
        group.name,
        group.clients,
        group.transfers_per_second,
        group.file_bytes,
        Cell(value=group.demand_bytes_per_second, formula=product),
        Cell(value=share, formula=Formula(template="100*{0}/{1}", references=(demand, capacity))),
        Cell(value=carried, formula=None if carried is None else carried_alone),
    )


def _users_total(worksheet: summary.UsersCalculation, count: int) -> Row:
    def total(column: int) -> Formula:
        return Formula(template="SUM({0})", references=(report.ColumnGroup(column=column, first=0, last=count - 1),))

    return row_of(
        "Total:",
        Cell(value=worksheet.clients, formula=total(1)),
        None,
        None,
        Cell(value=worksheet.demand_bytes_per_second, formula=total(4)),
        Cell(value=worksheet.percent_used, formula=total(5)),
        role=report.Role.RESULT,
    )


def _answer_field(worksheet: summary.UsersCalculation) -> Field:
    if not worksheet.demand_bytes_per_second:
        return Field(name="Enough", text="nobody asks yet: give a group its number, files a second and file size")

    used = wording.percent(worksheet.percent_used)
    demand = f"{wording.rate(worksheet.demand_bytes_per_second)} asked, {used} of it"
    if worksheet.is_tight:
        text = f"{layout.Sign.WARNING} tight: {demand}; busy moments ask for more than the average"
        return Field(name="Enough", text=text, tone=layout.Tone.CAUTION)
    if worksheet.is_enough:
        return Field(name="Enough", text=f"{layout.Sign.GOOD} yes: {demand}", tone=layout.Tone.GOOD)
    missing = worksheet.demand_bytes_per_second - worksheet.capacity_bytes_per_second
    return Field(
        name="Enough", text=f"{layout.Sign.BAD} no: {demand}; {wording.rate(missing)} are missing", tone=layout.Tone.BAD
    )


def _users_results(worksheet: summary.UsersCalculation) -> Iterator[Field]:
    yield _answer_field(worksheet)
    for group in worksheet.groups:
        carried = worksheet.carried(group)
        if carried is not None:
            yield Field(name=f"{group.name} alone", text=f"the server carries {carried:,}")

    demand = worksheet.demand_bytes_per_second
    if worksheet.parts and demand:
        parts = [
            f"{part.needed(demand)} x {part.name} of {wording.rate(part.bytes_per_second)}" for part in worksheet.parts
        ]
        yield Field(name="Needed for that", text=wording.listed(parts))
    if worksheet.memory is not None:
        yield Field(name="Memory", text=_memory_text(worksheet.memory, worksheet.clients))


def _memory_text(memory: summary.ServerMemory, clients: int) -> str:
    needed = memory.needed_bytes(clients)
    answer = f"{layout.Sign.GOOD} enough" if needed <= memory.available_bytes else f"{layout.Sign.BAD} too little"
    sum_text = f"{clients} x {_size(memory.client_bytes)} + {_size(memory.base_bytes)} = {_size(needed)}"
    return f"{answer}: {sum_text} of {_size(memory.available_bytes)}, which carries {memory.carried:,} clients"


def _size(size_bytes: int) -> str:
    return wording.byte_rate(size_bytes).removesuffix("/s")


def _users_chart(worksheet: summary.UsersCalculation) -> Chart:
    bars = [Bar(name=group.name, value=group.demand_bytes_per_second) for group in worksheet.groups]
    if len(bars) > 1:
        bars.append(Bar(name="total", value=worksheet.demand_bytes_per_second))
    if not worksheet.is_enough:
        bars[-1] = Bar(name=bars[-1].name, value=bars[-1].value, mark=report.Mark.BOTTLENECK)
    return Chart(
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


def worksheet_report(record: records.Worksheet) -> Report:
    """The report of a saved worksheet. Raises DocumentError for one that sharebench did not make."""
    if record.kind == BOTTLENECK:
        return bottleneck_report(summary.BottleneckCalculation.from_content(record.content), record.name)
    return users_report(summary.UsersCalculation.from_content(record.content), record.name)
