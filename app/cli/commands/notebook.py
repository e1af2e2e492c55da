"""``show``, ``reject``, ``accept``, ``note``, ``rename``, ``delete`` and ``prune``: series of a notebook."""

import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from app.cli import common, diagnostics, output
from app.cli.isolation_output import show_isolation, stored_isolation, unfinished
from app.cli.loads import delete_load, load_in, load_meant, show_load
from app.cli.series_output import show_series
from app.errors import CancelledError, UsageError
from app.workflows.experiments import rename_experiment
from forms import wording
from forms.series.summary import unusual_runs
from storage.isolations import Isolation
from storage.notebook import Notebook
from storage.recordings import LAST, SERIES, held_text
from storage.records import Phase, Run, RunStatus, Series, SeriesStatus, Target
from storage.target_url import format_target


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


def _judge(context: click.Context, reference: str, run: int, status: RunStatus, reason: str | None) -> None:
    with common.notebook(context) as notebook:
        series_id = notebook.resolve(reference, SERIES)
        notebook.judge_run(series_id, run, status, reason)
    show_series(context, series_id, as_json=False)


def reject_unusual(context: click.Context, series_id: str) -> None:
    """Mark the unusual runs of a series unusable, each with the reason why it is unusual; stderr names them."""
    with common.notebook(context) as notebook:
        found = unusual_runs(notebook.series(series_id))
        for number, why in found.items():
            notebook.judge_run(series_id, number, RunStatus.REJECTED, f"unusual: {why}")
            diagnostics.say(
                f"run {number} is rejected as unusual: {why}; sharebench accept {series_id} {number} undoes it"
            )
    if found:
        diagnostics.say(
            "what that costs: of healthy series that lose a run so, the 95 % interval holds the true average in 58 %"
            " (5 runs) to 80 % (20 runs) only; look for the reason, and measure more runs"
        )


@click.command("reject")
@click.argument("series")
@click.argument("run", type=common.Count(1))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stands on the form.")
@common.options_of_all
def reject_command(context: click.Context, series: str, run: int, reason: str) -> None:
    """Marks measured RUN of SERIES unusable: it stays on the form, struck out, and out of the average."""
    if not reason.strip():
        raise UsageError("a rejected run needs a reason: --reason 'backup was running'")
    _judge(context, series, run, RunStatus.REJECTED, reason.strip())


@click.command("accept")
@click.argument("series")
@click.argument("run", type=common.Count(1))
@common.options_of_all
def accept_command(context: click.Context, series: str, run: int) -> None:
    """Marks a rejected RUN of SERIES usable again."""
    _judge(context, series, run, RunStatus.VALID, None)


@click.command("note")
@click.argument("series")
@click.argument("text")
@common.options_of_all
def note_command(context: click.Context, series: str, text: str) -> None:
    """Keeps TEXT with SERIES, in place of an earlier note; an empty TEXT removes it."""
    with common.notebook(context) as notebook:
        load = load_in(notebook, series)
        if load is not None:
            notebook.describe(load.id, note=text)
            diagnostics.say(f"noted with load {load.id}" if text else f"note of load {load.id} removed")
            return
        found = notebook.series(series)
        notebook.annotate(replace(found, note=text))
    diagnostics.say(f"noted with series {found.id}" if text else f"note of series {found.id} removed")


@click.command("rename")
@click.argument("reference", metavar="SERIES|EXPERIMENT")
@click.argument("name")
@common.options_of_all
def rename_command(context: click.Context, reference: str, name: str) -> None:
    """Gives SERIES another label, which an empty NAME removes; or EXPERIMENT, a ladder by its whole name, another one.

    What is the whole name of an experiment is not taken for a series: name that by its id.
    """
    name = name.strip()
    with common.notebook(context) as notebook:
        if notebook.heads(1, experiment=reference):
            rename_experiment(notebook, reference, name)
            diagnostics.say(f"the experiment is called {name!r}")
            return
        found = notebook.series(reference)
        notebook.annotate(replace(found, label=name))
    diagnostics.say(f"series {found.id} is called {name!r}" if name else f"{found.id} has no label")


@click.command("delete", short_help="takes series out of the notebook")
@click.argument("references", nargs=-1, required=True, metavar="SERIES...")
@click.option("--yes", is_flag=True, help="Without a question.")
@common.options_of_all
def delete_command(context: click.Context, references: tuple[str, ...], yes: bool) -> None:
    """Takes SERIES out of the notebook for good, with their runs, facts and names; isolations by their ids."""
    load = load_meant(context, references[0]) if len(references) == 1 else None
    if load is not None:
        if load.owner is not None and load.running:
            raise UsageError(f"{held_text(load.id, load.owner, 'load')}, so it is not deleted")
        diagnostics.say(f"{load.id}  {load.created_at[:16].replace('T', ' ')}  load {load.scenario.name}")
        if load.scratch_folder:
            _say_left(load.scratch_folder, load.targets[0])
        _ask(1, yes=yes)
        delete_load(context, load)
        return
    with common.notebook(context) as notebook:
        isolations = [one for name in references if name != LAST and (one := stored_isolation(notebook, name))]
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
        named = {baseline.recording_id for baseline in notebook.baselines()}
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
            _say_left(one.scratch_path, one.target)
    _ask(len(found), yes=yes)
    for one in found:
        notebook.remove(one.id)
        output.answer(one.id)


def _say_left(name: str, target: Target) -> None:
    """Name what a recording that is about to be deleted may have left on its target."""
    diagnostics.say(
        f"  {wording.plain(name)} may still be on its target, and nothing will tell of it any more:"
        f" sharebench clean {wording.plain(format_target(target))}"
    )


def _delete_isolations(notebook: Notebook, found: Sequence[Isolation], references: Sequence[str], *, yes: bool) -> None:
    if len(found) < len(references):
        raise UsageError("name isolations or series, not both at once")
    for one in found:
        if one.running or not one.left_behind.nothing:
            raise UsageError(f"{unfinished(one) or f'isolation {one.id} is being measured'}, so it is not deleted")
        diagnostics.say(f"isolation {one.id}  {one.created_at[:16].replace('T', ' ')}")
    _ask(len(found), yes=yes)
    for one in found:
        notebook.remove(one.id)
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
