"""What a comparison of two diagnoses begins with."""

from forms import wording
from forms.diagnosis.answer_since import is_complaint_gone
from forms.diagnosis.change_sentences import paragraphs_about
from forms.diagnosis.change_since import change_since, figures_text
from forms.diagnosis.explained_complaint import ExplainedComplaint
from forms.diagnosis.findings_since import findings_since
from forms.diagnosis.rules import complaints
from forms.findings.finding import Finding
from forms.layout import Sign, Tone, Toned
from storage.looks import Diagnosis


def comparison_answer(base: Diagnosis, other: Diagnosis, explained: ExplainedComplaint | None) -> Toned:
    """What changed in the complaint and why, with a sign where it is gone; then how many findings are new or gone."""
    gone = complaints_only_in(base, other)
    new = new_findings(base, other)
    findings_text = "The same findings."
    if new or gone:
        findings_text = f"{wording.count(len(new), 'finding')} new, {len(gone)} gone."

    change = change_since(base, other)
    if change is None:
        return Toned(findings_text, Tone.PLAIN)

    text = "\n".join([*paragraphs_about(change, explained, figures_text(change)), findings_text])
    is_worse = any(finding.is_wrong for finding in new)
    if not is_worse and is_complaint_gone(change):
        return Toned(f"{Sign.GOOD} {text}", Tone.GOOD)
    return Toned(text, Tone.PLAIN)


def new_findings(base: Diagnosis, other: Diagnosis) -> list[Finding]:
    """What the base has not found, with what explains it."""
    keys_of_base = {finding.key for finding in complaints(base)}
    return [finding for finding in findings_since(other, base) if finding.key not in keys_of_base]


def complaints_only_in(diagnosis: Diagnosis, other: Diagnosis) -> list[Finding]:
    """Findings that the other diagnosis has not."""
    keys_of_other = {complaint.key for complaint in complaints(other)}
    return [complaint for complaint in complaints(diagnosis) if complaint.key not in keys_of_other]
