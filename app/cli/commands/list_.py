"""``sharebench list``: every recording of the notebook, one line each with one answer."""

import platform
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from app import kinds
from app.cli import common
from app.errors import UsageError
from forms import layout
from forms.layout import Tone
from forms.series.listing import RecordingLine
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.recordings import ISOLATION, SERIES, Recording

_HEADING = ("id", f"when ({layout.local_zones()})", "kind", "runs", "answer", "what", "label", "measured on")
_MACHINE = 7
_RUNS, _ANSWER, _WHAT, _LABEL = 3, 4, 5, 6
_LEAST_ANSWER, _LEAST_WHAT, _LEAST_LABEL = 20, 12, 8
_GAP = "  "
SHOWN = 50


@common.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@common.option("--limit", "N", f"Number of recordings to list ({SHOWN}).", common.Count(1))
@click.option(
    "--all", "everything", is_flag=True, help="List all recordings, and the series inside trials and surveys."
)
@common.option("--experiment", "NAME", "List only the series of this experiment.")
@click.option("--isolations", is_flag=True, hidden=True)
@common.answering_options("Print all recordings as a JSON array.")
def list_command(
    context: click.Context, /, words: Sequence[str], limit: int | None, *, as_json: bool, **choices: Any
) -> None:
    """List the recordings of the notebook, newest first.

    With WORDs only those with these words in their label, target or note, such as the name of a host.

    Beside the number of runs, ‖ means interrupted, ✗ failed, ● running, and + leftovers on the server.
    """
    everything, experiment, isolations = (choices[name] for name in ("everything", "experiment", "isolations"))
    with common.notebook(context) as notebook, notebook.snapshot():
        if limit is None and not everything and not as_json:
            limit = SHOWN
        kind = ISOLATION if isolations else None
        query = SeriesQuery(text=" ".join(words), parts=(everything and not as_json) or experiment is not None)
        wanted = [
            one.series_id
            for one in notebook.find(query)
            if experiment in {None, one.experiment} and kind in {None, one.kind}
        ]
        heads = notebook.recordings_of(wanted)
        count, heads = len(heads), heads[:limit]
        if as_json:
            with common.writing_to_stdout():
                for part in _documents(notebook, heads):
                    click.echo(layout.for_terminal(part), nl=False)
            return
        lines = kinds.lines(notebook, heads)
    if lines:
        rows = [_HEADING, *map(_cells, lines)]
        widths = {i: max(layout.width(row[i]) for row in rows) for i in range(len(_HEADING))}
        if all(line.machine in {"", platform.node()} for line in lines):
            del widths[_MACHINE]
        if sys.stdout.isatty():
            widths = fitted(widths, shutil.get_terminal_size().columns)
        tones: list[dict[int, Tone]] = [{}, *({_RUNS: one.done_tone, _ANSWER: one.answer.tone} for one in lines)]
        common.answer("\n".join(_padded(row, widths, tone) for row, tone in zip(rows, tones, strict=True)))
        if len(lines) < count:
            common.say(
                f"the newest {len(lines)} of {count} recordings; --all shows the rest, --limit N as many as you like"
            )
    elif words:
        common.say(f"no recording has {' and '.join(map(repr, words))} in its label, target or note")
    elif experiment is not None:
        common.say(
            f"no series belongs to an experiment {experiment!r}; `sharebench experiment list` shows what there is"
        )
    elif isolations:
        common.say("no isolation yet; measure one with: sharebench isolate smb://HOST/SHARE")
    else:
        common.say("the notebook is empty; measure something with: sharebench run TARGET")


def _documents(notebook: Notebook, heads: Sequence[Recording]) -> Iterator[str]:
    before = "[\n"
    for head in heads:
        try:
            documents = [kinds.kind_of(head).form(notebook, head).document()]
        except UsageError:  # a trial without one of its series is given as those it has
            of_series = kinds.KINDS[SERIES]
            documents = [of_series.form(notebook, part).document() for part in kinds.parts(notebook, head)]
        for document in documents:
            yield before + textwrap.indent(common.json_text(document), "  ")
            before = ",\n"
    yield "[]\n" if before.startswith("[") else "\n]\n"


def fitted(widths: Mapping[int, int], room: int) -> dict[int, int]:
    """Columns and widths for a line of ``room`` cells; the longest texts are truncated."""
    kept = dict(widths)
    if _line_width(kept) > room:
        kept.pop(_MACHINE, None)
    least = {_ANSWER: _LEAST_ANSWER, _WHAT: _LEAST_WHAT, _LABEL: _LEAST_LABEL}
    if _line_width(kept | {column: min(kept[column], cells) for column, cells in least.items()}) > room:
        del kept[_WHAT]
    while _line_width(kept) > room:
        longest = max((column for column in least if column in kept), key=lambda column: kept[column] - least[column])
        if kept[longest] <= 1:
            break
        kept[longest] -= 1
    return kept


def _line_width(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def _padded(row: Sequence[str], widths: Mapping[int, int], tones: Mapping[int, Tone]) -> str:
    cells = (
        common.toned(
            layout.pad((layout.cut_inside if i == _WHAT else layout.cut)(row[i], width), width, right=i == _RUNS),
            tones.get(i, Tone.PLAIN),
        )
        for i, width in widths.items()
    )
    return _GAP.join(cells).rstrip()


def _cells(line: RecordingLine) -> tuple[str, ...]:
    named = f"[{line.baseline_text}] " if line.baselines else ""
    return (
        line.id,
        line.when,
        line.kind,
        f"{line.done}{'+' if line.left_behind else ''}",
        line.answer.text,
        line.what,
        f"{named}{line.label}".strip(),
        line.machine,
    )
