"""The reports of what the notebook holds, filled or blank."""

from collections.abc import Sequence

from forms.comparison.report import blank_comparison_report
from forms.experiments.report import blank_ladder_report
from forms.report import Report
from forms.series.overview import overview_report
from forms.series.report import blank_series_report, series_report
from forms.series.summary import run_form
from forms.worksheets.report import blank_bottleneck_report, blank_users_report
from storage.records import Series

BLANK_FORMS = {
    "comparison": blank_comparison_report,
    "experiment": blank_ladder_report,
    "bottleneck": blank_bottleneck_report,
    "clients": blank_users_report,
}


def series_reports(series: Sequence[Series]) -> list[Report]:
    """The filled run form of each series, after an overview where there are several."""
    front = [overview_report(series)] if len(series) > 1 else []
    return [*front, *(series_report(run_form(one)) for one in series)]


def blank_report(form: str, *, link_bits_per_second: int | None = None) -> Report:
    """The empty form, to be filled by hand: ``run`` or one of BLANK_FORMS. Raises KeyError for another name."""
    return blank_series_report(link_bits_per_second) if form == "run" else BLANK_FORMS[form]()
