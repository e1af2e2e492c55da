"""The matrix of several set-ups (Using Samba, table B-1): a column per protocol or label, a row per direction and host.

A *set-up* is how something was set when it was measured: its label, or else its change, or its protocol. FTP is the
column that the others are measured by, in percent of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from forms import wording
from forms.stats.summary import half_width, mean
from storage.records import Command, Series

_FTP = "FTP"


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A set-up: a protocol, or what its label says."""

    name: str
    is_ftp: bool = False
    """Whether the others are measured by it; a name that somebody gave decides nothing."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """What one series measured."""

    series: Series
    bytes_per_second: float | None
    """The mean of its runs; None without a valid one."""
    half_width_bytes_per_second: float | None
    """Half the 95 % interval of the mean; None below two runs."""
    percent_of_ftp: float | None = None
    """Of the average of FTP in the same row; None where that was not measured, and for FTP itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """One direction on one host."""

    name: str
    cells: tuple[MatrixCell | None, ...]
    """One per column; None where nothing was measured (the book's *n.a.*)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolMatrix:
    """The matrix: FTP's columns first, the others in the order given."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]

    @property
    def has_ftp(self) -> bool:
        return any(column.is_ftp for column in self.columns)


def protocol_matrix(series: Sequence[Series], heading_of: Callable[[Series], str] | None = None) -> ProtocolMatrix:
    """The matrix of series in any order; a later series for a taken cell gets a column of its own.

    ``heading_of`` names the column of a series; without it that is :func:`heading`, shortened where that is clear.
    """
    names: Mapping[str, str] = {one_series.id: (heading_of or heading)(one_series) for one_series in series}
    if heading_of is None:
        names = _without_words_of_rows(series, names)

    places: dict[tuple[MatrixColumn, str, Command], Series] = {}
    columns: list[MatrixColumn] = []
    for one_series in series:
        column = _free_column(one_series, names[one_series.id], places)
        places[column, one_series.target.host, one_series.command] = one_series
        if column not in columns:
            columns.append(column)
    columns.sort(key=attrgetter("is_ftp"), reverse=True)

    hosts = list(dict.fromkeys(one_series.target.host for one_series in series))
    rows = []
    for host in hosts:
        for command in Command:
            row = [places.get((column, host, command)) for column in columns]
            if any(row):
                name = str(command) if len(hosts) < 2 else f"{wording.plain(host) or 'local'} {command}"
                rows.append(MatrixRow(name=name, cells=_cells(row, columns)))
    return ProtocolMatrix(columns=tuple(columns), rows=tuple(rows))


def _free_column(series: Series, name: str, places: Mapping[tuple[MatrixColumn, str, Command], Series]) -> MatrixColumn:
    """The column of that name, or the first of ``NAME (2)``, … whose cell is free."""
    is_ftp = _is_ftp(series)
    column = MatrixColumn(name, is_ftp)
    number = 2
    while (column, series.target.host, series.command) in places:
        # What does not fit into FTP's column is compared with it like all others.
        column = MatrixColumn(f"{name} ({number})")
        number += 1
    return column


def _is_ftp(series: Series) -> bool:
    return series.target.abilities.is_yardstick


def heading(series: Series) -> str:
    """The name of a series' set-up."""
    if _is_ftp(series):
        return _FTP
    if series.label:
        return wording.plain(series.label)
    if series.change is not None:
        return wording.plain(f"{series.change.name} = {series.change.value}")
    return protocol_name(series)


def protocol_name(series: Series) -> str:
    return _FTP if _is_ftp(series) else wording.plain(series.target.abilities.label)


def _without_words_of_rows(series: Sequence[Series], names: Mapping[str, str]) -> Mapping[str, str]:
    """The names without what their rows say already, where that makes fewer columns and none ambiguous."""
    rows: dict[tuple[str, Command], list[Series]] = {}
    for one_series in series:
        rows.setdefault((one_series.target.host, one_series.command), []).append(one_series)
    if len(rows) < 2:
        return names

    short_names = dict(names)
    for (host, command), row in rows.items():
        row_words = _words_of_row(host, command, row, names)
        for one_series in row:
            own_words = [word for word in names[one_series.id].split() if word.casefold() not in row_words]
            short_names[one_series.id] = " ".join(own_words) or protocol_name(one_series)

    are_distinct = all(_count_names(row, short_names) == _count_names(row, names) for row in rows.values())
    has_fewer = len(set(short_names.values())) < len(set(names.values()))
    return short_names if are_distinct and has_fewer else names


def _words_of_row(host: str, command: Command, row: Sequence[Series], names: Mapping[str, str]) -> set[str]:
    """The words that say nothing in a row: its command and host, and what all its labels have."""
    labels = [set(names[one_series.id].casefold().split()) for one_series in row if not _is_ftp(one_series)]
    shared = set.intersection(*labels) if len(labels) > 1 else set()
    short_host, _, _ = host.casefold().partition(".")
    return {command.value, host.casefold(), short_host, *shared}


def _count_names(row: Sequence[Series], names: Mapping[str, str]) -> int:
    return len({names[one_series.id] for one_series in row})


def _cells(row: Sequence[Series | None], columns: Sequence[MatrixColumn]) -> tuple[MatrixCell | None, ...]:
    """The cells of a row, each in percent of the first FTP in it."""
    ftp_average = None
    for series, column in zip(row, columns, strict=True):
        if series and column.is_ftp:
            ftp_average = mean(series.rates())
            break

    cells: list[MatrixCell | None] = []
    for series, column in zip(row, columns, strict=True):
        if series is None:
            cells.append(None)
            continue
        rates = series.rates()
        average = mean(rates)
        percent = None
        if average is not None and ftp_average and not column.is_ftp:
            percent = 100 * average / ftp_average
        cells.append(MatrixCell(series, average, half_width(rates), percent))
    return tuple(cells)
