"""The clients worksheet on paper."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from forms import numbers, wording
from forms.report import (
    Bar,
    Cell,
    Chart,
    Column,
    ColumnGroup,
    Field,
    FieldReference,
    Formula,
    Mark,
    Report,
    Role,
    Row,
    Table,
)
from forms.report import ReportKind as Holds
from forms.worksheets.bottleneck_report import NOT_WITHIN
from forms.worksheets.users import UserGroup, UsersCalculation

FORM = "clients"
SCHEMA = "sharebench/worksheet/clients/1"
_TITLE = "Clients of a server"
_CAPACITY = "Server moves"
_BLANK_ROWS = 5
_COLUMNS = (
    Column(heading="Clients", kind=Holds.TEXT),
    Column(heading="Number"),
    Column(heading="Transfers/sec each", kind=Holds.PERCENT),
    Column(heading="File Size in Bytes"),
    Column(heading="Bytes/sec asked"),
    Column(heading="% of server", kind=Holds.PERCENT),
    Column(heading="Carried alone"),
)


def users_report(worksheet: UsersCalculation, name: str = "") -> Report:
    """A filled worksheet."""
    capacity = worksheet.capacity_bytes_per_second
    rows = [_row(worksheet, group, index) for index, group in enumerate(worksheet.groups)]
    if len(rows) > 1:
        rows.append(_total(worksheet, len(rows)))
    return Report(
        form=FORM,
        title=f"{_TITLE}: {name}" if name else _TITLE,
        name=name or _TITLE,
        fields=(
            Field(name=_CAPACITY, text=f"{numbers.whole(capacity)} bytes/sec", number=capacity, unit="bytes/sec"),
            Field(name="That is from", text=worksheet.capacity_source or "the admin"),
        ),
        tables=(Table(columns=_COLUMNS, rows=tuple(rows), caption="Clients x transfers a second x file size"),),
        results=tuple(_results(worksheet)),
        advice=(NOT_WITHIN,),
        chart=_chart(worksheet),
        document=partial(document, worksheet, name),
    )


def document(worksheet: UsersCalculation, name: str = "") -> dict[str, Any]:
    """The JSON object of a worksheet."""
    return {"schema": SCHEMA, "name": name, **worksheet.to_content()}


def blank_users_report() -> Report:
    """The empty worksheet, to be filled by hand."""
    return Report(
        form=FORM,
        title=_TITLE,
        name=_TITLE,
        fields=tuple(Field(name=name, text="") for name in (_CAPACITY, "That is from", "Date")),
        tables=(Table(columns=_COLUMNS, rows=tuple(Row(cells=(Cell(),) * len(_COLUMNS)) for _ in range(_BLANK_ROWS))),),
        results=(Field(name="Bytes/sec asked", text="number x transfers a second x file size"),),
        blank=True,
    )


def _row(worksheet: UsersCalculation, group: UserGroup, index: int) -> Row:
    number, transfers, size, demand = (ColumnGroup(column=column, first=index, last=index) for column in range(1, 5))
    capacity = FieldReference(name=_CAPACITY)
    carried = worksheet.carried(group)
    share = 100 * group.demand_bytes_per_second / worksheet.capacity_bytes_per_second
    return Row(
        cells=(
            Cell(value=group.name),
            Cell(value=group.clients),
            Cell(value=group.transfers_per_second),
            Cell(value=group.file_bytes),
            Cell(
                value=group.demand_bytes_per_second,
                formula=Formula(template="{0}*{1}*{2}", references=(number, transfers, size)),
            ),
            Cell(value=share, formula=Formula(template="100*{0}/{1}", references=(demand, capacity))),
            Cell(
                value=carried,
                formula=None
                if carried is None
                else Formula(
                    template="INT({0}/({1}*{2})*(1+1E-12))",
                    references=(capacity, transfers, size),
                ),
            ),
        )
    )


def _total(worksheet: UsersCalculation, count: int) -> Row:
    def total(column: int) -> Formula:
        return Formula(template="SUM({0})", references=(ColumnGroup(column=column, first=0, last=count - 1),))

    return Row(
        cells=(
            Cell(value="Total:"),
            Cell(value=sum(group.clients for group in worksheet.groups), formula=total(1)),
            Cell(),
            Cell(),
            Cell(value=worksheet.demand_bytes_per_second, formula=total(4)),
            Cell(value=worksheet.percent_used, formula=total(5)),
        ),
        role=Role.RESULT,
    )


def _results(worksheet: UsersCalculation) -> Iterator[Field]:
    asked = f"{wording.rate(worksheet.demand_bytes_per_second)} asked, {wording.percent(worksheet.percent_used)} of it"
    if worksheet.is_tight:
        yield Field(name="Enough", text=f"[~] tight: {asked}; busy moments ask for more than the average")
    elif worksheet.is_enough:
        yield Field(name="Enough", text=f"[+] yes: {asked}")
    else:
        missing = worksheet.demand_bytes_per_second - worksheet.capacity_bytes_per_second
        yield Field(name="Enough", text=f"[-] no: {asked}; {wording.rate(missing)} are missing")
    for group in worksheet.groups:
        carried = worksheet.carried(group)
        if carried is not None:
            yield Field(name=f"{group.name} alone", text=f"the server carries {carried:,}")
    memory = worksheet.memory
    if memory is not None:
        needed = memory.needed_bytes(worksheet.clients)
        enough = "[+] enough" if needed <= memory.available_bytes else "[-] too little"
        yield Field(
            name="Memory",
            text=f"{enough}: {worksheet.clients} x {_bytes(memory.client_bytes)} + {_bytes(memory.base_bytes)} ="
            f" {_bytes(needed)} of {_bytes(memory.available_bytes)}, which carries {memory.carried:,} clients",
        )


def _bytes(size_bytes: int) -> str:
    return numbers.byte_rate(size_bytes).removesuffix("/s")


def _chart(worksheet: UsersCalculation) -> Chart | None:
    if not worksheet.demand_bytes_per_second:
        return None
    bars = [Bar(name=group.name, value=group.demand_bytes_per_second) for group in worksheet.groups]
    if len(bars) > 1:
        bars.append(Bar(name="total", value=worksheet.demand_bytes_per_second))
    if not worksheet.is_enough:
        bars[-1] = Bar(name=bars[-1].name, value=bars[-1].value, mark=Mark.BOTTLENECK)
    return Chart(
        title="Asked of the server",
        unit="bytes/sec",
        bars=tuple(bars),
        levels=(("server", worksheet.capacity_bytes_per_second),),
        source=(0, 4),
        in_text=True,
    )
