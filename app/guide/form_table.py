"""The form's table while it fills in."""

from dataclasses import replace
from itertools import chain

from forms.exporters.text_tables import drawn_table
from forms.series.run_table import run_table
from forms.series.summary import SeriesSummary
from storage.records import Phase


def filling_table(form: SeriesSummary, width: int, height: int) -> str:
    """As much of the table as ``height`` lines show while it fills in: the oldest runs give way."""
    shown_rows = form.all_rows[-height:] if height > 0 else ()
    warm_ups = tuple(row for row in shown_rows if row.run.phase is Phase.WARM_UP)
    table = run_table(replace(form, warm_ups=warm_ups, rows=shown_rows[len(warm_ups) :]))
    drawn = drawn_table(table, width, ansi=True)

    headings = list(drawn.headings)
    lines = list(chain.from_iterable(drawn.rows))
    room = height - len(headings)
    if len(lines) > room > 0:
        lines = ["⋮", *lines[len(lines) - room + 1 :]]
    return "\n".join([*headings, *lines])
