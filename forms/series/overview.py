"""The page before several forms: one line a series, so that one sees what is in the document."""

from collections.abc import Sequence

from forms.report import Report, ReportKind, Table, columns_of, row_of
from forms.series.listing import series_lines
from storage.records import Series

_COLUMNS = columns_of(
    "No",
    "Series",
    "What",
    "When (UTC)",
    "Runs",
    ("Average, bytes/sec", ReportKind.WHOLE),
    ("Deviation, %", ReportKind.PERCENT),
    ("% of link", ReportKind.PERCENT),
)


def overview_report(series: Sequence[Series]) -> Report:
    """All of these series, in the order of their forms."""
    rates = {one.id: [rate for run in one.measured() if (rate := run.bytes_per_second) is not None] for one in series}
    lines = series_lines(series, rates, ())
    rows = tuple(
        row_of(
            str(number),
            line.name,
            line.what,
            line.when,
            line.runs_text,
            line.average_bytes_per_second,
            line.deviation_percent,
            line.percent_of_link,
        )
        for number, line in enumerate(lines, start=1)
    )
    return Report(
        form="overview",
        title=f"{len(series)} series",
        name="Overview",
        tables=(Table(columns=_COLUMNS, rows=rows),),
        is_front_page=True,
    )
