"""Two diagnoses compared: the form and its JSON document."""

from functools import partial
from typing import Any

from forms import report
from forms.comparison.blame_report import with_blame
from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.blamed_step import is_written_later
from forms.diagnosis.change_fields import change_fields
from forms.diagnosis.change_since import change_since
from forms.diagnosis.comparison_answer import comparison_answer, complaints_only_in, new_findings
from forms.diagnosis.document import complaint_document
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.figure_changes import figure_changes_table, figure_pairs
from forms.diagnosis.figures import Figure, figures
from forms.findings import report as findings_report
from forms.findings.finding import Finding
from storage import isolation, looks, records

COMPARISON_SCHEMA = "sharebench/diagnosis-comparison/1"


def diagnosis_comparison(
    base: looks.Diagnosis, other: looks.Diagnosis, explained: ExplainedComplaint | None = None
) -> report.Report:
    """What changed in the complaint that was chosen, which findings are new or gone, and the figures side by side.

    ``explained`` is what an audit between both found to fit the base.
    """
    base_complaints = complaints_only_in(base, other)
    new_complaints = new_findings(base, other)
    pairs = figure_pairs(base, other)
    gone_rows = [(_short_title(finding), finding.evidence) for finding in base_complaints]
    new_rows = [
        (finding.title, finding.evidence, findings_report.SIGNS[finding.severity].tone) for finding in new_complaints
    ]
    answer = comparison_answer(base, other, explained)
    comparison = report.Report(
        form="diagnosis comparison",
        title="Two diagnoses compared",
        name="Comparison",
        fields=report.fields_of(
            report.answer_field(answer.text, answer.tone),
            *change_fields(pairs, is_written_later=is_written_later(base, other)),
            ("Base", f"{records.with_zone(base.created_at)}: {diagnosis_answer(base, is_repeat_advised=False).text}"),
            (
                "Other",
                f"{records.with_zone(other.created_at)}: {diagnosis_answer(other, base, is_repeat_advised=False).text}",
            ),
        ),
        tables=(*report.changes_table(gone_rows, new_rows), *figure_changes_table(pairs)),
        document=partial(_comparison_document, base, other),
    )
    return with_blame(comparison, _profile_rounds(base), _profile_rounds(other))


def _short_title(finding: Finding) -> str:
    """What is to blame alone, where that is known: the rest stands in the answer of the base."""
    if not finding.cause:
        return finding.title
    return f"{finding.cause[:1].upper()}{finding.cause[1:]} is slow"


def _comparison_document(base: looks.Diagnosis, other: looks.Diagnosis) -> dict[str, Any]:
    return {
        "schema": COMPARISON_SCHEMA,
        "base": base.id,
        "other": other.id,
        "gone": [complaint_document(finding) for finding in complaints_only_in(base, other)],
        "new": [complaint_document(finding) for finding in new_findings(base, other)],
        "complaint": _change_document(base, other),
        "figures": {
            "base": [figure.to_json() for figure in _figures_by_key(base).values()],
            "other": [figure.to_json() for figure in _figures_by_key(other).values()],
        },
    }


def _change_document(base: looks.Diagnosis, other: looks.Diagnosis) -> dict[str, Any] | None:
    """The figure of the chosen complaint and its control, each by how many times as good it is; None without one."""
    change = change_since(base, other)
    if change is None:
        return None
    control = change.control
    return {
        "stage": change.stage.value,
        "figure": change.figure.before.key,
        "times_as_good": change.figure.times,
        "control": control.before.key if control is not None else None,
        "control_times_as_good": control.times if control is not None else None,
    }


def _figures_by_key(diagnosis: looks.Diagnosis) -> dict[str, Figure]:
    return {figure.key: figure for figure in figures(diagnosis)}


def _profile_rounds(diagnosis: looks.Diagnosis) -> list[dict[str, isolation.ProfileCounter]]:
    """What smbd counted while small files were copied."""
    stage = diagnosis.stage(looks.StageName.SMALL_FILES)
    return isolation.profile_rounds(stage.facts if stage else {})
