"""``sharebench list`` and ``show``: the notebook, one line a series, and one filled form."""

from __future__ import annotations

import click

from app.cli import common, diagnostics, output
from app.cli.series_output import show_series
from forms import layout
from forms.series.document import series_document
from forms.series.listing import SeriesLine, series_lines

_HEADING = ("id", "when (UTC)", "", "runs", "average", "dev", "% link", "baseline", "what")
_TO_THE_RIGHT = {3, 4, 5, 6}


@click.command("list")
@click.option("--limit", type=common.Count(1), help="The newest N only.", metavar="N")
@click.option("--experiment", metavar="NAME", help="One experiment's series only.")
@click.option("--json", "as_json", is_flag=True, help="An array of series documents.")
@common.options_of_all
@click.pass_context
def list_command(context: click.Context, limit: int | None, experiment: str | None, as_json: bool) -> None:
    """Lists the series of the notebook, newest first."""
    with common.notebook(context) as notebook:
        heads = [s for s in notebook.heads() if experiment is None or s.experiment == experiment][:limit]
        if as_json:
            output.answer_json([series_document(notebook.series(head.id)) for head in heads])
            return
        lines = series_lines(heads, notebook.runs_of(head.id for head in heads), notebook.baselines())
    if not lines and experiment is not None:
        diagnostics.say(
            f"no series belongs to an experiment {experiment!r}; `sharebench experiment list` shows what there is"
        )
        return
    if not lines:
        diagnostics.say("the notebook is empty; measure something with: sharebench run TARGET")
        return
    rows = [_HEADING, *(_cells(line, head.label) for line, head in zip(lines, heads, strict=True))]
    widths = [max(layout.width(row[i]) for row in rows) for i in range(len(_HEADING))]
    for row in rows:
        padded = [
            layout.pad(cell, width, right=i in _TO_THE_RIGHT)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        output.answer("  ".join(padded).rstrip())


def _cells(line: SeriesLine, label: str) -> tuple[str, ...]:
    return (
        line.series_id,
        line.when,
        line.command,
        line.runs_text,
        line.average_text,
        line.deviation_text,
        line.percent_text,
        line.baseline_text,
        f"{layout.visible(label)}  {line.target}".strip(),
    )


@click.command("show")
@click.argument("series")
@click.option("--json", "as_json", is_flag=True, help="The series document instead of the form.")
@click.option("--chart", is_flag=True, help="The rate of each run as a chart below the form.")
@common.options_of_all
@click.pass_context
def show_command(context: click.Context, series: str, as_json: bool, chart: bool) -> None:
    """Prints the filled form of SERIES."""
    show_series(context, series, as_json=as_json, chart=chart)
