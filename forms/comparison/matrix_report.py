"""The matrix of several set-ups on paper (Using Samba, table B-1).

A set-up has a column of averages, one of half their intervals (±), and, but for FTP, one of percent of FTP's average.
"""

from itertools import chain

from forms.comparison.matrix import MatrixCell, MatrixColumn, ProtocolMatrix
from forms.report import Bar, Cell, Chart, Formula, ReportKind, Row, Table, cell_at, columns_of

NOT_MEASURED = "n.a."
"""The text of a cell in which nothing was measured, as in the book."""


def matrix_chart(matrix: ProtocolMatrix) -> Chart:
    """A bar for each average."""
    bars = []
    for row in matrix.rows:
        for column, cell in zip(matrix.columns, row.cells, strict=True):
            if cell and cell.bytes_per_second:
                bars.append(Bar(name=f"{row.name} {column.name}", value=cell.bytes_per_second))
    return Chart(title="Average throughput", unit="bytes/sec", bars=tuple(bars))


def matrix_table(matrix: ProtocolMatrix) -> Table:
    """Averages with half their 95 % intervals, in MB/s, or kB/s where one is below 1 MB/s."""
    cells = chain.from_iterable(row.cells for row in matrix.rows)
    rates = [cell.bytes_per_second for cell in cells if cell and cell.bytes_per_second]
    factor = 1e6
    unit = "MB/s"
    if rates and min(rates) < 1e6:
        factor = 1e3
        unit = "kB/s"

    headings = []
    for column in matrix.columns:
        headings += [f"{column.name}, {unit}", "±"]
        if _has_share(matrix, column):
            headings.append("% of FTP")
    return Table(
        columns=columns_of("Command", *((heading, ReportKind.DECIMAL) for heading in headings)),
        rows=tuple(_matrix_row(matrix, index, factor) for index in range(len(matrix.rows))),
        caption="Averages. ± covers the runs of a series only: series measured again differ by more",
    )


def _has_share(matrix: ProtocolMatrix, column: MatrixColumn) -> bool:
    """Whether a column is told in percent of FTP."""
    return matrix.has_ftp and not column.is_ftp


def _matrix_row(matrix: ProtocolMatrix, index: int, factor: float) -> Row:
    row = matrix.rows[index]
    cells = [Cell(value=row.name)]
    for column, cell in zip(matrix.columns, row.cells, strict=True):
        rate = cell.bytes_per_second if cell else None
        half = cell.half_width_bytes_per_second if cell else None
        average_at = len(cells)
        cells.append(Cell(value=NOT_MEASURED if rate is None else rate / factor))
        cells.append(Cell(value=half and half / factor))
        if _has_share(matrix, column):
            cells.append(_share_cell(cell, average_at, index))
    return Row(cells=tuple(cells))


def _share_cell(cell: MatrixCell | None, average_at: int, row: int) -> Cell:
    """Percent of FTP, whose average is in column 1; ``average_at`` is the column of the average itself."""
    if cell is None or cell.percent_of_ftp is None:
        return Cell()
    formula = Formula(template="100*{0}/{1}", references=(cell_at(average_at, row), cell_at(1, row)))
    return Cell(value=cell.percent_of_ftp, formula=formula)
