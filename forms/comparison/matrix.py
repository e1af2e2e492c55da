"""Series as a matrix: commands down; FTP, untuned and tuned across (Using Samba, table B-1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from forms import wording
from forms.comparison.verdict import Sides
from forms.stats.summary import half_width, mean
from storage.records import Command, Series

FTP = "FTP"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell:
    """One series in the matrix."""

    series: Series
    bytes_per_second: float | None
    half_width_bytes_per_second: float | None
    percent_of_ftp: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One command, on one host where there are several."""

    name: str
    cells: tuple[MatrixCell | None, ...]
    """One per column; None where nothing was measured (the book's *n.a.*)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolMatrix:
    """The matrix: FTP's column first, the others in the order given."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def has_ftp(self) -> bool:
        return FTP in self.columns


def protocol_matrix(series: Sequence[Series], heading_of: Callable[[Series], str] | None = None) -> ProtocolMatrix:
    """A column per set-up, a row per command and host; a later series for a taken cell gets its own column."""
    names: Mapping[str, str] = {one.id: (heading_of or heading)(one) for one in series}
    if heading_of is None:
        names = _of_columns(series, names)
    hosts = list(dict.fromkeys(one.target.host for one in series))
    commands = [command for command in Command if any(one.command is command for one in series)]
    places: dict[tuple[str, str, Command], Series] = {}
    columns: list[str] = []
    for one in series:
        column = _free_column(names[one.id], one, places)
        places[column, one.target.host, one.command] = one
        if column not in columns:
            columns.append(column)
    columns.sort(key=lambda column: column != FTP)
    rows = [
        MatrixRow(
            name=str(command) if len(hosts) < 2 else f"{wording.plain(host) or 'local'} {command}",
            cells=_with_ratios([_cell(places.get((column, host, command))) for column in columns], columns),
        )
        for host in hosts
        for command in commands
        if any((column, host, command) in places for column in columns)
    ]
    return ProtocolMatrix(columns=tuple(columns), rows=tuple(rows))


def heading(series: Series) -> str:
    """A series' column heading: FTP, else its label, change or protocol."""
    if series.target.abilities.is_yardstick:
        return FTP
    if series.label:
        return wording.plain(series.label)
    if series.change is not None:
        return wording.plain(f"{series.change.name} = {series.change.value}")
    return protocol_name(series)


def protocol_name(series: Series) -> str:
    """A protocol's name as a column heading: FTP, SMB, …"""
    protocol = series.target.abilities
    return FTP if protocol.is_yardstick else wording.plain(protocol.label)


def sides_of(groups: Sequence[Sequence[Series]]) -> list[Sides]:
    """Each group against the first of its host and command; two groups against each other."""
    if len(groups) == 2:
        return [Sides(base=tuple(groups[0]), other=tuple(groups[1]))]
    first: dict[tuple[str, Command], Sequence[Series]] = {}
    found = []
    for group in groups:
        base = first.setdefault((group[0].target.host, group[0].command), group)
        if base is not group:
            found.append(Sides(base=tuple(base), other=tuple(group)))
    return found


def _of_columns(series: Sequence[Series], names: Mapping[str, str]) -> Mapping[str, str]:
    rows: dict[tuple[str, Command], list[Series]] = {}
    for one in series:
        rows.setdefault((one.target.host, one.command), []).append(one)
    short = dict(names)
    for (host, command), row in rows.items():
        labels = [set(names[one.id].casefold().split()) for one in row if names[one.id] != FTP]
        shared = set.intersection(*labels) if len(labels) > 1 else set()
        own = {command.value, host.casefold(), host.casefold().partition(".")[0], *shared}
        for one in row:
            kept = [word for word in names[one.id].split() if word.casefold() not in own]
            short[one.id] = " ".join(kept) or protocol_name(one)
    distinct = all(len({short[one.id] for one in row}) == len({names[one.id] for one in row}) for row in rows.values())
    return short if len(rows) > 1 and distinct and len({*short.values()}) < len({*names.values()}) else names


def _free_column(name: str, one: Series, places: dict[tuple[str, str, Command], Series]) -> str:
    column, number = name, 2
    while (column, one.target.host, one.command) in places:
        column, number = f"{name} ({number})", number + 1
    return column


def _cell(series: Series | None) -> MatrixCell | None:
    if series is None:
        return None
    rates = series.rates()
    return MatrixCell(series=series, bytes_per_second=mean(rates), half_width_bytes_per_second=half_width(rates))


def _with_ratios(cells: list[MatrixCell | None], columns: list[str]) -> tuple[MatrixCell | None, ...]:
    ftp = next((cell for cell, column in zip(cells, columns, strict=True) if cell and column == FTP), None)
    yardstick = ftp.bytes_per_second if ftp else None
    return tuple(
        replace(cell, percent_of_ftp=100 * cell.bytes_per_second / yardstick)
        if cell and cell is not ftp and cell.bytes_per_second is not None and yardstick
        else cell
        for cell in cells
    )
