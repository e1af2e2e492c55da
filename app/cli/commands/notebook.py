"""``sharebench list`` and ``show``: the notebook, one line a series, and one filled form."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from app.cli import common, diagnostics, output
from app.cli.loads import load_lines, load_meant, show_load
from app.cli.series_output import show_series
from forms import layout
from forms.load.document import load_document
from forms.series.document import series_document
from forms.series.listing import SeriesLine, series_lines
from storage.records import Series

if TYPE_CHECKING:
    from storage.notebook import Notebook

_HEADING = ("id", "when (UTC)", "runs", "average", "dev", "% link", "what", "label")
_TO_THE_RIGHT = {2, 3, 4, 5}
_GIVE_WAY = (5, 4)
"""Columns that a narrow terminal does without, the first one first."""
_LEAST_WHAT, _LEAST_LABEL = 19, 9
"""Cells that the last two columns have before another one gives way."""
_GAP = "  "
SHOWN = 50
"""Series that are listed where nothing else is asked for."""


@click.command("list")
@click.option("--limit", type=common.Count(1), help=f"The newest N ({SHOWN}).", metavar="N")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--experiment", metavar="NAME", help="One experiment's series only.")
@click.option("--json", "as_json", is_flag=True, help="An array of series and load documents, of all of them.")
@common.options_of_all
@click.pass_context
def list_command(
    context: click.Context, limit: int | None, everything: bool, experiment: str | None, as_json: bool
) -> None:
    """Lists the series of the notebook, newest first: the newest 50 unless told otherwise.

    Beside the runs, … means interrupted, ! failed, ▸ running; + that a file of ours may still lie on the target.
    """
    with common.notebook(context) as notebook:
        count = notebook.count(experiment=experiment)
        if limit is None and not everything and not as_json:
            limit = SHOWN
        heads = notebook.heads(limit, experiment=experiment)
        if as_json:
            output.answer_parts(_documents(notebook, heads, loads=experiment is None and limit is None))
            return
        lines = series_lines(heads, notebook.runs_of(head.id for head in heads), notebook.baselines())
        loads = [] if experiment is not None else load_lines(notebook, limit)
    if not lines and experiment is not None:
        diagnostics.say(
            f"no series belongs to an experiment {experiment!r}; `sharebench experiment list` shows what there is"
        )
        return
    if not lines and not loads:
        diagnostics.say("the notebook is empty; measure something with: sharebench run TARGET")
        return
    if lines:
        _print(lines)
    if loads:
        output.answer("\n".join(loads if lines else loads[1:]))
    if len(lines) < count:
        diagnostics.say(
            f"the newest {len(lines)} of {count} series; --all shows the rest, --limit N as many as you like"
        )


def _documents(notebook: Notebook, heads: Sequence[Series], *, loads: bool) -> Iterator[str]:
    """The array, a series at a time: a notebook may hold more than memory does."""
    before = "[\n"
    for head in heads:
        document = series_document(notebook.series(head.id))
        yield before + textwrap.indent(output.json_text(document), "  ")
        before = ",\n"
    for load in notebook.loads() if loads else ():
        yield before + textwrap.indent(output.json_text(load_document(load)), "  ")
        before = ",\n"
    yield "[]\n" if before.startswith("[") else "\n]\n"


def _print(lines: Sequence[SeriesLine]) -> None:
    """A line a series; on a terminal none is longer than it is wide."""
    rows = [_HEADING, *map(_cells, lines)]
    widths = {i: max(layout.width(row[i]) for row in rows) for i in range(len(_HEADING))}
    if sys.stdout.isatty():
        widths = fitted(widths, shutil.get_terminal_size().columns)
    output.answer("\n".join(_padded(row, widths) for row in rows))


def fitted(widths: Mapping[int, int], room: int) -> dict[int, int]:
    """The columns and their cells that fit a line of ``room`` cells; what is cut is the end of the last two."""
    *_, what, label = widths
    kept = dict(widths)
    least = {what: min(widths[what], _LEAST_WHAT), label: min(widths[label], _LEAST_LABEL)}
    for column in _GIVE_WAY:
        if _line_width(kept | least) > room:
            del kept[column]
    left = max(room - _line_width(kept | {what: 0, label: 0}), 2)
    kept[what] = min(widths[what], max(left - widths[label], min(_LEAST_WHAT, left - 1)))
    kept[label] = min(widths[label], left - kept[what])
    return kept


def _line_width(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def _padded(row: Sequence[str], widths: Mapping[int, int]) -> str:
    cells = (layout.pad(layout.cut(row[i], width), width, right=i in _TO_THE_RIGHT) for i, width in widths.items())
    return _GAP.join(cells).rstrip()


def _cells(line: SeriesLine) -> tuple[str, ...]:
    named = f"[{line.baseline_text}] " if line.baselines else ""
    return (
        line.series_id,
        line.when,
        f"{line.runs_text}{'+' if line.left_behind else ''}",
        line.average_text,
        line.deviation_text,
        line.percent_text,
        line.what,
        f"{named}{line.label}".strip(),
    )


@click.command("show")
@click.argument("series")
@click.option("--json", "as_json", is_flag=True, help="The series document instead of the form.")
@click.option("--chart", is_flag=True, help="The rate of each run as a chart below the form.")
@common.options_of_all
@click.pass_context
def show_command(context: click.Context, series: str, as_json: bool, chart: bool) -> None:
    """Prints the filled form of SERIES, or of a load (its id, or `last-load`)."""
    load = load_meant(context, series)
    if load is not None:
        show_load(load, as_json=as_json)
        return
    show_series(context, series, as_json=as_json, chart=chart)
