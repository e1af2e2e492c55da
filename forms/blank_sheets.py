"""The empty forms, to be filled by hand."""

from __future__ import annotations

from forms.comparison_sheet import blank_comparison_sheet
from forms.ladder_sheet import blank_ladder_sheet
from forms.run_sheet import blank_run_sheet
from forms.sheet import Sheet
from forms.worksheets.bottleneck_sheet import blank_bottleneck_sheet
from forms.worksheets.clients_sheet import blank_clients_sheet


def blank_sheet(form: str, *, link_bits_per_second: int | None = None) -> Sheet:
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
