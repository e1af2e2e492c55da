"""Reports of series: filled forms after an overview, and blank forms."""

from collections.abc import Sequence

from forms import wording
from forms.comparison.report import blank_comparison_report
from forms.experiments.report import blank_experiment_report
from forms.report import Report, ReportKind, Row, Table, columns_of, row_of
from forms.series.listing import SeriesLine, series_lines
from forms.series.report import blank_series_report, series_report
from forms.series.summary import run_form
from forms.worksheets.bottleneck_report import blank_bottleneck_report
from forms.worksheets.users_report import blank_users_report
from storage.records import Series, to_minute

BLANK_FORMS = {
    "comparison": blank_comparison_report,
    "experiment": blank_experiment_report,
    "bottleneck": blank_bottleneck_report,
    "clients": blank_users_report,
}


def series_reports(all_series: Sequence[Series]) -> list[Report]:
    """The form of each series, after an overview where there are several."""
    reports = [series_report(run_form(series)) for series in all_series]
    if len(all_series) > 1:
        reports.insert(0, _overview_report(all_series))
    return reports


def _overview_report(all_series: Sequence[Series]) -> Report:
    columns = columns_of(
        "No",
        "Series",
        "What",
        wording.when_heading(),
        "Runs",
        ("Average, bytes/sec", ReportKind.WHOLE),
        ("Deviation, %", ReportKind.PERCENT),
        ("% of link", ReportKind.PERCENT),
    )
    rates = {series.id: series.rates() for series in all_series}
    rows = tuple(_overview_row(number, line) for number, line in enumerate(series_lines(all_series, rates), start=1))
    return Report(
        form="overview",
        title=f"{len(all_series)} series",
        name="Overview",
        tables=(Table(columns=columns, rows=rows),),
        is_front_page=True,
    )


def _overview_row(number: int, line: SeriesLine) -> Row:
    return row_of(
        str(number),
        line.label or line.what,
        f"{line.series.command} {line.what}",
        to_minute(line.series.created_at),
        line.runs_text,
        line.average_bytes_per_second,
        line.deviation_percent,
        line.percent_of_link,
    )


def blank_report(form: str, *, link_bits_per_second: int | None = None) -> Report:
    """The empty form ``run`` or one of BLANK_FORMS. Raises KeyError for another name."""
    return blank_series_report(link_bits_per_second) if form == "run" else BLANK_FORMS[form]()
