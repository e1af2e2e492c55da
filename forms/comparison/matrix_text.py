"""Table B-1 as text for a terminal of 80 columns."""

from __future__ import annotations

from forms import layout, numbers
from forms.comparison.matrix import FTP, MatrixCell, ProtocolMatrix

WIDTH = 80
NOT_MEASURED = "n.a."
_RATIO = 9


def table_b1_text(table: ProtocolMatrix, width: int = WIDTH) -> str:
    """Averages with their deviation, in kB/s or MB/s (decimal), and each column in percent of FTP.

    As on paper where that fits ``width`` columns, else one line a series.
    """
    grid = _grid(table)
    if max(map(layout.width, grid.splitlines())) <= width:
        return grid
    return _list(table)


def _grid(table: ProtocolMatrix) -> str:
    factor, unit = _unit(table)
    first = max([len(unit), *(layout.width(row.name) for row in table.rows)])
    heads, units = [" " * first], [f"{unit:<{first}}"]
    bodies = [[layout.pad(row.name, first)] for row in table.rows]
    for index, column in enumerate(table.columns):
        ratio = table.has_ftp and column != FTP
        figures = [_figures(row.cells[index], factor, ratio=ratio) for row in table.rows]
        width = max([layout.width(column), *map(len, figures)])
        heads.append(layout.pad(column, width, right=True))
        units.append(f"{'% of FTP' if ratio else '':>{width}}")
        for body, figure in zip(bodies, figures, strict=True):
            body.append(f"{figure:>{width}}")
    return _joined(["   ".join(line) for line in (heads, units, *bodies)])


def _figures(cell: MatrixCell | None, factor: float, *, ratio: bool) -> str:
    if cell is None or cell.bytes_per_second is None:
        return f"{NOT_MEASURED}{'':>{_RATIO if ratio else 0}}"
    share = "" if cell.percent_of_ftp is None else f"{cell.percent_of_ftp:.1f}"
    return (
        f"{_scaled(cell.bytes_per_second, factor)} ±{_scaled(cell.deviation_bytes_per_second, factor):>5}"
        f"{share:>{_RATIO if ratio else 0}}"
    )


def _list(table: ProtocolMatrix) -> str:
    factor, unit = _unit(table)
    lines = [f"{'':<45}{unit:>10}{'deviation':>12}{'% of FTP' if table.has_ftp else '':>11}"]
    for row in table.rows:
        lines.append(row.name)
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell is None:
                continue
            name, *rest = layout.wrap(column, 42)
            rate = NOT_MEASURED if cell.bytes_per_second is None else _scaled(cell.bytes_per_second, factor)
            lines.append(
                f"  {layout.pad(name, 43)}{rate:>10}{_scaled(cell.deviation_bytes_per_second, factor):>12}"
                f"{'' if cell.percent_of_ftp is None else f'{cell.percent_of_ftp:.1f}':>11}"
            )
            lines += [f"    {more}" for more in rest]
    return _joined(lines)


def _unit(table: ProtocolMatrix) -> tuple[float, str]:
    """One unit for all, so that digits stand below each other: MB/s, or kB/s where something is below 1 MB/s."""
    rates = [cell.bytes_per_second for row in table.rows for cell in row.cells if cell and cell.bytes_per_second]
    return (1e3, "kB/s") if rates and min(rates) < 1e6 else (1e6, "MB/s")


def _scaled(bytes_per_second: float | None, factor: float) -> str:
    return numbers.ABSENT if bytes_per_second is None else f"{bytes_per_second / factor:,.1f}"


def _joined(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"
