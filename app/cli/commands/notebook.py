"""``sharebench list``, ``show``, ``delete`` and ``prune``: what is in the notebook, and what is taken out of it."""

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import click

from app.cli import common, diagnostics, output
from app.cli.isolation_output import list_isolations, show_isolation, stored_isolation, unfinished
from app.cli.loads import delete_load, load_lines, load_meant, show_load
from app.cli.series_output import show_series
from app.errors import CancelledError, UsageError
from forms import layout, wording
from forms.load.document import load_document
from forms.series.document import series_document
from forms.series.listing import SeriesLine, series_lines
from forms.tone import Tone
from storage.isolations import Isolation
from storage.measuring import held_text
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.records import Phase, Run, RunStatus, Series, SeriesStatus
from storage.target_url import format_target

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


@click.command("show")
@click.argument("series")
@click.option("--json", "as_json", is_flag=True, help="The series document instead of the form.")
@click.option("--chart", is_flag=True, help="The rate of each run as a chart below the form.")
@common.options_of_all
def show_command(context: click.Context, series: str, as_json: bool, chart: bool) -> None:
    """Prints the filled form of SERIES, of a load (its id, or `last-load`), or of an isolation by its id."""
    load = load_meant(context, series)
    if load is not None:
        show_load(context, load, as_json=as_json)
    elif not show_isolation(context, series, as_json=as_json):
        show_series(context, series, as_json=as_json, chart=chart)


@click.command("delete", short_help="takes series out of the notebook")
@click.argument("references", nargs=-1, required=True, metavar="SERIES...")
@click.option("--yes", is_flag=True, help="Without a question.")
@common.options_of_all
def delete_command(context: click.Context, references: tuple[str, ...], yes: bool) -> None:
    """Takes SERIES out of the notebook for good, with their runs, facts and names; isolations by their ids."""
    load = load_meant(context, references[0]) if len(references) == 1 else None
    if load is not None:
        diagnostics.say(f"{load.id}  {load.created_at[:16].replace('T', ' ')}  load {load.scenario.name}")
        _ask(1, yes=yes)
        delete_load(context, load)
        return
    with common.notebook(context) as notebook:
        isolations = [one for name in references if (one := stored_isolation(notebook, name))]
        if isolations:
            _delete_isolations(notebook, isolations, references, yes=yes)
            return
        _delete(notebook, list({one.id: one for one in map(notebook.series, references)}.values()), yes=yes)


@click.command("prune", short_help="takes failed series out of the notebook")
@click.option("--failed", is_flag=True, required=True, help="Series that failed before a run could be measured.")
@click.option("--yes", is_flag=True, help="Without a question.")
@common.options_of_all
def prune_command(context: click.Context, failed: bool, yes: bool) -> None:  # noqa: ARG001  --failed is required, and says what goes
    """Takes out of the notebook what holds no measurement: failed series without a valid measured run.

    Those that are a baseline, or that left a file on their target, stay.
    """
    with common.notebook(context) as notebook:
        named = {baseline.series_id for baseline in notebook.baselines()}
        heads = [
            head
            for head in notebook.heads()
            if head.status is SeriesStatus.FAILED and head.id not in named and not head.scratch_path
        ]
        runs = notebook.runs_of(head.id for head in heads)
        _delete(notebook, [notebook.series(head.id) for head in heads if not _measured(runs[head.id])], yes=yes)


def _delete(notebook: Notebook, found: list[Series], *, yes: bool) -> None:
    if not found:
        diagnostics.say("there is nothing to delete")
        return
    for one in found:
        if one.running_by:
            raise UsageError(f"{held_text(one.id, one.running_by)}, so it is not deleted")
    for one in found:
        diagnostics.say(
            f"{one.id}  {one.created_at[:16].replace('T', ' ')}  {wording.name_of(one)}"
            f" ({wording.count(len(one.runs), 'run')})"
        )
        if one.scratch_path:
            diagnostics.say(
                f"  {wording.plain(one.scratch_path)} may still be on its target, and nothing will tell of it any more:"
                f" sharebench clean {wording.plain(format_target(one.target))}"
            )
    _ask(len(found), yes=yes)
    for one in found:
        notebook.remove(one.id)
        output.answer(one.id)


def _delete_isolations(notebook: Notebook, found: Sequence[Isolation], references: Sequence[str], *, yes: bool) -> None:
    if len(found) < len(references):
        raise UsageError("name isolations or series, not both at once")
    for one in found:
        if one.running or not one.left_behind.nothing:
            raise UsageError(f"{unfinished(one) or f'isolation {one.id} is being measured'}, so it is not deleted")
        diagnostics.say(f"isolation {one.id}  {one.created_at[:16].replace('T', ' ')}")
    _ask(len(found), yes=yes)
    for one in found:
        notebook.remove_isolation(one.id)
        output.answer(one.id)


def _ask(count: int, *, yes: bool) -> None:
    """Go on only where it is wanted. Raises UsageError, CancelledError."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("nothing was deleted: say that it is meant with --yes")
    if not click.confirm(f"Delete {'it' if count == 1 else f'these {count}'} for good?", err=True):
        raise CancelledError("nothing was deleted")


def _measured(runs: Sequence[Run]) -> bool:
    return any(run.phase is Phase.MEASURED and run.status is not RunStatus.FAILED for run in runs)
