"""``list``, ``show``, ``reject``, ``accept``, ``note``, ``rename``, ``delete``, ``prune``, ``baseline``."""

import platform
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from app.base.errors import NotebookError, UsageError
from app.cli import common
from app.recording.kind import KINDS, kind_of, parts_of
from app.recording.listing import readable_lines, recording_lines
from app.recording.several import losses_text, recordings_of_one_kind
from app.series.kind import recommendations_for
from forms import layout, wording
from forms.layout import Tone, visible
from forms.series.listing import RecordingLine
from forms.series.summary import run_form, unusual_runs
from storage.errors import DamagedNotebookError, UnreadableRecordingError
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.recordings import ISOLATION, SERIES, Recording, held_text
from storage.records import Phase, RunStatus, Series, SeriesStatus, to_minute

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

    With WORDs only those with these words in their kind, label, target, note, setting or baseline name.

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
        count = len(wanted)
        if as_json:
            with common.writing_to_stdout():
                for part in _documents(notebook, wanted[:limit]):
                    click.echo(layout.for_terminal(part), nl=False)
            return
        readable = readable_lines(notebook, wanted[:limit])
    lines = readable.lines
    count -= len(readable.problems)
    common.say(*(f"sharebench: {problem}" for problem in readable.problems.values()))
    if readable.problems and not lines:
        raise NotebookError("nothing of what was asked for can be read")
    if lines:
        rows = [_HEADING, *map(_cells, lines)]
        filled = [i for i in range(len(_HEADING)) if i == _ANSWER or any(row[i] for row in rows[1:])]
        widths = {i: max(layout.width(row[i]) for row in rows) for i in filled}
        if all(line.machine in {"", platform.node()} for line in lines):
            widths.pop(_MACHINE, None)
        if sys.stdout.isatty():
            widths = fitted(widths, shutil.get_terminal_size().columns)
        tones: list[dict[int, Tone]] = [{}, *({_RUNS: one.done_tone, _ANSWER: one.answer.tone} for one in lines)]
        common.answer("\n".join(_padded(row, widths, tone) for row, tone in zip(rows, tones, strict=True)))
        if len(lines) < count:
            common.say(
                f"the newest {len(lines)} of {count} recordings; --all shows the rest, --limit N as many as you like"
            )
    elif words:
        sought = " and ".join(map(repr, words))
        common.say(f"no recording has {sought} in its kind, label, target, note, setting or baseline name")
    elif experiment is not None:
        common.say(
            f"no series belongs to an experiment {experiment!r}; `sharebench experiment list` shows what there is"
        )
    elif isolations:
        common.say("no isolation yet; measure one with: sharebench isolate smb://HOST/SHARE")
    else:
        common.say("the notebook is empty; measure something with: sharebench run TARGET")


def _documents(notebook: Notebook, ids: Sequence[str]) -> Iterator[str]:
    before = "[\n"
    for recording_id in ids:
        try:
            documents = [
                document
                for head in notebook.recordings_of([recording_id])
                for document in kind_of(head).documents(notebook, head)
            ]
        except (DamagedNotebookError, UsageError) as error:
            common.say(f"sharebench: {error}")
            continue
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
    narrowest = kept | {column: min(kept[column], cells) for column, cells in least.items() if column in kept}
    if _line_width(narrowest) > room:
        kept.pop(_WHAT, None)
    while _line_width(kept) > room:
        longest = max((column for column in least if column in kept), key=lambda column: kept[column] - least[column])
        if kept[longest] <= 1:
            break
        kept[longest] -= 1
    return kept


