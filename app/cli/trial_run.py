"""Carries out a trial or sweep of the command line: asks first, measures, and answers with the result."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from app.base.errors import CancelledError
from app.cli import console, notebooks
from app.cli.trial_answer import answer_trial
from app.cli.trial_display import watch_trial
from app.recording.process import SeriesControl
from app.recording.rescue import open_notebook
from app.trial import consent
from app.trial.spec import TrialOrder
from forms.trial.changes_report import ChangeSummary, change_report
from forms.trial.summary import TrialSummary


def ask_and_carry_out(
    context: click.Context, order: TrialOrder, choices: Mapping[str, Any], *, asks: bool = True
) -> str:
    """Show what is written, ask, measure and print; returns a trial's verdict. Raises UsageError, CancelledError."""
    if asks:
        console.say(*consent.consent_lines(order))
        if not choices["yes"]:
            console.confirm(consent.QUESTION, declined=consent.DECLINED)
    summary = carry_out(order, notebooks.notebook_path(context))
    answer_trial(summary, change_report(summary), as_json=choices["as_json"])
    return summary.verdict.value if isinstance(summary, TrialSummary) else ""


def carry_out(order: TrialOrder, path: Path, *, redraws: bool = True) -> ChangeSummary:
    """Measure the trial or sweep, and show it meanwhile. Raises CancelledError, which says how to complete it."""
    control = SeriesControl(order.within_seconds)
    try:
        return watch_trial(order, path, control, redraws=redraws)
    except CancelledError as error:
        with open_notebook(path) as notebook:
            stored = notebook.experiment_called(order.experiment.name)
        if stored is None:
            # Nothing was measured.
            raise CancelledError(control.why_cancelled) from error
        resume = f"`sharebench try --resume {stored.recording_id}` completes it"
        raise CancelledError(f"{control.why_cancelled}; {resume}") from error
