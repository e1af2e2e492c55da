"""A trial or a sweep as it stands, from what the notebook has of it."""

from collections.abc import Sequence

from forms.layout import Toned
from forms.report import Report
from forms.trials.report import trial_report, verdict_field
from forms.trials.summary import TrialSummary, trial_summary
from forms.trials.sweep import SweepSummary, sweep_summary
from forms.trials.sweep_report import sweep_report, sweep_sentence
from storage.changes import Slot, TrialPlan
from storage.records import Experiment, ExperimentKind, Series

ChangeSummary = TrialSummary | SweepSummary
KINDS = (ExperimentKind.TRIAL, ExperimentKind.SWEEP)


def judged(experiment: Experiment, plan: TrialPlan, series: Sequence[Series], slots: Sequence[Slot]) -> ChangeSummary:
    """The trial or sweep of those series, in any order. Raises ValueError where one is missing."""
    by_value = {one.change.value if one.change else None: one for one in series}
    if by_value.keys() != {None, *plan.values}:
        raise ValueError("a series is missing")
    ordered = [by_value[value] for value in (None, *plan.values)]
    if experiment.kind is ExperimentKind.SWEEP:
        return sweep_summary(experiment, plan, ordered, slots)
    return trial_summary(experiment, plan, ordered, slots)


def report_of(found: ChangeSummary) -> Report:
    """It on paper."""
    return trial_report(found) if isinstance(found, TrialSummary) else sweep_report(found)


def answer_of(found: ChangeSummary) -> Toned:
    """What it came to, in a sentence."""
    if isinstance(found, TrialSummary):
        field = verdict_field(found)
        return Toned(field.text, field.tone)
    return Toned(sweep_sentence(found))
