"""``sharebench experiment``: changes, one at a time."""

from dataclasses import replace

import click

from app.cli import common
from app.cli.commands.trial import answer_trial
from app.errors import UsageError
from app.kinds import stored_change, stored_experiment
from forms.experiments.report import steps_report
from forms.experiments.summary import ExperimentStep, experiment_summary
from forms.layout import visible
from storage.records import Decision, with_zone


@click.group("experiment", cls=common.Group)
def experiment_command() -> None:
    """Show a series of changes, one setting at a time; keep or restore steps.

    A base is measured with `run --experiment NAME`, each change with `run --experiment NAME --change NAME=VALUE`.
    """


@experiment_command.command("list")
@common.answering_options("Print a JSON array.")
def list_experiments(context: click.Context, as_json: bool) -> None:
    """List the experiments, surveys and self-tests, newest first."""
    with common.notebook(context) as notebook:
        found = notebook.experiments()
    if as_json:
        common.answer_json(
            [
                {
                    "name": one.experiment.name,
                    "kind": one.experiment.kind.value,
                    "series": one.series_count,
                    "last_at": one.last_at,
                }
                for one in found
            ]
        )
        return
    if not found:
        common.say("no experiments yet; begin one with: sharebench run TARGET --experiment NAME")
    for one in found:
        last_at = with_zone(one.last_at)
        kind, name = one.experiment.kind.word, visible(one.experiment.name)
        common.answer(f"{last_at}  {one.series_count:>3} series  {kind:<10}  {name}")


@experiment_command.command("show", short_help="Show an experiment, survey, trial or self-test.")
@click.argument("name")
@common.answering_options("Print it as JSON.")
def show_experiment(context: click.Context, name: str, as_json: bool) -> None:
    """Show the experiment NAME: each change, its gain, and whether it was kept; or a survey or self-test."""
    with common.notebook(context) as notebook:
        change = stored_change(notebook, name)
        if change is None:
            common.answer_report(stored_experiment(notebook, name), as_json=as_json)
        else:
            answer_trial(change, as_json=as_json)


@experiment_command.command("keep")
@click.argument("series")
@common.answering_options("Print the experiment as JSON.")
def keep(context: click.Context, series: str, as_json: bool) -> None:
    """Keep the change of SERIES; the next step starts from it."""
    step = _decide(context, series, Decision.KEPT, as_json=as_json)
    common.say(f"kept: the next change is made from series {step.series.id}")


@experiment_command.command("revert", short_help="Record that the change of SERIES was restored.")
@click.argument("series")
@common.answering_options("Print the experiment as JSON.")
def revert(context: click.Context, series: str, as_json: bool) -> None:
    """Record that the change of SERIES was restored; the next step starts from the series before it.

    Nothing is changed on the server; the command says what to restore there.
    """
    step = _decide(context, series, Decision.REVERTED, as_json=as_json)
    change = step.change
    assert change
    what = f"to {visible(change.previous) or 'empty'}" if change.previous is not None else "as it was"
    then = f"series {step.comparison.base_id}" if step.comparison else "the series before it"
    common.say(f"restore {visible(change.name)} {what} yourself; the next change is made from {then}")


def _decide(context: click.Context, reference: str, decision: Decision, *, as_json: bool) -> ExperimentStep:
    with common.notebook(context) as notebook:
        found = notebook.series(reference)
        which = f"series {found.id}"
        if found.experiment is None:
            raise UsageError(f"{which} is part of no experiment, so there is nothing to decide")
        if found.change is None:
            raise UsageError(f"{which} claims no change (run --change NAME=VALUE): there is nothing to decide")
        notebook.annotate(replace(found, decision=decision))
        summary = experiment_summary(found.experiment, notebook.experiment(found.experiment))
    if as_json:
        common.answer_report(steps_report(summary), as_json=True)
    step = summary.step_of(found.id)
    assert step
    return step
