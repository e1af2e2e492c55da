"""``sharebench experiment``: a series of changes, one setting at a time, whose steps are kept or restored."""

from dataclasses import replace

import click

from app.base.errors import UsageError
from app.cli import console, declare, notebooks
from app.cli.trial_answer import answer_trial
from app.recording.experiments import stored_change, stored_experiment
from forms.experiments.report import steps_report
from forms.experiments.summary import ExperimentStep, experiment_summary
from forms.layout import visible
from storage.records import Decision, with_zone


@click.group("experiment", cls=declare.Group)
def experiment_command() -> None:
    """Show a series of changes, one setting at a time; keep or restore steps.

    A base is measured with `run --experiment NAME`, each change with `run --experiment NAME --change NAME=VALUE`.
    """


@experiment_command.command("list")
@declare.answering_options("Print a JSON array.")
def list_experiments(context: click.Context, as_json: bool) -> None:
    """List the experiments, surveys and self-tests, newest first."""
    with notebooks.open_notebook(context) as notebook:
        entries = notebook.experiments()
    if as_json:
        console.answer_json(
            [
                {
                    "name": entry.experiment.name,
                    "kind": entry.experiment.kind,
                    "series": entry.series_count,
                    "last_at": entry.last_at,
                }
                for entry in entries
            ]
        )
        return

    if not entries:
        console.say("no experiments yet; begin one with: sharebench run TARGET --experiment NAME")
    for entry in entries:
        kind = entry.experiment.kind.word
        name = visible(entry.experiment.name)
        console.answer(f"{with_zone(entry.last_at)}  {entry.series_count:>3} series  {kind:<10}  {name}")


@experiment_command.command("show", short_help="Show an experiment, survey, trial or self-test.")
@click.argument("name")
@declare.answering_options("Print it as JSON.")
def show_experiment(context: click.Context, name: str, as_json: bool) -> None:
    """Show the experiment NAME: each change, its gain, and whether it was kept; or a survey or self-test."""
    with notebooks.open_notebook(context) as notebook:
        # Only trials and sweeps have a summary of that kind; every experiment has a report.
        trial_summary = stored_change(notebook, name)
        report = stored_experiment(notebook, name)
        answer_trial(trial_summary, report, as_json=as_json)


@experiment_command.command("keep")
@click.argument("series")
@declare.answering_options("Print the experiment as JSON.")
def keep_change(context: click.Context, series: str, as_json: bool) -> None:
    """Keep the change of SERIES; the next step starts from it."""
    step = _store_decision(context, series, Decision.KEPT, as_json=as_json)
    console.say(f"kept: the next change is made from series {step.series.id}")


@experiment_command.command("revert", short_help="Record that the change of SERIES was restored.")
@click.argument("series")
@declare.answering_options("Print the experiment as JSON.")
def revert_change(context: click.Context, series: str, as_json: bool) -> None:
    """Record that the change of SERIES was restored; the next step starts from the series before it.

    Nothing is changed on the server; the command says what to restore there.
    """
    step = _store_decision(context, series, Decision.REVERTED, as_json=as_json)
    change = step.change
    assert change

    value = "as it was"
    if change.previous is not None:
        value = f"to {visible(change.previous) or 'empty'}"
    base = f"series {step.comparison.base_id}" if step.comparison else "the series before it"
    console.say(f"restore {visible(change.name)} {value} yourself; the next change is made from {base}")


def _store_decision(context: click.Context, reference: str, decision: Decision, *, as_json: bool) -> ExperimentStep:
    with notebooks.open_notebook(context) as notebook:
        series = notebook.series(reference)
        if series.experiment is None:
            raise UsageError(f"series {series.id} is part of no experiment, so there is nothing to decide")
        if series.change is None:
            raise UsageError(
                f"series {series.id} claims no change (run --change NAME=VALUE): there is nothing to decide"
            )
        notebook.annotate(replace(series, decision=decision))
        summary = experiment_summary(series.experiment, notebook.experiment(series.experiment))

    if as_json:
        console.answer_report(steps_report(summary), as_json=True)
    step = summary.step_of(series.id)
    assert step
    return step
