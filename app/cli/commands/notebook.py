"""``show``, ``reject``, ``accept``, ``note`` and ``rename``: one recording is shown, judged or described."""

import click

from app.base.errors import UsageError
from app.cli import console, declare, notebooks
from app.recording.kind import kind_of
from app.series.kind import recommendations_for
from forms import wording
from forms.layout import visible
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.records import RunStatus, Series


@declare.command("show")
@click.argument("reference", metavar="RECORDING")
@click.option("--json", "as_json", is_flag=True, help="Print the recording as JSON.")
@click.option("--chart", is_flag=True, help="Draw the rate of each run below the form.")
@declare.options_of_all
def show_command(context: click.Context, reference: str, as_json: bool, chart: bool) -> None:
    """Show one recording: a series, load, isolation, trial, sweep, survey, self-test or audit.

    Name it by its id or the beginning of it, by a baseline's name, or by `last`.
    """
    with notebooks.open_notebook(context) as notebook:
        show(notebook, notebook.recording(reference), as_json=as_json, chart=chart)


def show(notebook: Notebook, head: Recording, *, as_json: bool = False, chart: bool = False) -> None:
    """Print the form of a stored recording of any kind, and what is recommended."""
    kind = kind_of(head)
    drawing = ""
    if chart and not as_json:
        colour = console.draws_colour()
        drawing = kind.chart(notebook, head, console.chart_columns(), console.CHART_LINES, colour=colour) or ""

    recommendations = [] if as_json else kind.recommendations(notebook, head)
    messages = [f"Recommendation: {text}" for text in recommendations]
    console.answer_report(kind.form(notebook, head), as_json=as_json, messages=messages, drawing=drawing)


def show_series(series: Series, *, as_json: bool = False, chart: bool = False) -> None:
    """Print the form of a series that was just measured, and what is recommended."""
    from forms.series.report import series_report
    from forms.series.summary import run_form

    form = run_form(series)
    drawing = ""
    if chart and form.rows and not as_json:
        from app.charts.series_charts import rates_chart

        colour = console.draws_colour()
        drawing = rates_chart(form, console.chart_columns(), console.CHART_LINES, colour=colour)

    recommendations = [] if as_json else recommendations_for(series)
    messages = [f"Recommendation: {text}" for text in recommendations]
    console.answer_report(series_report(form), as_json=as_json, messages=messages, drawing=drawing)


def reject_unusual(context: click.Context, series_id: str) -> None:
    """Mark the unusual runs of a series as rejected, and say what that costs."""
    from forms.series.summary import unusual_runs

    with notebooks.open_notebook(context) as notebook:
        unusual_by_run = unusual_runs(notebook.series(series_id))
        for number, unusual in unusual_by_run.items():
            reason = wording.unusual_text(unusual)
            notebook.judge_run(series_id, number, RunStatus.REJECTED, f"unusual: {reason}")
            console.say(
                f"run {number} is rejected as unusual: {reason}; sharebench accept {series_id} {number} undoes it"
            )

    if unusual_by_run:
        # From the simulations in TRUTH.md, which are of 5 and of 20 runs; 5 runs are not recommended.
        console.say(
            "what that costs: of healthy series that lose a run so, the 95 % interval holds the true average in 58 %"
            " (5 runs) to 80 % (20 runs) only; look for the reason, and measure more runs"
        )


@declare.command("reject")
@click.argument("reference", metavar="RECORDING")
@click.argument("run")
@declare.option("--reason", "TEXT", "Reason, which the form shows.", required=True)
@declare.options_of_all
def reject_command(context: click.Context, reference: str, run: str, reason: str) -> None:
    """Leave RUN out of the averages of RECORDING; the form shows it struck out.

    RUN is the number of a measured run, load point or pair, or ROUND:LAYER:CLIENTS of an isolation.
    """
    if not reason.strip():
        raise UsageError("a rejected run needs a reason: --reason 'backup was running'")
    _judge(context, reference, run, RunStatus.REJECTED, reason.strip())


@declare.command("accept")
@click.argument("reference", metavar="RECORDING")
@click.argument("run")
@declare.options_of_all
def accept_command(context: click.Context, reference: str, run: str) -> None:
    """Count a rejected RUN of RECORDING again."""
    _judge(context, reference, run, RunStatus.VALID, None)


def _judge(context: click.Context, reference: str, run: str, status: RunStatus, reason: str | None) -> None:
    with notebooks.open_notebook(context) as notebook:
        head = notebook.recording(reference)
        kind_of(head).judge(notebook, head, run, status, reason)
        show(notebook, head)


@declare.command("note")
@click.argument("reference", metavar="RECORDING")
@click.argument("text")
@declare.options_of_all
def note_command(context: click.Context, reference: str, text: str) -> None:
    """Add the note TEXT to RECORDING, instead of an earlier one; an empty TEXT removes it."""
    with notebooks.open_notebook(context) as notebook:
        head = notebook.recording(reference)
        notebook.describe(head.id, note=text)
    console.say(f"noted with {name_of(head)}" if text else f"note of {name_of(head)} removed")


def name_of(head: Recording) -> str:
    return f"{head.kind} {visible(head.label)} ({head.id})" if head.label else f"{head.kind} {head.id}"


@declare.command("rename")
@click.argument("reference", metavar="RECORDING|EXPERIMENT")
@click.argument("name")
@declare.options_of_all
def rename_command(context: click.Context, reference: str, name: str) -> None:
    """Change the label of RECORDING (an empty NAME removes it), or the name of EXPERIMENT.

    The full name of an experiment always means the experiment; name a recording of that label by its id.
    """
    name = name.strip()
    with notebooks.open_notebook(context) as notebook:
        if _is_experiment(notebook, reference):
            from app.method.experiments import rename_experiment

            rename_experiment(notebook, reference, name)
            console.say(f"the experiment is called {name!r}")
            return

        head = notebook.recording(reference)
        notebook.describe(head.id, label=name)
    console.say(f"{name_of(head)} is now called {name!r}" if name else f"{name_of(head)} has no label any more")


def _is_experiment(notebook: Notebook, reference: str) -> bool:
    """Whether it names an experiment of series, which is no recording of its own."""
    is_id = reference in notebook.kinds_of([reference])
    experiment = None if is_id else notebook.experiment_called(reference)
    if experiment is None or experiment.recording_id is not None:
        return False
    return bool(notebook.heads(limit=1, experiment=reference))
