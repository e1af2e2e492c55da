"""``sharebench note``, ``rename``, ``reject`` and ``accept``: what the user says of a series and of its runs."""

from dataclasses import replace

import click

from app.cli import common, diagnostics
from app.cli.loads import load_in
from app.cli.series_output import show_series
from app.errors import UsageError
from app.workflows.experiments import rename_experiment
from forms.series.summary import unusual_runs
from storage.records import RunStatus


def _judge(context: click.Context, reference: str, run: int, status: RunStatus, reason: str | None) -> None:
    with common.notebook(context) as notebook:
        series_id = notebook.resolve(reference)
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
            notebook.update_load(replace(load, note=text))
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
