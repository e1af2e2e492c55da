"""Reports of series: filled forms after an overview, and blank forms."""

from collections.abc import Sequence

from forms.comparison.report import blank_comparison_report
from forms.experiments.report import blank_experiment_report
from forms.report import Report, ReportKind, Table, columns_of, row_of
from forms.series.listing import series_lines
from forms.series.report import blank_series_report, series_report
from forms.series.summary import run_form
from forms.worksheets.report import blank_bottleneck_report, blank_users_report
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
    """The overview of series, in the order of their forms."""
    rates = {one.id: one.rates() for one in series}
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


BLANK_FORMS = {
    "comparison": blank_comparison_report,
    "experiment": blank_experiment_report,
    "bottleneck": blank_bottleneck_report,
    "clients": blank_users_report,
}


def series_reports(series: Sequence[Series]) -> list[Report]:
    """Filled run forms, after an overview where there are several."""
    front = [overview_report(series)] if len(series) > 1 else []
    return [*front, *(series_report(run_form(one)) for one in series)]


def blank_report(form: str, *, link_bits_per_second: int | None = None) -> Report:
    """The empty form ``run`` or one of BLANK_FORMS. Raises KeyError for another name."""
    return blank_series_report(link_bits_per_second) if form == "run" else BLANK_FORMS[form]()
