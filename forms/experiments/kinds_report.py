"""The form of an experiment, whatever its kind: steps of a tuning, a survey, a self-test or repeats.

Trials and sweeps are experiments too, but take more than their series (``forms/trial/changes_report.py``).
"""

from collections.abc import Sequence

from forms import report
from forms.experiments.repeats import repeats, selftest
from forms.experiments.repeats_report import repeats_report, selftest_report
from forms.experiments.report import steps_report
from forms.experiments.summary import experiment_summary
from forms.experiments.survey import survey_of
from forms.experiments.survey_report import survey_report
from storage import records


def experiment_report(
    name: str, series: Sequence[records.Series], kind: records.ExperimentKind = records.ExperimentKind.STEPS
) -> report.Report:
    """The report of that kind, series in the order measured. Raises ValueError for half a self-test."""
    match kind:
        case records.ExperimentKind.STEPS:
            return steps_report(experiment_summary(name, series))
        case records.ExperimentKind.SURVEY:
            return survey_report(survey_of(name, series))
        case records.ExperimentKind.SELFTEST:
            first, second = series
            return selftest_report(selftest(first, second))
        case records.ExperimentKind.REPEATS:
            return repeats_report(repeats(series))
        case _:
            raise ValueError(f"a {kind} needs its plan: forms.trial")
