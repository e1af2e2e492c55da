"""``sharebench list``: the notebook, one line a series and a load; light, since it is asked for most."""

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import click

from app.cli import common, diagnostics, output
from app.cli.load_list import load_lines
from forms import layout
from forms.series.listing import SeriesLine, series_lines
from forms.tone import Tone
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.records import Series

_HEADING = ("id", "when (UTC)", "runs", "average", "dev", "% link", "what", "label")
_WHAT = 6
_RUNS, _DEVIATION = 2, 4
_TO_THE_RIGHT = {2, 3, 4, 5}
_GIVE_WAY = (5, 4)
"""Columns that a narrow terminal does without, the first one first."""
_LEAST_WHAT, _LEAST_LABEL = 19, 9
"""Cells that the last two columns have before another one gives way."""
_GAP = "  "
SHOWN = 50
"""Series that are listed where nothing else is asked for."""


@click.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--limit", type=common.Count(1), help=f"The newest N ({SHOWN}).", metavar="N")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("--experiment", metavar="NAME", help="One experiment's series only.")
@click.option("--isolations", is_flag=True, help="The isolations instead of the series.")
@click.option("--json", "as_json", is_flag=True, help="An array of series and load documents, of all of them.")
@common.options_of_all
def list_command(
    context: click.Context,
    words: Sequence[str],
    limit: int | None,
    everything: bool,
    experiment: str | None,
    isolations: bool,
    as_json: bool,
) -> None:
    """Lists the series of the notebook, newest first: the newest 50 unless told otherwise.

    WORDs are those that the label, the target or the note must have, such as a host's name.

    Beside the runs, … means interrupted, ! failed, ▸ running; + that a file of ours may still lie on the target.
    """
    if isolations:
        from app.cli.isolation_output import list_isolations  # noqa: PLC0415  the list of series does not wait for it

        list_isolations(context, as_json=as_json)
        return
    with common.notebook(context) as notebook:
        if limit is None and not everything and not as_json:
            limit = SHOWN
        heads, count = _heads(notebook, " ".join(words), limit, experiment)
        series_alone = experiment is not None or bool(words)
        if as_json:
            output.answer_parts(_documents(notebook, heads, loads=not series_alone and limit is None))
            return
        lines = series_lines(heads, notebook.rates_of([head.id for head in heads]), notebook.baselines())
        loads = [] if series_alone else load_lines(notebook, limit, _room())
    if not lines and words:
        diagnostics.say(f"no series has {' and '.join(map(repr, words))} in its label, target or note")
        return
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
        output.answer("\n".join(["", *loads] if lines else loads))
    if len(lines) < count:
        diagnostics.say(
            f"the newest {len(lines)} of {count} series; --all shows the rest, --limit N as many as you like"
        )


def _heads(notebook: Notebook, text: str, limit: int | None, experiment: str | None) -> tuple[Sequence[Series], int]:
    """The newest series that are asked for, and how many there are in all."""
    if not text:
        return notebook.heads(limit, experiment=experiment), notebook.count(experiment=experiment)
    found = notebook.find(SeriesQuery(text=text))
    ids = [one.series_id for one in found if experiment in {None, one.experiment}]
    return notebook.heads_of(ids[:limit]), len(ids)


def _documents(notebook: Notebook, heads: Sequence[Series], *, loads: bool) -> Iterator[str]:
    """The array, a series at a time: a notebook may hold more than memory does."""
    from forms.load.document import load_document  # noqa: PLC0415  the lines do not wait for it
    from forms.series.document import series_document  # noqa: PLC0415

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
    if room := _room():
        widths = fitted(widths, room)
    tones: list[dict[int, Tone]] = [{}, *({_RUNS: one.runs_tone, _DEVIATION: one.deviation_tone} for one in lines)]
    output.answer("\n".join(_padded(row, widths, tone) for row, tone in zip(rows, tones, strict=True)))


def _room() -> int | None:
    """Cells of a line, where stdout is a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


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


def _padded(row: Sequence[str], widths: Mapping[int, int], tones: Mapping[int, Tone]) -> str:
    cells = (
        output.toned(
            layout.pad(
                (layout.cut_inside if i == _WHAT else layout.cut)(row[i], width), width, right=i in _TO_THE_RIGHT
            ),
            tones.get(i, Tone.PLAIN),
        )
        for i, width in widths.items()
    )
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
