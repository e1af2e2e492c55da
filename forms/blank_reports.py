"""The empty forms, to be filled by hand."""

from __future__ import annotations

from forms.comparison.report import blank_comparison_report
from forms.experiments.ladder_report import blank_ladder_report
from forms.report import Report
from forms.series.report import blank_series_report
from forms.worksheets.bottleneck_report import blank_bottleneck_report
from forms.worksheets.users_report import blank_users_report


def blank_report(form: str, *, link_bits_per_second: int | None = None) -> Report:
    """The empty form of that name (``run``, ``comparison``, ``experiment``, ``bottleneck``, ``clients``).

    Raises KeyError for another name.
    """
    if form == "run":
        return blank_series_report(link_bits_per_second)
    return {
        "comparison": blank_comparison_report,
        "experiment": blank_ladder_report,
        "bottleneck": blank_bottleneck_report,
        "clients": blank_users_report,
    }[form]()
