"""Two diagnoses compared: the form and its JSON document."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from forms import report, wording
from forms.comparison.blame_report import with_blame
from forms.diagnosis.answer import diagnosis_answer
from forms.diagnosis.change_since import change_since, figures_text
from forms.diagnosis.document import complaint_document
from forms.diagnosis.figures import Figure, figures
from forms.diagnosis.rules import complaints
from forms.findings import report as findings_report
from forms.findings.finding import Finding
from storage import isolation, looks, records

COMPARISON_SCHEMA = "sharebench/diagnosis-comparison/1"


def diagnosis_comparison(base: looks.Diagnosis, other: looks.Diagnosis) -> report.Report:
    """What changed in the complaint that was chosen, which findings are new or gone, and the figures side by side."""
    base_complaints = _complaints_only_in(base, other)
    new_complaints = _complaints_only_in(other, base)
    findings_text = "The same findings."
    if new_complaints or base_complaints:
        findings_text = f"{wording.count(len(new_complaints), 'finding')} new, {len(base_complaints)} gone."
    change = change_since(base, other)
    answer = f"{figures_text(change)} {findings_text}" if change is not None else findings_text

    comparison = report.Report(
        form="diagnosis comparison",
        title="Two diagnoses compared",
        name="Comparison",
        fields=report.fields_of(
            report.answer_field(answer),
            ("Base", f"{records.with_zone(base.created_at)}: {diagnosis_answer(base).text}"),
            ("Other", f"{records.with_zone(other.created_at)}: {diagnosis_answer(other).text}"),
        ),
        tables=(
            *report.changes_table(
                [(finding.title, finding.evidence) for finding in base_complaints],
                [
                    (finding.title, finding.evidence, findings_report.SIGNS[finding.severity].tone)
                    for finding in new_complaints
                ],
            ),
            *_figures_side_by_side(base, other),
        ),
        document=partial(_comparison_document, base, other),
    )
    return with_blame(comparison, _profile_rounds(base), _profile_rounds(other))


def _comparison_document(base: looks.Diagnosis, other: looks.Diagnosis) -> dict[str, Any]:
    return {
        "schema": COMPARISON_SCHEMA,
        "base": base.id,
        "other": other.id,
        "gone": [complaint_document(finding) for finding in _complaints_only_in(base, other)],
        "new": [complaint_document(finding) for finding in _complaints_only_in(other, base)],
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


def _figures_side_by_side(base: looks.Diagnosis, other: looks.Diagnosis) -> Iterator[report.Table]:
    base_figures = _figures_by_key(base)
    other_figures = _figures_by_key(other)
    named_figures = other_figures | base_figures
    rows = []
    for key in dict.fromkeys([*base_figures, *other_figures]):
        of_base = base_figures.get(key)
        of_other = other_figures.get(key)
        rows.append(
            report.row_of(named_figures[key].name, of_base.text if of_base else "", of_other.text if of_other else "")
        )
    if rows:
        yield report.Table(columns=report.columns_of("Measured", "Base", "Other"), rows=tuple(rows), caption="Measured")


def _profile_rounds(diagnosis: looks.Diagnosis) -> list[dict[str, isolation.ProfileCounter]]:
    """What smbd counted while small files were copied."""
    stage = diagnosis.stage(looks.StageName.SMALL_FILES)
    return isolation.profile_rounds(stage.facts if stage else {})


def _complaints_only_in(diagnosis: looks.Diagnosis, other: looks.Diagnosis) -> list[Finding]:
    keys_of_other = {complaint.key for complaint in complaints(other)}
    return [complaint for complaint in complaints(diagnosis) if complaint.key not in keys_of_other]
