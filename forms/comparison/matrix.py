"""The matrix of several set-ups (Using Samba, table B-1): a column per protocol or label, a row per direction and host.

A *set-up* is how something was set when it was measured: its label, or else its change, or its protocol. FTP is the
column that the others are measured by, in percent of it.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType

from forms import wording
from forms.comparison.hiccups import rates_without
from forms.comparison.side_values import mean_of_averages, pooled_deviation
from forms.series.names import NO_NAMES, told_apart
from forms.stats.distributions import student_t
from forms.stats.summary import LEVEL, half_width
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
    """What one series measured, or several that stand for one name."""

    series: Series
    """The series, or the first of those that stand for one name."""
    bytes_per_second: float | None
    """The mean of its runs that count, or of the averages of several series; None without one."""
    half_width_bytes_per_second: float | None
    """Half the 95 % interval of the mean, by how the runs vary; None below two runs in a series."""
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


def protocol_matrix(
    series: Sequence[Series],
    heading_of: Callable[[Series], str] | None = None,
    *,
    baselines: Mapping[str, str] = NO_NAMES,
    repeats: Mapping[str, Sequence[Series]] = MappingProxyType({}),
    left_out: Mapping[str, Collection[int]] = MappingProxyType({}),
) -> ProtocolMatrix:
    """The matrix of series in any order. Those that would share a cell get columns of their own.

    ``heading_of`` names the column of a series; without it that is :func:`heading`, shortened where that is clear.
    ``baselines`` are the names of baselines, by the ids of their series, and come before any other name. ``repeats``
    are all series of a side, the first included, by the id of its first. ``left_out`` are the numbers of the runs that
    averages leave out, by the ids of their series.
    """
    if heading_of is not None:
        names: Mapping[str, str] = {one_series.id: heading_of(one_series) for one_series in series}
    else:
        # The name of a baseline stays as it is.
        others = [one_series for one_series in series if one_series.id not in baselines]
        names = _without_words_of_rows(others, _headings(series))
    names = _names_of_cells(series, {**names, **baselines})

    places: dict[tuple[MatrixColumn, str, Command], Series] = {}
    columns: list[MatrixColumn] = []
    for one_series in series:
        column = _column_of(one_series, names[one_series.id], places)
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
                rates = [_rates_of_cell(cell_series, repeats, left_out) for cell_series in row]
                rows.append(MatrixRow(name=name, cells=_cells(row, columns, rates)))
    return ProtocolMatrix(columns=tuple(columns), rows=tuple(rows))


def _headings(all_series: Sequence[Series]) -> dict[str, str]:
    """The name of each series' set-up, by id; FTP beside which others are shown is called so whatever its label is."""
    has_others = any(not _is_ftp(series) for series in all_series)
    rows_with_ftp: set[tuple[str, Command]] = set()
    names: dict[str, str] = {}
    for series in all_series:
        names[series.id] = heading(series)
        if not _is_ftp(series):
            continue

        row = (series.target.host, series.command)
        is_yardstick = has_others and row not in rows_with_ftp
        rows_with_ftp.add(row)
        if series.label and not is_yardstick:
            names[series.id] = wording.plain(series.label)
    return names


def _names_of_cells(series: Sequence[Series], names: Mapping[str, str]) -> dict[str, str]:
    """The names, by id, with what tells those apart that would share a cell.

    The first FTP of a row keeps its name, since the column that the others are measured by is called so.
    """
    sharing: dict[tuple[str, str, Command], list[Series]] = {}
    for one_series in series:
        cell = (names[one_series.id], one_series.target.host, one_series.command)
        sharing.setdefault(cell, []).append(one_series)

    own_names = dict(names)
    for (name, _, _), series_of_cell in sharing.items():
        apart = told_apart(name, series_of_cell)
        yardstick = next((one_series for one_series in series_of_cell if _is_ftp(one_series)), None)
        if yardstick is not None:
            apart[yardstick.id] = name
        own_names |= apart
    return own_names


def _column_of(series: Series, name: str, places: Mapping[tuple[MatrixColumn, str, Command], Series]) -> MatrixColumn:
    """The column of that name; a second FTP of a row is compared with the first one, like all others."""
    is_first_ftp = _is_ftp(series) and not any(
        column.is_ftp and host == series.target.host and command is series.command for column, host, command in places
    )
    return MatrixColumn(name, is_first_ftp)


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


def _rates_of_cell(
    series: Series | None, repeats: Mapping[str, Sequence[Series]], left_out: Mapping[str, Collection[int]]
) -> list[list[float]]:
    """The rates of the runs that count, of each series that the cell is of; none for an empty cell."""
    if series is None:
        return []
    side = repeats.get(series.id, [series])
    return [rates_without(one_series, left_out.get(one_series.id, ())) for one_series in side]


def _cells(
    row: Sequence[Series | None], columns: Sequence[MatrixColumn], rates: Sequence[Sequence[Sequence[float]]]
) -> tuple[MatrixCell | None, ...]:
    """The cells of a row, each in percent of the first FTP in it; ``rates`` are those of each cell, by series."""
    ftp_average = None
    for column, rates_of_side in zip(columns, rates, strict=True):
        if column.is_ftp and rates_of_side:
            ftp_average = mean_of_averages(rates_of_side)
            break

    cells: list[MatrixCell | None] = []
    for series, column, rates_of_side in zip(row, columns, rates, strict=True):
        if series is None:
            cells.append(None)
            continue
        average = mean_of_averages(rates_of_side)
        percent = None
        if average is not None and ftp_average and not column.is_ftp:
            percent = 100 * average / ftp_average
        cells.append(MatrixCell(series, average, _half_width(rates_of_side), percent))
    return tuple(cells)


def _half_width(rates: Sequence[Sequence[float]]) -> float | None:
    """Half the interval of the mean of the series' averages, by how their runs vary; None below two runs in a series.

    t · s · √(the sum of 1/n) / k, for k series of n runs each, s pooled over them.
    """
    if len(rates) == 1:
        return half_width(rates[0])

    deviation = pooled_deviation(rates)
    if deviation is None:
        return None
    counts = list(map(len, rates))
    freedom = sum(counts) - len(counts)
    return student_t(LEVEL, freedom) * deviation * math.sqrt(sum(1 / count for count in counts)) / len(counts)
