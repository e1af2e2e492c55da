"""The table of a run form alone, as it fills in: headings, rows, average and deviation."""

from dataclasses import replace

from forms.exporters.text import drawn_table
from forms.series.report import run_table
from forms.series.summary import SeriesSummary
from storage.records import Phase


def filling_table(form: SeriesSummary, width: int, height: int) -> str:
    """As much of the table as ``height`` lines show while it fills in: the oldest runs give way.

    What its marks mean is left to the review.
    """
    seen = form.all_rows[-height:] if height > 0 else ()
    warm_ups = tuple(row for row in seen if row.phase is Phase.WARM_UP)
    drawn = drawn_table(run_table(replace(form, warm_ups=warm_ups, rows=seen[len(warm_ups) :])), width, ansi=True)
    headings, rows = list(drawn.headings), [line for lines in drawn.rows for line in lines]
    room = height - len(headings)
    if len(rows) > room > 0:
        rows = ["⋮", *rows[len(rows) - room + 1 :]]
    return "\n".join([*headings, *rows])
