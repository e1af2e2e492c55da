"""``show``, ``reject``, ``accept``, ``note``, ``rename``, ``delete`` and ``prune``: recordings of any kind."""

from collections.abc import Sequence

import click

from app import kinds
from app.cli import common, output
from app.cli.series_output import answer_report
from app.cli.series_output import show as show_series
from app.errors import UsageError
from forms.series.summary import unusual_runs
from storage.notebook import Notebook
from storage.recordings import SERIES, Recording, held_text
from storage.records import Phase, Run, RunStatus, SeriesStatus


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
    """Print a recording, with recommendations on stderr."""
    if head.kind == SERIES and not as_json:
        show_series(notebook.series(head.id), chart=chart)
        return
    answer_report(kinds.kind_of(head).form(notebook, head), as_json=as_json)
    if as_json:
        return
    if left := kinds.leftover_text(notebook, head):
        output.say(f"sharebench: what to do (left behind): {left}")


def reject_unusual(context: click.Context, series_id: str) -> None:
    """Reject the unusual runs of a series, each with its reason; stderr names them."""
    with common.notebook(context) as notebook:
        found = unusual_runs(notebook.series(series_id))
        for number, why in found.items():
            notebook.judge_run(series_id, number, RunStatus.REJECTED, f"unusual: {why}")
            output.say(f"run {number} is rejected as unusual: {why}; sharebench accept {series_id} {number} undoes it")
    if found:
        output.say(
            "what that costs: of healthy series that lose a run so, the 95 % interval holds the true average in 58 %"
            " (5 runs) to 80 % (20 runs) only; look for the reason, and measure more runs"
        )


@common.command("reject")
@click.argument("reference", metavar="RECORDING")
@click.argument("run")
@click.option("--reason", required=True, metavar="TEXT", help="Reason, which the form shows.")
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
        kinds.judge(notebook, head, run, status, reason)
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
    output.say(f"noted with {head.kind} {head.id}" if text else f"note of {head.kind} {head.id} removed")


@common.command("rename")
@click.argument("reference", metavar="RECORDING|EXPERIMENT")
@click.argument("name")
@common.options_of_all
def rename_command(context: click.Context, reference: str, name: str) -> None:
    """Change the label of RECORDING (an empty NAME removes it), or the name of EXPERIMENT.

    The full name of an experiment always means the experiment; name a recording of that label by its id.
    """
    from app.workflows.experiments import rename_experiment  # noqa: PLC0415  `show` does not wait for it

    name = name.strip()
    with common.notebook(context) as notebook:
        experiment = notebook.experiment_called(reference)
        if experiment is not None and experiment.recording_id is None and notebook.heads(1, experiment=reference):
            rename_experiment(notebook, reference, name)
            output.say(f"the experiment is called {name!r}")
            return
        head = notebook.recording(reference)
        notebook.describe(head.id, label=name)
    output.say(f"{head.kind} {head.id} is called {name!r}" if name else f"{head.id} has no label")


@common.command("delete")
@click.argument("references", nargs=-1, required=True, metavar="RECORDING...")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@common.options_of_all
def delete_command(context: click.Context, references: tuple[str, ...], yes: bool) -> None:
    """Delete each RECORDING for good, with its runs, load points or series."""
    with common.notebook(context) as notebook:
        found = {head.id: head for head in map(notebook.recording, references)}
        _delete(notebook, list(found.values()), yes=yes)


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
        runs = notebook.runs_of(head.id for head in heads)
        _delete(notebook, [head for head in heads if not _measured(runs[head.id])], yes=yes)


def _delete(notebook: Notebook, found: Sequence[Recording], *, yes: bool) -> None:
    if not found:
        output.say("there is nothing to delete")
        return
    for head in found:
        if head.running and head.lease:
            raise UsageError(f"{held_text(head.id, head.lease, head.kind)}, so it is not deleted")
        left = kinds.leftover_text(notebook, head)
        if left and kinds.kind_of(head).restored_by:
            raise UsageError(f"{left}; so it is not deleted")
    for line, head in zip(kinds.lines(notebook, found), found, strict=True):
        output.say(f"{line.id}  {line.when}  {line.kind}  {line.label or line.what} ({line.answer.text})")
        if inside := len(kinds.parts(notebook, head)):
            output.say(f"  with the {inside} series in it")
        if left := kinds.leftover_text(notebook, head):
            output.say(f"  {left}; it may still be there, and nothing will tell of it any more")
    if not yes:
        output.confirm(
            f"Delete {'it' if len(found) == 1 else f'these {len(found)}'} for good?",
            alone="nothing was deleted: say that it is meant with --yes",
            declined="nothing was deleted",
        )
    for head in found:
        notebook.remove(head.id)
        output.answer(head.id)


def _measured(runs: Sequence[Run]) -> bool:
    return any(run.phase is Phase.MEASURED and run.status is not RunStatus.FAILED for run in runs)
