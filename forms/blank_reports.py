"""The empty forms, to be filled by hand."""

from __future__ import annotations

from forms.comparison.report import blank_comparison_sheet
from forms.experiments.ladder_report import blank_ladder_sheet
from forms.report import Report
from forms.series.report import blank_run_sheet
from forms.worksheets.bottleneck_report import blank_bottleneck_sheet
from forms.worksheets.users_report import blank_clients_sheet


def blank_sheet(form: str, *, link_bits_per_second: int | None = None) -> Report:
    """The empty form of that name (``run``, ``comparison``, ``experiment``, ``bottleneck``, ``clients``).

    Raises KeyError for another name.
    """
    if form == "run":
        return blank_run_sheet(link_bits_per_second)
    return {
        "comparison": blank_comparison_sheet,
        "experiment": blank_ladder_sheet,
        "bottleneck": blank_bottleneck_sheet,
        "clients": blank_clients_sheet,
    }[form]()
