"""The worksheet of a server's clients on paper: what each group asks, and whether the server carries all of them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from forms import layout, report, wording
from forms.worksheets import references, users
from forms.worksheets.bottleneck_report import NOT_WITHIN

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


def users_report(worksheet: users.UsersCalculation, name: str = "") -> report.Report:
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
        document=partial(_users_document, name, worksheet),
    )


def _users_document(name: str, worksheet: users.UsersCalculation) -> dict[str, Any]:
    return {"schema": CLIENTS_SCHEMA, "name": name, **worksheet.to_content()}


def blank_users_report() -> report.Report:
    fields = (_CAPACITY, "That is from", "Date")
    rows = [None] * _CLIENTS_BLANK_ROWS
    empty = report.blank_form(CLIENTS_FORM, _CLIENTS_TITLE, fields, _CLIENTS_COLUMNS, rows)
    return replace(empty, results=report.fields_of(("Bytes/sec asked", "number x transfers a second x file size")))


def _group_row(worksheet: users.UsersCalculation, group: users.UserGroup, index: int) -> report.Row:
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


def _users_total(worksheet: users.UsersCalculation, count: int) -> report.Row:
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


def _answer_field(worksheet: users.UsersCalculation) -> report.Field:
    if not worksheet.demand_bytes_per_second:
        return report.Field(
            name="Enough", text="nobody asks yet: give a group its number, files a second and file size"
        )

    # With the digit that the table has: 103.5 % must not read as 103 % beside it.
    percent_used = f"{worksheet.percent_used:.1f} %"
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


def _users_results(worksheet: users.UsersCalculation) -> Iterator[report.Field]:
    yield _answer_field(worksheet)
    for group in worksheet.groups:
        carried = worksheet.carried(group)
        if carried is not None:
            yield report.Field(name=f"{group.name} alone", text=f"the server carries {carried:,}")
        yield from _book_example(worksheet, group)

    demand = worksheet.demand_bytes_per_second
    if worksheet.parts and demand:
        parts = [
            f"{part.needed(demand)} x {part.name} of {wording.rate(part.bytes_per_second)}" for part in worksheet.parts
        ]
        yield report.Field(name="Needed for that", text=wording.listed(parts))
    if worksheet.memory is not None:
        yield report.Field(name="Memory", text=_memory_text(worksheet.memory, worksheet.clients))


def _book_example(worksheet: users.UsersCalculation, group: users.UserGroup) -> Iterator[report.Field]:
    """What the book's example counts for the kind of work that the group was taken from, where it says two things."""
    asked = (group.transfers_per_second, group.file_bytes)
    for demand in references.DEMANDS.values():
        example = demand.example
        if example is None or asked != (demand.transfers_per_second, demand.file_bytes):
            continue

        carried = int(worksheet.capacity_bytes_per_second / example.each_bytes_per_second * users.ROUNDING)
        yield report.Field(
            name=f"{group.name}, as in the book's example",
            text=f"{example.transfers_per_second:g} transfers of {_size(example.file_bytes)} a second each,"
            f" {wording.rate(example.each_bytes_per_second)} in place of {wording.rate(demand.each_bytes_per_second)}:"
            f" the server carries {carried:,}",
            tone=layout.Tone.CAUTION,
        )


def _memory_text(memory: users.ServerMemory, clients: int) -> str:
    needed = memory.needed_bytes(clients)
    answer = f"{layout.Sign.GOOD} enough" if needed <= memory.available_bytes else f"{layout.Sign.BAD} too little"
    sum_text = f"{clients} x {_size(memory.client_bytes)} + {_size(memory.base_bytes)} = {_size(needed)}"
    return f"{answer}: {sum_text} of {_size(memory.available_bytes)}, which carries {memory.carried:,} clients"


def _size(size_bytes: int) -> str:
    return wording.byte_rate(size_bytes).removesuffix("/s")


def _users_chart(worksheet: users.UsersCalculation) -> report.Chart:
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
