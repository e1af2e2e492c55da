"""The table of a run form alone, as the guide shows it: headings, rows, average and deviation."""

from __future__ import annotations

from dataclasses import replace

from forms.exporters.text import RULE, table_lines
from forms.series.report import run_table
from forms.series.summary import SeriesSummary
from storage.records import Phase


def form_table(form: SeriesSummary, width: int) -> str:
    """Lines of at most ``width`` cells, styled by ANSI escapes; every mark is a sign as well."""
    return "\n".join(_lines(form, width))


def filling_table(form: SeriesSummary, width: int, height: int) -> str:
    """As much of the table as ``height`` lines show while it fills in: the oldest runs give way.

    What its marks mean is left to the review.
    """
    seen = form.all_rows[-height:] if height > 0 else ()
    warm_ups = tuple(row for row in seen if row.phase is Phase.WARM_UP)
    lines = _lines(replace(form, warm_ups=warm_ups, rows=seen[len(warm_ups) :]), width)
    last = max((place for place, line in enumerate(lines) if "Average:" in line or "Deviation:" in line), default=None)
    if last is not None:
        lines = lines[: last + 1]
    headings = next(place for place, line in enumerate(lines, 1) if set(line) == {RULE})
    if len(lines) > height > headings:
        lines = [*lines[:headings], "⋮", *lines[len(lines) - height + headings + 1 :]]
    return "\n".join(lines)


def _lines(form: SeriesSummary, width: int) -> list[str]:
    return list(table_lines(run_table(form), width, ansi=True))