def _line_width(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def _padded(row: Sequence[str], widths: Mapping[int, int], tones: Mapping[int, Tone]) -> str:
    cells = []
    for i, width in widths.items():
        cut = (layout.cut_inside if i == _WHAT else layout.cut)(row[i], width)
        cells.append(common.toned(layout.pad(cut, width, right=i == _RUNS), tones.get(i, Tone.PLAIN)))
    return _GAP.join(cells).rstrip()


def _cells(line: RecordingLine) -> tuple[str, ...]:
    named = f"[{line.baseline_text}] " if line.baselines else ""
    done, label = f"{line.done}{'+' if line.left_behind else ''}", f"{named}{line.label}".strip()
    return line.id, line.when, line.kind, done, line.answer.text, line.what, label, line.machine


@common.command("show")
@click.argument("reference", metavar="RECORDING")
@click.option("--json", "as_json", is_flag=True, help="Print the recording as JSON.")
@click.option("--chart", is_flag=True, help="Draw the rate of each run below the form.")
@common.options_of_all
def show_command(context: click.Context, reference: str, as_json: bool, chart: bool) -> None:
    """Show one recording: a series, load, isolation, trial, sweep, survey, self-test or audit.

    Name it by its id or the beginning of it, by a baseline's name, or by `last`.
    """
    with common.notebook(context) as notebook:
        show(notebook, notebook.recording(reference), as_json=as_json, chart=chart)


def show(notebook: Notebook, head: Recording, *, as_json: bool = False, chart: bool = False) -> None:
    kind = kind_of(head)
    common.answer_report(kind.form(notebook, head), as_json=as_json)
    if as_json:
        return

    common.say(*(f"Recommendation: {text}" for text in kind.recommendations(notebook, head)))
    drawing = ""
    if chart:
        colour = common.draws_colour()
        drawing = kind.chart(notebook, head, common.chart_columns(), common.CHART_LINES, colour=colour)
    if drawing:
        common.answer(drawing)


def show_series(series: Series, *, as_json: bool = False, chart: bool = False) -> None:
    from forms.series.report import series_report

    form = run_form(series)
    common.answer_report(series_report(form), as_json=as_json)
    if not as_json:
        common.say(*(f"Recommendation: {text}" for text in recommendations_for(series)))
    if chart and form.rows and not as_json:
        from app.charts.series_charts import rates_chart

        common.answer(rates_chart(form, common.chart_columns(), common.CHART_LINES, colour=common.draws_colour()))


def reject_unusual(context: click.Context, series_id: str) -> None:
    with common.notebook(context) as notebook:
        found = unusual_runs(notebook.series(series_id))
        for number, unusual in found.items():
            why = wording.unusual_text(unusual)
            notebook.judge_run(series_id, number, RunStatus.REJECTED, f"unusual: {why}")
            common.say(f"run {number} is rejected as unusual: {why}; sharebench accept {series_id} {number} undoes it")
    if found:
        common.say(
            "what that costs: of healthy series that lose a run so, the 95 % interval holds the true average in 58 %"
            " (5 runs) to 80 % (20 runs) only; look for the reason, and measure more runs"
        )


@common.command("reject")
@click.argument("reference", metavar="RECORDING")
@click.argument("run")
@common.option("--reason", "TEXT", "Reason, which the form shows.", required=True)
@common.options_of_all
def reject_command(context: click.Context, reference: str, run: str, reason: str) -> None:
    """Leave RUN out of the averages of RECORDING; the form shows it struck out.

    RUN is the number of a measured run, load point or pair, or ROUND:LAYER:CLIENTS of an isolation.
    """
    if not reason.strip():
        raise UsageError("a rejected run needs a reason: --reason 'backup was running'")
    _judge(context, reference, run, RunStatus.REJECTED, reason.strip())


@common.command("accept")
@click.argument("reference", metavar="RECORDING")
@click.argument("run")
@common.options_of_all
def accept_command(context: click.Context, reference: str, run: str) -> None:
    """Count a rejected RUN of RECORDING again."""
    _judge(context, reference, run, RunStatus.VALID, None)


def _judge(context: click.Context, reference: str, run: str, status: RunStatus, reason: str | None) -> None:
    with common.notebook(context) as notebook:
        head = notebook.recording(reference)
        kind_of(head).judge(notebook, head, run, status, reason)
        show(notebook, head)


@common.command("note")
@click.argument("reference", metavar="RECORDING")
@click.argument("text")
@common.options_of_all
def note_command(context: click.Context, reference: str, text: str) -> None:
    """Add the note TEXT to RECORDING, instead of an earlier one; an empty TEXT removes it."""
    with common.notebook(context) as notebook:
        head = notebook.recording(reference)
        notebook.describe(head.id, note=text)
    common.say(f"noted with {_called(head)}" if text else f"note of {_called(head)} removed")


def _called(head: Recording) -> str:
    return f"{head.kind} {visible(head.label)} ({head.id})" if head.label else f"{head.kind} {head.id}"


@common.command("rename")
@click.argument("reference", metavar="RECORDING|EXPERIMENT")
@click.argument("name")
@common.options_of_all
def rename_command(context: click.Context, reference: str, name: str) -> None:
    """Change the label of RECORDING (an empty NAME removes it), or the name of EXPERIMENT.

    The full name of an experiment always means the experiment; name a recording of that label by its id.
    """
    name = name.strip()
    with common.notebook(context) as notebook:
        is_id = reference in notebook.kinds_of([reference])
        experiment = None if is_id else notebook.experiment_called(reference)
        if experiment is not None and experiment.recording_id is None and notebook.heads(1, experiment=reference):
            from app.method.experiments import rename_experiment

            rename_experiment(notebook, reference, name)
            common.say(f"the experiment is called {name!r}")
            return
        head = notebook.recording(reference)
        notebook.describe(head.id, label=name)
    common.say(f"{_called(head)} is now called {name!r}" if name else f"{_called(head)} has no label any more")


@common.command("delete")
@click.argument("references", nargs=-1, required=True, metavar="RECORDING...")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@common.options_of_all
def delete_command(context: click.Context, references: tuple[str, ...], yes: bool) -> None:
    """Delete each RECORDING for good, with its runs, load points or series."""
    with common.notebook(context) as notebook:
        heads: dict[str, Recording] = {}
        unreadable: dict[str, str] = {}
        for reference in references:
            try:
                head = notebook.recording(reference)
                _what_goes(notebook, head)
                heads[head.id] = head
            except UnreadableRecordingError as error:
                recording_id = _id_meant(notebook, reference, error)
                unreadable[recording_id] = str(error)
        _delete(notebook, list(heads.values()), yes=yes, unreadable=unreadable)


def _id_meant(notebook: Notebook, reference: str, error: UnreadableRecordingError) -> str:
    """Which recording was named, also where it is one of its parts that cannot be read. Raises the error."""
    try:
        return notebook.resolve(reference)
    except UnreadableRecordingError as itself:
        if not itself.recording_id.startswith(reference):
            raise error from itself
        return itself.recording_id


@common.command("prune")
@click.option(
    "--failed", is_flag=True, required=True, help="Delete series that failed before their first measured run."
)
@click.option("--yes", is_flag=True, help="Delete without asking.")
@common.options_of_all
def prune_command(context: click.Context, failed: bool, yes: bool) -> None:  # noqa: ARG001  --failed is required, and says what goes
    """Delete failed series without a valid measured run.

    Baselines, and series that left a file on their target, stay.
    """
    with common.notebook(context) as notebook:
        named = {baseline.recording_id for baseline in notebook.baselines()}
        heads = [
            head
            for head in notebook.recordings(SERIES, parts=True)
            if head.status is SeriesStatus.FAILED and head.id not in named and not head.leftovers
        ]
        measured = {
            series_id
            for series_id, runs in notebook.runs_of(head.id for head in heads).items()
            if any(run.phase is Phase.MEASURED and run.status is not RunStatus.FAILED for run in runs)
        }
        _delete(notebook, [head for head in heads if head.id not in measured], yes=yes)


def _delete(
    notebook: Notebook, heads: Sequence[Recording], *, yes: bool, unreadable: Mapping[str, str] | None = None
) -> None:
    unreadable = unreadable or {}
    count = len(heads) + len(unreadable)
    if not count:
        common.say("there is nothing to delete")
        return
    for head in heads:
        if head.running and head.lease:
            raise UsageError(f"{held_text(head.id, head.lease, head.kind)}, so it is not deleted")
        left = kind_of(head).leftover_text(notebook, head)
        if left and kind_of(head).restored_by:
            raise UsageError(f"{left}; so it is not deleted")

    for head in heads:
        common.say(*_what_goes(notebook, head))
    for recording_id in unreadable:
        common.say(f"{recording_id}  cannot be read, so what it was and what it left on a server is not known")
    if not yes:
        what = "it" if count == 1 else f"these {count}"
        common.confirm(f"Delete {what} for good?", declined="nothing was deleted")

    for head in heads:
        try:
            notebook.remove(head.id)
        except UnreadableRecordingError:
            notebook.remove_unread(head.id)
        common.answer(head.id)
    for recording_id in unreadable:
        notebook.remove_unread(recording_id)
        common.answer(recording_id)
    common.say(f"sharebench: deleted {wording.count(count, 'recording')}")


def _what_goes(notebook: Notebook, head: Recording) -> list[str]:
    """What is deleted with a recording, in lines. Raises UnreadableRecordingError."""
    if head.kind not in KINDS:
        raise UnreadableRecordingError(head.id, f"{head.kind!r} is no kind that this version knows")
    (line,) = recording_lines(notebook, [head])
    told = [f"{line.id}  {line.when}  {line.kind}  {line.label or line.what} ({line.answer.text})"]
    if inside := len(parts_of(notebook, head)):
        told.append(f"  with the {inside} series in it")
    if losses := losses_text(notebook, [head.id]):
        told.append(f"  {losses}")
    if left := kind_of(head).leftover_text(notebook, head):
        told.append(f"  {left}; it may still be there, and nothing will tell of it any more")
    return told


@click.group("baseline", cls=common.Group)
def baseline_command() -> None:
    """Name recordings that others are compared with."""


@baseline_command.command("set")
@click.argument("name")
@click.argument("series", nargs=-1, required=True, metavar="RECORDING...")
@common.options_of_all
def set_baseline(context: click.Context, name: str, series: tuple[str, ...]) -> None:
    """Name RECORDING as a baseline, to compare with.

    With several series of equal settings, sharebench knows their variation and can judge smaller changes.
    """
    with common.notebook(context) as notebook:
        heads = list({head.id: head for head in recordings_of_one_kind(notebook, series)}.values())
        ids = [head.id for head in heads]
        kind_of(heads[0]).check_repeats(notebook, ids)
        notebook.set_baseline(name, *ids)
    _say_what_it_holds(name, heads)


@baseline_command.command("add")
@click.argument("name")
@click.argument("series", nargs=-1, required=True, metavar="SERIES...")
@common.options_of_all
def add_to_baseline(context: click.Context, name: str, series: tuple[str, ...]) -> None:
    """Add SERIES, measured with the same settings, to the baseline NAME."""
    with common.notebook(context) as notebook:
        known = notebook.baseline_ids(name, SERIES)
        if not known:
            raise UsageError(f"no baseline is called {name!r}; give it first: sharebench baseline set NAME SERIES")
        by_id = {head.id: head for head in (notebook.recording(one, SERIES) for one in (*known, *series))}
        heads, ids = list(by_id.values()), list(by_id)
        KINDS[SERIES].check_repeats(notebook, ids)
        notebook.set_baseline(name, *ids, keep=True)
    _say_what_it_holds(name, heads)


def _say_what_it_holds(name: str, heads: Sequence[Recording]) -> None:
    common.say(f"{visible(name)} is {', '.join(map(_called, heads))}")
    enough = kind_of(heads[0]).enough_in_baseline
    if len(heads) < enough:
        common.say(
            f"measure it again and add it (sharebench baseline add {visible(name)} SERIES): with {enough} series"
            " sharebench knows the normal variation and can judge later changes"
        )


@baseline_command.command("list")
@common.answering_options("Print a JSON array.")
def list_baselines(context: click.Context, as_json: bool) -> None:
    """List the baselines and their series."""
    with common.notebook(context) as notebook:
        found = notebook.baselines()
        kinds = notebook.kinds_of([baseline.recording_id for baseline in found])
    found = [one for one in found if one.recording_id in kinds]  # an index of a damaged file may name others
    if as_json:
        named = ((one.name, one.recording_id, one.set_at) for one in found)
        common.answer_json([{"name": name, kinds[of]: of, "set_at": set_at} for name, of, set_at in named])
        return
    if not found:
        common.say("no baselines yet; give one with: sharebench baseline set NAME SERIES")
    else:
        common.answer(f"{'id':<12}  {f'named ({layout.local_zones()})':<16}  {'kind':<9}  baseline")
    for baseline in found:
        when, kind = to_minute(baseline.set_at), kinds[baseline.recording_id]
        common.answer(f"{baseline.recording_id}  {when}  {kind:<9}  {visible(baseline.name)}")


@baseline_command.command("remove")
@click.argument("name")
@common.options_of_all
def remove_baseline(context: click.Context, name: str) -> None:
    """Remove the baseline NAME; its series stay."""
    with common.notebook(context) as notebook:
        notebook.remove_baseline(name)
    common.say(f"{visible(name)} is forgotten; what it named is kept")
