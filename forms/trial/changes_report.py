"""A trial or a sweep, whichever an experiment is: judged from what was stored, as a form, and as one sentence."""

from collections.abc import Sequence

from forms import layout, report
from forms.stats import decision
from forms.trial.report import effect_sentence, trial_report, verdict_sentence
from forms.trial.summary import TrialSummary, trial_summary
from forms.trial.sweep import SweepSummary, sweep_summary
from forms.trial.sweep_report import sweep_report, sweep_sentence
from forms.verdict_wording import VERDICT_SIGNS
from storage import changes, records

ChangeSummary = TrialSummary | SweepSummary

KINDS = (records.ExperimentKind.TRIAL, records.ExperimentKind.SWEEP)
"""The kinds of experiments that change a setting and restore it."""


def judge_change(
    experiment: records.Experiment,
    plan: changes.TrialPlan,
    series: Sequence[records.Series],
    slots: Sequence[changes.Slot],
) -> ChangeSummary:
    """The trial or sweep of series in any order, one for each value. Raises ValueError where one is missing.

    A *slot* is a run's place in the order of measuring, with what was seen beside it.
    """
    # A series without a change has the value that the server had before.
    by_value = {value_series.change.value if value_series.change else None: value_series for value_series in series}
    if by_value.keys() != {None, *plan.values}:
        raise ValueError("a series is missing")

    ordered = [by_value[value] for value in (None, *plan.values)]
    if experiment.kind is records.ExperimentKind.SWEEP:
        return sweep_summary(experiment, plan, ordered, slots)
    return trial_summary(experiment, plan, ordered, slots)


def change_report(summary: ChangeSummary) -> report.Report:
    return trial_report(summary) if isinstance(summary, TrialSummary) else sweep_report(summary)


def change_answer(summary: ChangeSummary) -> layout.Toned:
    """What it says, in one sentence."""
    if isinstance(summary, SweepSummary):
        return layout.Toned(sweep_sentence(summary))
    if summary.doubt is decision.Doubt.FEW_PAIRS:
        return layout.Toned(verdict_sentence(summary), layout.Sign.STOPPED.tone)
    value = f', with "{summary.value}"' if summary.value else ""
    verdict_sign = VERDICT_SIGNS[summary.verdict]
    return layout.Toned(f"{verdict_sign} {effect_sentence(summary)}{value}.", verdict_sign.tone)
