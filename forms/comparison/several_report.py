"""A comparison of more than two series on paper: the matrix of all, and the verdict on each beside its base."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from forms import report, wording
from forms.comparison import matrix_report, summary
from forms.comparison import wording as words
from forms.comparison.document import matrix_document
from forms.comparison.matrix import ProtocolMatrix
from forms.comparison.pair_report import FORM
from forms.comparison.remarks import comparison_remarks
from forms.comparison.summary import ComparisonSummary
from forms.series.origin import origin_fields
from forms.stats.decision import Limits
from forms.tuning.differences import differences_prose


def report_of_several(matrix: ProtocolMatrix, comparisons: Sequence[ComparisonSummary]) -> report.Report:
    """Table B-1 (Using Samba) of all series, and the verdict on each beside its base."""
    fields: list[report.Field] = []
    remarks: list[str] = []
    for compared in comparisons:
        fields += _verdict_fields(compared)
        remarks += (
            f"{words.comparison_title(compared.comparison)}: {remark}" for remark in comparison_remarks(compared)
        )

    return report.Report(
        form=FORM,
        title="Comparison of several series",
        name="Comparison",
        fields=(
            *fields,
            *report.fields_of(("Intervals", _joint_intervals_text(comparisons))),
            *origin_fields(summary.series_of(comparisons)),
        ),
        tables=(matrix_report.matrix_table(matrix), matrix_report.verdicts_table(comparisons)),
        drawn=(replace(matrix_report.matrix_chart(matrix), in_text=True),),
        # Comparisons with one base share what is to be said of it.
        advice=tuple(dict.fromkeys(remarks)),
        document=partial(matrix_document, comparisons),
    )


def _verdict_fields(compared: ComparisonSummary) -> list[report.Field]:
    """The verdict, which says what is held against what, and what a trial of the change said."""
    comparison = compared.comparison
    text = f"{words.comparison_title(comparison)}: {comparison.sign} {words.comparison_sentences(comparison)}"
    if comparison.differences and not comparison.known:
        text += f" What differs: {differences_prose(comparison.differences)}."
    trial_lines = words.trial_lines(comparison.tried, f"{comparison.other_name}: sharebench tried it: ")
    trial_fields = [report.Field(name="Trial", text=line.text, tone=line.tone) for line in trial_lines]
    role = report.FieldRole.ONE_OF_ANSWERS
    return [report.Field(name=wording.VERDICT, text=text, tone=comparison.tone, role=role), *trial_fields]


def _joint_intervals_text(comparisons: Sequence[ComparisonSummary]) -> str:
    """That intervals are wider because several verdicts hold together; empty where none is."""
    judged = [compared.comparison.limits for compared in comparisons if compared.comparison.interval_percent]
    if not any(limits.alpha < Limits().alpha for limits in judged):
        return ""
    all_verdicts = "both" if len(judged) == 2 else f"all {len(judged)}"
    return f"some are wider, so that {all_verdicts} verdicts together are wrong at most once in 20."
